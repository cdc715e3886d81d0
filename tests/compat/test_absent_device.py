"""Devices beside the CPU, on a machine without: questions have answers, work is refused by name."""

import pytest

import tapegrad as torch
from tests.needs import pytorch

QUESTIONS = {
    "accelerator": "is_available device_count current_accelerator",
    "cuda": (
        "is_available is_initialized device_count is_bf16_supported is_tf32_supported empty_cache "
        "get_arch_list get_gencode_flags get_rng_state_all host_memory_stats max_memory_allocated "
        "max_memory_cached max_memory_reserved memory_allocated memory_cached memory_reserved "
        "memory_stats memory_stats_as_nested_dict seed seed_all caching_allocator_enable"
    ),
    "xpu": (
        "is_available is_initialized device_count is_bf16_supported is_tf32_supported empty_cache "
        "get_arch_list get_gencode_flags get_rng_state_all max_memory_allocated memory_allocated "
        "max_memory_reserved memory_reserved memory_stats memory_stats_as_nested_dict "
        "memory_snapshot seed seed_all"
    ),
    "mps": "is_available device_count",
    "mtia": (
        "is_available is_initialized device_count memory_stats memory_allocated get_rng_state_all "
        "max_memory_allocated reset_peak_memory_stats seed seed_all"
    ),
}
REFUSALS = {
    "accelerator": (
        "current_device_index current_stream empty_cache get_device_capability get_memory_info "
        "max_memory_allocated memory_allocated memory_stats reset_peak_memory_stats synchronize"
    ),
    "cuda": (
        "init current_device current_stream default_stream synchronize get_device_name cudart "
        "get_device_properties get_device_capability get_rng_state initial_seed ipc_collect "
        "mem_get_info get_sync_debug_mode is_current_stream_capturing graph_pool_handle Stream "
        "Event CUDAGraph MemPool"
    ),
    "xpu": (
        "init current_device current_stream synchronize get_device_name get_device_properties "
        "get_device_capability get_rng_state initial_seed mem_get_info Event Stream MemPool"
    ),
    "mps": (
        "synchronize empty_cache seed get_rng_state current_allocated_memory Event "
        "driver_allocated_memory recommended_max_memory"
    ),
    "mtia": "current_device synchronize current_stream default_stream empty_cache snapshot",
}


def pairs(table):
    return [(home, name) for home, names in table.items() for name in names.split()]


def outcome(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return type(error).__name__, str(error).splitlines()[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("home", "name"), pairs(QUESTIONS))
def test_questions_have_pytorchs_answers(home, name):
    theirs = getattr(getattr(pytorch(), home), name)()
    assert getattr(getattr(torch, home), name)() == theirs


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("home", "name"), pairs(REFUSALS))
def test_work_is_refused_in_pytorchs_words(home, name):
    found = outcome(getattr(getattr(torch, home), name))
    assert isinstance(found, tuple)
    assert found == outcome(getattr(getattr(pytorch(), home), name))


@pytest.mark.parametrize("device", [None, "cpu", "cuda", "xpu", "zzz", 3])
def test_the_module_of_a_device(device):
    def name(module):
        return module[1] if isinstance(module, tuple) else module.__name__.rpartition(".")[2]

    expected = name(outcome(pytorch().get_device_module, device))
    assert name(outcome(torch.get_device_module, device)) == expected


@pytest.mark.parametrize("kind", ["cuda", "xpu"])
def test_blocks_without_a_device_do_nothing(kind):
    module = getattr(torch, kind)
    with module.stream(None), module.device(-1), module.device_of(torch.ones(1)):
        pass
    with pytest.raises(RuntimeError, match=f"PyTorch was compiled without {kind.upper()} support"):
        module.device(0).__enter__()
    with pytest.raises(ValueError, match=f"Expected a {kind} device, but got: cpu"):
        module.device("cpu")
    with pytest.raises(AssertionError, match=f"Torch not compiled with {kind.upper()} enabled"):
        module.stream(1).__enter__()


def test_the_stream_of_the_cpu():
    stream, event = torch.Stream(), torch.Event(enable_timing=True)
    assert stream.query() and event.query() and stream == torch.Stream("cpu")
    assert repr(stream) == repr(pytorch().Stream()) and stream.device == torch.device("cpu")
    assert repr(event) == repr(pytorch().Event(enable_timing=True))
    for call in (stream.record_event, event.record, lambda: stream.wait_stream(stream)):
        with pytest.raises(RuntimeError, match="cpu backend doesn't support events"):
            call()
    with pytest.raises(ValueError, match="must be created with argument 'enable_timing=True'"):
        event.elapsed_time(torch.Event())
    with pytest.raises(RuntimeError, match="not linked with support for cuda devices"):
        torch.Stream("cuda")


def test_modules_and_names():
    from tapegrad.cuda import memory, nccl, nvtx, random, streams

    assert memory.memory_allocated is torch.cuda.memory_allocated
    assert random.manual_seed is torch.cuda.manual_seed and streams.Stream is torch.cuda.Stream
    assert torch.cuda.OutOfMemoryError is torch.OutOfMemoryError
    assert torch.OutOfMemoryError.__module__ == torch.AcceleratorError.__module__ == "torch"
    assert nccl.is_available([]) is False
    with pytest.raises(RuntimeError, match="NVTX functions not installed"):
        nvtx.range_push("x")
    for path in ("accelerator.memory", "xpu.memory", "xpu.random", "xpu.streams", "mtia.memory"):
        home, _, name = path.partition(".")
        assert getattr(getattr(torch, home), name).__name__.endswith(path)


@pytest.mark.parametrize(
    ("given", "optional"),
    [
        (None, True),
        (None, False),
        ("cuda:1", False),
        ("cuda", False),
        ("cuda", True),
        ("cpu", True),
    ],
)
def test_indices_of_devices(given, optional):
    function = torch.cuda._get_device_index
    expected = outcome(pytorch().cuda._get_device_index, given, optional)
    assert outcome(function, given, optional) == expected
