"""Pyright on the programs of the pages: what it accepts, and what it takes expressions for."""

from collections import Counter
from pathlib import Path

import pytest

import tapegrad
from tapegrad.compat.type_stubs import write
from tests.typing import programs, pyright

SOURCE = Path(tapegrad.__file__).parents[1]
USER = frozenset(["reportMissingImports", "reportPossiblyUnboundVariable"])
"""Errors of programs whose author has a package; those about None would ask for a gradient."""

EXPECTED = {
    ("docs/how-it-works/engine.md", "reportFunctionMemberAccess"): 1,  # `torch.tanh.op`
    ("docs/how-to/extending.md", "reportArgumentType"): 2,  # by `__torch_function__`
    ("docs/how-to/extending.md", "reportAttributeAccessIssue"): 2,
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
    own = [e for e in errors if e[1] not in USER and "None" not in e[3]]
    found = Counter((pages.get(e[0], e[0]), e[1]) for e in own)
    unexpected = {key: n for key, n in found.items() if n > EXPECTED.get(key, 0)}
    assert unexpected == {}, own


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
