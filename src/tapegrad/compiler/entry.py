"""A program of one recorded call: when it holds, and a call that runs it.

What has to be asked and done in each call is written out as a Python function, made for the program
as a guard is: a line for each tensor, number and effect. Its source can be read: `Entry.source`.
"""

import inspect

import numpy as np

from tapegrad.arrays.numpy.memory_pool import give_back
from tapegrad.arrays.traced.program import Instruction, Scalar, Value
from tapegrad.compiler import instructions
from tapegrad.compiler.call_source import CallSource
from tapegrad.compiler.guards import Guard
from tapegrad.compiler.joint import Joint
from tapegrad.compiler.recording import Recording
from tapegrad.compiler.sources import Uncompilable
from tapegrad.compiler.stores import is_constant
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.streams.mersenne_twister import Twister


class Entry(CallSource):
    """A program, and the function `call(args, kwargs)` that runs it or gives `MISS`."""

    def __init__(
        self, function: Callable, recording: Recording, args: tuple, kwargs: dict, build: Callable
    ):
        recording.conclude()
        self.function = function
        self.recording = recording
        self.guard: Guard = recording.found.guard
        self.build = build
        self.mode = True  # the grad mode that it was recorded in
        self.runner: Any = None
        self.why_numpy = ""  # why it is no C
        self.changed = ""  # which number was another one when the program was asked last
        self.error: Exception | None = None  # what the program raised in the last call
        self.plain_arguments: list = []  # those that are no tensors
        super().__init__()
        self._args, self._kwargs = args, kwargs
        self._arguments(args, kwargs)
        self._programs()
        self._places_of_stores()
        self._write()
        del self._args, self._kwargs
        recording.release()
        give_back()  # memory that the calls as they are have used

    # --- programs --------------------------------------------------------------------------------

    def is_of_another_size(self, plain: list) -> bool:
        """Whether it did not hold for a call with `plain`, arguments, as its tensors are others."""
        mine = self.plain_arguments
        is_same = len(plain) == len(mine) and all(
            x is y or (type(x) is type(y) and is_constant(x) and x == y)
            for x, y in zip(plain, mine, strict=True)
        )
        return is_same and not self.changed and self.guard.holds()

    def forget_memory(self) -> None:
        """Give back the memory that the program works in; it takes some anew when it runs."""
        for each in (self, self.joint):
            forget = getattr(getattr(each, "runner", None), "forget_memory", None)
            if forget is not None:
                forget()

    def _programs(self) -> None:
        recording = self.recording
        program = recording.program
        self._check_results()
        places = [x for x in program.inputs if isinstance(x, Value)]
        tensors = places[: len(recording.tensors)]
        numbers = [x for x in program.inputs if isinstance(x, Scalar)]
        forward = program.instructions[: recording.n_forward]
        outputs = self._separate(forward, set(map(id, tensors)))
        self.names = instructions.names_of(recording, tensors, self._called())
        self.joint = None
        if recording.live:
            self.joint = Joint(recording, forward, outputs, tensors, numbers)
            forward, outputs = self.joint.forward, self.joint.outputs
            self.build(self.joint, self.joint.part, self.joint.gradients, names=self.names)
        forward = instructions.needed(forward, outputs)
        read = instructions.read_by(forward) | set(map(id, outputs))
        self.reads = [i for i, x in enumerate(tensors) if id(x) in read]
        used = {*self.reads, *[e.tensor for e in recording.effects]}
        grads = {id(x) for x in recording._grads if x is not None}
        self.grads_matter = (
            recording.reads_grads
            or any(e.grad != "kept" for e in recording.effects)
            or any(id(recording.tensors[i]) in grads for i in used)
        )
        self.numbers = [i for i, x in enumerate(numbers) if id(x) in read]
        for i in recording.late.intersection(self.numbers):
            raise Uncompilable(f"{recording.numbers[i][1]!r} is changed before it is used")
        inputs = [tensors[i] for i in self.reads] + [numbers[i] for i in self.numbers]
        self.part = program.part(inputs, forward)
        self.outputs = outputs
        self.build(self, self.part, outputs, names=self.names)
        self.streams = [x for x in program.constants if isinstance(x, Twister)]

    def names_of_tensor(self, i: int) -> str:
        """What a tensor of the recording is called, as modules or the function have it."""
        places = [x for x in self.recording.program.inputs if isinstance(x, Value)]
        return self.names.get(places[i].number, f"v{places[i].number}")

    def _called(self) -> dict[int, str]:
        """What the function calls its arguments, by the identities of the tensors."""
        try:
            bound = inspect.signature(self.function).bind(*self._args, **self._kwargs)
        except (TypeError, ValueError):  # not known of a function written in C
            return {}
        found = {id(x): name for name, x in bound.arguments.items()}
        for name, x in bound.arguments.items():
            if isinstance(x, (tuple, list)):
                found.update({id(each): f"{name}_{i}" for i, each in enumerate(x)})
        return found

    def _check_results(self) -> None:
        arrays = self.recording._arrays
        seen: list[Any] = []
        for kind, *rest in self.recording.results:
            if kind != "tensor":
                continue
            array = rest[1]._array
            if any(np.may_share_memory(array, other) for other in arrays):
                raise Uncompilable("a result shares memory with an argument")
            if any(np.shares_memory(array, other) for other in seen):
                raise Uncompilable("a result shares memory with another result")
            seen.append(array)

    def _separate(self, forward: list, inputs: set) -> list[Value]:
        """The values of the outputs, each in memory of its own."""
        taken: set[int] = set()
        found = []
        program = self.recording.program
        results = {x[1] for x in self.recording.results if x[0] == "tensor"}
        for k, x in enumerate(self.recording.outputs):
            value = x.place
            shared = id(value.root) in inputs or (id(value.root) in taken and k not in results)
            if shared or (k not in results and value.root.shape != value.shape):
                copy = program.place(x.array.copy("K"))
                forward.append(Instruction(".copy", (value, "K"), {}, copy, None))
                value = copy
            taken.add(id(value.root))
            found.append(value)
        return found
