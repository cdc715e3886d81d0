"""What is said of an operator."""

import tapegrad as torch


def test_one_tag_or_several_are_kept():
    with torch.library._scoped_library("tagged", "FRAGMENT") as library:
        one = torch.Tag.pt2_compliant_tag
        torch.library.define("tagged::f", "(Tensor x) -> Tensor", lib=library, tags=one)
        both = (one, torch.Tag.pointwise)
        torch.library.define("tagged::g", "(Tensor x) -> Tensor", lib=library, tags=both)
        assert torch.ops.tagged.f.default.tags == [one]
        assert torch.ops.tagged.g.default.tags == list(both)
    assert str(one) == "Tag.pt2_compliant_tag" and int(one) == 17 and one != 17
