"""Windows against PyTorch 2.13."""

import pytest

import tapegrad as torch
from tests.messages import raises


@pytest.mark.parametrize(
    ("name", "want"),
    [
        ("bartlett", [0, 0.4, 0.8, 0.8, 0.4]),
        ("cosine", [0.25881904, 0.70710677, 0.96592581, 0.96592581, 0.70710677]),
        ("hamming", [0.08, 0.39785218, 0.91214782, 0.91214782, 0.39785218]),
        ("kaiser", [5.2773e-05, 0.10171582, 0.79294, 0.79294, 0.10171582]),
        ("nuttall", [3.628e-04, 0.11051548, 0.79825827, 0.79825827, 0.11051548]),
    ],
)
def test_periodic_windows(name, want):
    got = getattr(torch.signal.windows, name)(5, sym=False)
    assert got.tolist() == pytest.approx(want, abs=3e-5)


def test_windows_refuse_what_is_none():
    windows = torch.signal.windows
    with raises(
        ValueError,
        "hann expects float32 or float64 dtypes, got: torch.int32".replace(
            "hann", "general_cosine"
        ),
    ):
        windows.hann(4, dtype=torch.int32)
    with raises(ValueError, "bartlett requires non-negative window length, got M=-1"):
        windows.bartlett(-1)
    with raises(ValueError, "Tau must be positive, got: 0 instead."):
        windows.exponential(5, tau=0)
    with raises(
        RuntimeError, "hann_window requires non-negative window_length, got window_length=-1"
    ):
        torch.hann_window(-1)
    assert windows.hann(1).tolist() == [1] and torch.hann_window(0).shape == (0,)
    assert torch.hann_window(4, requires_grad=True).is_leaf
