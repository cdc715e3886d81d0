"""`TorchDispatchMode`: operators handed over below autograd."""

import pytest

import tapegrad as torch
from tapegrad.utils._python_dispatch import (
    TorchDispatchMode,
    _disable_current_modes,
    _get_current_dispatch_mode,
    _get_current_dispatch_mode_stack,
    is_in_torch_dispatch_mode,
)

aten = torch.ops.aten


class Log(TorchDispatchMode):
    """Notes calls."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        assert types == ()
        self.calls.append((func, args, kwargs or {}))
        return func(*args, **(kwargs or {}))

    @property
    def names(self):
        return [str(func) for func, _, _ in self.calls]


def test_a_mode_is_told_pytorchs_operators_with_pytorchs_arguments():
    x = torch.arange(6.0).reshape(2, 3)
    with Log() as log:
        x + 1
        torch.add(x, x, alpha=2)
        x.view(3, 2).t()
        x.sum(1, keepdim=True)
        torch.cat([x, x], 1)
        x.softmax(1)
        torch.nn.functional.linear(x, x, torch.zeros(2))
        torch.bmm(x[None], x.t()[None])
    found = [
        (str(func), *[a for a in args if not isinstance(a, torch.Tensor)], kwargs)
        for func, args, kwargs in log.calls
        if str(func) != "aten.cat.default"
    ]
    assert found == [
        ("aten.add.Tensor", 1, {}),
        ("aten.add.Tensor", {"alpha": 2}),
        ("aten.view.default", [3, 2], {}),
        ("aten.t.default", {}),
        ("aten.sum.dim_IntList", [1], True, {}),
        ("aten._softmax.default", 1, False, {}),
        ("aten.zeros.default", [2], {"device": torch.device("cpu"), "pin_memory": False}),
        ("aten.t.default", {}),
        ("aten.addmm.default", {}),
        ("aten.unsqueeze.default", 0, {}),
        ("aten.t.default", {}),
        ("aten.unsqueeze.default", 0, {}),
        ("aten.bmm.default", {}),
    ]


def test_the_backward_pass_reaches_a_mode_and_gives_the_same_gradients():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    x, y = torch.randn(5, 3), torch.tensor([0, 1, 0, 1, 1])
    torch.nn.functional.cross_entropy(net(x), y).backward()
    expected = [p.grad.clone() for p in net.parameters()]
    net.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(x), y)
    with Log() as log:
        loss.backward()
    for p, want in zip(net.parameters(), expected, strict=True):
        assert torch.allclose(p.grad, want)
    for name in ("nll_loss_backward", "_log_softmax_backward_data", "threshold_backward", "mm"):
        assert f"aten.{name}.default" in log.names
    assert log.names.count("aten.mm.default") == 3


def test_what_a_mode_gives_is_the_result_and_the_graph_stays():
    class Half(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            assert not result.requires_grad
            return result / 2 if func is aten.mul.Tensor else result

    x = torch.tensor([2.0, 3.0], requires_grad=True)
    with Half():
        y = x * x
    assert y.tolist() == [2.0, 4.5]
    assert type(y.grad_fn).__name__ == "MulBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [4.0, 6.0]


def test_other_arguments_reach_the_operator():
    class Other(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func is aten.sum.dim_IntList:
                return func(args[0], [0], args[2])
            if func is aten.add.Tensor:
                return func(args[0], args[1], alpha=3)
            return func(*args, **(kwargs or {}))

    with Other():
        x = torch.ones(2, 3)
        assert x.sum(1, keepdim=True).shape == (1, 3)
        y = x + x
    assert y.tolist() == [[4.0] * 3] * 2


def test_views_stay_views_in_a_mode():
    x = torch.zeros(2, 3, requires_grad=True)
    y = x * 1
    with Log():
        row = y[0]
        row.fill_(2.0)
    assert y.tolist() == [[2.0] * 3, [0.0] * 3]
    y.sum().backward()
    assert x.grad.tolist() == [[0.0] * 3, [1.0] * 3]


def test_modes_nest_and_the_inner_one_is_asked_first():
    order = []

    class Named(TorchDispatchMode):
        def __init__(self, name):
            super().__init__()
            self.name = name

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            order.append((self.name, _get_current_dispatch_mode()))
            return func(*args, **(kwargs or {}))

    outer, inner = Named("outer"), Named("inner")
    x = torch.ones(2)
    with outer, inner:
        assert _get_current_dispatch_mode_stack() == [outer, inner]
        x + x
        with _disable_current_modes() as off:
            x * x
        assert off == [outer, inner]
    assert order == [("inner", outer), ("outer", None)]
    assert _get_current_dispatch_mode() is None


def test_writes_reach_a_mode():
    x = torch.ones(3)
    with Log() as log:
        x.zero_()
        x.copy_(torch.ones(3))
        x += 1
    assert log.names == [
        "aten.zero_.default",
        "aten.ones.default",
        "aten.copy_.default",
        "aten.add.Tensor",
    ]
    assert x.tolist() == [2.0] * 3


def test_not_implemented_and_what_is_no_tensor_raise():
    class Refusing(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return NotImplemented if func is aten.exp.default else "no tensor"

    x = torch.ones(2)
    with Refusing():
        with pytest.raises(TypeError, match=r"Multiple dispatch failed for 'torch.ops.aten.exp"):
            x.exp()
        for call in (x.sin, lambda: torch.ones(2)):
            with pytest.raises(RuntimeError, match="Unable to cast no tensor to Tensor"):
                call()


def test_an_overload_knows_its_names():
    func = aten.add.Tensor
    assert str(func) == "aten.add.Tensor"
    assert (func.__name__, func.name()) == ("add.Tensor", "aten::add.Tensor")
    assert func.overloadpacket is aten.add
    assert (func._schema.name, func._schema.overload_name) == ("aten::add", "Tensor")
    assert func(torch.ones(1), torch.ones(1)).tolist() == [2.0]
    assert str(aten.threshold_backward.default) == "aten.threshold_backward.default"


def test_a_mode_that_counts_what_matrix_products_cost():
    """The example of a FLOP counter: two for each product and sum, forward and backward."""

    class Flops(TorchDispatchMode):
        total = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            if func.overloadpacket in (aten.mm, aten.addmm):
                a, b = args[-2:]
                self.total += 2 * a.shape[0] * a.shape[1] * b.shape[1]
            return result

    net = torch.nn.Linear(8, 4)
    x = torch.ones(16, 8)
    with Flops() as flops:
        net(x).sum().backward()
    assert flops.total == 2 * (2 * 16 * 8 * 4)


def shown(x):
    if isinstance(x, torch.Tensor):
        return "x" if x.is_floating_point() else "i"
    return [shown(each) for each in x] if isinstance(x, list | tuple) else x


X, N = torch.arange(12.0).reshape(3, 4), torch.tensor([[0], [1], [2]])


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: X[N[:, 0]], ("index.Tensor", "x", ["i"])),
        (lambda: X[:, N[:, 0]], ("index.Tensor", "x", [None, "i"])),
        (lambda: X[X > 1], ("index.Tensor", "x", ["i"])),
        (lambda: X[N, N], ("index.Tensor", "x", ["i", "i"])),
        (lambda: X.gather(1, N), ("gather.default", "x", 1, "i")),
        (lambda: X.index_select(0, N[:, 0]), ("index_select.default", "x", 0, "i")),
        (lambda: X.scatter(1, N, X), ("scatter.src", "x", 1, "i", "x")),
        (lambda: X.scatter(1, N, 2.0), ("scatter.value", "x", 1, "i", 2.0)),
        (lambda: X.scatter_add(1, N, X), ("scatter_add.default", "x", 1, "i", "x")),
        (lambda: X.index_add(0, N[:, 0], X), ("index_add.default", "x", 0, "i", "x")),
        (lambda: 2**X, ("pow.Scalar", 2, "x")),
        (lambda: X.var(1), ("var.correction", "x", [1], {"correction": 1})),
        (lambda: X.norm(), ("linalg_vector_norm.default", "x")),
        (lambda: X.topk(2), ("topk.default", "x", 2)),
        (lambda: X.all(), ("all.default", "x")),
        (lambda: X.any(1), ("any.dim", "x", 1)),
        (lambda: torch.nn.functional.gelu(X), ("gelu.default", "x")),
        (lambda: torch.nn.functional.mse_loss(X, X), ("mse_loss.default", "x", "x")),
        (
            lambda: torch.nn.functional.layer_norm(X, (4,)),
            ("native_layer_norm.default", "x", [4], None, None, 1e-05),
        ),
        (lambda: torch.fft.fft(X), ("_fft_r2c.default", "x", [1], 0, False)),
        (lambda: torch.linalg.svd(X), ("_linalg_svd.default", "x", True)),
        (lambda: X.unfold(1, 2, 1), ("unfold.default", "x", 1, 2, 1)),
        (lambda: X.clone().fill_(1.0), ("fill_.Scalar", "x", 1.0)),
        (lambda: X.clone().__setitem__(N[:, 0], X), ("index_put_.default", "x", ["i"], "x")),
    ],
)
def test_arguments_stand_as_in_pytorch(call, expected):
    with Log() as log:
        call()
    func, args, kwargs = log.calls[-1]
    found = (str(func).removeprefix("aten."), *map(shown, args), *([kwargs] if kwargs else []))
    assert found == expected


def test_an_operator_may_be_called_again_with_other_arguments_in_pytorchs_order():
    class Other(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func is aten.gather.default:
                return func(args[0], 0, args[2])
            if func is aten.var.correction:
                return func(args[0], [0], correction=0)
            if func is aten._fft_r2c.default:
                return func(args[0], args[1], 2, True)
            return func(*args, **(kwargs or {}))

    x = torch.tensor([[1.0, 2.0], [3.0, 6.0]], requires_grad=True)
    with Other():
        picked = x.gather(1, torch.tensor([[1, 0]]))
        assert x.var(1).tolist() == [1.0, 4.0]
        assert torch.fft.fft(x).tolist() == [[1.5, -0.5], [4.5, -1.5]]
    assert picked.tolist() == [[3.0, 2.0]]


def test_a_handler_of_a_mode_that_does_not_get_it_is_refused():
    class Mode(TorchDispatchMode):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    with pytest.raises(RuntimeError, match="`__torch_dispatch__` as a classmethod is not supp"):
        with Mode():
            torch.ones(1) + 1


class Numbered(TorchDispatchMode):
    def __init__(self, number, heard):
        super().__init__()
        self.number, self.heard = number, heard

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.heard.append((self.number, str(func)))
        return NotImplemented if types else func(*args, **(kwargs or {}))


def test_the_innermost_mode_hears_first_of_a_tensor_that_is_made():
    heard = []
    with Numbered(1, heard), Numbered(2, heard):
        assert torch.ones(2).tolist() == [1, 1]
    assert heard[:2] == [(2, "aten.ones.default"), (1, "aten.ones.default")]


def test_what_a_mode_does_not_know_goes_to_the_class():
    class Wraps(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            heard.append(("class", str(func)))
            return func(args[0].elem)

    heard = []
    x = torch.Tensor._make_wrapper_subclass(Wraps, (2,))
    x.elem = torch.ones(2)
    with Numbered(1, heard), Numbered(2, heard):
        y = x.abs()
    assert type(y) is torch.Tensor and y.tolist() == [1, 1]
    assert [number for number, _ in heard] == [2, "class", 2, 1]


def test_modes_of_libraries_are_told_apart():
    class Infra(Log):
        @classmethod
        def is_infra_mode(cls):
            return True

    with Infra():
        assert is_in_torch_dispatch_mode() and not is_in_torch_dispatch_mode(False)
        with Log():
            assert is_in_torch_dispatch_mode(include_infra_modes=False)
