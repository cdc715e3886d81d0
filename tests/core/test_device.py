"""Devices, the default device, and `torch.cuda` without a GPU."""

import copy
import pickle
from threading import Thread

import pytest

from tapegrad import cuda
from tapegrad.core.device import (
    CPU,
    as_device,
    device,
    get_default_device,
    require_cpu,
    set_default_device,
)

TYPES = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, "
    "vulkan, mps, meta, hpu, mtia, privateuseone"
)


@pytest.fixture
def default_restored():
    yield
    set_default_device(None)


def first_line(raised):
    return str(raised.value).partition("\n")[0]


@pytest.mark.parametrize(
    ("made", "printed", "text"),
    [
        (device("cpu"), "device(type='cpu')", "cpu"),
        (device("cuda:1"), "device(type='cuda', index=1)", "cuda:1"),
        (device("cpu", 0), "device(type='cpu', index=0)", "cpu:0"),
        (device("cpu", None), "device(type='cpu')", "cpu"),
        (device("cuda", index=3), "device(type='cuda', index=3)", "cuda:3"),
        (device(type="cuda"), "device(type='cuda')", "cuda"),
        (device(type="cpu", index=0), "device(type='cpu', index=0)", "cpu:0"),
        (device(device="meta"), "device(type='meta')", "meta"),
        (device(device("cuda:1")), "device(type='cuda', index=1)", "cuda:1"),
    ],
)
def test_devices_print_as_in_pytorch(made, printed, text):
    assert repr(made) == printed
    assert str(made) == text


@pytest.mark.parametrize("kind", TYPES.split(", "))
def test_every_device_type_of_pytorch_has_a_name(kind):
    made = device(f"{kind}:2")
    assert (made.type, made.index) == (kind, 2)


def test_devices_are_equal_when_type_and_index_are():
    assert device("cpu") == CPU
    assert hash(device("cpu")) == hash(CPU)
    assert device("cpu") != device("cpu:0")
    assert device("cuda:1") == device("cuda", 1)
    assert device("cpu") != "cpu"
    assert len({device("cpu"), device("cpu"), device("cuda")}) == 2


@pytest.mark.parametrize("made", [device("cpu"), device("cuda:1")], ids=str)
def test_copies_and_pickles_are_equal(made):
    assert copy.copy(made) == copy.deepcopy(made) == pickle.loads(pickle.dumps(made)) == made


def test_devices_cannot_be_changed():
    made = device("cpu")
    with pytest.raises(AttributeError) as raised:
        made.type = "cuda"
    assert str(raised.value) == "attribute 'type' of 'torch.device' objects is not writable"
    with pytest.raises(AttributeError, match="object has no attribute 'colour'"):
        made.colour = "red"
    assert made == CPU


@pytest.mark.parametrize("text", ["foo", "CPU", "foo:1", "foo_"])
def test_an_unknown_type_lists_the_known_ones(text):
    with pytest.raises(RuntimeError) as raised:
        device(text)
    kind = text.partition(":")[0]
    assert first_line(raised) == (
        f"Expected one of {TYPES} device type at start of device string: {kind}"
    )


@pytest.mark.parametrize(
    "text",
    [
        "cuda:",
        "cuda:-1",
        "cuda:x",
        "cuda:01",
        "cuda0",
        ":0",
        "cpu:0:1",
        "cpu ",
        " cpu",
        "0",
        "foo:x",
    ],
)
def test_a_badly_written_device_is_quoted(text):
    with pytest.raises(RuntimeError) as raised:
        device(text)
    assert first_line(raised) == f"Invalid device string: '{text}'"


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        ((0,), RuntimeError, "Cannot access accelerator device when none is available."),
        ((-1,), RuntimeError, "Device index must not be negative"),
        (("cpu", -2), RuntimeError, "Device index must not be negative"),
        (("",), RuntimeError, "Device string must not be empty"),
        (("cpu", "0"), TypeError, "device(): argument 'index' (position 2) must be int, not str"),
        (("cpu", True), TypeError, "device(): argument 'index' (position 2) must be int, not bool"),
        (
            (device("cpu"), 1),
            TypeError,
            "device(): argument 'type' (position 1) must be str, not torch.device",
        ),
        (
            ("cuda:0", 1),
            RuntimeError,
            "type (string) must not include an index because index was passed explicitly: cuda:0",
        ),
        (
            (),
            TypeError,
            "device() received an invalid combination of arguments - got (), but expected one of:",
        ),
        (
            (1.5,),
            TypeError,
            "device() received an invalid combination of arguments - got (float), "
            "but expected one of:",
        ),
        (
            (True,),
            TypeError,
            "device() received an invalid combination of arguments - got (bool), "
            "but expected one of:",
        ),
    ],
)
def test_wrong_arguments_give_pytorchs_errors(args, error, message):
    with pytest.raises(error) as raised:
        device(*args)
    assert first_line(raised) == message


def test_as_device_takes_devices_and_names():
    assert as_device(CPU) is CPU
    assert as_device("cuda:1") == device("cuda", 1)
    with pytest.raises(TypeError):
        as_device(None)


# --- the default -----------------------------------------------------------------------------


def test_a_device_is_the_default_inside_its_block(default_restored):
    with device("cpu:0") as outer:
        assert get_default_device() == outer == device("cpu:0")
        with device("meta"):
            assert get_default_device() == device("meta")
        assert get_default_device() == outer
    assert get_default_device() == CPU


def test_a_block_that_fails_restores_the_default():
    with pytest.raises(KeyError), device("meta"):
        raise KeyError
    assert get_default_device() == CPU


def test_the_default_device_belongs_to_a_thread(default_restored):
    set_default_device("cpu:0")
    seen = []
    thread = Thread(target=lambda: seen.append(get_default_device()))
    thread.start()
    thread.join()
    assert seen == [CPU]
    assert get_default_device() == device("cpu:0")


def test_a_default_that_is_missing_is_found_out_on_use(default_restored):
    set_default_device("cuda")
    with pytest.raises(AssertionError):
        get_default_device()
    with pytest.raises(AssertionError):
        require_cpu(None)
    require_cpu("cpu")
    with pytest.raises(RuntimeError):
        set_default_device("foo")
    set_default_device(None)
    require_cpu(None)


@pytest.mark.parametrize(
    ("where", "error", "message"),
    [
        ("cuda", AssertionError, "Torch not compiled with CUDA enabled"),
        ("cuda:1", AssertionError, "Torch not compiled with CUDA enabled"),
        ("xpu", AssertionError, "Torch not compiled with XPU enabled"),
        ("mps", RuntimeError, "PyTorch is not linked with support for mps devices"),
        ("hpu", ModuleNotFoundError, "No module named 'torch.hpu'"),
        ("meta", NotImplementedError, "tapegrad has no tensors on the meta device"),
    ],
)
def test_only_the_cpu_has_tensors(where, error, message):
    with pytest.raises(error) as raised:
        require_cpu(where)
    assert first_line(raised) == message
    assert "device='cpu'" in raised.value.__notes__[0]


@pytest.mark.parametrize("where", ["cpu", "cpu:0", "cpu:3", CPU, None])
def test_the_cpu_has_tensors_whatever_its_index(where):
    require_cpu(where)


# --- torch.cuda ------------------------------------------------------------------------------


def test_questions_about_the_gpu_have_answers():
    assert cuda.is_available() is False
    assert cuda.is_initialized() is False
    assert cuda.is_bf16_supported() is False
    assert cuda.device_count() == 0
    assert cuda.memory_allocated() == cuda.max_memory_allocated() == 0
    assert cuda.memory_reserved() == cuda.max_memory_reserved() == 0
    assert cuda.memory_stats() == {}
    assert cuda.get_rng_state_all() == cuda.get_arch_list() == []


def test_seeding_and_emptying_do_nothing():
    assert cuda.manual_seed(1) is None
    assert cuda.manual_seed_all(1) is None
    assert cuda.seed() is None
    assert cuda.seed_all() is None
    assert cuda.empty_cache() is None
    assert cuda.set_rng_state_all([]) is None


@pytest.mark.parametrize(
    "call",
    [
        cuda.init,
        cuda.synchronize,
        cuda.current_device,
        cuda.get_device_name,
        cuda.get_device_properties,
        cuda.get_device_capability,
        cuda.current_stream,
        cuda.mem_get_info,
        cuda.reset_peak_memory_stats,
        cuda.initial_seed,
        cuda.get_rng_state,
        lambda: cuda.set_device(0),
        lambda: cuda.set_rng_state_all([b""]),
    ],
)
def test_work_for_the_gpu_is_refused(call):
    with pytest.raises(AssertionError) as raised:
        call()
    assert first_line(raised) == "Torch not compiled with CUDA enabled"


def test_scripts_can_catch_the_gpu_running_out_of_memory():
    assert issubclass(cuda.OutOfMemoryError, RuntimeError)
