"""Fourier transforms against PyTorch 2.13."""

import pytest

import tapegrad as torch
from tests.messages import raises, raises_beginning
from tests.tolerance import assert_near

fft = torch.fft


C128, F64 = torch.complex128, torch.float64


def chain(tensor):
    """The names of the nodes behind a tensor, along the first input of each."""
    names, node = [], tensor.grad_fn
    while node is not None:
        names.append(type(node).__name__)
        node = node.next_functions[0][0] if node.next_functions else None
    return names


def test_single_precision_stays_single():
    assert fft.fft(torch.ones(3)).dtype == torch.complex64
    assert fft.fft(torch.ones(3, dtype=F64)).dtype == C128
    assert fft.irfft(torch.ones(3, dtype=torch.complex64)).dtype == torch.float32
    assert fft.rfft(torch.arange(3)).dtype == torch.complex64


def test_half_a_spectrum_of_an_odd_number_of_points():
    got = fft.rfft(torch.arange(1.0, 6.0))
    want = torch.tensor([15 + 0j, -2.5 + 3.4409548j, -2.5 + 0.81229924j], dtype=torch.complex64)
    assert_near(got, want)
    assert fft.irfft(got, 5).shape == (5,)
    assert_near(fft.irfft(got, 5), torch.arange(1.0, 6.0))


def test_hfft_takes_the_first_half_of_a_signal():
    z = torch.tensor([1 + 1j, 2 - 1j, 3j], dtype=C128)
    assert_near(fft.hfft(z), torch.tensor([5.0, -1, -3, 3], dtype=F64))


def test_several_dimensions():
    m = torch.arange(6.0).reshape(2, 3)
    want = [[15 + 0j, -3 + 1.7320508j, -3 - 1.7320508j], [-9 + 0j, 0, 0]]
    assert_near(fft.fft2(m), torch.tensor(want, dtype=torch.complex64))
    want = [[2.5 + 0j, -0.5 - 0.28867513j], [-1.5 + 0j, 0]]
    assert_near(fft.ihfft2(m), torch.tensor(want, dtype=torch.complex64))
    want = [[1.5 + 0j, -1 - 0.5j, 0.5, -1 + 0.5j], [6 + 0j, -1 - 2j, 2, -1 + 2j]]
    got = fft.fftn(m, s=(4,), norm="ortho")
    assert_near(got, torch.tensor(want, dtype=torch.complex64))


def test_gradients_of_real_numbers_are_real():
    x = torch.tensor([1.0, -2, 3, 0.5], dtype=F64, requires_grad=True)
    weights = torch.tensor([1, 2j, 3 - 1j], dtype=C128)
    (gradient,) = torch.autograd.grad((fft.rfft(x) * weights).real.sum(), x)
    assert_near(gradient, torch.tensor([4.0, 0, 4, -4], dtype=F64))
    (gradient,) = torch.autograd.grad(fft.fft(x).abs().square().sum(), x)
    assert_near(gradient, torch.tensor([8.0, -16, 24, 4], dtype=F64))


@pytest.mark.parametrize(
    ("n", "want"),
    [
        (5, [2 + 0j, -1 + 1.3763819204711736j, -1 + 0.32491969623290634j]),
        (None, [1.5 + 0j, -1 + 1j, -0.5 + 0j]),
    ],
)
def test_gradients_of_half_a_spectrum(n, want):
    z = torch.tensor([1 + 1j, 2 - 1j, 3j], dtype=C128, requires_grad=True)
    y = fft.irfft(z, n)
    (y * torch.arange(float(len(y)), dtype=F64)).sum().backward()
    assert_near(z.grad, torch.tensor(want, dtype=C128))


def test_the_graph_is_pytorchs():
    x = torch.ones(4, 6, requires_grad=True)
    assert chain(fft.ifft(x)) == ["ConjBackward0", "FftR2CBackward0", "AccumulateGrad"]
    assert chain(fft.fft(x, 8))[:2] == ["FftR2CBackward0", "ConstantPadNdBackward0"]
    assert chain(fft.fft2(x))[:2] == ["FftC2CBackward0", "ToCopyBackward0"]
    assert chain(fft.irfft(x, 4))[:2] == ["FftC2RBackward0", "SliceBackward0"]
    want = ["FftC2RBackward0", "ConjBackward0", "FftC2CBackward0", "ToCopyBackward0"]
    assert chain(fft.hfft2(x))[:4] == want


def test_bad_arguments():
    x = torch.ones(4, 6)
    with raises(RuntimeError, "Invalid number of data points (0) specified"):
        fft.fft(x, 0)
    with raises(RuntimeError, 'Invalid normalization mode: "bad"'):
        fft.fft(x, norm="bad")
    with raises(RuntimeError, "rfft expects a real input tensor, but got ComplexFloat"):
        fft.rfft(x.to(torch.complex64))
    with raises(RuntimeError, "FFT dims must be unique"):
        fft.fftn(x, dim=(0, 0))
    with raises(RuntimeError, "When given, dim and shape arguments must have the same length"):
        fft.fft2(x, s=(3,))
    with raises(RuntimeError, "Got shape with 3 values but input tensor only has 2 dimensions."):
        fft.fftn(x, s=(3, 4, 5))
    with raises(RuntimeError, "irfftn must transform at least one axis"):
        fft.irfftn(x, dim=())
    with raises(RuntimeError, "fft expects a complex output tensor, but got Float"):
        fft.fft(x, out=torch.empty(4, 6))
    with raises(RuntimeError, "Unsupported dtype Half"):
        fft.fft(x.half())
    with raises(IndexError, "Dimension specified as -1 but tensor has no dimensions"):
        fft.fft(torch.tensor(1.0))
    with raises(TypeError, "fft_fft(): argument 'n' (position 2) must be int, not str"):
        fft.fft(x, "a")


def test_out_is_written():
    out = torch.empty(0, dtype=C128)
    assert fft.rfft(torch.ones(3), out=out) is out
    assert_near(out, torch.tensor([3 + 0j, 0], dtype=C128))


DIMENSIONS_FIRST = (  # what PyTorch looks at before the dtype of `out`, and what after it
    ("fftn", {"s": [0, 2]}, "Invalid number of data points (0) specified"),
    ("ifft2", {"dim": [0, 7]}, "Dimension out of range (expected"),
    ("rfftn", {"dim": []}, "rfftn must transform at least one axis"),
    ("irfft2", {"s": [2], "dim": [0, 1]}, "When given, dim and shape arguments must have the same"),
    ("hfft2", {"s": [-5, -3]}, "Invalid number of data points (-5) specified"),
    ("ihfftn", {"norm": "xx"}, 'Invalid normalization mode: "xx"'),
    ("ifftn", {}, "fftn expects a complex output tensor, but got Int"),
    ("irfft", {}, "irfft expects a floating point output tensor, but got Int"),
)


@pytest.mark.parametrize(("name", "given", "text"), DIMENSIONS_FIRST)
def test_dimensions_are_looked_at_before_out(name, given, text):
    kind = (IndexError, RuntimeError)
    out = torch.zeros(1, dtype=torch.int32)
    with raises_beginning(kind, text):
        getattr(fft, name)(torch.ones(3, 4, requires_grad=True), **given, out=out)
    assert out.tolist() == [0]


def test_a_graph_is_refused_in_the_name_of_the_kind_of_transform():
    x = torch.ones(3, 4, requires_grad=True)
    for name, kind in (("irfftn", "c2r"), ("rfft2", "r2c"), ("fftn", "c2c")):
        out = torch.zeros(0, dtype=torch.float32 if kind == "c2r" else torch.complex64)
        with raises_beginning(RuntimeError, f"_fft_{kind}(): functions with out=... arguments"):
            getattr(fft, name)(x, out=out)


def test_two_dimensions_are_named():
    with raises(TypeError, "fft_fft2(): argument 'dim' must be tuple of ints, not NoneType"):
        fft.fft2(torch.ones(2, 2), dim=None)
