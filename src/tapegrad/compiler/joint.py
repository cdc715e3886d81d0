"""Forward and backward of a compiled function: two programs, and one node of the graph.

The forward program gives the results and what the backward program reads of it; the node keeps
that. A gradient that is itself differentiated is computed by the function as it was written.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from tapegrad.arrays.signature import Like
from tapegrad.arrays.traced.program import Changed, Instruction, Scalar
from tapegrad.autograd.backward_grad import grad
from tapegrad.autograd.errors import modified
from tapegrad.autograd.mode import enable_grad, is_grad_enabled
from tapegrad.autograd.node import INFERENCE, MultiNode, Port, counter_of, next_sequence
from tapegrad.autograd.view import edge_of
from tapegrad.compiler import instructions
from tapegrad.compiler.sources import Uncompilable
from tapegrad.compiler.stores import taken_apart
from tapegrad.core.annotations import Any, Callable, Sequence
from tapegrad.core.conj_neg_view import resolved
from tapegrad.core.errors import runtime_error
from tapegrad.core.tensor_base import TensorBase, wrap


class Joint:
    """The two programs of a recorded call whose results have gradients.

    Attributes:
        forward, outputs: the instructions of the first and the values that it gives: the results,
            `n_outputs` of them, then what the second one reads
        saved_tensors: the numbers of the tensors whose arrays the second one reads
        wanted: the numbers of the tensors that get gradients
        live_outputs: the numbers of the outputs that have gradients
        live_leaves: the numbers that they have among the leaves of what the call gives
        comes_from: of each tensor that gets a gradient, the results that lead to it
    """

    def __init__(self, recording: Any, forward: list, outputs: list, tensors: list, numbers: list):
        program = recording.program
        results = [x for x in recording.results if x[0] == "tensor"]
        live = {id(x) for x in recording.live}
        self.live_outputs = [k for _, k, x in results if id(x) in live]
        order = {id(x): i for i, x in enumerate(recording.live)}
        self.likes = [Like(x._array) for x in recording.live]
        by_output = {order[id(x)]: k for _, k, x in results if id(x) in live}
        if len(by_output) != len(recording.live):
            raise Uncompilable("a result is given twice")
        first = {id(x): i for i, x in [*enumerate(recording.leaves)][::-1]}
        self.live_leaves = [first[id(x)] for x in recording.live]
        self.live_outputs = [by_output[i] for i in range(len(recording.live))]
        wanted = [
            (i, g is not None)
            for i, g in zip(recording.wanted, recording.gradients, strict=True)
            if g is not None or not recording.was_stored(i)
        ]
        self.wanted, self.there = [i for i, _ in wanted], [there for _, there in wanted]
        gradients = [g.place for g in recording.gradients if g is not None]
        came = iter(gradients)
        backward = list(program.instructions[recording.n_forward :])
        cotangents = [g.place for g in recording.cotangents]
        backward, gradients = _separate(recording, backward, gradients, cotangents, tensors)
        backward = instructions.needed(backward, gradients)
        forward, backward = _numbers_as_arrays(program, forward, backward, numbers)
        sources = _sources(backward, cotangents)
        self.comes_from = [
            sources.get(id(next(came).root), set()) if there else set() for there in self.there
        ]
        made = {id(v) for each in backward for v in instructions.made(each)}
        known = {id(v) for v in cotangents} | made
        saved: dict[int, Any] = {}
        for value in [*[v for each in backward for v in instructions.read(each)], *gradients]:
            if id(value) not in known:
                saved[id(value)] = value
        places = {id(v): i for i, v in enumerate(tensors)}
        self.saved_tensors = [places[k] for k in saved if k in places]
        rest = [v for k, v in saved.items() if k not in places]
        outs = {id(v): i for i, v in enumerate(outputs)}
        self.saved_outputs = [outs[id(v)] for v in rest if id(v) in outs]
        kept = [v for v in rest if id(v) not in outs]
        for value in kept:
            array = recording.kept.get(id(value))
            if array is None:
                continue  # a number, or an array that only the program has
            # a part of a result, or of a tensor from outside: who writes to that one is told
            for _, k, y in results:
                if k not in self.saved_outputs and np.may_share_memory(array, y._array):
                    self.saved_outputs.append(k)
            for i, x in enumerate(recording._arrays):
                if i not in self.saved_tensors and np.may_share_memory(array, x):
                    self.saved_tensors.append(i)
        where = {k: i for i, k in enumerate(self.live_outputs)}
        self.saved_live = [where.get(k) for k in self.saved_outputs]  # which result; None: another
        self.n_outputs = len(outputs)
        self.forward = forward
        self.outputs = [*outputs, *kept]
        inputs = [tensors[i] for i in self.saved_tensors]
        inputs += [outputs[i] for i in self.saved_outputs] + kept + cotangents
        self.part = program.part(inputs, backward)
        self.gradients = gradients
        self.runner: Any = None
        self.why_numpy = ""  # why it is no C


def _separate(
    recording: Any, backward: list, gradients: list, cotangents: list, tensors: list
) -> tuple[list, list]:
    """The backward pass with each gradient in memory of its own."""
    program = recording.program
    taken = {id(v.root) for v in (*cotangents, *tensors)}
    made = {id(v) for each in backward for v in instructions.made(each)}
    found = []
    arrays = {id(g.place): g.array for g in recording.gradients if g is not None}
    for value in gradients:
        if id(value.root) in taken or id(value.root) not in made or value.root.shape != value.shape:
            copy = program.place(np.array(arrays[id(value)], order="K"))
            backward.append(Instruction(".copy", (value, "K"), {}, copy, None))
            value = copy
        taken.add(id(value.root))
        found.append(value)
    return backward, found


def _numbers_as_arrays(
    program: Any, forward: list, backward: list, inputs: list
) -> tuple[list, list]:
    """Both programs, with numbers of Python that the second reads of the first as arrays."""
    known = [x for each in forward for x in instructions.made(each) if type(x) is Scalar]
    there = {id(x) for x in (*known, *inputs)}
    read = {id(x): x for each in backward for x in instructions.read(each) if type(x) is Scalar}
    forward, unpacked = list(forward), []
    for k, x in read.items():
        if k in there:
            array = program.place(np.zeros(()))
            program.functions["np.asarray"] = np.asarray
            forward.append(Instruction("np.asarray", (x,), {}, array, None))
            unpacked.append(Instruction(".item", (array,), {}, x, None))
    return forward, unpacked + backward


def _sources(backward: list, cotangents: list) -> dict[int, set[int]]:
    """By the identity of memory: the numbers of the cotangents that what is in it was made of."""
    found = {id(v.root): {i} for i, v in enumerate(cotangents)}
    for each in backward:
        read, made = instructions.read(each), instructions.made(each)
        of = set().union(*[found.get(id(_root(v)), set()) for v in read])
        for v in [*made, *(read if instructions.writes(each) else ())]:
            found.setdefault(id(_root(v)), set()).update(of)
    return found


def _root(v: Any) -> Any:
    return getattr(v, "root", v)


def views_of_others(leaves: list) -> dict[int, int]:
    """Of what a call gives: views of a tensor that it gives before them, and that one's number."""
    found: dict[int, int] = {}
    numbers: dict[int, int] = {}
    for i, x in enumerate(leaves):
        if isinstance(x, TensorBase):
            base: Any = None if x._view is None else x._view.base
            if id(base) in numbers and base.dtype is x.dtype and not x.is_conj():
                found[id(x)] = numbers[id(base)]
            numbers.setdefault(id(x), i)
    return found


def views_of_inputs(leaves: list, tensors: list, arrays: list) -> dict[int, tuple[int, str]]:
    """Of what a call gives: views of a tensor that it may read, and that one's number.

    And how the view is made of that: "view", "view.detach" or "detach.view". `arrays`: the memory
    that the tensors had before the call, in which they are still, or they are not meant.
    """
    roots = {id(t._array.place.root): i for i, t in enumerate(tensors) if _is_in(t, arrays[i])}
    found: dict[int, tuple[int, str]] = {}
    for x in leaves:
        place = getattr(getattr(x, "_array", None), "place", None)
        i = roots.get(id(getattr(place, "root", None)))
        if i is None or x is tensors[i] or x.dtype is not tensors[i].dtype:
            continue
        t, base = tensors[i], None if x._view is None else x._view.base
        is_detached = x._node is None and not x.requires_grad
        if base is (t if t._view is None else t._view.base):
            if x.requires_grad == (t.requires_grad and is_grad_enabled()):
                found[id(x)] = i, "view"
        elif is_detached and (base is None or (base._node is None and not base.requires_grad)):
            found[id(x)] = i, "view.detach" if base is None else "detach.view"
    return found


def _is_in(x: Any, array: Any) -> bool:
    """Whether the recorded array of a tensor is that in this memory."""
    return getattr(x._array, "array", None) is array


class _Plan:
    """What the engine asks of the plan of a node."""

    __slots__ = ()
    saves: tuple = ()
    saves_tensors = True

    def gradients(self, node: Any, g: list) -> tuple:
        """The gradients of the tensors that the program read, by its backward program."""
        joint, given, versions, outs, kept, saved, _ = node.saved
        _check_versions(node, given, versions)
        _check_versions(node, *_of_outputs(node, saved, outs))
        if any(not isinstance(x, (np.ndarray, np.generic)) for x in g if x is not None):
            return self._as_written(node, g)  # they are of another namespace
        cotangents = _laid_out(g, joint.likes)
        try:
            results = iter(joint.runner(*[x._array for x in given], *outs, *kept, *cotangents))
        except Changed:  # a number that the rules have read is another one
            return self._as_written(node, g)
        found = [next(results) if there else None for there in joint.there]
        if any(x is None for x in g):
            reached = {i for i, x in enumerate(g) if x is not None}
            zipped = zip(found, joint.comes_from, strict=True)
            return tuple([x if reached & outputs else None for x, outputs in zipped])
        return tuple(found)

    def _as_written(self, node: Any, g: list) -> tuple:
        """The same by the function itself, which runs again."""
        given = [None if x is None else wrap(x) for x in g]
        found = self.run_on_tensors(node, given, create_graph=False)
        return tuple([None if x is None else resolved(x._array) for x in found])

    def saved_by(self, node: Any) -> dict[str, Any]:
        """The arrays that a node keeps for its backward program."""
        _, given, _, results, between, *_ = node.saved
        groups = ("tensor", [x._array for x in given]), ("result", results), ("between", between)
        return {f"{name} {i}": x for name, found in groups for i, x in enumerate(found)}

    def run_on_tensors(
        self, node: Any, g: list, leads: Any = None, create_graph: bool = True
    ) -> tuple:
        """The same, recorded: the function runs again as it was written."""
        *_, call = node.saved
        function, args, kwargs, wanted, states, written, read, versions, holds = call
        _check_versions(node, read, versions)
        if not holds():
            raise runtime_error(
                "The gradient of a compiled function is differentiated, and something that the "
                "function has read is not what it was",
                "Differentiate before it changes, or call the function as it is: "
                "torch.compiler.disable(function).",
            )
        now = [stream.snapshot() for stream, _ in states]
        for stream, state in states:
            stream.restore(state)
        try:
            with enable_grad(), _as_before(written):
                leaves, _ = taken_apart(function(*args, **kwargs))
        finally:
            for (stream, _), state in zip(states, now, strict=True):
                stream.restore(state)
        live = [leaves[i] for i in node.saved[0].live_leaves]
        pairs = [(y, each) for y, each in zip(live, g, strict=True) if each is not None]
        live, cotangents = [y for y, _ in pairs], [each for _, each in pairs]
        return tuple(grad(live, wanted, cotangents, create_graph=create_graph, allow_unused=True))


@contextmanager
def _as_before(written: tuple) -> Iterator[None]:
    """A block in which tensors that the function writes are what they were before its call, as
    far as its results depend on them; behind it they are what they are now.

    `written`: each with the number of writes, the array that it had, or None, and whether it has
    another one now.
    """
    now = []
    for x, writes, before, replaced in written:
        array, counter = x._array, x._counter
        version = None if counter is None or counter is INFERENCE else counter.value
        now.append((x, array, array.copy("K"), version, x._grad))
        if version is not None:
            counter.value -= writes  # what the block saves has the versions of now
        if before is not None:
            if replaced:
                x._array, x._signature = before, None
            else:
                np.copyto(array, before)
        x._grad = None
    try:
        yield
    finally:
        for x, array, content, version, grad in now:
            np.copyto(array, content)
            x._array, x._signature, x._grad = array, None, grad
            if version is not None:
                x._counter.value = version


class _Output:
    """A result that the backward program reads: its array, and the counter that it has now."""

    __slots__ = ("_array", "_counter", "origin")

    def __init__(self, array: Any, counter: Any, index: int | None):
        self._array, self._counter = array, counter
        self.origin = "" if index is None else f"output {index} of CompiledFunction"


def _of_outputs(node: Any, saved: tuple, outs: tuple) -> tuple[list, list]:
    """The saved results, and the versions that they had."""
    found = [
        _Output(array, counter_of(node, x), x)
        if type(x) is int
        else _Output(array, x._counter, None)
        for (x, _), array in zip(saved, outs, strict=True)
    ]
    return found, [version for _, version in saved]


def versions_of(tensors: tuple) -> list:
    """How often tensors were written."""
    return [0 if x._counter is None else x._counter.value for x in tensors]


def _check_versions(node: Any, given: Sequence, versions: list) -> None:
    """Raise if a tensor was written since the forward pass."""
    for x, version in zip(given, versions, strict=True):
        counter = x._counter
        if counter is not None and counter is not INFERENCE and counter.value != version:
            raise modified(x._array, counter, version, getattr(x, "origin", ""), node)


def _laid_out(g: list, likes: list) -> list:
    """Cotangents row by row, as the program was recorded with; zeros where there is none."""
    return [
        np.zeros(like.shape, like.dtype) if x is None else np.asarray(x, like.dtype, order="C")
        for x, like in zip(g, likes, strict=True)
    ]


PLAN = _Plan()


class CompiledFunctionBackward(MultiNode):
    """The node of a compiled function."""

    __slots__ = ()
    fills = False

    def name(self) -> str:
        """The name as PyTorch gives it."""
        return "CompiledFunctionBackward"


def compiled_node(joint: Joint) -> Callable:
    """`attach(outs, saved outputs, given, kept, wanted, call)` puts the node behind results."""
    likes = joint.likes

    def attach(
        outs: tuple, saved: tuple, tensors: tuple, given: tuple, kept: tuple, call: tuple
    ) -> None:
        node = CompiledFunctionBackward()
        node.plan = PLAN
        node.edges = tuple([edge_of(x) for x in call[3]])
        node.hooks = node.output_version = node.versions = node.restore = None
        node.sequence = next_sequence()
        node.n_outputs = len(outs)
        node.output_metadata = likes
        checked = tuple(
            [
                (index, 0 if x._counter is None else x._counter.value)
                if index is not None
                else (x, 0 if x._counter is None else x._counter.value)
                for index, x in zip(joint.saved_live, tensors, strict=True)
            ]
        )
        node.saved = joint, given, versions_of(given), saved, kept, checked, call
        for i, y in enumerate(outs):
            y._node = Port(node, i)

    return attach
