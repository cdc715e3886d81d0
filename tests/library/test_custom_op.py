"""`torch.library.custom_op`: Python functions as operators."""

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.library import registry
from tapegrad.utils._python_dispatch import TorchDispatchMode
from tests.messages import raises_beginning as raises


@pytest.fixture(autouse=True)
def no_operator_stays():
    before = dict(registry.PACKETS)
    yield
    for name in registry.PACKETS.keys() - before.keys():
        for overload in list(registry.PACKETS[name]._overloads.values()):
            registry.forget(overload)


@pytest.fixture
def sine():
    @torch.library.custom_op("testing::sine", mutates_args=())
    def sine(x: torch.Tensor, by: float = 1.0, *, up: bool = True) -> torch.Tensor:
        return torch.from_numpy(np.sin(x.numpy()) * np.float32(by))

    return sine


def formula(sine):
    def setup_context(ctx, inputs, keyword_only_inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.seen = (inputs[1:], keyword_only_inputs)

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        assert ctx.seen == ((2.0,), {"up": True})
        assert ctx.needs_input_grad == (True, False)
        return g * 2 * x.cos(), None

    sine.register_autograd(backward, setup_context=setup_context)


def test_names_and_signature(sine):
    assert repr(sine) == "<CustomOpDef(testing::sine)>"
    assert repr(torch.ops.testing.sine) == "<OpOverloadPacket(op='testing.sine')>"
    assert torch.ops.testing.sine.default is sine._opoverload
    signature = "testing::sine(Tensor x, float by=1., *, bool up=True) -> Tensor"
    assert str(torch.ops.testing.sine.default._schema) == signature
    assert repr(torch.ops.testing) == "<module 'torch.ops.testing' from 'torch.ops'>"
    assert dir(torch.ops.testing) == ["sine"]


def test_a_call_computes_and_is_one_node(sine):
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    y = torch.ops.testing.sine(x, 2)
    assert y.tolist() == pytest.approx([0, 2 * np.sin(1)])
    assert y.grad_fn.name() == "GeneratedBackwardFor_testing_sine_defaultBackward"
    with raises(RuntimeError, "Trying to backward through testing.sine.default but no"):
        y.sum().backward()


def test_its_derivative_is_the_formula(sine):
    formula(sine)
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    sine(x, 2.0).sum().backward()
    assert x.grad.tolist() == pytest.approx([2, 2 * np.cos(1)])


def test_lists_of_tensors_have_lists_of_gradients():
    @torch.library.custom_op("testing::twice", mutates_args=())
    def twice(xs: list[torch.Tensor], n: list[int]) -> list[torch.Tensor]:
        return [2 * x for x in xs]

    def backward(ctx, grads):
        assert ctx.needs_input_grad == ([True, False], False)
        return [2 * g for g in grads], None

    twice.register_autograd(backward)
    x = torch.ones(2, requires_grad=True)
    found = twice([x, torch.ones(2)], [1])
    assert type(found) is list and len(found) == 2
    (found[0] + found[1]).sum().backward()
    assert x.grad.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("gradients", "message"),
    [
        (lambda g: ([g, g], g), "Expected the return from backward to be of the same structure"),
        (lambda g: (g, g), "Expected the return from backward to be of the same structure"),
        (lambda g: g, "Expected the return from backward to be of the same structure"),
    ],
)
def test_gradients_have_the_structure_of_the_arguments(gradients, message):
    @torch.library.custom_op("testing::product", mutates_args=())
    def product(xs: list[torch.Tensor], y: torch.Tensor) -> torch.Tensor:
        return xs[0] * y

    product.register_autograd(lambda ctx, g: gradients(g))
    x = torch.ones(2, requires_grad=True)
    with raises(RuntimeError, message):
        product([x], x).sum().backward()


def test_too_few_gradients_are_an_error():
    @torch.library.custom_op("testing::product", mutates_args=())
    def product(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x * y

    product.register_autograd(lambda ctx, g: g)
    x = torch.ones(2, requires_grad=True)
    with raises(RuntimeError, "function GeneratedBackwardFor_testing_product_defaultBackward "):
        product(x, x).sum().backward()


def test_gradient_and_batch_by_transforms(sine):
    sine.register_autograd(
        lambda ctx, g: g * ctx.saved_tensors[0].cos(),
        setup_context=lambda ctx, inputs, keyword_only_inputs, output: ctx.save_for_backward(
            inputs[0]
        ),
    )
    x = torch.tensor([[0.0, 1.0], [2.0, 3.0]])
    assert torch.vmap(sine)(x).tolist() == sine(x).tolist()
    slope = torch.vmap(torch.func.grad(lambda row: sine(row).sum()))(x)
    torch.testing.assert_close(slope, x.cos())


def test_a_rule_for_batches_is_asked(sine):
    asked = []

    @sine.register_vmap
    def rule(info, in_dims, x, by=1.0, *, up=True):
        asked.append((info.batch_size, info.randomness, in_dims))
        return sine(x, by), in_dims[0]

    assert torch.vmap(sine)(torch.zeros(3, 2)).shape == (3, 2)
    assert asked == [(3, "error", (0,))]


def test_on_the_meta_device_the_fake_kernel_answers(sine):
    with raises(RuntimeError, "There was no fake impl registered for <CustomOpDef(testing::sine)>"):
        sine(torch.ones(2, device="meta"))
    sine.register_fake(lambda x, by=1.0, *, up=True: x.new_empty(x.shape))
    assert sine(torch.ones(2, device="meta")).shape == (2,)


def test_a_fake_kernel_has_no_sizes_that_depend_on_data():
    @torch.library.custom_op("testing::nonzero", mutates_args=())
    def nonzero(x: torch.Tensor) -> torch.Tensor:
        return x.nonzero()

    @nonzero.register_fake
    def _(x):
        return x.new_empty(torch.library.get_ctx().new_dynamic_size(), 1)

    with raises(RuntimeError, "testing::nonzero: You're trying to run this operator with meta"):
        nonzero(torch.ones(2, device="meta"))
    assert torch.library.get_ctx() is None


def test_a_result_that_is_an_argument_is_an_error():
    @torch.library.custom_op("testing::same", mutates_args=())
    def same(x: torch.Tensor) -> torch.Tensor:
        return x

    with raises(RuntimeError, "same (with implementation in <module 'tests.library.test_"):
        same(torch.ones(2))


def test_what_is_written_is_counted_and_has_no_formula():
    @torch.library.custom_op("testing::add_one", mutates_args={"x"})
    def add_one(x: torch.Tensor) -> None:
        x.add_(1)

    assert str(add_one._opoverload._schema) == "testing::add_one(Tensor(a0!) x) -> ()"
    x = torch.ones(2, requires_grad=True)
    assert add_one(x) is None
    assert (x.tolist(), x._version) == ([2, 2], 2)
    with raises(RuntimeError, "Cannot register autograd formula for non-functional operator"):
        add_one.register_autograd(lambda ctx, g: g)


def test_arguments_are_brought_to_their_types():
    seen = []

    @torch.library.custom_op("testing::takes", mutates_args=())
    def takes(x: torch.Tensor, i: int, f: float, b: bool, n: list[int]) -> torch.Tensor:
        seen.append((i, f, b, n))
        return x.clone()

    takes(torch.ones(1), torch.tensor(1), 2, None, (3,))
    assert repr(seen) == "[(1, 2.0, False, [3])]"


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, "testing::sine() is missing value for argument 'x'. Declaration: testing::sine("),
        ((1,), {}, "testing::sine() Expected a value of type 'Tensor' for argument 'x' but"),
        ((0, 1.0, True), {}, "testing::sine() takes 2 positional argument(s) but 3 was/were given"),
        ((0,), {"down": 1}, "Unknown keyword argument 'down' for operator 'testing::sine'. Schema"),
        ((0, "a"), {}, "testing::sine() Expected a value of type 'float' for argument 'by' but"),
        ((0, 1, 1, 1), {}, "testing::sine() expected at most 3 argument(s) but received 4"),
    ],
)
def test_calls_that_do_not_fit_are_errors(sine, args, kwargs, message):
    args = tuple(torch.ones(1) if each == 0 and each is not False else each for each in args)
    with raises(RuntimeError, message):
        sine(*args, **kwargs)


def test_a_dispatch_mode_is_handed_the_operator(sine):
    formula(sine)
    seen = []

    class Log(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    x = torch.ones(1, requires_grad=True)
    with Log():
        y = sine(x, 2.0)
    assert seen == [torch.ops.testing.sine.default]
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx([2 * np.cos(1)])


def test_a_mode_may_have_a_rule_of_its_own(sine):
    class Quiet(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    @sine.register_torch_dispatch(Quiet)
    def rule(mode, func, types, args, kwargs):
        return args[0] * 7

    with Quiet():
        y = sine(torch.ones(1))
    assert y.tolist() == [7]


def test_autocast_casts(sine):
    seen = []

    @torch.library.custom_op("testing::half", mutates_args=())
    def half(x: torch.Tensor) -> torch.Tensor:
        seen.append((x.dtype, torch.is_autocast_enabled("cpu")))
        return x.clone()

    half.register_autocast("cpu", torch.float16)
    with torch.autocast("cpu", dtype=torch.float16):
        assert half(torch.ones(1)).dtype == torch.float16
    assert seen == [(torch.float16, False)]
    with raises(ValueError, "Unknown device type: toaster"):
        half.register_autocast("toaster", torch.float16)


def test_kernels_of_devices():
    @torch.library.custom_op("testing::far", mutates_args=(), device_types="cuda")
    def far(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    with raises(NotImplementedError, "Could not run 'testing::far' with arguments from the 'CPU'"):
        far(torch.ones(1))
    far.register_kernel("cpu")(lambda x: 3 * x)
    assert far(torch.ones(1)).tolist() == [3]
    with far.set_kernel_enabled("cpu", False):
        assert far(torch.ones(1)).tolist() == [1]


def test_subclasses_are_asked(sine):
    asked = []

    class Mine(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            asked.append(func)
            return super().__torch_function__(func, types, args, kwargs or {})

    sine(torch.ones(1).as_subclass(Mine))
    torch.ops.testing.sine(torch.ones(1).as_subclass(Mine))
    assert asked == [torch.ops.testing.sine.default, torch.ops.testing.sine]


def test_without_a_gradient_nothing_is_set_up(sine):
    seen = []
    sine.register_autograd(
        lambda ctx, g: (g, None),
        setup_context=lambda ctx, inputs, keyword_only_inputs, output: seen.append(inputs),
    )
    x = torch.ones(1, requires_grad=True)
    with torch.no_grad():
        sine(x)
    sine(x.detach())
    assert seen == []
    assert sine(x).requires_grad and len(seen) == 1


def test_written_lists_may_have_gaps():
    @torch.library.custom_op("testing::fill", mutates_args={"x", "xs"})
    def fill(x: torch.Tensor | None, xs: list[torch.Tensor | None]) -> None:
        xs[1].fill_(2.0)

    a, b = torch.ones(1), torch.ones(1)
    fill(a, [None, b])
    fill(None, [None, b])
    assert a._version == 1 and b._version == 4 and b.tolist() == [2]


def test_tensors_by_keyword_only_are_refused():
    with raises(NotImplementedError, "custom_op with kwarg-only Tensor args. Please make your"):

        @torch.library.custom_op("testing::apart", mutates_args=())
        def apart(x: torch.Tensor, *, y: torch.Tensor) -> torch.Tensor:
            return x + y


def test_an_operator_without_tensors_has_the_kernels_of_its_devices():
    @torch.library.custom_op("testing::made", mutates_args=(), device_types="cpu")
    def made(device: torch.device) -> torch.Tensor:
        return torch.zeros(2, device=device)

    assert made(torch.device("cpu")).shape == (2,)
    with raises(RuntimeError, "made does not have a kernel registered for cuda. Please use"):
        made(torch.device("cuda"))


def test_switching_kernels_that_are_so_already_is_logged(sine, caplog):
    with sine.set_kernel_enabled("cpu", False):
        pass
    sine.register_kernel("cpu")(lambda x, by, up: x)
    with sine.set_kernel_enabled("cpu"), sine.set_kernel_enabled("cpu", False):
        with sine.set_kernel_enabled("cpu", False):
            pass
    assert [record.getMessage() for record in caplog.records] == [
        "Attempted to disable kernel for cpu but no kernel was registered for this device type.",
        "Attempted to enable kernel for  cpu but it was already enabled.",
        "Attempted to disable kernel for cpu but it was already disabled.",
    ]
