"""The fast paths of calls are no second meaning: what they give, `apply` gives.

The table of samples runs both ways, `Reference` being the switch: values, graphs, what is saved and
errors must be the same, and so must tangents and what is written in place.
"""

import itertools

import numpy as np
import pytest

import tapegrad
from tapegrad.autograd.forward_ad import dual_level, make_dual, unpack_dual
from tapegrad.autograd.layered_mode import Layered
from tapegrad.autograd.mode import MODE
from tapegrad.autograd.node import Port
from tapegrad.dispatch.op import REGISTRY
from tests.laws.test_in_place import FORMS
from tests.samples import samples_of

NAMES = sorted(REGISTRY)


class Reference(Layered):
    """A mode that does nothing: under a mode, calls go to `apply`, whatever they are."""

    calls = 0

    def over(self, under):
        return Reference(under)

    def call(self, name, function, args, kwargs):
        Reference.calls += 1
        return self.below(name, function, args, kwargs)

    def __enter__(self):
        self.token = MODE.set(self)

    def __exit__(self, *exception):
        MODE.reset(self.token)

    __slots__ = ("token",)


def by_reference(function):
    with Reference(MODE.get()):
        return function()


def both_ways(make, call):
    """What `call` gives on what `make` gives, on the fast path and by reference."""
    found = []
    for way in (lambda function: function(), by_reference):
        tapegrad.manual_seed(0)
        inputs = make()
        flat = list(itertools.chain(*(x if isinstance(x, list) else [x] for x in inputs)))
        found.append([])
        try:
            outs = way(lambda given=inputs: call(*given))
            outs = outs if isinstance(outs, (tuple, list)) else (outs,)
            found[-1] += [described(out, flat) for out in outs]
            found[-1] += gradients(outs, flat)
        except Exception as error:
            found[-1] += [type(error), str(error)]
    return found


def gradients(outs, inputs):
    """Those of a weighted sum of the results, each with its dtype and shape."""
    leaves = [x for x in inputs if isinstance(x, tapegrad.Tensor) and x.requires_grad]
    outs = [y for y in outs if isinstance(y, tapegrad.Tensor) and y.requires_grad]
    if not leaves or not outs:
        return []
    found = tapegrad.autograd.grad(
        outs, leaves, [tapegrad.full_like(y, 0.75) for y in outs], allow_unused=True
    )
    return [None if g is None else value(g) for g in found]


# --- all that can be told of a result ------------------------------------------------------------


def described(out, inputs):
    if not isinstance(out, tapegrad.Tensor):
        return ("no tensor", value(out))
    view = out._view
    base = None if view is None else (place(view.base, inputs), len(view.steps), view.made)
    version = None if out._counter is None else out._counter.value
    return (value(out._array), out.requires_grad, version, base, edge(out._node, inputs))


def value(x):
    """Something that is equal where the values, dtypes, shapes and layouts are."""
    if isinstance(x, tapegrad.Tensor):
        return ("tensor", value(x._array))
    if isinstance(x, np.ndarray) and x.dtype != object:
        return (x.dtype.str, x.shape, x.strides if x.size > 1 else None, x.tobytes())
    if isinstance(x, (tuple, list)):
        return tuple(map(value, x))
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        return (type(x).__name__, x.shape, str(x.dtype))
    return (type(x).__name__, repr(x))


def place(x, inputs):
    return next((i for i, each in enumerate(inputs) if each is x), "elsewhere")


def edge(x, inputs):
    """An edge: of which output of what, and if it was made by this call, all of the node."""
    if x is None:
        return None
    if type(x) is Port:
        return (x.index, edge(x.node, inputs))
    for i, each in enumerate(inputs):
        if getattr(each, "_node", None) is x:
            return ("input", i)
    if x.edges == ():
        return ("leaf",)
    return (
        x.name(),
        x.plan.kinds if hasattr(x.plan, "kinds") else None,
        tuple(edge(each, inputs) for each in x.edges),
        getattr(x.plan, "saves", None),
        value(x.saved),
        x.versions if x.versions and any(x.versions) else None,  # None: all are 0
        None if x.hooks is None else "hooks",
    )


# --- the table of samples ------------------------------------------------------------------------


def tensor(x, dtype, grad, kind):
    """A sample's input as a tensor: a leaf, one that was written, or a view."""
    if isinstance(x, (list, tuple)) and any(isinstance(each, np.ndarray) for each in x):
        return [tensor(each, dtype, grad, kind) for each in x]
    if not isinstance(x, np.ndarray):
        return x
    x = x.copy("K")
    found = tapegrad.from_numpy(x.astype(dtype) if x.dtype == np.float64 else x)
    leaf = found.requires_grad_() if grad and x.dtype.kind in "fc" else found
    if kind == "leaf":
        return leaf
    if kind == "view":
        return leaf.unsqueeze(0)[0]
    return leaf.clone().copy_(leaf)


CASES = [
    (np.float64, "leaf", True),
    (np.float32, "leaf", True),
    (np.float32, "leaf", False),
    (np.float32, "written", True),
    (np.float32, "view", True),
]


@pytest.mark.parametrize("name", NAMES)
def test_results_and_graphs_are_the_same(name):
    op = REGISTRY[name]
    for sample in samples_of(name):
        for dtype, kind, grad in CASES:

            def make(sample=sample, dtype=dtype, kind=kind, grad=grad):
                return [
                    tensor(x, dtype, grad and i not in sample.fixed, kind)
                    for i, x in enumerate(sample.inputs)
                ]

            def call(*inputs, sample=sample):
                return op.call(*inputs, **sample.params)

            fast, reference = both_ways(make, call)
            assert fast == reference, f"{name}{sample} {dtype.__name__} {kind}"


@pytest.mark.parametrize("name", [name for name in NAMES if len(REGISTRY[name].inputs) == 2])
@pytest.mark.parametrize("number", [2, 0.5, True, 1j, 2**70, None, "text"])
def test_numbers_and_what_is_none_are_the_same(name, number):
    op = REGISTRY[name]
    for sample in samples_of(name)[:3]:
        for first in (False, True):

            def make(sample=sample, first=first):
                x = tensor(sample.inputs[0], np.float32, 0 not in sample.fixed, "leaf")
                return [number, x] if first else [x, number]

            fast, reference = both_ways(make, lambda *x, s=sample: op.call(*x, **s.params))
            assert fast == reference, f"{name}{sample} {number!r}"


# Operators of inputs alone: options, such as the sizes of windows, belong to the sample's inputs.
# `imaginary_part` is asked for complex numbers alone.
ALONE = [name for name in NAMES if not REGISTRY[name].params and name != "imaginary_part"]


@pytest.mark.parametrize("name", ALONE)
def test_refusals_are_the_same(name):
    op = REGISTRY[name]
    sample = samples_of(name)[0]
    wrong = [None, "text", tapegrad.ones(7, 5, 3), tapegrad.ones(2, dtype=tapegrad.int64)]
    for i, other in itertools.product(range(len(sample.inputs)), wrong):

        def make(i=i, other=other):
            given = [tensor(x, np.float32, False, "leaf") for x in sample.inputs]
            return [*given[:i], other, *given[i + 1 :]]

        fast, reference = both_ways(make, lambda *x: op.call(*x, **sample.params))
        assert fast == reference, f"{name}, input {i}: {other!r}"


@pytest.mark.parametrize("name", [n for n in NAMES if REGISTRY[n].kind == "elementwise"])
def test_tangents_are_the_same(name):
    op = REGISTRY[name]
    for sample in samples_of(name):
        if any(isinstance(x, np.ndarray) and x.dtype.kind != "f" for x in sample.inputs):
            continue

        def call(*inputs, sample=sample):
            changing = sample.differentiable()
            duals = [
                make_dual(x, tapegrad.full_like(x, 0.5)) if i in changing else x
                for i, x in enumerate(inputs)
            ]
            return unpack_dual(op.call(*duals, **sample.params))

        for dtype in (np.float32, np.float64):

            def make(sample=sample, dtype=dtype):
                return [tensor(x, dtype, False, "leaf") for x in sample.inputs]

            with dual_level():
                fast, reference = both_ways(make, call)
            assert fast == reference, f"{name}{sample}"


@pytest.mark.parametrize(("method", "name"), FORMS)
@pytest.mark.parametrize("grad", [False, True])
def test_what_is_written_in_place_is_the_same(method, name, grad):
    for sample in samples_of(name):
        if not isinstance(sample.inputs[0], np.ndarray):
            continue

        def make(sample=sample):
            given = [tensor(x, np.float32, False, "leaf") for x in sample.inputs]
            return [tensor(sample.inputs[0], np.float32, grad, "written"), *given[1:]]

        def call(x, *others, sample=sample):
            return getattr(x, method)(*others, **sample.params)

        fast, reference = both_ways(make, call)
        assert fast == reference, f"{name}{sample}"


LAYERS = {
    "all": ("leaf", "leaf", "leaf"),
    "a constant input": (None, "leaf", "leaf"),
    "a constant weight": ("leaf", None, "leaf"),
    "a constant bias": ("leaf", "leaf", None),
    "parameters that are constant": ("leaf", None, None),
    "nothing with a gradient": (None, None, None),
    "what was written": ("written", "written", "written"),
    "views": ("view", "leaf", "leaf"),
    "parameters that are views": ("leaf", "view", "view"),
}


@pytest.mark.parametrize("kinds", LAYERS.values(), ids=LAYERS)
@pytest.mark.parametrize("recording", [True, False])
@pytest.mark.parametrize(
    "arrays",
    [
        [(5, 3), (4, 3), (4,)],
        [(5, 3), (1, 3), (1,)],
        [(5, 1), (4, 1), (4,)],
        [(3,), (4, 3), (4,)],
        [(2, 5, 3), (4, 3), (4,)],
        [(0, 3), (4, 3), (4,)],
        [(5, 2), (4, 3), (4,)],
        [(5, 3), (4, 3), (1,)],
    ],
    ids=str,
)
def test_layers_are_the_same(arrays, kinds, recording):
    linear = tapegrad.nn.functional.linear
    random = np.random.default_rng(0)
    given = [random.standard_normal(shape) for shape in arrays]
    turned = [given[0], np.asfortranarray(given[1]), given[2]]

    def make_of(arrays, dtypes):
        return lambda: [
            tensor(x, dtype, kind is not None, kind or "leaf")
            for x, dtype, kind in zip(arrays, dtypes, kinds, strict=True)
        ]

    for each in (given, turned):
        for dtypes in ("fff", "ddd", "ffd"):
            with tapegrad.set_grad_enabled(recording):
                fast, reference = both_ways(make_of(each, dtypes), linear)
            assert fast == reference, dtypes


def test_the_switch_takes_the_long_way():
    before = Reference.calls
    x = tapegrad.ones(2, requires_grad=True)
    by_reference(lambda: (x * 2 + x).tanh().view(1, 2).softmax(1))
    assert Reference.calls == before + 5


def test_a_difference_is_seen():
    flip = itertools.cycle([1.0, 2.0])
    fast, reference = both_ways(lambda: [tapegrad.ones(2)], lambda x: x * next(flip))
    assert fast != reference
