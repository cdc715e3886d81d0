"""Operators' samples, recorded and compiled to C, give what eager gives.

A tenth of the operators, forward and reverse; `TAPEGRAD_ALL_OPERATORS=1` takes all of them.
"""

import os

import numpy as np
import pytest

from tapegrad.arrays.traced.array import Traced
from tapegrad.dispatch.op import REGISTRY
from tests.compiler.c_programs import built, needs_compiler
from tests.laws.test_recorded import recorded_run
from tests.samples import samples_of

pytestmark = needs_compiler()
NAMES = sorted(REGISTRY)
NAMES = NAMES if os.environ.get("TAPEGRAD_ALL_OPERATORS") else NAMES[::10]
BATCH = 40


def close(a, b):
    """Whether two results are equal but for the order in which they were summed."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind not in "fc":
        return np.array_equal(a, b)
    single = a.dtype.itemsize <= (8 if a.dtype.kind == "c" else 4)
    tolerance = 1e-2 if a.dtype.itemsize == 2 else 1e-5 if single else 1e-12
    size = np.max(np.abs(b[np.isfinite(b)]), initial=1.0)
    return np.allclose(a, b, rtol=10 * tolerance, atol=tolerance * size, equal_nan=True)


def recorded(name):
    """(name, sample, program, outputs) of the samples of an operator."""
    op = REGISTRY[name]
    for sample in samples_of(name):
        try:
            program, outs = recorded_run(op, sample, 1, np.array(1.0))
        except RuntimeError:  # so does an eager call
            continue
        yield name, sample, program, [y for y in outs if isinstance(y, Traced)]


@pytest.mark.parametrize("start", range(0, len(NAMES), BATCH))
def test_compiled_operators_give_what_eager_gives(start, tmp_path):
    cases = [case for name in NAMES[start : start + BATCH] for case in recorded(name)]
    runners = built([(p, [y.place for y in outs]) for _, _, p, outs in cases], tmp_path)
    for (name, sample, program, outs), runner in zip(cases, runners, strict=True):
        turned = [np.flip(x) if isinstance(x, np.ndarray) else x for x in sample.inputs]
        for inputs, weight in ((sample.inputs, 1.0), (turned, -0.5)):
            first, second = (
                [*[x.copy() for x in inputs if isinstance(x, np.ndarray)], np.array(weight)]
                for _ in range(2)
            )
            with np.errstate(all="ignore"):
                want = outcome(program.function(outs), first)
                found = outcome(runner, second)
            where = f"{name}{sample}"
            if isinstance(want, type) or isinstance(found, type):
                assert want is found, where
                continue
            pairs = [*zip(found, want, strict=True), *zip(second, first, strict=True)]
            for a, b in pairs:
                assert close(np.asarray(a), np.asarray(b)), where


def outcome(function, given):
    """What a program gives, or the class of what it raises."""
    try:
        return function(*given)
    except Exception as error:
        return type(error)
