"""SummaryWriter: its files are read by TensorBoard itself."""

import io
import os
import time
from itertools import count

import numpy as np
import pytest

import tapegrad as torch
from tapegrad import nn
from tests import needs
from tests.command import python, run_code
from tests.utils.tensorboard_calls import CALLS, REFUSED, events, left_in, outcome

needs.package("tensorboard", "reads what was written")

from tapegrad.utils.tensorboard import FileWriter, SummaryWriter  # noqa: E402


def read(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    keep_all = dict.fromkeys(("images", "histograms", "scalars", "audio", "tensors"), 0)
    return EventAccumulator(str(folder), size_guidance=keep_all).Reload()


def test_scalars_come_back_with_steps_and_times(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(3):
            writer.add_scalar("loss/train", torch.tensor(1 / (step + 1)), step, walltime=100 + step)
    scalars = read(tmp_path).Scalars("loss/train")
    assert [(s.step, s.wall_time) for s in scalars] == [(0, 100), (1, 101), (2, 102)]
    assert [s.value for s in scalars] == pytest.approx([1, 1 / 2, 1 / 3])


def test_histograms_come_back_from_the_first_full_bin_to_the_last(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("w", torch.tensor(np.linspace(-2, 3, 101)), 2, bins=10)
        writer.add_histogram("gap", torch.tensor([0.5, 2.5]), bins=[-1, 0, 1, 2, 3, 4])
    (event,) = read(tmp_path).Histograms("w")
    value = event.histogram_value
    assert event.step == 2
    assert (value.min, value.max, value.num) == (-2, 3, 101)
    assert value.bucket_limit == [-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3]
    assert value.bucket == [0, 10, 10, 10, 10, 10, 10, 10, 10, 10, 11]
    (event,) = read(tmp_path).Histograms("gap")
    assert event.histogram_value.bucket_limit == [0, 1, 2, 3]
    assert event.histogram_value.bucket == [0, 1, 0, 1]


def test_values_outside_all_bins_are_refused(tmp_path):
    with SummaryWriter(tmp_path) as writer, pytest.raises(ValueError, match="histogram is empty"):
        writer.add_histogram("w", torch.tensor([100.0]), bins=[0, 1, 2, 3])


def test_images_come_back_pixel_by_pixel(tmp_path):
    from PIL import Image

    pixels = torch.arange(3 * 4 * 5).reshape(3, 4, 5) * 4
    with SummaryWriter(tmp_path) as writer:
        writer.add_image("bytes", pixels.byte())
        writer.add_image("numbers", pixels / 255, 1)
        writer.add_images("grid", torch.stack([pixels, pixels]).byte())
    for tag in ("bytes", "numbers"):
        (event,) = read(tmp_path).Images(tag)
        assert (event.width, event.height) == (5, 4)
        image = np.asarray(Image.open(io.BytesIO(event.encoded_image_string)))
        assert np.abs(image.transpose(2, 0, 1).astype(int) - pixels.numpy()).max() <= 1
    (event,) = read(tmp_path).Images("grid")
    assert (event.width, event.height) == (10, 4)


def test_videos_are_animated(tmp_path):
    from PIL import Image

    frames = torch.zeros(2, 3, 3, 4, 6)
    frames[0, 1], frames[1, 2] = 1.0, 0.5
    with SummaryWriter(tmp_path) as writer:
        writer.add_video("v", frames, fps=5)
        with pytest.raises(ValueError, match="expected 5, got 4"):
            writer.add_video("v", frames[0])
    (event,) = read(tmp_path).Images("v")
    gif = Image.open(io.BytesIO(event.encoded_image_string))
    assert (gif.n_frames, gif.size, gif.info["duration"]) == (3, (12, 4), 200)
    gif.seek(1)
    shown = np.asarray(gif.convert("RGB"))
    assert shown[:, :6].min() == 255 and shown[:, 6:].max() == 0


def test_tensors_of_every_dtype_come_back(tmp_path):
    from tensorboard.util.tensor_util import make_ndarray

    dtypes = "float32 float64 uint8 int8 int16 int32 int64 bool complex64".split()
    with SummaryWriter(tmp_path) as writer:
        for dtype in dtypes:
            writer.add_tensor(dtype, torch.tensor([[0, 1, 3]]).to(getattr(torch, dtype)))
    for dtype in dtypes:
        (event,) = read(tmp_path).Tensors(dtype)
        expected = np.array([[0, 1, 1 if dtype == "bool" else 3]])
        np.testing.assert_array_equal(make_ndarray(event.tensor_proto).astype(complex), expected)


@pytest.mark.parametrize(
    ("dtype", "bits"), [("float16", [0x3C00, 0xC100]), ("bfloat16", [0x3F80, 0xC020])]
)
def test_half_precision_is_written_bit_by_bit(dtype, bits):
    from tapegrad.utils.tensorboard.summary import histogram, tensor_proto

    if dtype == "bfloat16":
        needs.package("ml_dtypes", "has bfloat16", extra="test")
    x = torch.tensor([1.0, -2.5]).to(getattr(torch, dtype))
    assert list(tensor_proto("x", x).value[0].tensor.half_val) == bits
    assert histogram("x", x, 3).value[0].histo.min == -2.5


class Net(nn.Module):
    """Layers in each other, a parameter and a buffer of its own, writes, several inputs."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
        self.heads = nn.ModuleList([nn.Linear(4, 2), nn.Linear(4, 2)])
        self.scale = nn.Parameter(torch.ones(4))
        self.register_buffer("mean", torch.zeros(4))
        self.drop = nn.Dropout(0.5)

    def forward(self, x, y):
        h = self.drop(self.body(x) * self.scale - self.mean)
        h += y
        h[0] = 0.0
        return {"a": self.heads[0](h), "b": (self.heads[1](h), h.detach().max(1))}


def graph_of(folder, model, *inputs, **options):
    with SummaryWriter(folder) as writer:
        writer.add_graph(model, *inputs, **options)
    return {node.name: node for node in read(folder).Graph().node}


def shapes(node):
    return [[d.size for d in shape.dim] for shape in node.attr["_output_shapes"].list.shape]


def test_a_graph_has_operators_by_layer_parameters_inputs_and_outputs(tmp_path):
    nodes = graph_of(tmp_path, Net(), (torch.ones(2, 3), torch.ones(2, 4)))
    assert nodes["input/x"].op == "IO Node" and shapes(nodes["input/x"]) == [[2, 3]]
    linear = nodes["Net/Sequential[body]/Linear[0]/addmm"]
    assert linear.op == "aten::addmm" and shapes(linear) == [[2, 4]]
    assert list(linear.input) == [
        "Net/Sequential[body]/Linear[0]/bias",
        "input/x",
        "Net/Sequential[body]/Linear[0]/t",
    ]
    assert list(nodes["Net/Sequential[body]/ReLU[1]/relu"].input) == [linear.name]
    weight = nodes["Net/Sequential[body]/Linear[0]/weight"]
    assert (weight.op, weight.attr["attr"].s) == ("prim::GetAttr", b"{ name : weight}")
    assert list(nodes["Net/mul"].input) == ["Net/Sequential[body]/ReLU[1]/relu", "Net/scale"]
    assert list(nodes["Net/sub"].input) == ["Net/mul", "Net/mean"]
    outputs = [node for name, node in nodes.items() if name.startswith("output/")]
    assert [shapes(node) for node in outputs] == [[[2, 2]], [[2, 2]], [[2]], [[2]]]
    assert [list(node.input) for node in outputs] == [
        ["Net/ModuleList[heads]/Linear[0]/addmm"],
        ["Net/ModuleList[heads]/Linear[1]/addmm"],
        ["Net/max"],
        ["Net/max:1"],
    ]


def test_a_graph_follows_writes_in_place(tmp_path):
    nodes = graph_of(tmp_path, Net(), (torch.ones(2, 3), torch.ones(2, 4)))
    added = nodes["Net/add"]
    assert list(added.input) == ["Net/sub", "input/y"]
    (write,) = [node for node in nodes.values() if node.op.endswith("_")]
    assert list(nodes[write.input[0]].input) == ["Net/add"]
    assert nodes["Net/ModuleList[heads]/Linear[0]/addmm"].input[1] == write.name
    assert list(nodes["Net/max"].input) == [write.name]


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (nn.LSTM(3, 4, 2), (5, 2, 3)),
        (nn.TransformerEncoderLayer(8, 2, 16), (5, 2, 8)),
        (nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.MaxPool2d(2)), (2, 1, 8, 8)),
    ],
)
def test_every_input_of_a_node_is_a_node_before_it(tmp_path, model, shape):
    nodes = graph_of(tmp_path, model, torch.ones(*shape))
    seen = set()
    for name, node in nodes.items():
        assert {source.partition(":")[0] for source in node.input} <= seen
        seen.add(name)
    assert sum(node.op == "prim::GetAttr" for node in nodes.values()) >= len(
        list(model.parameters())
    )


def test_inputs_of_a_graph_are_one_or_several(tmp_path):
    class Sum(nn.Module):
        def forward(self, x, *others):
            return sum(others, x["x"] if isinstance(x, dict) else x)

    x = torch.ones(2)
    for number, (inputs, n) in enumerate([(x, 1), ({"x": x}, 1), ((x, x + 1), 2), ([x, x + 1], 2)]):
        nodes = graph_of(tmp_path / str(number), Sum(), inputs)
        assert sum(name.startswith("input/") for name in nodes) == n


def test_add_graph_leaves_the_model_as_it_was(tmp_path, capsys):
    model = nn.Sequential(nn.BatchNorm1d(3), nn.Dropout())
    model[1].eval()
    before = model[0].running_mean.clone()
    graph_of(tmp_path, model, torch.ones(4, 3), verbose=True)
    assert [layer.training for layer in model.modules()] == [True, True, False]
    assert torch.equal(model[0].running_mean, before)
    assert [len(layer._forward_hooks) for layer in model.modules()] == [0, 0, 0]
    assert "output/output.1 = IO Node(Sequential/BatchNorm1d[0]" in capsys.readouterr().out


def test_add_graph_fails_as_the_model_fails(tmp_path):
    model = nn.Linear(3, 4)
    with SummaryWriter(tmp_path) as writer:
        with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
            writer.add_graph(model, torch.ones(2, 5))
        with pytest.raises(RuntimeError):
            writer.add_graph(model)
        with pytest.raises(NotImplementedError, match="add_onnx_graph"):
            writer.add_onnx_graph("model.onnx")
    assert not model._forward_hooks and torch.is_grad_enabled()


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_every_call_writes_files_that_can_be_read(call, tmp_path, capsys):
    files, error = outcome(torch, call, tmp_path)
    assert error is None
    n_events = sum(len(found) for each in files.values() for found in each if type(found) is list)
    assert n_events > 1 or "projector_config.pbtxt" in files
    read(tmp_path)


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_leaves_only_the_head_of_a_file(case, tmp_path):
    files, error = outcome(torch, REFUSED[case], tmp_path)
    assert error is not None
    assert [len(found) for each in files.values() for found in each] == [1]


def test_embeddings_are_tables_with_their_description(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        header = ["letter", "digit"]
        rows = [["a", 1], ["b", 2]]
        writer.add_embedding(torch.eye(2), rows, metadata_header=header, tag="x/y", global_step=7)
    files = left_in(tmp_path)
    assert files["00007/x%2fy/tensors.tsv"] == [b"1.0\t0.0\n0.0\t1.0\n"]
    assert files["00007/x%2fy/metadata.tsv"] == [b"letter\tdigit\na\t1\nb\t2\n"]
    assert files["projector_config.pbtxt"] == [
        b'embeddings {\n  tensor_name: "x/y:00007"\n  metadata_path: "00007/x%2fy/metadata.tsv"\n'
        b'  tensor_path: "00007/x%2fy/tensors.tsv"\n}\n'
    ]


def test_the_default_folder_is_named_after_the_time_and_the_machine(tmp_path, monkeypatch):
    import socket

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(time, "strftime", lambda form: form)
    with SummaryWriter(comment="_small") as writer:
        assert writer.log_dir == f"runs/%b%d_%H-%M-%S_{socket.gethostname()}_small"
        assert writer.get_logdir() == writer.log_dir
        (name,) = os.listdir(writer.log_dir)
    assert name.startswith("events.out.tfevents.")
    assert writer.all_writers is None


def test_purge_step_tells_tensorboard_to_forget(tmp_path, monkeypatch):
    seconds = count(2_000_000_000)  # files are read in the order of the seconds in their names
    monkeypatch.setattr(time, "time", lambda: float(next(seconds)))
    with SummaryWriter(tmp_path, filename_suffix=".first") as writer:
        for step in range(6):
            writer.add_scalar("x", step, step, walltime=step)
    with SummaryWriter(tmp_path, purge_step=3, filename_suffix=".second") as writer:
        writer.add_scalar("x", 30, 3, walltime=30)
    second = next(path for path in tmp_path.iterdir() if path.name.endswith(".second"))
    _, version, start, _ = events(second)
    assert (version.step, version.file_version) == (3, "brain.Event:2")
    assert (start.step, start.session_log.status) == (3, start.session_log.START)
    assert [s.value for s in read(tmp_path).Scalars("x")] == [0, 1, 2, 30]


def test_a_file_writer_begins_another_file_when_it_is_reopened(tmp_path):
    from tapegrad.utils.tensorboard.summary import scalar

    writer = FileWriter(tmp_path, filename_suffix=".x")
    writer.add_summary(scalar("a", 1.0), 1, walltime=5.0)
    writer.close()
    writer.reopen()
    writer.add_summary(scalar("a", 2.0), 2, walltime=6.0)
    writer.close()
    assert writer.get_logdir() == str(tmp_path)
    assert [s.value for s in read(tmp_path).Scalars("a")] == [1.0, 2.0]


def test_scripts_find_the_writer_where_pytorch_has_it(tmp_path):
    code = f"""
from tapegrad import compat
compat.install()
from torch.utils.tensorboard import FileWriter, RecordWriter, SummaryWriter
from torch.utils.tensorboard.summary import hparams
from torch.utils.tensorboard.writer import SummaryWriter as Same
import torch
assert Same is SummaryWriter and torch.utils.tensorboard.SummaryWriter is Same
with SummaryWriter({str(tmp_path)!r}) as w:
    w.add_scalar("x", torch.ones(1))
    for summary in hparams({{"lr": 0.1}}, {{"loss": 1}}):
        w.file_writer.add_summary(summary)
"""
    run_code(code)
    assert len(events(next(tmp_path.iterdir()))) == 5


def test_without_the_package_the_error_names_the_extra():

    code = "import sys; sys.modules['tensorboard'] = None; import tapegrad.utils.tensorboard"
    result = python("-c", code)
    assert result.returncode == 1
    assert "ModuleNotFoundError: import of tensorboard halted" in result.stderr
    assert 'pip install "tapegrad[tensorboard]"' in result.stderr


@pytest.mark.parametrize("tag", ["../../../x", "a/../../..", "b/../../log-2/x", "/../../x"])
def test_names_of_scalars_do_not_lead_out_of_the_folder(tmp_path, tag):
    home = tmp_path / "a" / "log"
    with SummaryWriter(home) as writer:
        writer.add_scalars("../main", {tag: 1.0, "in/side": 2.0})
    assert os.listdir(tmp_path) == ["a"] and os.listdir(tmp_path / "a") == ["log"]
    inside = "_".join([".._main", tag.replace("/", "_")])
    assert read(home / inside).Scalars("../main")[0].value == 1
    assert read(home / ".._main_in" / "side").Scalars("../main")[0].value == 2


@pytest.mark.parametrize("name", ["..", "../x", "a/../../x", "/nowhere/x"])
def test_the_name_of_a_run_does_not_lead_out_of_the_folder(tmp_path, name):
    with SummaryWriter(tmp_path / "log") as writer:
        with pytest.raises(ValueError, match="leads out of the folder of the writer"):
            writer.add_hparams({"a": 1}, {"b": 2}, run_name=name)
        writer.add_hparams({"a": 1}, {"b": 2}, run_name=str(tmp_path / "log" / "run"))
    assert os.listdir(tmp_path) == ["log"] and "run" in os.listdir(tmp_path / "log")
