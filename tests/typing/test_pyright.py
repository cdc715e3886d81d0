"""Pyright on the programs of the pages: what it accepts, and what it takes expressions for."""

from collections import Counter
from pathlib import Path

import pytest

import tapegrad
from tapegrad.compat.type_stubs import write
from tests.typing import programs, pyright

SOURCE = Path(tapegrad.__file__).parents[1]
USER = frozenset(
    "reportMissingImports reportOptionalMemberAccess reportOptionalSubscript "
    "reportPossiblyUnboundVariable".split()
)
"""Errors of programs whose author would ask whether a gradient is there, or has a package."""

EXPECTED = {
    ("docs/engine.md", "reportFunctionMemberAccess"): 1,  # `torch.tanh.op`
    ("docs/extending.md", "reportArgumentType"): 2,  # what only `__torch_function__` makes one
    ("docs/extending.md", "reportAttributeAccessIssue"): 2,
    ("docs/hooks.md", "reportArgumentType"): 2,  # a gradient, which may be None
}
"""Errors that programs of the pages have for good, and how many at most."""


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pyright")
    pages, places = programs.write(folder)
    typings = write(tmp_path_factory.mktemp("typings")).parent  # for those that import torch
    return pages, places, *pyright.run(folder, SOURCE, typings)


def test_programs_are_accepted(checked):
    pages, _, _, errors = checked
    found = Counter((pages.get(e[0], e[0]), e[1]) for e in errors if e[1] not in USER)
    unexpected = {key: n for key, n in found.items() if n > EXPECTED.get(key, 0)}
    assert unexpected == {}, errors


def test_types_are_those_of_the_values(checked):
    pages, places, types, _ = checked
    seen, verdicts, wrong = programs.recorded(), Counter(), []
    for (name, *place), static in types.items():
        key = pages.get(name), places.get(name, {}).get(tuple(place))
        if key in seen and not key[1].startswith("np."):
            found = programs.verdict(static, seen[key], key[1])
            verdicts[found] += 1
            wrong += [(*key, static, seen[key])] * (found == "wrong")
    assert not wrong, "\n".join(map(str, wrong))
    assert verdicts["right"] > 800 and verdicts["unknown"] < 0.6 * verdicts["right"]
