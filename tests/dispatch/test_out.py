"""Where `out=` may lie: its own memory, that of an input as a whole, never a part of it."""

import numpy as np
import pytest

import tapegrad as torch
from tests.messages import raises

OVERLAP = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
    "single memory location. Please clone() the tensor before performing the operation."
)

PARTLY = {
    "exp": lambda x, out: torch.exp(x, out=out),
    "add": lambda x, out: torch.add(x, 1, out=out),
    "add of the other": lambda x, out: torch.add(torch.ones(4), x, out=out),
    "add alpha": lambda x, out: torch.add(torch.ones(4), x, alpha=2, out=out),
    "sub alpha": lambda x, out: torch.sub(torch.ones(4), x, alpha=2, out=out),
    "div": lambda x, out: torch.div(torch.ones(4), x, rounding_mode="floor", out=out),
    "addcmul": lambda x, out: torch.addcmul(torch.ones(4), x, x, out=out),
    "addcdiv": lambda x, out: torch.addcdiv(torch.ones(4), x, x, out=out),
    "addr": lambda x, out: torch.addr(x.view(2, 2), x[:2] + 0, x[:2] + 0, out=out.view(2, 2)),
    "clamp": lambda x, out: torch.clamp(x, 1, 2, out=out),
    "cumsum": lambda x, out: torch.cumsum(x, 0, out=out),
    "gelu": lambda x, out: torch.nn.functional.gelu(x, out=out),
    "index_add": lambda x, out: torch.index_add(x, 0, torch.arange(4), torch.ones(4), out=out),
    "lerp": lambda x, out: torch.lerp(torch.ones(4), x, x, out=out),
    "logcumsumexp": lambda x, out: torch.logcumsumexp(x, 0, out=out),
    "msort": lambda x, out: torch.msort(x, out=out),
    "nan_to_num": lambda x, out: torch.nan_to_num(x, out=out),
    "polygamma": lambda x, out: torch.polygamma(1, x, out=out),
    "renorm": lambda x, out: torch.renorm(x.view(2, 2), 2, 0, 1.0, out=out.view(2, 2)),
    "round": lambda x, out: torch.round(x, decimals=1, out=out),
    "scatter": lambda x, out: torch.scatter(x, 0, torch.arange(4), 1.0, out=out),
    "scatter_add": lambda x, out: torch.scatter_add(x, 0, torch.arange(4), torch.ones(4), out=out),
    "sort": lambda x, out: torch.sort(x, out=(out, torch.zeros(4, dtype=torch.int64)))[0],
    "where": lambda x, out: torch.where(x > 2, x, torch.ones(4), out=out),
}

APART = {
    "cat": lambda x, out: torch.cat([x[:2], x[2:]], out=out),
    "cross": lambda x, out: torch.cross(x[:3], torch.ones(3), dim=0, out=out[:3]),
    "index_add": lambda x, out: torch.index_add(torch.ones(4), 0, torch.arange(4), x, out=out),
    "index_copy": lambda x, out: torch.index_copy(torch.ones(4), 0, torch.arange(4), x, out=out),
    "index_select": lambda x, out: torch.index_select(x, 0, torch.arange(4), out=out),
    "gather": lambda x, out: torch.gather(x, 0, torch.arange(4), out=out),
    "scatter": lambda x, out: torch.scatter(torch.ones(4), 0, torch.arange(4), x, out=out),
    "scatter_add": lambda x, out: torch.scatter_add(torch.ones(4), 0, torch.arange(4), x, out=out),
    "scatter_reduce": lambda x, out: torch.scatter_reduce(
        torch.ones(4), 0, torch.arange(4), x, "sum", out=out
    ),
    "stack": lambda x, out: torch.stack([x[:2], x[2:]], out=out.view(2, 2)),
    "take": lambda x, out: torch.take(x, torch.arange(4), out=out),
    "take_along_dim": lambda x, out: torch.take_along_dim(x, torch.arange(4), 0, out=out),
}

READ_FIRST = {
    "mv": lambda x, out: torch.mv(torch.ones(4, 4), x, out=out),
    "flip": lambda x, out: torch.tril(x.view(2, 2), out=out.view(2, 2)),
    "softmax": lambda x, out: torch.softmax(x, 0, out=out),
    "view_copy": lambda x, out: torch.view_copy(x, (4,), out=out),
}


def parts(shift):
    memory = torch.arange(12.0)
    return memory[2:6], memory[2 + shift : 6 + shift]


@pytest.mark.parametrize("name", PARTLY)
def test_out_may_be_an_input_but_not_a_part_of_it(name):
    call = PARTLY[name]
    x, out = parts(1)
    with raises(RuntimeError, OVERLAP):
        call(x, out)
    assert x.tolist() == [2.0, 3.0, 4.0, 5.0]
    x, out = parts(0)
    expected = call(x.clone(), torch.empty(4))
    assert call(x, out).equal(expected)
    assert x.view(-1).equal(expected.view(-1))


@pytest.mark.parametrize("shift", [0, 1])
@pytest.mark.parametrize("name", APART)
def test_out_may_not_be_what_is_read_out_of_order(name, shift):
    x, out = parts(shift)
    with raises(RuntimeError, OVERLAP):
        APART[name](x, out)
    assert x.tolist() == [2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize("shift", [0, 1, -1])
@pytest.mark.parametrize("name", READ_FIRST)
def test_out_is_written_when_all_is_read(name, shift):
    x, out = parts(shift)
    expected = READ_FIRST[name](x.clone(), torch.empty(4))
    assert READ_FIRST[name](x, out).equal(expected)


def test_out_may_lie_between_the_elements_of_an_input():
    memory = torch.arange(8.0)
    assert torch.add(memory[::2], 1, out=memory[1::2]).tolist() == [1.0, 3.0, 5.0, 7.0]


def test_out_may_not_be_an_input_in_another_order():
    x = torch.arange(4.0).view(2, 2)
    with raises(RuntimeError, OVERLAP):
        torch.add(x, 1, out=x.t())
    images = torch.arange(16.0).view(1, 2, 2, 4).permute(0, 3, 1, 2)
    with raises(RuntimeError, OVERLAP):
        torch.add(images, 1, out=images.as_strided(images.shape, (16, 4, 2, 1)))


def test_memory_is_looked_at_before_shapes_and_dtypes():
    x, out = parts(1)
    with raises(RuntimeError, OVERLAP):
        torch.add(x, torch.ones(3), out=out)
    with raises(RuntimeError, OVERLAP):
        torch.add(x, 1j, out=out)


def test_of_several_results_none_is_written_where_one_may_not_be():
    x, out = parts(1)
    indices = torch.zeros(4, dtype=torch.int64)
    with raises(RuntimeError, OVERLAP):
        torch.topk(x, 4, out=(out, indices))
    assert indices.tolist() == [0] * 4


def test_writes_in_place_that_read_first_may_read_their_own_memory():
    memory = torch.arange(12.0)
    eye, whole = torch.eye(2), torch.ones(4) > 0
    expected = memory[2:6].view(2, 2) + memory[3:7].view(2, 2)
    assert memory[2:6].view(2, 2).addmm_(memory[3:7].view(2, 2), eye).equal(expected)
    expected = memory[3:7].clone()
    assert memory[2:6].masked_scatter_(whole, memory[3:7]).equal(expected)


def test_writes_by_index_or_mask_may_not_read_their_own_memory():
    memory = torch.arange(12.0)
    for index in (torch.arange(4), torch.ones(4) > 0):
        with raises(RuntimeError, OVERLAP):
            memory[2:6][index] = memory[2:6]
    with raises(RuntimeError, OVERLAP):
        memory[2:6].index_reduce_(0, torch.arange(4), memory[2:6], "amax")
    probabilities = torch.zeros(6)
    with raises(RuntimeError, OVERLAP):
        probabilities[:4].bernoulli_(probabilities[1:5])


def test_a_copy_of_other_numbers_may_have_the_same_memory():
    x = torch.tensor([1.0, 2.0])
    assert x.view(torch.int32).copy_(x).tolist() == [1, 2]


def test_a_resized_out_lies_in_memory_as_the_result_of_pointwise_operators():
    x = torch.ones(3, 4).t()
    assert torch.add(x, 1, out=torch.empty(0)).stride() == (1, 4)
    assert torch.exp(x, out=torch.empty(0)).stride() == (1, 4)
    assert torch.lt(x, 1, out=torch.empty(0, dtype=torch.bool)).stride() == (1, 4)
    indices = torch.empty(0, dtype=torch.int64)
    assert [y.stride() for y in torch.sort(x, out=(torch.empty(0), indices))] == [(1, 4)] * 2
    assert torch.linalg.inv(torch.eye(3), out=torch.empty(0)).stride() == (1, 3)
    assert torch.cumsum(x, 0, out=torch.empty(0)).stride() == (3, 1)
    assert torch.tril(x, out=torch.empty(0)).stride() == (3, 1)
    kept = torch.empty(4, 3)
    assert torch.add(x, 1, out=kept).stride() == (3, 1)


def test_a_resized_out_of_lerp_lies_in_memory_as_its_result():
    x = torch.arange(12.0).reshape(4, 3).t()
    for weight in (0.5, torch.full((3, 4), 0.5)):
        out = torch.lerp(x, x + 1, weight, out=torch.empty(0))
        assert out.stride() == (1, 3) and out.tolist() == (x + 0.5).tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda x, out: torch.threshold(x, -1.0, -2.0, out=out),
        lambda x, out: torch.hardshrink(x, out=out),
        lambda x, out: torch._C._nn.softplus(x, out=out),
        lambda x, out: torch._C._nn.softshrink(x, out=out),
        lambda x, out: torch._C._nn.gelu(x, out=out),
    ],
    ids=["threshold", "hardshrink", "softplus", "softshrink", "gelu"],
)
def test_a_resized_out_of_an_activation_lies_in_memory_as_its_input(call):
    x = torch.arange(24.0).reshape(2, 3, 4).transpose(0, 2)
    out = call(x, torch.empty(0))
    assert out.stride() == (1, 4, 12)
    torch.testing.assert_close(out, call(x.contiguous(), torch.empty(4, 3, 2)))


def test_a_result_that_is_copied_to_out_takes_its_graph_along():
    x = torch.tensor([[0.1, 0.7], [0.4, 0.2]], requires_grad=True)
    calls = {
        "quantile": lambda out: torch.quantile(x, 0.5, out=out),
        "nanquantile": lambda out: torch.nanquantile(x, 0.5, out=out),
        "ndtr": lambda out: torch.special.ndtr(x, out=out),
        "norm": lambda out: torch.linalg.norm(x, out=out),
        "matrix_norm": lambda out: torch.linalg.matrix_norm(x, out=out),
        "cond": lambda out: torch.linalg.cond(x, out=out),
        "tensordot": lambda out: torch.tensordot(x, x.detach(), 1, out=out),
    }
    for call in calls.values():
        out = torch.empty(0)
        y = call(out)
        assert y is out and y.grad_fn.name() == "torch::autograd::CopyBackwards"
        (got,) = torch.autograd.grad(y.sum(), x)
        with torch.no_grad():
            plain = call(torch.empty(0))
        assert torch.equal(plain, y.detach()) and got.abs().sum() > 0
    with raises(
        RuntimeError, "a leaf Variable that requires grad is being used in an in-place operation."
    ):
        torch.quantile(x, 0.5, out=torch.empty(0, requires_grad=True))


def test_an_out_that_autograd_passes_by_has_no_derivative():
    x = torch.tensor([[0.1, 0.7], [0.4, 0.2]], requires_grad=True)
    pool = torch._C._nn.adaptive_avg_pool2d
    calls = {
        "softmax": lambda x, out: torch.softmax(x, 0, out=out),
        "log_softmax": lambda x, out: torch.log_softmax(x, 0, out=out),
        "floor_divide": lambda x, out: torch.floor_divide(x, 0.3, out=out),
        "heaviside": lambda x, out: torch.heaviside(x, torch.ones(2), out=out),
        "t_copy": lambda x, out: torch.t_copy(x, out=out),
        "adaptive_avg_pool2d": lambda x, out: pool(x[None], 1, out=out),
    }
    for name, call in calls.items():
        out = torch.empty(0)
        y = call(x, out)
        assert y is out and y.grad_fn.name() == "torch::autograd::NotImplemented"
        with torch.no_grad():
            assert torch.equal(call(x, torch.empty(0)), y.detach())
        with raises(RuntimeError, f"derivative for aten::{name} is not implemented"):
            y.sum().backward()
        with raises(
            RuntimeError,
            f"aten::{name}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad.",
        ):
            call(x.detach(), torch.empty(0, requires_grad=True))
        assert call(x.detach(), torch.empty(0)).grad_fn is None


def test_an_out_that_does_not_fit_is_refused_before_a_kernel_that_lacks_the_dtype():
    x, whole = torch.ones(2), torch.ones(2, dtype=torch.int64)
    cast = "result type Float can't be cast to the desired output type Long"
    with raises(RuntimeError, cast):
        torch.bitwise_and(x, x, out=whole)
    with raises(RuntimeError, "Found dtype Float but expected Long"):
        torch.frac(whole, out=x)
    with raises(RuntimeError, "Expected out tensor to have dtype long int, but got float instead"):
        torch.softmax(whole, 0, out=x)
    complex_cast = "result type ComplexFloat can't be cast to the desired output type Float"
    with raises(RuntimeError, complex_cast):
        torch.special.bessel_j0(x * 1j, out=x)
    with raises(NotImplementedError, "\"bitwise_and_cpu\" not implemented for 'Float'"):
        torch.bitwise_and(x, x, out=torch.ones(2))


def test_functions_that_convert_nothing_refuse_an_out_of_another_dtype():
    x, double = torch.ones(2, 2), torch.ones(2, 2, dtype=torch.float64)
    for function in (torch.abs, torch.hardshrink, torch.nn.functional.softplus):
        with raises(RuntimeError, "Found dtype Double but expected Float"):
            function(x, out=double)
    with raises(RuntimeError, "Found dtype Double but expected Float"):
        torch.clamp(x, 0, 1, out=double)
    assert torch.clamp(x, x, out=double).dtype is torch.float64
    with raises(RuntimeError, "nan_to_num: dtype of out: Double should be same as input: Float"):
        torch.nan_to_num(x, out=double)
    with raises(RuntimeError, "Expected out tensor to have dtype float, but got double instead"):
        torch.msort(x, out=double)


def test_a_part_without_elements_grows_from_where_it_lies():
    fixed = torch.from_numpy(np.ones(2, np.float32))
    with raises(RuntimeError, "Trying to resize storage that is not resizable"):
        torch.exp(torch.zeros(1), out=fixed[2:])
    assert torch.exp(torch.zeros(1), out=fixed[1:1]).storage_offset() == 1


def test_what_functions_without_derivative_write_keeps_its_own_history():
    out = torch.zeros(2, requires_grad=True)
    assert torch.special.airy_ai(torch.zeros(2), out=out).grad_fn is None
    assert out.requires_grad and out[0].item() == pytest.approx(0.35502805)


def test_a_graph_is_refused_before_shapes_are_compared():
    x = torch.ones(2, requires_grad=True)
    for name, function in (("matmul", torch.matmul), ("linear", torch.nn.functional.linear)):
        text = (
            f"{name}(): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad."
        )
        with raises(RuntimeError, text):
            function(x, torch.ones(3), out=torch.ones(()))


def test_an_out_dtype_is_refused_by_the_name_of_the_form():
    x, out = torch.ones(2, 2, requires_grad=True), torch.ones(2, 2)
    with pytest.raises(NotImplementedError, match=r"Could not run 'aten::mm\.dtype_out' with"):
        torch.mm(x, x, out_dtype=torch.float32, out=out)
