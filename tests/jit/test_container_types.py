"""`torch.jit.isinstance` looks into containers."""

from typing import Optional, Union

import pytest

import tapegrad as torch


@pytest.mark.parametrize(
    ("value", "wanted", "expected"),
    [
        ([1], list[int], True),
        (["a"], list[int], False),
        ([[1], ["a"]], list[list[int]], False),
        (None, Optional[int], True),  # noqa: UP045
        ([1.0], Optional[list[int]], False),  # noqa: UP045
        ({"a": 1}, dict[str, int], True),
        ({"a": 1.0}, dict[str, int], False),
        ((1, "a"), tuple[int, str], True),
        ((1,), tuple[int, str], False),
        (["a"], Union[int, list[str]], True),  # noqa: UP007
        (1, (int, str), True),
        (3, int | str, True),
        ([1], list[int], True),
        ([torch.ones(1)], list[torch.Tensor], True),
    ],
)
def test_what_is_held_counts(value, wanted, expected):
    assert torch.jit.isinstance(value, wanted) is expected


@pytest.mark.parametrize("bare", [list, dict, tuple, Optional, list, tuple])
def test_containers_say_what_they_hold(bare):
    with pytest.raises(RuntimeError, match="Attempted to use"):
        torch.jit.isinstance([], bare)


def test_an_empty_container_is_warned_of():
    with pytest.warns(UserWarning, match="The inner type of a container is lost"):
        assert torch.jit.isinstance([], list[int])


def test_what_is_no_type():
    with pytest.raises(RuntimeError, match="must be a type or a tuple of types"):
        torch.jit.isinstance(3, [int])
