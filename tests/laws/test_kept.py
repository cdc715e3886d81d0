"""What the graph of each public operator keeps: never more than PyTorch's.

`kept_by_pytorch.json` has what PyTorch keeps for the same calls, recorded by
`python -m tools.record_kept`. What belongs to the inputs costs nothing; memory is counted once.
"""

import gc
import json
import types
from pathlib import Path

import numpy as np
import pytest

import tapegrad
from tapegrad.autograd.node import AccumulateGrad
from tapegrad.autograd.plan import Plan
from tests.laws import layer_calls, matrix_calls, tensor_calls
from tests.laws.calls import Group, groups_of, uniform

PYTORCH = json.loads(Path(__file__).with_name("kept_by_pytorch.json").read_text())
GROUPS = {g.name: g for g in groups_of(tensor_calls, matrix_calls, layer_calls)}
FEW = 128  # bytes: numbers as arrays

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of old names

EXCEPTIONS = {
    "x.erfinv()": "the result, where PyTorch computes it again from the input",
    "x.renorm(2, 0, 1.0)": "it is composed of operators, which keep a number for each row",
    "x[i, i]": "the index tensors together in one array, as the kernel takes them",
    "z.conj() * w": "the conjugate numbers, where PyTorch only marks the tensor",
    "F.ctc_loss(F.log_softmax(u, -1), c, torch.full((4,), 20), torch.full((4,), 5))": (
        "the labels with the blanks between them, which is little beside the probabilities"
    ),
}
"""Calls that keep more, and what that is."""


def owner(array):
    """The array or buffer whose memory an array uses."""
    while array.base is not None:
        base = array.base  # a strided view has a stand-in that knows the array
        array = base if isinstance(base, np.ndarray) else getattr(base, "base", None)
        if array is None:
            return base
    return array


def size_of(memory):
    return memory.nbytes if hasattr(memory, "nbytes") else memoryview(memory).nbytes


def held(roots):
    """The memory of all arrays that can be reached from nodes: {id: owner}."""
    found, seen, waiting = {}, {}, list(roots)
    while waiting:
        x = waiting.pop()
        if id(x) in seen or isinstance(x, (type, types.ModuleType, Plan)):
            continue
        seen[id(x)] = x
        if isinstance(x, np.ndarray):
            memory = owner(x)
            found[id(memory)] = memory
        elif isinstance(x, types.FunctionType):
            waiting += [*(x.__closure__ or ()), *(x.__defaults__ or ())]
        elif isinstance(x, AccumulateGrad):
            waiting.append(x.array)
        else:
            waiting += gc.get_referents(x)
    return found


def graph_of(group, call):
    """The results of one call, the memory its graph holds, and that of its inputs."""
    tapegrad.manual_seed(0)
    tensors = group.tensors(tapegrad)
    result = eval(call, {"torch": tapegrad, "F": tapegrad.nn.functional, **tensors})
    results = result if isinstance(result, (tuple, list)) else [result]
    memory = held([r._node for r in results if isinstance(r, tapegrad.Tensor)])
    return results, memory, {id(owner(tensor._array)) for tensor in tensors.values()}


def kept_bytes(group, call):
    """Bytes that the graph of one call keeps, those of its inputs and of shared tables aside."""
    first, shared, _ = graph_of(group, call)
    second, memory, own = graph_of(group, call)
    assert len(first) == len(second)  # and both are alive
    return sum(size_of(m) for key, m in memory.items() if key not in own and key not in shared)


def test_what_a_graph_keeps_is_found():
    """The measure is not blind: x.exp() keeps its result, a product its factors."""
    group = Group("", "", x=uniform(10, 10), y=uniform(10, 10))
    assert kept_bytes(group, "x.exp()") == 400
    assert kept_bytes(group, "x * y") == 0
    assert kept_bytes(group, "x.exp() * y.exp()[:, :5].repeat(1, 2)") == 1200
    assert kept_bytes(group, "torch.cat([x.sin() ** 2, y.sin() ** 2])") == 800


def test_every_call_is_recorded():
    recorded = {(group, call) for group, kept in PYTORCH.items() for call in kept}
    assert recorded == {(group.name, call) for group in GROUPS.values() for call in group.calls}
    assert set(EXCEPTIONS) <= {call for _, call in recorded}


@pytest.mark.parametrize(
    ("group", "call"), [(g.name, call) for g in GROUPS.values() for call in g.calls]
)
def test_a_graph_keeps_no_more_than_pytorch(group, call):
    limit = PYTORCH[group][call]
    kept = kept_bytes(GROUPS[group], call)
    if call in EXCEPTIONS:
        assert kept > limit + FEW, "it is no exception any more"
        return
    assert kept <= limit + FEW, f"keeps {kept} bytes, PyTorch {limit}"
