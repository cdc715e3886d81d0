"""Places of flat indices."""

import tapegrad as torch
from tests.messages import raises


def test_places_of_flat_indices():
    found = torch.unravel_index(torch.tensor([5, -13]), (3, 4))
    assert [each.tolist() for each in found] == [[1, 2], [1, 3]]
    with raises(ValueError, "'shape' cannot have negative values, but got (-3, 4)"):
        torch.unravel_index(torch.tensor([1]), (-3, 4))
