"""PyTorch's signatures of native operators, as `python -m tools.record_schemas` wrote them down."""

import bz2
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from tapegrad.library.schema import FunctionSchema, parse_schema
from tapegrad.library.tag import Tag


class Recorded(NamedTuple):
    """A signature, as it is read when it is first asked for, and what PyTorch says of it."""

    text: str
    tags: list[Tag]


def lines() -> list[str]:
    """The signatures: packets by name, overloads in PyTorch's order.

    In the file, packets of the same signatures share them, and all weighs a sixth less.

    >>> from tapegrad.library.aten_schemas import lines
    >>> [line for line in lines() if line.startswith("relu(")]
    ['relu(Tensor self) -> Tensor # core pointwise pt2_compliant_tag']
    """
    packed = files(__package__).joinpath("aten_schemas.bz2").read_bytes()
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in bz2.decompress(packed).decode().splitlines():
        if line[0] in "(.":
            for name in names:
                found.setdefault(name, []).append(name + line)
        else:
            names = line.split()
    return [line for name in sorted(found) for line in found[name]]


@cache
def table() -> dict[str, dict[str, Recorded]]:
    """Of each packet its overloads: `table()["add"]["Tensor"]`."""
    found: dict[str, dict[str, Recorded]] = {}
    for line in lines():
        text, _, tags = line.partition(" # ")
        packet, _, overload = text.partition("(")[0].partition(".")
        recorded = Recorded(text, [Tag[name] for name in tags.split()])
        found.setdefault(packet, {})[overload or "default"] = recorded
    return found


@cache
def schema_of(packet: str, overload: str) -> FunctionSchema | None:
    """The signature of an overload; None for one that PyTorch has not."""
    recorded = table().get(packet, {}).get(overload)
    if recorded is None:
        return None
    schema = parse_schema(f"aten::{recorded.text}")
    schema.recorded = f"aten::{recorded.text}"
    return schema


def tags_of(packet: str, overload: str) -> list[Tag]:
    """What PyTorch says of an overload: `[Tag.core, Tag.pointwise]`."""
    recorded = table().get(packet, {}).get(overload)
    return [] if recorded is None else list(recorded.tags)
