"""A given number of steps, against what PyTorch 2.13 made and said."""

import numpy as np
import pytest

import tapegrad as torch
from tests.messages import raises


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


@pytest.mark.parametrize(
    ("made", "printed"),
    [
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
    # elements where NumPy's own function rounds another way
    line = torch.linspace(-3, 7.3, 57).numpy()[[4, 10, 13, 55]]
    assert line.view(np.int32).tolist() == [-1072633330, -1080782264, -1088691524, 1088665308]


def test_out_takes_another_dtype():
    out = torch.empty(0, dtype=torch.float64)
    assert torch.linspace(0, 1, 3, out=out).tolist() == [0, 0.5, 1]


def test_one_step_of_integers_begins_at_the_power_of_the_fraction():
    assert torch.logspace(0.5, -3, 1, dtype=torch.int64).tolist() == [3]


@pytest.mark.parametrize(
    "make",
    [
        lambda n, out: torch.arange(n, out=out),
        lambda n, out: torch.linspace(0, n - 1, n, out=out),
        lambda n, out: torch.logspace(0, n - 1, n, 2, out=out),
        lambda n, out: torch.fft.rfftfreq(2 * n - 1, out=out),
    ],
)
def test_out_with_as_many_elements_keeps_its_shape(make):
    for shape in ((), (1, 1), (2, 2), (4, 1)):
        n = int(np.prod(shape))
        out = torch.empty(shape)
        assert make(n, out) is out
        assert out.flatten().equal(make(n, torch.empty(n))), shape
    out = torch.empty(2, 2).t()
    assert make(4, out).stride() == (1, 2)
    with raises(
        RuntimeError,
        "unsupported operation: more than one element of the written-to tensor refers to a single "
        "memory location. Please clone() the tensor before performing the operation.",
    ):
        make(4, torch.empty(1).expand(4))


@pytest.mark.parametrize("name", ["linspace", "logspace"])
def test_complex_ends_make_no_real_numbers(name):
    text = f"torch.{name}(): inferred dtype c10::complex<float> can't be safely cast to passed "
    for n in (0, 1, 4):
        with raises(RuntimeError, f"{text}dtype Long"):
            getattr(torch, name)(0, 1j, n, dtype=torch.int64)


def test_one_step_may_be_a_truth_value():
    assert torch.linspace(0.5, 1, 1, dtype=torch.bool).tolist() == [True]
    assert torch.linspace(0, 1, 0, dtype=torch.bool).dtype is torch.bool
