"""A trace replays the calls that were made, on new inputs and on the parameters as they are."""

import copy
import io
import pickle
import warnings

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.nn import functional as F

TracerWarning = torch.jit.TracerWarning
quiet = pytest.mark.filterwarnings("ignore::tapegrad.jit._trace.TracerWarning")
X = torch.arange(6.0).reshape(2, 3)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.norm = nn.BatchNorm2d(2)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        x = F.relu(self.norm(self.conv(x)))
        return self.out(x.view(x.size(0), -1))

    def twice(self, x):
        return self.out(x) * 2


def test_an_if_is_frozen_and_warned_of():
    def f(x):
        if x.sum() > 0:
            return x * 2
        return x - 1

    with pytest.warns(TracerWarning, match="Converting a tensor to a Python boolean") as caught:
        traced = torch.jit.trace(f, torch.ones(3))
    assert next(w for w in caught if w.category is TracerWarning).filename == __file__
    assert traced(-torch.ones(3)).tolist() == [-2, -2, -2]
    assert "torch.Tensor.mul" in traced.code and traced.__name__ == "f"
    assert str(traced.graph).startswith("graph(%x):\n")


@quiet
@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: int(x.sum()) * x, "to a Python integer"),
        (lambda x: float(x.sum()) * x, "to a Python float"),
        (lambda x: x.sum().item() * x, "to a Python number"),
        (lambda x: torch.tensor(x.tolist()) + x, "to a Python list"),
        (lambda x: x + len(x), "Using len to get tensor shape"),
        (lambda x: sum(row for row in x), "Iterating over a tensor"),
        (lambda x: x + torch.tensor([1.0]), "torch.tensor results are registered as constants"),
        (lambda x: x * int(x.shape[0]), "to a Python integer"),
        (lambda x: x if x.shape[0] == 2 else -x, "to a Python boolean"),
        (lambda x: sum(x[:, 0] for _ in range(x.shape[0])), "to a Python index"),
    ],
)
def test_data_that_python_reads_is_warned_of(function, text):
    with pytest.warns(TracerWarning, match=text):
        traced = torch.jit.trace(function, X, check_trace=False)
    assert torch.equal(traced(X), function(X))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.view(x.size(0), -1),
        lambda x: x.reshape(-1, x.shape[1] // 2 + 1 * 2),
        lambda x: x * x.shape[0] + x.numel() / 2,
        lambda x: torch.zeros(x.shape) + x,
        lambda x: x[x.shape[0] - 1],
        lambda x: x[:, : x.shape[1] - 1].T,
        lambda x: torch.arange(x.size(0)) + x.size(1) ** 2 % 3 - x.dim(),
        lambda x: F.interpolate(x[None], size=2 * x.shape[1]),
        lambda x: x.shape[0],
        lambda x: torch.cat([x, x.flip(0)], dim=1).split(x.shape[1], 1)[1],
    ],
)
def test_sizes_are_followed(function):
    traced = torch.jit.trace(function, X)
    for other in (X, torch.randn(4, 3), torch.randn(5, 3)):
        expected = function(other)
        assert torch.equal(traced(other), torch.as_tensor(expected))


def test_writes_views_and_containers_are_replayed():
    def f(x, pair):
        y = x.clone()
        y[0] = pair["a"][0]
        y.T[1].add_(1)
        return y, (y.exp_().sum(), pair["b"])

    given = (X, {"a": (torch.ones(3),), "b": torch.zeros(1)})
    traced = torch.jit.trace(f, given)
    other = (torch.randn(3, 3), {"a": (torch.randn(3),), "b": torch.ones(1)})
    (y, (total, b)), (y2, (total2, b2)) = traced(*other), f(*other)
    assert torch.equal(y, y2) and torch.equal(total, total2) and b is b2


def test_random_numbers_are_drawn_anew():
    traced = torch.jit.trace(lambda x: F.dropout(x + torch.rand(3)), X, check_trace=False)
    torch.manual_seed(0)
    drawn = [traced(X), traced(X)]
    torch.manual_seed(0)
    assert torch.equal(drawn[0], F.dropout(X + torch.rand(3)))
    assert not torch.equal(*drawn)


def test_training_flags_are_frozen():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TracerWarning)
        traced = torch.jit.trace(nn.Dropout(), torch.ones(100))
    traced.eval()
    assert (traced(torch.ones(100)) == 0).any()
    traced = torch.jit.trace(nn.Dropout().eval(), torch.ones(100)).train()
    assert torch.equal(traced(torch.ones(100)), torch.ones(100))


def test_a_module_keeps_its_structure_and_its_numbers():
    net = Net()
    traced = torch.jit.trace(net, torch.randn(2, 1, 4, 4))
    assert repr(traced) == (
        "Net(\n"
        "  original_name=Net\n"
        "  (conv): Conv2d(original_name=Conv2d)\n"
        "  (norm): BatchNorm2d(original_name=BatchNorm2d)\n"
        "  (out): Linear(original_name=Linear)\n"
        ")"
    )
    assert type(traced).__name__ == "TopLevelTracedModule" and not isinstance(traced, Net)
    assert traced.out.weight is net.out.weight and list(traced.state_dict()) == list(
        net.state_dict()
    )
    assert net.norm.num_batches_tracked == 5  # traced twice, and run three times to compare
    with pytest.raises(RuntimeError, match="Trace submodules cannot be called"):
        traced.out(X)
    with pytest.raises(AttributeError, match="has no attribute 'twice'"):
        traced.twice  # noqa: B018
    assert "torch.nn.functional.linear(" in traced.code and "self.out.weight" in str(traced.graph)


def test_training_a_trace_is_training_the_module():
    torch.manual_seed(0)
    net = Net()
    twin = copy.deepcopy(net)
    x = torch.randn(8, 1, 4, 4)
    traced = torch.jit.trace(net, x, check_trace=False)
    twin(x)
    for module in (twin, traced):
        optimizer = torch.optim.Adam(module.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            module(x[:5]).square().mean().backward()
            optimizer.step()
    for (name, a), (_, b) in zip(net.state_dict().items(), twin.state_dict().items(), strict=True):
        assert torch.equal(a, b), name


@pytest.mark.parametrize(
    ("module", "shapes"),
    [
        (nn.LSTM(3, 4, 2, bidirectional=True), [(5, 2, 3), (7, 4, 3)]),
        (nn.GRU(3, 4, batch_first=True), [(2, 5, 3), (4, 6, 3)]),
        (nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval(), [(2, 5, 4), (3, 7, 4)]),
        (nn.MultiheadAttention(4, 2), [(5, 2, 4)]),
        (nn.Sequential(nn.Conv1d(3, 4, 2), nn.GroupNorm(2, 4), nn.Flatten()), [(2, 3, 5)] * 2),
    ],
    ids=lambda x: type(x).__name__,
)
def test_layers_are_traced(module, shapes):
    n = 3 if isinstance(module, nn.MultiheadAttention) else 1
    traced = torch.jit.trace(module, (torch.randn(shapes[0]),) * n)
    for shape in shapes:
        given = (torch.randn(shape),) * n
        found, expected = traced(*given), module(*given)
        if isinstance(expected, tuple):
            found, expected = found[0], expected[0]
        assert torch.equal(found, expected)


def test_several_methods_of_a_module():
    net = Net().eval()
    image, row = torch.randn(1, 1, 4, 4), torch.randn(1, 8)
    traced = torch.jit.trace_module(net, {"forward": image, "twice": row})
    assert torch.equal(traced.twice(row), net.twice(row)) and torch.equal(traced(image), net(image))
    with pytest.raises(AttributeError, match=r"expected torch\.nn\.Module as the first argument"):
        torch.jit.trace_module(len, {})
    with pytest.raises(AttributeError, match="expected a dictionary of"):
        torch.jit.trace_module(net, image)


def test_custom_functions_keep_their_derivative():
    class Strange(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 100

    strange = Strange.apply
    traced = torch.jit.trace(lambda x: strange(x) + 1, torch.ones(2))
    x = torch.ones(2, requires_grad=True)
    traced(x).sum().backward()
    assert x.grad.tolist() == [100, 100]


def test_scripted_functions_are_called_as_a_whole():
    @torch.jit.script_if_tracing
    def positive(x):
        return x if x.sum() > 0 else -x

    traced = torch.jit.trace(lambda x: positive(x) + 1, torch.ones(1))
    assert traced(-torch.ones(1)).item() == 2
    assert positive(-torch.ones(1)).item() == 1 and not torch.jit.is_tracing()


@pytest.mark.parametrize(
    ("function", "given", "kind", "text"),
    [
        (lambda x: 3, X, RuntimeError, "Only tensors, lists, tuples of tensors, or dictionary"),
        (lambda x: None, X, RuntimeError, "The traced function didn't return any values!"),
        (lambda x: {"a": x}, X, RuntimeError, "Encountering a dict at the output of the tracer"),
        (lambda x, y: x, (X, 3), RuntimeError, r"Type 'Tuple\[Tensor, int\]' cannot be traced"),
        (lambda x: x, 3, TypeError, "'int' object is not iterable"),
        (lambda x: x, None, TypeError, "'NoneType' object is not iterable"),
        (lambda x, y: x, (X,), TypeError, "missing 1 required positional argument: 'y'"),
    ],
)
def test_what_cannot_be_traced(function, given, kind, text):
    with pytest.raises(kind, match=text):
        torch.jit.trace(function, given)


def test_a_constant_with_a_gradient_is_refused():
    weight = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="Cannot insert a Tensor that requires grad"):
        torch.jit.trace(lambda x: x * weight, X)


def test_a_list_is_warned_of_and_a_dict_on_request():
    with pytest.warns(TracerWarning, match="Encountering a list at the output"):
        assert torch.equal(torch.jit.trace(lambda x: [x, x + 1], X)(X)[1], X + 1)
    assert torch.jit.trace(lambda x: {"a": x}, X, strict=False)(X)["a"] is X


def test_wrong_calls_of_a_trace():
    traced = torch.jit.trace(nn.Linear(3, 1), X)
    assert torch.equal(traced(input=X), traced(X))
    for args, text in [
        ((), r"forward\(\) is missing value for argument 'input'"),
        ((X, X), r"forward\(\) expected at most 2 argument\(s\) but received 3"),
        ((3,), r"forward\(\) Expected a value of type 'Tensor' for argument 'input'"),
    ]:
        with pytest.raises(RuntimeError, match=text):
            traced(*args)


def test_a_trace_that_changes_is_refused():
    with (
        pytest.warns(TracerWarning, match="Python boolean"),
        pytest.raises(torch.jit.TracingCheckError, match="Graphs differed"),
    ):
        torch.jit.trace(lambda x: x if x.sum() > 0 else -x, X, check_inputs=[(-X,)])
    count = iter(range(10))
    with pytest.raises(torch.jit.TracingCheckError, match="Graphs differed across invocations"):
        torch.jit.trace(lambda x: x + next(count), X)


def test_results_that_differ_are_warned_of():
    with (
        pytest.warns(TracerWarning, match="Trace had nondeterministic nodes"),
        pytest.warns(TracerWarning, match=r"Output nr 1\. of the traced function does not match"),
    ):
        torch.jit.trace(lambda x: x + torch.rand(3), X)


def test_what_is_scripted_is_not_traced():
    scripted = torch.jit.script(nn.ReLU())
    with pytest.warns(UserWarning, match="The input to trace is already a ScriptModule"):
        assert torch.jit.trace(scripted, X) is scripted


def test_arguments_by_name():
    traced = torch.jit.trace(lambda x, y: x - y, example_kwarg_inputs={"x": X, "y": X + 1})
    assert torch.equal(traced(y=X, x=X + 1), torch.ones(2, 3))
    assert torch.jit.trace(nn.Linear(3, 1).forward, X).original_name == "Linear"


def test_traces_are_saved_whole():
    net = Net().eval()
    traced = torch.jit.trace(net, torch.randn(2, 1, 4, 4))
    function = torch.jit.trace(lambda x: x[..., :2].mean(dim=-1, dtype=torch.float64), X)
    x = torch.randn(3, 1, 4, 4)
    for thing, given in ((traced, x), (function, X)):
        file = io.BytesIO()
        torch.jit.save(thing, file)
        loaded = torch.jit.load(io.BytesIO(file.getvalue()))
        assert torch.equal(loaded(given), thing(given)) and loaded.code == thing.code
        assert torch.equal(pickle.loads(pickle.dumps(thing))(given), thing(given))
    other = copy.deepcopy(traced)
    nn.init.zeros_(other.out.weight)
    assert torch.equal(other(x), other.out.bias.expand(3, 3)) and net.out.weight.any()
    assert repr(other) == repr(traced)


def test_a_file_calls_functions_of_tensors_alone():
    from tapegrad.jit.trace_saving import packed_program, unpacked_program

    packed = packed_program(torch.jit.trace(torch.relu, X)._program)
    refused = "hub.load jit.load load save from_file set_default_dtype vmap Tensor.no_such".split()
    for name in ("operator.methodcaller", *(f"torch.{name}" for name in refused)):
        packed["steps"][0][0] = name
        with pytest.raises((RuntimeError, AttributeError)):
            unpacked_program(packed)
    packed["name"] = "f(x):\n import os\ndef g"
    with pytest.raises(RuntimeError, match="names that are none"):
        unpacked_program(packed)


def test_the_environment_switches_it_off(monkeypatch):
    monkeypatch.setattr(torch.jit._state._enabled, "enabled", False)
    assert torch.jit.trace(len, X) is len


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return x * self.weight if x.sum() > 0 else -x * self.weight


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = torch.jit.script(Gate())

    def forward(self, x):
        return self.gate(x) + 1


def test_scripted_parts_branch_on_what_they_are_given():
    net = Gated()
    traced = torch.jit.trace(net, torch.ones(1))
    assert traced(-torch.ones(1)).item() == 2 and "self.gate(v0)" in traced.code
    file = io.BytesIO()
    torch.jit.save(traced, file)
    for other in (torch.jit.load(io.BytesIO(file.getvalue())), copy.deepcopy(traced)):
        (weight,) = other.parameters()
        other(-torch.ones(1)).backward()
        assert weight.grad.item() == 1 and net.gate.weight.grad is None


def test_sizes_are_keys_by_identity():
    """A table of what was computed for a shape may be kept while a function is traced."""
    known = {}

    def doubled(x):
        key = ("doubled", *x.shape)
        if key not in known:
            known[key] = 2
        assert len(known) == 1
        return known[key] * x

    traced = torch.jit.trace(doubled, torch.ones(2, 3), check_trace=False)
    assert traced(torch.ones(4)).tolist() == [2.0] * 4


def test_sizes_that_are_put_together_are_followed(recwarn):
    def repeated(x):
        before, behind = (2,), (3,)
        return x.expand(before + x.shape) + x.new_zeros(x.shape[:1] + behind)

    traced = torch.jit.trace(repeated, torch.ones(1, 3), check_trace=False)
    assert not [w for w in recwarn if w.category is torch.jit.TracerWarning]
    assert traced(torch.ones(2, 3)).shape == (2, 2, 3)


def test_a_method_other_than_forward_is_not_traced_alone():
    class Two(torch.nn.Module):
        def back(self, x):
            return x

    with pytest.raises(AttributeError, match="trace doesn't support compiling individual module"):
        torch.jit.trace(Two().back, torch.ones(1))
