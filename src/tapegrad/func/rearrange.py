"""`rearrange`: dimensions moved, split, joined and added as a pattern of their names says."""

from keyword import iskeyword
from math import prod
from typing import Any
from warnings import warn

from tapegrad.core.argument_check import users_level
from tapegrad.core.errors import type_error, value_error
from tapegrad.operators.shape.cat_stack import stack

_DOTS = "…"


class DimensionBindError(Exception):
    """Sizes that do not fit the dimensions of a pattern."""


DimensionBindError.__module__ = "functorch.dim"


def rearrange(tensor: Any, pattern: str, **axes_lengths: int) -> Any:
    """A tensor with its dimensions in another order, split or joined: "before -> after", by names.

    A name is a dimension; names in parentheses are one dimension, the product of theirs; 1 is a
    dimension of one element, which comes and goes; dots are all others. The result is a view where
    it can be.

    Args:
        tensor: a tensor, or a list of tensors of one shape, which are stacked first.
        pattern: the names on both sides of "->"; the same ones, each once.
        axes_lengths: the sizes of names in parentheses on the left, all but one of each.

    Raises:
        ValueError: for a pattern that cannot be read, or does not fit the tensor.
        DimensionBindError: for sizes that do not fit.

    Source: the notation is that of einops (Rogozhnikov, "Einops: clear and reliable tensor
    manipulations with Einstein-like notation", ICLR 2022).

    >>> from tapegrad.func import rearrange
    >>> image = torch.zeros(2, 3, 4, 6)
    >>> rearrange(image, "n c h w -> n h w c").shape
    torch.Size([2, 4, 6, 3])
    >>> rearrange(image, "n c (h h2) (w w2) -> n (h w) (c h2 w2)", h2=2, w2=2).shape
    torch.Size([2, 6, 12])
    """
    if not hasattr(tensor, "_array"):
        tensor = stack(tensor)
    left, right = _read(pattern)
    _check_names(left, right, axes_lengths)
    shape = tuple(tensor.shape)
    n_others = len(shape) - len(left) + 1 if _has_dots(left) else 0
    if n_others < 0 or (not _has_dots(left) and len(left) != len(shape)):
        raise refused(
            f"Number of dimensions in pattern ({len(left)}) must be equal to the number of "
            f"dimensions in the tensor ({len(shape)})"
        )
    left, right = _spread(left, n_others), _spread(right, n_others)
    sizes = _sizes(left, shape, axes_lengths)
    for axis in reversed([i for i, group in enumerate(left) if not group]):
        tensor = tensor.select(axis, 0)  # a dimension of one element that comes to an end
    apart = tensor.reshape(tuple(sizes.values()))
    order = list(sizes)
    moved = apart.permute([order.index(name) for group in right for name in group])
    return moved.reshape([prod([sizes[name] for name in group]) for group in right])


def refused(text: str) -> ValueError:
    """The error for a pattern."""
    return value_error(text, "A pattern is like 'a b (c d) -> b (a c) d 1'.")


def _spread(groups: list, n: int) -> list:
    """The same with a name for each of the `n` dimensions that the dots stand for."""
    others = [f"{_DOTS}{i}" for i in range(n)]
    found = []
    for group in groups:
        if group == _DOTS:
            found += [[name] for name in others]
        else:
            found.append([x for name in group for x in (others if name == _DOTS else [name])])
    return found


def _sizes(left: list, shape: tuple[int, ...], lengths: dict[str, int]) -> dict[str, int]:
    """The size of each name, in the order of the names."""
    numbers = {name: f"d{i}" for i, name in enumerate([x for group in left for x in group])}
    sizes: dict[str, int] = {}
    for size, group in zip(shape, left, strict=True):
        known = {name: lengths[name] for name in group if lengths.get(name, -1) >= 0}
        unknown = [name for name in group if name not in known]
        whole = prod(known.values())
        if len(unknown) > 1:
            first, second = (numbers[name] for name in unknown[:2])
            raise DimensionBindError(
                f"cannot infer the sizes of two dimensions at once {first} and {second}"
            )
        if unknown and size % whole:
            parts = tuple([known.get(name, "?") for name in group])
            raise DimensionBindError(
                f"inferred dimension does not evenly fit into larger dimension: {size} vs {parts}"
            )
        if group and not unknown and size != whole:
            pack = ", ".join([numbers[name] for name in group]) + ("," if len(group) == 1 else "")
            raise DimensionBindError(
                f"Dimension sizes to do not match ({size} != {whole}) when matching dimension pack "
                f"({pack})"
            )
        sizes.update({name: known.get(name, size // whole if whole else 0) for name in group})
    return sizes


# --- the pattern ----------------------------------------------------------------------------------


def _read(pattern: str) -> tuple[list, list]:
    """Both sides: for each dimension a list of names, or the dots, which are many."""
    parts = pattern.split("->")
    if len(parts) != 2:
        raise refused("Pattern must contain a single '->' separator")
    left, right = (_side(part) for part in parts)
    if any(_DOTS in group for group in left if group != _DOTS):
        raise refused(f"Ellipsis is parenthesis in the left side is not allowed: {pattern}")
    if _has_dots(right) and not _has_dots(left):
        raise refused(f"Ellipsis found in right side, but not left side of a pattern {pattern}")
    return left, right


def _has_dots(groups: list) -> bool:
    return any(_DOTS in group for group in groups)


def _side(text: str) -> list:
    """One side of a pattern."""
    if "." in text:
        if "..." not in text:
            raise refused("Expression may contain dots only inside ellipsis (...)")
        if text.count("...") != 1 or text.count(".") != 3:
            raise refused(
                "Expression may contain dots only inside ellipsis (...); only one ellipsis for "
                "tensor "
            )
        text = text.replace("...", _DOTS)
    found: list[Any] = []
    group: list[str] | None = None
    for word in _words(text):
        if word == "(":
            if group is not None:
                raise refused(
                    "Axis composition is one-level (brackets inside brackets not allowed)"
                )
            group = []
        elif word == ")":
            if group is None:
                raise refused("Brackets are not balanced")
            found.append(group)
            group = None
        else:
            names = _names(word)
            if group is not None:
                group += names
            else:
                found.append(word if word == _DOTS else names)
    if group is not None:
        raise refused(f"Imbalanced parentheses in expression: '{text}'")
    return found


def _words(text: str) -> list[str]:
    """Names and parentheses."""
    for letter in text:
        if not (letter.isalnum() or letter in f"_ (){_DOTS}"):
            raise refused(f"Unknown character '{letter}'")
    return text.replace("(", " ( ").replace(")", " ) ").split()


def _names(word: str) -> list[str]:
    """The name that a word is; none for a dimension of one element."""
    if word == _DOTS:
        return [word]
    if word.isdecimal():
        if int(word) != 1:
            raise refused("rearrange only supports unnamed axes of size 1")
        return []
    reason = ""
    if not word.isidentifier():
        reason = "not a valid python identifier"
    elif word[0] == "_" or word[-1] == "_":
        reason = "axis name should should not start or end with underscore"
    if reason:
        raise refused(f"Invalid axis identifier: {word}\n{reason}")
    if iskeyword(word):
        warn(
            f"It is discouraged to use axes names that are keywords: {word}",
            RuntimeWarning,
            stacklevel=users_level(),
        )
    return [word]


def _check_names(left: list, right: list, lengths: dict) -> None:
    """Raise unless both sides have the same names, each once, and sizes are of names."""
    sides = [[name for group in side for name in group] for side in (left, right)]
    for names in sides:
        for name in names:
            if names.count(name) > 1:
                raise refused(f"Indexing expression contains duplicate dimension '{name}'")
    different = set(sides[0]) ^ set(sides[1])
    if different:
        raise refused(
            f"Identifiers only on one side of rearrange expression (should be on both): {different}"
        )
    unknown = set(lengths) - set(sides[0])
    if unknown:
        raise refused(f"Identifiers not found in rearrange expression: {unknown}")
    for size in lengths.values():
        if type(size) is not int:
            raise type_error(
                f"rearrange axis lengths must be integers, got: {type(size)}",
                "Sizes are whole numbers.",
            )
