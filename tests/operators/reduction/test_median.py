"""The lower median of nothing."""

import pytest

import tapegrad as torch


@pytest.mark.parametrize("median", [torch.median, torch.nanmedian])
def test_the_median_of_no_integers_is_what_nan_is_converted_to(median):
    for dtype in (torch.uint8, torch.int8, torch.int16):
        assert median(torch.empty(0, dtype=dtype)).item() == 0
    for dtype in (torch.int32, torch.int64):
        assert median(torch.empty(0, dtype=dtype)).item() == torch.iinfo(dtype).min
    assert median(torch.empty(0)).isnan()
