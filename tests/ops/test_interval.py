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
        (torch.linspace(0, 1, 5), "tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])"),
        (
            torch.linspace(-5, 5, 4, dtype=torch.int32),
            "tensor([-5, -1,  1,  5], dtype=torch.int32)",
        ),
        (torch.linspace(0, 1, 1), "tensor([0.])"),
        (torch.linspace(0, 1j, 3), "tensor([0.+0.0000j, 0.+0.5000j, 0.+1.0000j])"),
        (torch.linspace(torch.tensor(0.0), 1, 3), "tensor([0.0000, 0.5000, 1.0000])"),
        (torch.logspace(0, 2, 3), "tensor([  1.,  10., 100.])"),
        (torch.logspace(0, 3, 4, -2, dtype=torch.int64), "tensor([ 1, -2,  4, -8])"),
        (torch.logspace(0, 3, 5, dtype=torch.int64), "tensor([   1,    5,   31,  177, 1000])"),
    ],
)
def test_numbers_in_steps_print_as_in_pytorch(made, printed):
    assert repr(made) == printed


def test_float32_is_pytorchs_to_the_bit():
    # elements where NumPy's own functions round another way
    steps = torch.arange(-3, 7.3, 0.0371).numpy()[[10, 13, 26, 27]]
    assert steps.view(np.int32).tolist() == [-1071103606, -1071570432, -1073593345, -1073756084]
    line = torch.linspace(-3, 7.3, 57).numpy()[[4, 10, 13, 55]]
    assert line.view(np.int32).tolist() == [-1072633330, -1080782264, -1088691524, 1088665308]


@pytest.mark.parametrize(
    ("bounds", "options", "error", "message"),
    [
        ((1, 5, 0), {}, RuntimeError, "step must be nonzero"),
        (
            (5, 1),
            {},
            RuntimeError,
            "upper bound and lower bound inconsistent with step sign",
        ),
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
        (
            (3j,),
            {},
            RuntimeError,
            "value cannot be converted to type double without overflow",
        ),
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
    out = torch.empty(0, dtype=torch.float64)
    assert torch.linspace(0, 1, 3, out=out).tolist() == [0, 0.5, 1]
    with pytest.warns(UserWarning, match="does not match the computed number of elements 5"):
        torch.arange(5, out=torch.empty(3))


def test_steps_are_counted():
    with raises(RuntimeError, "number of steps must be non-negative"):
        torch.linspace(0, 1, -1)
    with raises(NotImplementedError, "\"linspace_cpu\" not implemented for 'Bool'"):
        torch.linspace(0, 1, 3, dtype=torch.bool)
    with pytest.raises(RuntimeError, match="only supports 0-dimensional start and end tensors"):
        torch.linspace(torch.ones(1), 1, 3)


def test_linspace_meets_both_ends_and_is_symmetric(rng):
    for start, end in rng.uniform(-10, 10, (20, 2)).astype(np.float32):
        line = torch.linspace(start, end, 30).numpy()
        assert line[0] == start and line[-1] == end
        back = torch.linspace(end, start, 30).numpy()
        np.testing.assert_array_equal(line, back[::-1])


def test_range_includes_its_end_and_warns():
    with pytest.warns(UserWarning, match="torch.range is deprecated"):
        assert torch.range(0, 3, 0.5).tolist() == [0, 0.5, 1, 1.5, 2, 2.5, 3]
    with pytest.warns(UserWarning, match="torch.range is deprecated"):
        assert torch.range(3, 0, -1, dtype=torch.int64).tolist() == [3, 2, 1, 0]


def test_triangles_have_their_rows_and_columns():
    assert torch.tril_indices(3, 4, -1).tolist() == [[1, 2, 2], [0, 0, 1]]
    assert torch.triu_indices(3, 4, 1).tolist() == [[0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3]]
    assert torch.tril_indices(0, 3).shape == (2, 0)
    assert torch.tril_indices(2, 2, dtype=torch.int32).dtype is torch.int32
    with raises(RuntimeError, "row must be non-negative, got-1"):
        torch.tril_indices(-1, 3)
    with raises(NotImplementedError, "\"triu_indices\" not implemented for 'Float'"):
        torch.triu_indices(2, 2, dtype=torch.float32)
