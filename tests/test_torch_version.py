"""The order of versions: what PyTorch's own class answers for these pairs."""

import pytest

from tapegrad.torch_version import TorchVersion

VERSION = TorchVersion("2.13.0+cpu")


@pytest.mark.parametrize(
    "other",
    [
        "2.13.0",
        "2.13",
        "2.4",
        "1.13",
        "2.13.0a0",
        "2.13.0rc1",
        (2, 13),
        (2, 13, 0),
        ("2", "4"),
        (2,),
    ],
)
def test_a_version_is_later_than_earlier_ones(other):
    assert VERSION > other
    assert VERSION >= other
    assert VERSION != other
    assert not VERSION < other
    assert not VERSION <= other


@pytest.mark.parametrize(
    "other",
    ["3", "10.0", "2.13.1.dev2", "2.13.0+cu128", "2.13.0.post1", [2, 14], (2, 13, "1a0"), "parrot"],
)
def test_a_version_is_earlier_than_later_ones(other):
    assert VERSION < other
    assert VERSION <= other
    assert VERSION != other
    assert not VERSION > other
    assert not VERSION >= other


def test_a_version_equals_itself_and_its_text():
    assert VERSION == "2.13.0+cpu"
    assert VERSION <= "2.13.0+cpu"
    assert VERSION >= "2.13.0+cpu"
    assert hash(VERSION) == hash("2.13.0+cpu")
    assert f"{VERSION}" == "2.13.0+cpu"


def test_a_version_has_no_order_with_numbers():
    assert VERSION != 5
    with pytest.raises(TypeError, match="not supported between instances"):
        _ = VERSION < 5
