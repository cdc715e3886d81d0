"""Where a tensor lies in memory."""

import tapegrad as torch


def test_the_offset_of_a_part_without_elements():
    x = torch.zeros(2, 3)
    assert x[2:].storage_offset() == 6 and x[:, 3:].storage_offset() == 3
    assert x[1, 3:].storage_offset() == 6 and x[1][:0].storage_offset() == 3
    assert x[2:][:, 1].storage_offset() == 7
