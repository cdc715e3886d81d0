"""Numbers in steps, against what PyTorch 2.13 made and said."""

import numpy as np
import pytest

import tapegrad as torch
from tests.messages import raises


@pytest.mark.parametrize(
    ("made", "printed"),
    [
        (torch.arange(5), "tensor([0, 1, 2, 3, 4])"),
        (torch.arange(1, 5.0, 2), "tensor([1., 3.])"),
        (torch.arange(5, 1, -1), "tensor([5, 4, 3, 2])"),
        (torch.arange(start=1, end=5, step=2), "tensor([1, 3])"),
        (torch.arange(0.5, 5, dtype=torch.int64), "tensor([0, 1, 2, 3, 4])"),
        (torch.arange(-2, 2, dtype=torch.uint8), "tensor([254, 255,   0,   1], dtype=torch.uint8)"),
        (torch.arange(torch.tensor(2.0)), "tensor([0., 1.])"),
        (torch.arange(0), "tensor([], dtype=torch.int64)"),
        (torch.arange(2**62, 2**62 + 2), "tensor([4611686018427387904, 4611686018427387905])"),
    ],
)
def test_numbers_in_steps_print_as_in_pytorch(made, printed):
    assert repr(made) == printed


def test_float32_is_pytorchs_to_the_bit():
    # elements where NumPy's own functions round another way
    steps = torch.arange(-3, 7.3, 0.0371).numpy()[[10, 13, 26, 27]]
    assert steps.view(np.int32).tolist() == [-1071103606, -1071570432, -1073593345, -1073756084]


@pytest.mark.parametrize(
    ("bounds", "options", "error", "message"),
    [
        ((1, 5, 0), {}, RuntimeError, "step must be nonzero"),
        ((5, 1), {}, RuntimeError, "upper bound and lower bound inconsistent with step sign"),
        ((float("inf"),), {}, RuntimeError, "unsupported range: 0 -> inf"),
        ((0, 1, 0.1), {"dtype": torch.int64}, ValueError, "step must be nonzero"),
        (
            (5,),
            {"dtype": torch.bool},
            NotImplementedError,
            "\"arange_cpu\" not implemented for 'Bool'",
        ),
        (
            (5,),
            {"requires_grad": True},
            RuntimeError,
            "Only Tensors of floating point and complex dtype can require gradients",
        ),
        (("a",), {}, TypeError, "arange(): argument 'end' (position 1) must be Number, not str"),
        ((3j,), {}, RuntimeError, "value cannot be converted to type double without overflow"),
    ],
)
def test_arange_refuses_what_leads_nowhere(bounds, options, error, message):
    with raises(error, message):
        torch.arange(*bounds, **options)


def test_arange_names_its_forms():
    with pytest.raises(TypeError) as caught:
        torch.arange(5, step=2)
    first, *forms = str(caught.value).splitlines()
    assert first == (
        "arange() received an invalid combination of arguments - got (int, step=int), but expected "
        "one of:"
    )
    assert forms[0].startswith(" * (Number end, *, Tensor out = None, ")


def test_out_takes_another_dtype():
    out = torch.empty(0, dtype=torch.int32)
    assert torch.arange(3, out=out) is out and out.tolist() == [0, 1, 2]
    with pytest.warns(UserWarning, match="does not match the computed number of elements 5"):
        torch.arange(5, out=torch.empty(3))


def test_range_includes_its_end_and_warns():
    with pytest.warns(UserWarning, match="torch.range is deprecated"):
        assert torch.range(0, 3, 0.5).tolist() == [0, 0.5, 1, 1.5, 2, 2.5, 3]
    with pytest.warns(UserWarning, match="torch.range is deprecated"):
        assert torch.range(3, 0, -1, dtype=torch.int64).tolist() == [3, 2, 1, 0]
