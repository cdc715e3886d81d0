"""Every operator, forward and reverse, as a NumPy program: the bits that eager gives.

The program runs three times: on the numbers that were recorded, on them again, when views and
memory are those of the call before, and on others, the elements in reverse order.
"""

import numpy as np
import pytest

from tapegrad.arrays.traced.array import Traced
from tapegrad.arrays.traced.program import Changed
from tapegrad.compiler.numpy_backend import build
from tapegrad.dispatch.op import REGISTRY
from tests.laws.test_recorded import NAMES, copies, equal, recorded_run, run
from tests.samples import samples_of


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", NAMES)
def test_every_operator_gives_the_bits_of_eager(name, order):
    op = REGISTRY[name]
    for sample in samples_of(name):
        weight = np.array(1.0)
        try:
            program, outs = recorded_run(op, sample, order, weight)
        except RuntimeError:
            continue  # tests/laws/test_recorded.py holds the errors to eager's
        traced = [y for y in outs if isinstance(y, Traced)]
        compiled = build(program, [y.place for y in traced])
        turned = [np.array(np.flip(x)) if isinstance(x, np.ndarray) else x for x in sample.inputs]
        calls = [(sample.inputs, weight), (sample.inputs, weight), (turned, np.array(-0.5))]
        kept = []
        for inputs, other in calls:
            given = [x.copy() for x in inputs if isinstance(x, np.ndarray)]
            try:
                found = compiled(*given, other)
            except Changed:
                assert inputs is turned, f"{name}{sample}: not the same again"
                continue
            except (IndexError, ValueError, np.linalg.LinAlgError):
                with pytest.raises((IndexError, RuntimeError, ValueError)):
                    run(op, sample, copies(inputs), order, other)
                continue
            eager = run(op, sample, copies(inputs), order, other)
            rest = iter(found)
            for a, b in zip(outs, eager, strict=True):
                a = next(rest) if isinstance(a, Traced) else a
                assert equal(np.asarray(a), b), f"{name}{sample}\n{compiled.source}"
            for a, y in zip(found, traced, strict=True):
                assert a.strides == y.strides, f"{name}{sample}\n{compiled.source}"
            kept.append((found, [x.tobytes() for x in found]))
        for arrays, before in kept:  # no later call has overwritten them
            assert [x.tobytes() for x in arrays] == before, f"{name}{sample}"
