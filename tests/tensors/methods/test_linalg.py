"""The operator `@` leaves what it does not know to the other operand."""

import pytest

import tapegrad as torch


class Other:
    def __rmatmul__(self, left):
        return "right"

    def __matmul__(self, right):
        return "left"


def test_unknown_operands_may_answer():
    x = torch.ones(2)
    assert x @ Other() == "right"
    assert Other() @ x == "left"
    assert x.__matmul__(3) is NotImplemented


@pytest.mark.parametrize("other", [3, "a", [1, 2]])
def test_what_nobody_knows_is_a_type_error(other):
    kind = type(other).__name__
    with pytest.raises(TypeError, match=f"for @: 'Tensor' and '{kind}'"):
        torch.ones(2) @ other
    with pytest.raises(TypeError, match=f"for @: '{kind}' and 'Tensor'"):
        other @ torch.ones(2)
