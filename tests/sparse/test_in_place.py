"""What is written in place, and who sees it."""

import pytest

import tapegrad as torch
from tests.messages import raises


def matrix(coalesced=True):
    values = torch.tensor([3.0, 4.0])
    made = torch.sparse_coo_tensor([[0, 1], [2, 0]], values, (2, 3), is_coalesced=coalesced)
    return values, made


@pytest.mark.parametrize(
    ("write", "seen"),
    [
        (lambda s: s.neg_(), [-3.0, -4.0]),
        (lambda s: s.div_(2), [1.5, 2.0]),
        (lambda s: s.floor_divide_(2), [1.0, 2.0]),
        (lambda s: s.sign_(), [1.0, 1.0]),
        (lambda s: s.zero_(), [3.0, 4.0]),
        (lambda s: s.mul_(2), [3.0, 4.0]),
        (lambda s: s.mul_(torch.tensor(2.0)), [3.0, 4.0]),
        (lambda s: s.add_(s), [3.0, 4.0]),
        (lambda s: s.copy_(s * 2), [3.0, 4.0]),
    ],
)
def test_who_else_holds_the_values_sees_what_is_written_to_their_memory(write, seen):
    values, s = matrix()
    write(s)
    assert values.tolist() == seen


def test_a_gradient_that_is_set_to_zero_leaves_its_old_values_alone():
    table = torch.nn.Embedding(4, 2, sparse=True)
    table(torch.tensor([1, 2])).sum().backward()
    before = table.weight.grad._values()
    table.zero_grad(set_to_none=False)
    assert before.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert table.weight.grad._nnz() == 0


@pytest.mark.parametrize(("name", "native"), [("sqrt_", "sqrt_"), ("arctan_", "atan_")])
def test_functions_of_single_elements_need_a_coalesced_tensor(name, native):
    _, s = matrix(coalesced=False)
    with pytest.raises(RuntimeError, match=f"^{native} requires coalesced input"):
        getattr(s, name)()


def test_conjugates_are_printed():
    s = torch.sparse_coo_tensor([[0], [1]], torch.tensor([1 + 2j]), (2, 2)).conj()
    assert "values=tensor([1.-2.j])" in repr(s)


def test_whole_numbers_take_no_fractions():
    _, s = matrix()
    whole, dense = s.long(), torch.zeros(2, 3, dtype=torch.int64)
    for write in (whole.add_, whole.sub_, dense.add_, dense.mul_):
        with raises(
            RuntimeError, "Can't convert result type Float to output Long in add operation"
        ):
            write(s)
    with raises(RuntimeError, "Can't convert result type Float to output Long in mul operation"):
        whole.mul_(s)
    for factor in (2.5, s.to_dense()):
        with raises(
            RuntimeError, "dtype of values (Float) must match dtype of sparse tensor (Long)"
        ):
            whole.mul_(factor)
    with raises(RuntimeError, "result type Float can't be cast to the desired output type Long"):
        whole.sqrt_()
    assert whole.values().tolist() == [3, 4] and not dense.any()
    assert whole.add_(whole).values().tolist() == [6, 8]


def test_a_sparse_tensor_has_no_memory_format():
    _, s = matrix()
    with raises(RuntimeError, "memory format option is only supported by strided tensors"):
        torch.empty_like(s, memory_format=torch.preserve_format)


def test_what_is_subtracted_is_converted_first():
    a = torch.tensor([1, 0, 2], dtype=torch.int8)
    b = torch.tensor([3, 0, 0], dtype=torch.uint8).to_sparse()
    assert (a.to_sparse() - b).to_dense().tolist() == (a - b).tolist() == [-2, 0, 2]


@pytest.mark.parametrize("function", [torch.neg, torch.sign, torch.sqrt])
def test_a_function_of_values_is_written_to_a_sparse_out(function):
    _, s = matrix()
    out = torch.zeros(2, 3).to_sparse()
    assert function(s, out=out) is out
    assert out.to_dense().tolist() == function(s).to_dense().tolist()
