"""Every operator records: run again as a program, on other numbers, it gives what eager gives.

Forward and reverse of each sample run on arrays that write down what is computed. The program is
then run on the same numbers, on which it must give the same bits, and on others: the elements in
reverse order. A number that left the record would be a constant there, and the results would
differ. Where Python read a number that is another one now, the program says so.
"""

import re

import numpy as np
import pytest

import tapegrad
from tapegrad.arrays.traced.array import Traced
from tapegrad.arrays.traced.program import Changed, Program
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
def test_every_operator_records(name, order):
    op = REGISTRY[name]
    for sample in samples_of(name):
        weight = np.array(1.0)
        try:
            run(op, sample, copies(sample.inputs), order, weight)
        except RuntimeError as error:  # so does a recorded call, in the same words
            with pytest.raises(type(error), match=re.escape(str(error))):
                recorded_run(op, sample, order, weight)
            continue
        program, outs = recorded_run(op, sample, order, weight)
        recorded = [y for y in outs if isinstance(y, Traced)]
        again = program.function(recorded)
        turned = [np.array(np.flip(x)) if isinstance(x, np.ndarray) else x for x in sample.inputs]
        for inputs, other in ((sample.inputs, weight), (turned, np.array(-0.5))):
            given = [x.copy() for x in inputs if isinstance(x, np.ndarray)]
            try:
                found = again(*given, other)
            except Changed:
                assert inputs is turned, f"{name}{sample}: not the same again"
                continue  # it would run anew
            except (IndexError, ValueError, np.linalg.LinAlgError):
                with pytest.raises((IndexError, RuntimeError, ValueError)):
                    run(op, sample, copies(inputs), order, other)
                continue
            eager = run(op, sample, copies(inputs), order, other)
            rest = iter(found)  # what no input has a part in is a constant in both
            for a, b in zip(outs, eager, strict=True):
                a = next(rest) if isinstance(a, Traced) else a
                assert equal(np.asarray(a), b), f"{name}{sample}: other numbers"
