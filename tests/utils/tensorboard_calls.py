"""Calls of a SummaryWriter, made of either library's `torch`, and what they leave in its folder."""

import re
from importlib import import_module

import numpy as np


def scalars(torch, w):
    w.add_scalar("loss", 1.5)
    w.add_scalar("loss", torch.tensor(2.5), 3)
    w.add_scalar("loss", np.float64(1e-3), global_step=4, walltime=12.5)
    w.add_scalar("a/b c", 7, 1, new_style=True)
    w.add_scalar("double", 0.1, 1, new_style=True, double_precision=True)
    w.add_scalar("one element", torch.ones(1, 1, requires_grad=True), torch.tensor(5))
    w.add_scalar("steps", True, np.int64(4))
    w.add_scalar("steps", np.array([3]), "9")


def several_scalars(torch, w):
    w.add_scalars("run/loss", {"train": 1, "test": 2.5}, 1)
    w.add_scalars("run/loss", {"train": torch.tensor(1.0), "test": 2.5}, 2, walltime=3.5)


def tensors(torch, w):
    w.add_tensor("x", torch.arange(6.0).reshape(2, 3), 1)
    for dtype in ("float64", "int64", "int32", "int16", "int8", "bool", "complex64", "complex128"):
        w.add_tensor(dtype, torch.ones(2, dtype=getattr(torch, dtype)))


def histograms(torch, w):
    x = np.linspace(-2, 3, 101)
    w.add_histogram("h", x, 1)
    w.add_histogram("h", torch.tensor(x, requires_grad=True), 2, bins=10)
    w.add_histogram("h", x, 3, bins="auto")
    w.add_histogram("h", x.astype(np.float32), 4, bins="fd", max_bins=5)
    w.add_histogram("h", x, 5, max_bins=100)
    w.add_histogram("h", x, 6, bins="sqrt", max_bins=3, walltime=1.0)
    w.add_histogram("integers", np.arange(10))
    w.add_histogram("booleans", torch.tensor([True, False]))
    w.add_histogram("zeros", torch.zeros(4))
    w.add_histogram("edges", torch.ones(2, 2), bins=[0.0, 0.5, 1.0, 2.0])
    w.add_histogram("number", 5)
    w.add_histogram("beyond", torch.tensor([1e30, 1.0, float("nan"), -1e25]))
    w.add_histogram_raw("raw", 0, 4, 10, 20, 50, [1, 2, 3, 4], [1, 2, 3, 4], global_step=2)


def images(torch, w):
    x = np.arange(3 * 8 * 6).reshape(3, 8, 6) / 144
    w.add_image("chw", torch.tensor(x), 1)
    w.add_image("hwc", x.transpose(1, 2, 0), 1, dataformats="HWC")
    w.add_image("hw", x[0], dataformats="HW")
    w.add_image("wh", x[0].T, dataformats="wh")
    w.add_image("bytes", (x * 255).astype(np.uint8))
    w.add_image("gray", x[:1])
    w.add_image("rgba", np.ones((4, 3, 2)) / 2)
    w.add_image("beyond", x * 3 - 1)
    batch = np.arange(5 * 3 * 4 * 2).reshape(5, 3, 4, 2) / 120
    w.add_images("batch", torch.tensor(batch), 1)
    w.add_images("gray batch", batch[:, :1], 1)
    w.add_images("nhwc", batch.transpose(0, 2, 3, 1), dataformats="NHWC")
    w.add_images("rows", np.ones((9, 3, 2, 2)), walltime=2.0)


def boxes(torch, w):
    x = np.ones((3, 40, 50)) / 2
    two = [[10.0, 10, 40, 30], [5, 5, 20, 20]]
    w.add_image_with_boxes("two", torch.tensor(x), torch.tensor(two), 1)
    w.add_image_with_boxes("half", x, np.array(two), rescale=0.5)
    w.add_image_with_boxes("hwc", x.transpose(1, 2, 0), np.array(two), dataformats="HWC")
    w.add_image_with_boxes("named", x, np.array(two), labels=["one", "two"])
    w.add_image_with_boxes("one", x, np.array(two[:1]), labels="one")


def figures(torch, w):
    from matplotlib.figure import Figure

    def figure():
        made = Figure(figsize=(1, 1))
        made.add_subplot().plot([1, 2])
        return made

    w.add_figure("one", figure(), 1)
    w.add_figure("two", [figure(), figure()], 2, close=False, walltime=1.0)


def sounds_and_texts(torch, w):
    w.add_audio("a", torch.linspace(-1, 1, 50), 1)
    w.add_audio("loud", np.linspace(-2, 2, 20), 2, sample_rate=8000)
    w.add_audio("row", torch.zeros(1, 10), walltime=2.0)
    w.add_text("t", "hello *world*", 1)
    w.add_text("t", "grün", 2, walltime=1.0)


def hyperparameters(torch, w):
    hparams = {"lr": 0.1, "size": 3, "opt": "adam", "bias": True, "t": torch.tensor([3.0])}
    metrics = {"hparam/acc": 10, "hparam/loss": torch.tensor(2.5)}
    w.add_hparams({**hparams, "none": None}, metrics, run_name="first")
    domains = {"lr": [0.1, 0.2], "opt": ["adam", "sgd"], "bias": [True, False]}
    w.add_hparams(hparams, {"acc": 10}, domains, run_name="second", global_step=3)


def curves(torch, w):
    labels = np.array([0, 1, 1, 0, 1, 0, 1, 1, 0, 0])
    guesses = np.linspace(0, 1, 10)[[3, 9, 8, 1, 7, 2, 0, 5, 4, 6]]
    w.add_pr_curve("a", torch.tensor(labels), torch.tensor(guesses), 1)
    weights = np.linspace(1, 2, 10)
    w.add_pr_curve("b", labels, guesses, 2, num_thresholds=11, weights=weights)
    w.add_pr_curve("c", labels, guesses, 2, num_thresholds=200, weights=2.0, walltime=1.0)
    rows = [[5, 4], [3, 2], [1, 2], [0, 1], [0.5, 0.6], [1.0, 0.8]]
    w.add_pr_curve_raw("raw", *rows, 3, num_thresholds=2)
    w.add_pr_curve_raw("raw", *map(torch.tensor, rows), 4, num_thresholds=2)


def embeddings(torch, w):
    m = torch.arange(12.0).reshape(4, 3) / 7
    table = [["a", "1"], ["b", "2"], ["c", "3"], ["d", "4"]]
    w.add_embedding(m, metadata=list("abcd"), global_step=1)
    w.add_embedding(
        m.numpy(), metadata=table, metadata_header=["x", "y"], tag="two/x%\\", global_step=2
    )
    w.add_embedding(m, label_img=torch.full((4, 3, 8, 8), 0.5))
    w.add_embedding(torch.ones(5, 2), label_img=torch.full((5, 1, 2, 2), 0.25), global_step=3)
    w.add_embedding(m, global_step=1)


def meshes(torch, w):
    vertices = torch.arange(12.0).reshape(1, 4, 3)
    colors = torch.tensor([[[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 0, 255]]])
    faces = torch.tensor([[[0, 2, 3], [0, 3, 1]]])
    config = {"camera": {"cls": "PerspectiveCamera"}}
    w.add_mesh("whole", vertices, colors, faces, config, 1)
    w.add_mesh("points", vertices.numpy())
    w.add_mesh("faces", vertices, faces=faces, walltime=1.0)


def charts(torch, w):
    margin = ["Margin", ["x", "low", "high"]]
    w.add_custom_scalars({"A": {"a": ["Multiline", ["l1", "l2"]]}, "B": {"b": margin, "c": margin}})
    w.add_custom_scalars_multilinechart(["a", "b"])
    w.add_custom_scalars_multilinechart(["a", "b"], "category", "title")
    w.add_custom_scalars_marginchart(["a", "b", "c"])
    w.add_custom_scalars_marginchart(["a", "b", "c"], "category", "title")


def reopened(torch, w):
    w.add_scalar("a", 1, 1)
    w.close()
    w.flush()
    w.add_scalar("a", 2, 2)
    w.flush()
    w.close()
    w.close()


CALLS = [
    scalars,
    several_scalars,
    tensors,
    histograms,
    images,
    boxes,
    figures,
    sounds_and_texts,
    hyperparameters,
    curves,
    embeddings,
    meshes,
    charts,
    reopened,
]
REFUSED = {
    "a list for a scalar": lambda t, w: w.add_scalar("x", [1, 2]),
    "several numbers for a scalar": lambda t, w: w.add_scalar("x", t.ones(2, 3)),
    "a text for a scalar": lambda t, w: w.add_scalar("x", "foo"),
    "a step that is no number": lambda t, w: w.add_scalar("x", 1, "foo"),
    "no values for a histogram": lambda t, w: w.add_histogram("x", t.ones(0)),
    "a rule that is none": lambda t, w: w.add_histogram("x", t.ones(3), bins="nope"),
    "buckets without limits": lambda t, w: w.add_histogram_raw("x", 0, 1, 1, 1, 1, [1], [1, 2]),
    "axes that are not there": lambda t, w: w.add_image("x", t.ones(2, 3)),
    "an axis twice": lambda t, w: w.add_image("x", t.ones(2, 3), dataformats="HH"),
    "a list of images": lambda t, w: w.add_images("x", [t.ones(3, 2, 2)]),
    "two channels of sound": lambda t, w: w.add_audio("x", t.zeros(2, 10)),
    "a number for a text": lambda t, w: w.add_text("x", 5),
    "a list of hyperparameters": lambda t, w: w.add_hparams([1], {"a": 1}),
    "a list as hyperparameter": lambda t, w: w.add_hparams({"a": [1]}, {"a": 1}, run_name="r"),
    "a domain of nothing": lambda t, w: w.add_hparams({"a": 1}, {"a": 1}, {"b": [1]}),
    "a domain of another type": lambda t, w: w.add_hparams({"a": 1}, {"a": 1}, {"a": ["x"]}),
    "domains that are no dict": lambda t, w: w.add_hparams({"a": 1}, {"a": 1}, 5),
    "points in one dimension": lambda t, w: w.add_embedding(t.ones(4)),
    "too few labels": lambda t, w: w.add_embedding(t.ones(4, 2), metadata=["a"]),
    "too few pictures": lambda t, w: w.add_embedding(t.ones(4, 2), label_img=t.ones(3, 3, 2, 2)),
    "a margin of two": lambda t, w: w.add_custom_scalars_marginchart(["a", "b"]),
    "an unknown dtype": lambda t, w: w.add_tensor("x", t.ones(2).to(t.uint16)),
}


def writer_of(torch):
    return import_module(f"{torch.__name__}.utils.tensorboard").SummaryWriter


def events(file):
    """The events of a file, their times removed where they are those of the call."""
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    found = []
    for raw in RawEventFileLoader(str(file)).Load():
        event = Event.FromString(raw)
        event.wall_time = event.wall_time if event.wall_time < 1e9 else -1
        for value in event.summary.value:
            data = value.metadata.plugin_data
            if data.plugin_name == "hparams":  # a map's order is not that of its making
                parsed = HParamsPluginData.FromString(data.content)
                data.content = parsed.SerializeToString(deterministic=True)
        found.append(event)
    return found


def left_in(folder):
    """What each file below a folder holds; a file of events goes by its folder."""
    found = {}
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        is_events = "tfevents" in file.name
        name = re.sub(r"tfevents.*", "tfevents", str(file.relative_to(folder)))
        found.setdefault(name, []).append(events(file) if is_events else file.read_bytes())
    return found


def outcome(torch, call, folder):
    """What `call` leaves in `folder`; the class and text of its error."""
    error = None
    with writer_of(torch)(folder) as writer:
        try:
            call(torch, writer)
        except Exception as raised:
            error = (type(raised), str(raised))
    return left_in(folder), error
