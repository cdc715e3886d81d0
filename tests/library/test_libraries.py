"""`torch.library.Library`, `define` and `impl`: signatures first, kernels later."""

import warnings

import pytest

import tapegrad as torch
from tapegrad.compat.torch._C import _AutoDispatchBelowAutograd
from tests.messages import raises_beginning as raises


@pytest.fixture
def library():
    library = torch.library.Library("bench", "DEF")
    yield library
    library._destroy()


def test_a_library_goes_with_all_that_it_defined():
    library = torch.library.Library("bench", "DEF")
    assert library.define("plus(Tensor x) -> Tensor") == "plus"
    library.impl("plus", lambda x: x + 1, "CPU")
    assert torch.ops.bench.plus(torch.zeros(1)).tolist() == [1]
    library._destroy()
    with raises(AttributeError, "'_OpNamespace' 'bench' object has no attribute 'plus'"):
        torch.ops.bench.plus  # noqa: B018
    torch.library.Library("bench", "DEF")._destroy()


def test_overloads_are_found_by_their_arguments(library):
    library.define("scale(Tensor x) -> Tensor")
    library.define("scale.by(Tensor x, int n) -> Tensor")
    library.impl("scale", lambda x: 2 * x, "CPU")
    library.impl("scale.by", lambda x, n: n * x, "CPU")
    assert torch.ops.bench.scale.overloads() == ["default", "by"]
    assert torch.ops.bench.scale(torch.ones(1)).tolist() == [2]
    assert torch.ops.bench.scale(torch.ones(1), 3).tolist() == [3]
    assert torch.ops.bench.scale.by(torch.ones(1), n=5).tolist() == [5]
    assert torch.ops.bench.scale.by.name() == "bench::scale.by"


def test_without_a_formula_the_way_back_warns(library):
    library.define("double(Tensor x) -> Tensor")
    library.impl("double", lambda x: 2 * x, "CPU")
    library.define("through_numpy(Tensor x) -> Tensor")
    library.impl("through_numpy", lambda x: torch.from_numpy(x.detach().numpy() * 2), "CPU")
    x = torch.ones(1, requires_grad=True)
    y = torch.ops.bench.double(x)
    with pytest.warns(UserWarning, match="bench::double: an autograd kernel was not registered"):
        y.backward()
    assert x.grad.tolist() == [2]
    y = torch.ops.bench.through_numpy(x)
    assert y.requires_grad and type(y.grad_fn).__name__ == "WarnNotImplemented"
    with pytest.warns(UserWarning, match="bench::through_numpy: an autograd kernel was not"):
        y.backward()
    assert x.grad.tolist() == [2]


def test_composites_have_the_gradients_of_what_they_are_made_of(library):
    library.define("both(Tensor x) -> (Tensor, Tensor)")
    library.impl("both", lambda x: (2 * x, 3 * x), "CompositeImplicitAutograd")
    x = torch.ones(1, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        a, b = torch.ops.bench.both(x)
        (a + b).backward()
    assert x.grad.tolist() == [5]
    assert torch.ops.bench.both(torch.ones(2, device="meta"))[0].shape == (2,)


def test_a_kernel_for_autograd_calls_the_one_below(library):
    library.define("seven(Tensor x) -> Tensor")
    library.impl("seven", lambda x: x * 2, "CPU")

    class Seven(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with _AutoDispatchBelowAutograd():
                return torch.ops.bench.seven(x)

        @staticmethod
        def backward(ctx, g):
            return g * 7

    library.impl("seven", Seven.apply, "Autograd")
    x = torch.ones(1, requires_grad=True)
    y = torch.ops.bench.seven(x)
    y.backward()
    assert (y.tolist(), x.grad.tolist()) == ([2], [7])


def test_kernels_get_no_defaults(library):
    seen = []
    library.define("options(Tensor x, int[2] k=1, *, str how='up') -> Tensor")
    library.impl(
        "options", lambda *args, **kwargs: seen.append((args[1:], kwargs)) or args[0], "CPU"
    )
    torch.ops.bench.options(torch.ones(1), 1, how="up")
    torch.ops.bench.options(torch.ones(1), 2, how="down")
    assert seen == [((), {}), (([2, 2],), {"how": "down"})]


def test_define_impl_and_register():
    library = torch.library.Library("bench", "FRAGMENT")
    torch.library.define("bench::pair", "(Tensor x) -> (Tensor, Tensor)", lib=library)

    @torch.library.impl("bench::pair", "cpu", lib=library)
    def _(x):
        return x * 1, x * 2

    torch.library.register_fake("bench::pair")(lambda x: (torch.empty_like(x),) * 2)
    torch.library.register_autograd("bench::pair", lambda ctx, a, b: a + 2 * b)
    x = torch.ones(1, requires_grad=True)
    a, b = torch.ops.bench.pair(x)
    (a + b).backward()
    assert x.grad.tolist() == [3]
    assert torch.ops.bench.pair(torch.ones(3, device="meta"))[1].shape == (3,)
    assert torch.library.get_kernel("bench::pair", "CPU")(torch.ones(1))[1].tolist() == [2]
    library._destroy()


def test_what_cannot_be_registered_is_an_error(library):
    library.define("plus(Tensor x) -> Tensor")
    with raises(
        RuntimeError, "Tried to register an operator (bench::plus(Tensor x) -> Tensor) with"
    ):
        library.define("plus(Tensor x) -> Tensor")
    with raises(RuntimeError, "could not parse dispatch key: Toaster"):
        library.impl("plus", lambda x: x, "Toaster")
    with raises(RuntimeError, "Only a single TORCH_LIBRARY can be used to register the namespace"):
        torch.library.Library("bench", "DEF")
    with raises(RuntimeError, "Only a single TORCH_LIBRARY can be used to register the namespace"):
        torch.library.Library("aten", "DEF")
    with raises(ValueError, "Unsupported kind: TOASTER"):
        torch.library.Library("bench", "TOASTER")
    with raises(RuntimeError, 'def("f"): Cannot define an operator inside of a TORCH_LIBRARY_IMPL'):
        torch.library.Library("bench", "IMPL").define("f(Tensor x) -> Tensor")
    with raises(RuntimeError, "operator bench::minus does not exist"):
        torch.library.register_fake("bench::minus")(lambda x: x)
    with raises(
        ValueError, 'Expected `qualname` to be of the form "namespace::name", but got plus'
    ):
        torch.library.register_fake("plus")(lambda x: x)
    with raises(NotImplementedError, "torch.library cannot change the operator aten::add of"):
        torch.library.impl("aten::add", "cpu", lambda x: x)
    with raises(NotImplementedError, "Could not run 'bench::plus' with arguments from the 'CPU'"):
        torch.ops.bench.plus(torch.ones(1))
    with raises(NotImplementedError, "bench::plus: attempted to run this operator with Meta"):
        torch.ops.bench.plus(torch.ones(1, device="meta"))


def test_compiled_libraries_are_refused():
    with raises(OSError, "Could not load this library: mine.so"):
        torch.ops.load_library("mine.so")


def test_triton_is_not_there():
    with raises(RuntimeError, "wrap_triton only works with functions annotated with triton.jit"):
        torch.library.wrap_triton(len)


def test_sort_has_pytorchs_overload_for_stable_sorting():
    x = torch.tensor([2.0, 1.0, 1.0])
    values, indices = torch.ops.aten.sort.stable(x, stable=True)
    assert values.tolist() == [1.0, 1.0, 2.0] and indices.tolist() == [1, 2, 0]


def test_a_signature_may_name_the_namespace_of_its_library(library):
    name = f"{library.ns}::spelled"
    library.define(f"{name}(Tensor x) -> Tensor", tags=[torch.Tag.pointwise])
    operator = getattr(torch.ops, library.ns).spelled.default
    assert operator.name() == name
    assert operator.tags == [torch.Tag.pointwise]
    with pytest.raises(RuntimeError, match=r"Explicitly provided namespace \(other\)"):
        library.define("other::spelled(Tensor x) -> Tensor")


def test_a_tensor_has_no_number_as_default(library):
    with pytest.raises(RuntimeError, match="expected None but found 'number' here"):
        library.define("number(Tensor x=3) -> Tensor")


def test_a_kernel_may_come_before_the_definition(library):
    more = torch.library.Library("bench", "IMPL")
    more.impl("late", lambda x: x + 1, "CPU")
    torch.library.impl("bench::late.other", "cpu", lambda x: x + 2, lib=more)
    assert not hasattr(torch.ops.bench, "late")
    library.define("late(Tensor x) -> Tensor")
    library.define("late.other(Tensor x) -> Tensor")
    assert torch.ops.bench.late(torch.zeros(1)).tolist() == [1]
    assert torch.ops.bench.late.other(torch.zeros(1)).tolist() == [2]
    more._destroy()
    with raises(NotImplementedError, "Could not run 'bench::late' with arguments from the 'CPU'"):
        torch.ops.bench.late.default(torch.zeros(1))


def test_a_library_implements_operators_of_its_namespace(library):
    with raises(RuntimeError, 'impl("other::f", ...): Explicitly provided namespace (other) in'):
        library.impl("other::f", lambda x: x, "CPU")


def test_a_rule_for_batches_hears_of_the_dimension_that_is_mapped(library):
    library.define("product(Tensor x, Tensor y, *, int n=1) -> Tensor")
    library.impl("product", lambda x, y, n=1: x * y * n, "CPU")
    seen = []

    def rule(info, in_dims, x, y, *, n=1):
        seen.append((info.batch_size, in_dims, tuple(x.shape), tuple(y.shape), n))
        x, y = (t.movedim(d, 0) for t, d in zip((x, y), in_dims, strict=True))
        return x * y * n, 0

    torch.library.register_vmap("bench::product", rule)
    product, x = torch.ops.bench.product, torch.arange(6.0).reshape(2, 3)
    out = torch.vmap(lambda a, b: product(a, b, n=2), in_dims=(1, -1), out_dims=1)(x, x)
    assert out.tolist() == (2 * x * x).tolist()
    torch.vmap(product, in_dims=(0, 1))(x, x.t())
    torch.vmap(lambda a: product(a * 2, a), in_dims=1)(x)
    assert seen == [
        (3, (1, 1), (2, 3), (2, 3), 2),
        (2, (0, 1), (2, 3), (3, 2), 1),
        (3, (0, 1), (3, 2), (2, 3), 1),
    ]


def test_the_old_form_of_define_is_a_decorator(library):
    @torch.library.define(library, "twice(Tensor x) -> Tensor")
    def twice(x):
        return 2 * x

    assert torch.ops.bench.twice(torch.ones(1)).tolist() == [2]


def test_batches_of_tensors_by_keyword_only_are_refused(library):
    library.define("apart(Tensor x, *, Tensor y) -> Tensor")
    with raises(NotImplementedError, "register_vmap with kwarg-only Tensor args. In the original"):
        torch.library.register_vmap("bench::apart", lambda info, in_dims, x, *, y: (x, 0))
