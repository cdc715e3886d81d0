"""Saved-tensor hooks: what they see, when they run, what is kept."""

import gc
import weakref

import pytest

import tapegrad as torch
from tests.messages import raises, raises_beginning

graph = torch.autograd.graph


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


class Log:
    """Hooks that note what they are given and hand it on."""

    def __init__(self, pack=lambda x: x, unpack=lambda x: x):
        self.seen = []
        self._pack, self._unpack = pack, unpack

    def pack(self, x):
        self.seen.append(("pack", x))
        return self._pack(x)

    def unpack(self, x):
        self.seen.append(("unpack", x))
        return self._unpack(x)

    def hooks(self):
        return graph.saved_tensors_hooks(self.pack, self.unpack)

    @property
    def order(self):
        return "".join(what[0] for what, _ in self.seen)


def test_the_pack_hook_gets_the_very_operands():
    x, z, log = leaf(1.0, 2.0), leaf(3.0, 4.0), Log()
    with log.hooks():
        y = x * z
    assert [x is z for _, x in log.seen] == [True, False] and log.seen[1][1] is x
    y.sum().backward()
    assert log.order == "ppuu"
    assert x.grad.tolist() == [3.0, 4.0] and z.grad.tolist() == [1.0, 2.0]


def test_the_pack_hook_gets_a_result_with_its_node():
    x, names = leaf(1.0, 2.0), []
    with graph.saved_tensors_hooks(lambda t: names.append(t.grad_fn.name()), lambda _: None):
        x.clone().exp()
        x.sigmoid()
    assert names == ["ExpBackward0", "SigmoidBackward0"]


@pytest.mark.parametrize(
    ("compute", "shapes"),
    [
        (lambda x, z: x[torch.tensor([0, 1])], [(2,)]),
        (lambda x, z: torch.cat([x, z]), []),
        (lambda x, z: x.view(3, 1) * 2.0, []),
        (lambda x, z: x * torch.tensor(3.0), [()]),
        (lambda x, z: torch.max(torch.stack([x, z]), 0), [(3,)]),
        (lambda x, z: torch.where(x > 0, x, z), [(3,)]),
        (lambda x, z: x.clone().mul_(z), [(3,), (3,)]),
        (lambda x, z: x.clone()[:2].mul_(z[:2]), [(2,), (2,)]),
        (lambda x, z: x.clone().exp_(), [(3,)]),
        (lambda x, z: torch.nn.functional.linear(x, torch.ones(2, 3)), [(3, 2)]),
    ],
)
def test_every_tensor_that_is_kept_is_packed(compute, shapes):
    """As many tensors as PyTorch packs, of the same shapes; numbers are not packed."""
    x, z, log = leaf(1.0, 2.0, 3.0), leaf(4.0, 5.0, 6.0), Log()
    with log.hooks():
        compute(x, z)
    assert [x.shape for _, x in log.seen] == [torch.Size(shape) for shape in shapes]


def test_nothing_is_packed_where_nothing_is_recorded():
    x, log = leaf(1.0), Log()
    with log.hooks():
        torch.ones(2) * torch.ones(2)
        with torch.no_grad():
            x * x
        with torch.inference_mode():
            x.exp()
    assert log.seen == []


def test_hooks_run_without_recording_in_the_forward_pass():
    x, modes = leaf(1.0), []

    def note(t):
        modes.append(torch.is_grad_enabled())
        return t

    with graph.saved_tensors_hooks(note, note):
        y = x * x
    y.sum().backward(retain_graph=True)
    assert modes == [False] * 4
    torch.autograd.grad(y.sum(), x, create_graph=True)
    assert modes == [False] * 4 + [True] * 2


def test_a_tensor_is_unpacked_each_time_it_is_used():
    x, log = leaf(1.0, 2.0), Log()
    with log.hooks():
        y = x.exp()
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert log.order == "puu"
    with raises_beginning(RuntimeError, "Trying to backward through the graph a second time"):
        y.sum().backward()


def test_of_nested_hooks_the_innermost_count():
    x, outer, inner = leaf(1.0, 2.0), Log(), Log()
    with outer.hooks():
        with inner.hooks():
            y = x * x
        z = x.exp()
    (y + z).sum().backward()
    assert outer.order == "pu" and inner.order == "ppuu"


def test_second_derivatives_pass_what_was_packed():
    x = leaf(0.5, 2.0)
    with graph.saved_tensors_hooks(lambda t: t.detach().numpy().copy(), torch.from_numpy):
        y = (x.clone().sigmoid() * x**3).sum()
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        (h,) = torch.autograd.grad(g.sum(), x)
    y = (x.clone().sigmoid() * x**3).sum()
    (g1,) = torch.autograd.grad(y, x, create_graph=True)
    assert torch.equal(g, g1) and torch.equal(h, torch.autograd.grad(g1.sum(), x)[0])


def test_hooks_of_the_backward_pass_pack_what_it_records():
    x, log = leaf(0.5, 2.0), Log()
    y = (x**3).sum()
    with log.hooks():
        torch.autograd.grad(y, x, create_graph=True)
    assert log.order and set(log.order) == {"p"}


def test_only_what_was_packed_is_kept():
    x = leaf(*[1.0] * 64)
    with graph.saved_tensors_hooks(lambda t: t.sum(), lambda s: s.expand(64) / 64):
        y = x * 2
        kept = weakref.ref(y._array)
        z = y * y
        del y
    gc.collect()
    assert kept() is None
    z.sum().backward()
    assert x.grad.tolist() == [8.0] * 64


def test_what_is_packed_is_freed_by_the_backward_pass():
    class Box:
        def __init__(self, x):
            self.x = x.detach()

    x, boxes = leaf(1.0), []

    def pack(t):
        box = Box(t)
        boxes.append(weakref.ref(box))
        return box

    with graph.saved_tensors_hooks(pack, lambda box: box.x):
        y = x * x
    assert all(box() is not None for box in boxes)
    y.backward()
    assert all(box() is None for box in boxes)


def test_packed_values_are_not_watched_for_writes():
    x = leaf(1.0, 2.0)
    with Log().hooks():
        y = x.clone()
        z = y.pow(2)
    with torch.no_grad():
        y.zero_()
    assert torch.autograd.grad(z.sum(), x)[0].tolist() == [0.0, 0.0]


def test_an_operator_in_place_packs_its_operand_as_it_was():
    for write in (lambda y, z: y.mul_(z), lambda y, z: y[:].mul_(z), lambda y, z: y.pow_(3)):
        x, z = leaf(2.0, 3.0), leaf(5.0, 7.0)
        write(y := x.clone(), z)
        want = torch.autograd.grad(y.sum(), (x, z), allow_unused=True)
        with Log().hooks():
            write(y := x.clone(), z)
        found = torch.autograd.grad(y.sum(), (x, z), allow_unused=True)
        assert [g is None or g.tolist() for g in found] == [g is None or g.tolist() for g in want]


def test_a_pack_hook_may_not_write():
    x = leaf(1.0)
    with raises_beginning(RuntimeError, "A saved tensor pack hook is modifying its input"):
        with Log(pack=lambda t: t.mul_(2)).hooks():
            x.clone().pow(2)


def test_an_unpack_hook_returns_a_tensor():
    x = leaf(1.0)
    with Log(unpack=lambda t: 3).hooks():
        y = x.pow(2)
    message = (
        "Output of saved tensor unpack_hook expected to be a Tensor but got result of type int"
    )
    with raises(TypeError, message):
        y.backward()


def test_errors_of_hooks_pass():
    x = leaf(1.0)
    with pytest.raises(ZeroDivisionError), Log(pack=lambda t: 1 / 0).hooks():
        x.pow(2)
    with Log(unpack=lambda t: 1 / 0).hooks():
        y = x.pow(2)
    with pytest.raises(ZeroDivisionError):
        y.backward()
    assert not Log().seen and torch.is_grad_enabled()


def test_what_is_unpacked_gets_the_dtype_it_had():
    x = leaf(1.5, 2.0)
    with graph.saved_tensors_hooks(lambda t: t.double(), lambda t: t):
        y = x.pow(2)
    (g,) = torch.autograd.grad(y.sum(), x)
    assert g.dtype is torch.float32 and g.tolist() == [3.0, 4.0]


def test_hooks_are_functions():
    with raises_beginning(TypeError, "_push_saved_tensors_default_hooks(): incompatible"):
        with graph.saved_tensors_hooks(1, 2):
            pass


def test_hooks_go_with_forward_mode_and_a_profiler():
    x, t, log = leaf(0.5, 2.0), torch.ones(2), Log()
    with log.hooks(), torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, t)
        tangent = torch.autograd.forward_ad.unpack_dual(dual.exp() * dual).tangent
        with torch.autograd.profiler.profile():
            dual.sin()
    (g,) = torch.autograd.grad(tangent.sum(), x)
    assert torch.allclose(g, (2 + x) * x.exp())
    assert log.order.count("p") > 4 and log.order.count("u") > 2


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        y = a * b
        ctx.save_for_backward(a, b, y, None)
        return y

    @staticmethod
    def backward(ctx, g):
        a, b, y, _ = ctx.saved_tensors
        assert y.grad_fn is not None
        return g * b, g * a


def test_what_a_custom_function_saves_is_packed():
    x, z, log = leaf(1.0, 2.0), leaf(3.0, 4.0), Log(pack=lambda t: t.detach().clone())
    with log.hooks():
        y = Product.apply(x.clone(), z)
    assert log.order == "ppp" and log.seen[1][1] is z and log.seen[2][1].grad_fn is y.grad_fn
    (g,) = torch.autograd.grad(y.sum(), z, create_graph=True)
    assert torch.autograd.grad((g * g).sum(), x)[0].tolist() == [2.0, 4.0]
    assert log.order.count("u") == 3


def test_one_tensor_that_a_custom_function_saved_is_packed():
    x, z = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = Product.apply(x, z)
    y.grad_fn._raw_saved_tensors[1].register_hooks(lambda t: t.numpy() * 10, torch.from_numpy)
    assert torch.autograd.grad(y.sum(), (x, z))[0].tolist() == [30.0, 40.0]


# --- forbidding them, keeping on the CPU ---


def test_hooks_can_be_forbidden():
    x = leaf(1.0)
    with graph.disable_saved_tensors_hooks("not here"):
        x * x
        with graph.disable_saved_tensors_hooks("nor here"):
            with raises(RuntimeError, "nor here"), Log().hooks():
                pass
        with raises(RuntimeError, "not here"), Log().hooks():
            pass
    with Log().hooks(), raises(RuntimeError, "too late"):
        with graph.disable_saved_tensors_hooks("too late"):
            pass
    with Log().hooks():
        x * x


def test_forbidding_decorates():
    @graph.disable_saved_tensors_hooks("not in here")
    def f():
        with Log().hooks():
            pass

    with raises(RuntimeError, "not in here"):
        f()


def test_save_on_cpu_keeps_what_is_there_and_watches_it():
    x = leaf(1.0, 2.0)
    with graph.save_on_cpu(pin_memory=True):
        y = x.clone()
        z = y * y
    assert z.grad_fn._saved_self.tolist() == [1.0, 2.0]
    y.add_(1)
    with raises_beginning(RuntimeError, "one of the variables needed for gradient computation"):
        z.sum().backward()


# --- what a node saved ---


def test_a_node_shows_what_it_kept():
    x, z = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = x * z
    assert y.grad_fn._saved_self is x and y.grad_fn._saved_other is z
    assert x.pow(2).grad_fn._saved_exponent == 2
    assert x.exp().grad_fn._saved_result.grad_fn.name() == "ExpBackward0"
    assert x.softmax(0).grad_fn._saved_dim == 0
    with pytest.raises(AttributeError, match="'TBackward0' object has no attribute '_saved_self'"):
        x.t().grad_fn._saved_self  # noqa: B018  (a property)
    with pytest.raises(AttributeError, match="has no attribute '_raw_saved_exponent'"):
        x.pow(2).grad_fn._raw_saved_exponent  # noqa: B018  (a property)


def test_one_kept_tensor_is_packed_by_hooks_of_its_own():
    x, log = leaf(1.0, 2.0), Log(pack=lambda t: t.clone())
    y = x.clone()
    z = y * y
    raw = z.grad_fn._raw_saved_self
    raw.register_hooks(log.pack, log.unpack)
    assert log.order == "p" and raw.unpack_hook == log.unpack
    again = "Calling register_hooks on a saved tensor whose hooks have already been set."
    with raises_beginning(RuntimeError, again):
        raw.register_hooks(log.pack, log.unpack)
    z.sum().backward(retain_graph=True)
    assert log.order == "pu" and x.grad.tolist() == [2.0, 4.0]
    with torch.no_grad():
        y.zero_()
    with raises_beginning(RuntimeError, "one of the variables needed for gradient computation"):
        z.sum().backward()  # the other factor is kept as it was, and watched


def test_a_freed_tensor_takes_no_hooks():
    y = leaf(1.0).pow(2)
    raw = y.grad_fn._raw_saved_self
    y.backward()
    with raises_beginning(RuntimeError, "Calling register_hooks on a saved tensor after it"):
        raw.register_hooks(lambda t: t, lambda t: t)


def test_operands_that_are_kept_together_are_packed_one_by_one():
    torch.manual_seed(0)
    layer, x, log = torch.nn.GRU(3, 4), torch.rand(5, 2, 3, requires_grad=True), Log()
    expected = torch.autograd.grad(layer(x)[0].sum(), x)[0]
    with log.hooks():
        y = layer(x)[0]
    (g,) = torch.autograd.grad(y.sum(), x)
    assert torch.equal(g, expected)
    assert log.order.count("p") == log.order.count("u") > 4


def test_inside_vmap_hooks_get_the_whole_batch():
    x = torch.arange(6.0).reshape(3, 2).requires_grad_()
    seen = []

    def pack(t):
        seen.append(tuple(t.shape))
        return t.detach().numpy().copy()

    with graph.saved_tensors_hooks(pack, torch.from_numpy):
        y = torch.vmap(torch.vmap(lambda a: a * a.exp()))(x)
    y.sum().backward()
    assert seen == [(3, 2)] * 3
    assert torch.allclose(x.grad, x.detach().exp() * (1 + x.detach()))


def test_a_custom_function_gets_what_the_hook_gave_for_a_tensor_without_history():
    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(y)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            found.extend(ctx.saved_tensors)
            return g, None

    y, found = torch.tensor([1.0]), []
    for unpack in (lambda y: y, lambda y: y.double(), lambda y: y.clone().requires_grad_()):
        with graph.saved_tensors_hooks(lambda y: y, unpack):
            Keep.apply(leaf(1.0), y).backward()
    assert found[0] is y
    assert found[1].dtype is torch.float64
    assert not found[2].requires_grad
