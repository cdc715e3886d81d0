"""Every operator records: run again as a program, on other numbers, it gives what eager gives.

Forward and reverse of each sample run on arrays that write down what is computed. The program, as
it was recorded and as the NumPy backend makes it, is then run on the same numbers, twice, as views
and memory are those of the call before, and on others: the elements in reverse order. It must give
the bits of eager. A number that left the record would be a constant there, and the results would
differ. Where Python read a number that is another one now, the program says so. The first order
runs in blocks, too, however small its arrays are.
"""

import re

import numpy as np
import pytest

import tapegrad
from tapegrad.arrays.traced.array import Traced
from tapegrad.arrays.traced.program import Changed, Program
from tapegrad.compiler.numpy_backend import build, chains, run_blocks
from tapegrad.core.conj_neg_view import resolved
from tapegrad.core.tensor_base import wrap
from tapegrad.dispatch.op import REGISTRY
from tests.difference import outputs_of
from tests.samples import samples_of

NAMES = sorted(REGISTRY)


def run(op, sample, arrays, order, weight):
    """Outputs of a sample of `arrays`, and gradients of their sum with weights."""
    tapegrad.manual_seed(0)
    weight = wrap(weight)
    inputs = []
    places = sample.differentiable() if op.vjps else ()
    for i, x in enumerate(arrays):
        if isinstance(x, (np.ndarray, Traced)):
            x = wrap(x)
            if i in places:
                x.requires_grad_()
        inputs.append(x)
    outs = outputs_of(op, inputs, sample.params)
    found = list(outs)
    for _ in range(order):
        live = [y for y in found if y.requires_grad]
        leaves = [x for x in inputs if isinstance(x, tapegrad.Tensor) and x.requires_grad]
        if not live:
            break
        gs = [tapegrad.arange(y.numel()).cos().to(y.dtype).reshape(y.shape) * weight for y in live]
        grads = tapegrad.autograd.grad(live, leaves, gs, create_graph=order > 1, allow_unused=True)
        found += [g for g in grads if g is not None]
    return [resolved(y._array) for y in found]


def equal(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def recorded_run(op, sample, order, weight):
    """The program of a sample, and what `run` gave."""
    with Program() as program:
        arrays = [
            program.input(x) if isinstance(x, np.ndarray) else x for x in copies(sample.inputs)
        ]
        return program, run(op, sample, arrays, order, program.input(weight))


def copies(arrays):
    return [x.copy() if isinstance(x, np.ndarray) else x for x in arrays]


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", NAMES)
def test_every_operator_records(name, order, monkeypatch):
    op = REGISTRY[name]
    for sample in samples_of(name):
        weight = np.array(1.0)
        try:
            eager = run(op, sample, copies(sample.inputs), order, weight)
        except RuntimeError as error:  # so does a recorded call, in the same words
            with pytest.raises(type(error), match=re.escape(str(error))):
                recorded_run(op, sample, order, weight)
            continue
        program, outs = recorded_run(op, sample, order, weight)
        places = [y.place for y in outs if isinstance(y, Traced)]
        programs = [program.function([y for y in outs if isinstance(y, Traced)])]
        programs.append(build(program, places))
        with monkeypatch.context() as small:
            if order == 1:
                small.setattr(chains, "LARGE", 2)
                small.setattr(run_blocks, "BLOCK", 5)
                programs.append(build(program, places))
            check(op, sample, order, outs, eager, programs)


def check(op, sample, order, outs, eager, programs):
    """Compare programs with eager on the numbers that were recorded, twice, and on others."""
    turned = [np.array(np.flip(x)) if isinstance(x, np.ndarray) else x for x in sample.inputs]
    try:
        other = run(op, sample, copies(turned), order, np.array(-0.5))
    except (IndexError, RuntimeError, ValueError) as error:
        other = error
    kept = []
    recorded = sample.inputs, 1.0, eager
    for inputs, weight, expected in (recorded, recorded, (turned, -0.5, other)):
        for program in programs:
            given = [x.copy() for x in inputs if isinstance(x, np.ndarray)]
            where = f"{op.name}{sample}\n{getattr(program, 'source', '')}"
            try:
                found = program(*given, np.array(weight))
            except Changed:
                assert inputs is turned, f"not the same again: {where}"
                continue  # it would run anew
            except (IndexError, ValueError, np.linalg.LinAlgError):
                assert isinstance(expected, Exception), where
                continue
            assert not isinstance(expected, Exception), where
            compare(outs, expected, found, program is not programs[0], where)
            if program is not programs[0]:
                kept.append((found, [x.tobytes() for x in found], where))
    for arrays, before, where in kept:  # no later call has overwritten them
        assert [x.tobytes() for x in arrays] == before, where


def compare(outs, eager, found, with_strides, where):
    """Compare results with eager's, and their strides with the recorded ones."""
    rest = iter(found)
    for recorded, expected in zip(outs, eager, strict=True):
        if isinstance(recorded, Traced):
            made = next(rest)
            assert not with_strides or made.strides == recorded.strides, where
        else:  # what no input has a part in is a constant in both
            made = recorded
        assert equal(np.asarray(made), expected), where
