"""A program of one recorded call: when it holds, and a call that runs it.

What has to be asked and done in each call is written out as a Python function, made for the program
as a guard is: a line for each tensor, number and effect. Its source can be read: `Entry.source`.
"""

import inspect

import numpy as np

from tapegrad.arrays.traced.program import Changed, Instruction, Scalar, Value
from tapegrad.autograd.node import INFERENCE, AccumulateGrad, make_leaf, version_of
from tapegrad.autograd.writable import written
from tapegrad.compiler import instructions
from tapegrad.compiler.guards import Guard
from tapegrad.compiler.joint import Joint, compiled_node, versions_of
from tapegrad.compiler.recording import Recording, is_plain
from tapegrad.compiler.sources import PLAIN, Uncompilable
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.changes import CHANGES
from tapegrad.core.streams.mersenne_twister import Twister
from tapegrad.core.tensor_base import TensorBase, wrap
from tapegrad.nn.parameter import Buffer, Parameter
from tapegrad.tensors.tensor import Tensor
from tapegrad.utils._pytree.tree import tree_unflatten

MISS = object()
"""What the function of an entry gives where its program does not stand for a call."""

FAILED = object()
"""What it gives where the program raised an error: the function raises it, in its own words."""


class Entry:
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
        self._scope: dict[str, Any] = {
            "MISS": MISS, "FAILED": FAILED, "Changed": Changed, "CHANGES": CHANGES, "wrap": wrap,
            "Tensor": Tensor, "Parameter": Parameter, "Buffer": Buffer, "INFERENCE": INFERENCE,
            "ndarray": np.ndarray, "written": written, "version_of": version_of,
            "make_leaf": make_leaf,
        }  # fmt: skip
        self._lines: list[str] = []
        self._written_captured: set[int] = set()
        self._places: dict[int, str] = {}  # of tensors that are arguments: how they are called
        self._args, self._kwargs = args, kwargs
        self._arguments(args, kwargs)
        self._programs()
        self._write()
        del self._args, self._kwargs

    # --- arguments -------------------------------------------------------------------------------

    def _say(self, line: str, depth: int = 1) -> None:
        self._lines.append("    " * depth + line)

    def _name(self, x: Any, prefix: str = "o") -> str:
        name = f"{prefix}{len(self._scope)}"
        self._scope[name] = x
        return name

    def _arguments(self, args: tuple, kwargs: dict) -> None:
        self._n = 0
        self._say(f"if len(args) != {len(args)} or len(kwargs) != {len(kwargs)}: return MISS")
        for i, x in enumerate(args):
            self._argument(f"args[{i}]", x)
        for key, x in kwargs.items():
            self._say(f"if {key!r} not in kwargs: return MISS")
            self._argument(f"kwargs[{key!r}]", x)

    def _argument(self, where: str, x: Any) -> None:
        """The questions that an argument has to answer."""
        self._n += 1
        a = f"a{self._n}"
        self._say(f"{a} = {where}")
        if isinstance(x, TensorBase):
            if id(x) in self._places:
                self._say(f"if {a} is not {self._places[id(x)]}: return MISS")
            else:
                self._tensor_argument(a, x)
        elif type(x) in PLAIN:
            if x is None or x is True or x is False:
                self._say(f"if {a} is not {x}: return MISS")
            else:
                k = self._name(x)
                self._say(
                    f"if {a} is not {k} and (type({a}) is not {type(x).__name__} or {a} != {k}): "
                    "return MISS"
                )
        elif type(x) in (list, tuple):
            kind = type(x).__name__
            self._say(f"if type({a}) is not {kind} or len({a}) != {len(x)}: return MISS")
            for i, each in enumerate(x):
                self._argument(f"{a}[{i}]", each)
        elif type(x) is dict:
            keys = self._name(list(x))
            self._say(f"if type({a}) is not dict or list({a}) != {keys}: return MISS")
            for key in x:
                self._argument(f"{a}[{self._name(key)}]", x[key])
        else:
            self._say(f"if {a} is not {self._name(x)}: return MISS")

    def _tensor_argument(self, a: str, x: Any) -> None:
        array = x._array
        if id(x) in self.recording.found.captured:  # the function knows it without being given it
            self._say(f"if {a} is not {self.guard.name(x)}: return MISS")
            return
        taken = [name for name in self._places.values()]
        self._places[id(x)] = a
        same = f"{a}.__class__ is not {type(x).__name__}"
        node = "None" if x._node is None else self._name(type(x._node))
        if x._node is None:
            same += f" or {a}._node is not None"
        else:
            same += f" or {a}._node.__class__ is not {node}"
            same += f" or {a}._node.hooks is not None"
        same += f" or {a}._counter is INFERENCE"
        for other in taken:
            same += f" or {a} is {other}"
        self._say(f"if {same}: return MISS")
        self._say(f"x{a} = {a}._array")
        self._say(
            f"if x{a}.__class__ is not ndarray or x{a}.shape != {array.shape!r} or x{a}.dtype is "
            f"not {self._name(array.dtype)} or x{a}.strides != {array.strides!r}: return MISS"
        )

    # --- programs --------------------------------------------------------------------------------

    def _programs(self) -> None:
        recording = self.recording
        program = recording.program
        self._check_results()
        self.inputs: list[
            tuple
        ] = []  # of each input: ("tensor", i), ("number", i), ("cotangent", i)
        n = 0
        for place in program.inputs:
            if isinstance(place, Scalar):
                self.inputs.append(("number", n))
                n += 1
        places = [x for x in program.inputs if isinstance(x, Value)]
        tensors = places[: len(recording.tensors)]
        numbers = [x for x in program.inputs if isinstance(x, Scalar)]
        forward = program.instructions[: recording.n_forward]
        outputs = self._separate(forward, set(map(id, tensors)))
        self.joint = None
        if recording.live:
            self.joint = Joint(recording, forward, outputs, tensors, numbers)
            forward, outputs = self.joint.forward, self.joint.outputs
            self.build(self.joint, self.joint.part, self.joint.gradients)
        forward = instructions.needed(forward, outputs)
        read = instructions.read_by(forward) | set(map(id, outputs))
        self.grads_matter = recording.reads_grads or any(
            e.grad != "kept" for e in recording.effects
        )
        self.reads = [i for i, x in enumerate(tensors) if id(x) in read]
        self.numbers = [i for i, x in enumerate(numbers) if id(x) in read]
        inputs = [tensors[i] for i in self.reads] + [numbers[i] for i in self.numbers]
        self.part = program.part(inputs, forward)
        self.outputs = outputs
        self.names = instructions.names_of(recording, tensors, self._called())
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
            for other in (*arrays, *seen):
                if np.may_share_memory(array, other):
                    raise Uncompilable(
                        "a result shares memory with an argument or with another result"
                    )
            seen.append(array)

    def _separate(self, forward: list, inputs: set) -> list[Value]:
        """The values of the outputs, each in memory of its own."""
        taken: set[int] = set()
        found = []
        program = self.recording.program
        results = {x[1] for x in self.recording.results if x[0] == "tensor"}
        for k, x in enumerate(self.recording.outputs):
            value = x.place
            shared = id(value.root) in inputs or id(value.root) in taken
            if shared or (k not in results and value.root.shape != value.shape):
                copy = program.place(x.array.copy("K"))
                forward.append(Instruction(".copy", (value, "K"), {}, copy, None))
                value = copy
            taken.add(id(value.root))
            found.append(value)
        return found

    # --- the function ----------------------------------------------------------------------------

    def _tensor(self, i: int) -> str:
        """How the function calls a tensor of the recording."""
        x = self.recording.tensors[i]
        if id(x) in self._places:
            return self._places[id(x)]
        owner = self._grads.get(id(x))
        if owner is not None:
            return f"g{owner}"
        return self.guard.name(x)

    def _write(self) -> None:
        recording, guard = self.recording, self.guard
        tensors = recording.tensors
        self._grads = {}
        for i, before in enumerate(recording._grads):
            if before is not None and any(before is x for x in tensors):
                self._grads[id(before)] = i
        self._questions()
        arrays = []
        for i in self.reads:
            name = self._tensor(i)
            arrays.append(f"x{name}" if name in self._places.values() else f"{name}._array")
        for i in self.numbers:
            owner, key, index = recording.numbers[i]
            at = f"{guard.name(owner)}[{key!r}]"
            arrays.append(at if index is None else f"{at}[{index}]")
        self._overlaps()
        self._before_run(", ".join(arrays))
        outs = [f"r{i}" for i in range(len(self.outputs))]
        target = "(" + ", ".join(outs) + ("," if len(outs) == 1 else "") + ")" if outs else "_"
        self._say("try:")
        self._say(f"    {target} = entry.runner({', '.join(arrays)})")
        self._say("except Exception as error:")
        for line in self._undo:
            self._say(f"    {line}")
        failed = "raise" if instructions.fails_late(self.part) else "return FAILED"
        self._say(f"    if type(error) is not Changed: {failed}")
        self._say("    entry.changed = str(error)")
        self._say("    return MISS")
        self._after_run()
        self._result()
        head = "def call(args, kwargs):\n"
        self.source = head + "\n".join(self._lines) + "\n"
        self._scope.update(guard.scope(), entry=self)
        exec(compile(self.source, "<entry>", "exec"), self._scope)
        self.call = self._scope["call"]

    def _questions(self) -> None:
        """Whether what was read besides the arguments is as it was."""
        recording, guard = self.recording, self.guard
        self._say("try:")
        for line in guard.lines():
            self._say(f"    {line.replace('return False', 'return MISS')}")
        self._say("    pass")
        self._say("except (KeyError, IndexError, AttributeError, ValueError): return MISS")
        self._say("if CHANGES[0] != guard_count[0]:")
        self._say("    if not modules_hold(): return MISS")
        self._say("    guard_count[0] = CHANGES[0]")
        self._scope["guard_count"] = guard.count
        self._scope["modules_hold"] = guard.modules_hold
        for i, x in enumerate(recording.tensors):
            before = recording._grads[i]
            if not self.grads_matter or (before is None and not (x.requires_grad and x.is_leaf)):
                continue
            name = self._tensor(i)
            if name.startswith("g"):
                continue
            if before is None:
                self._say(f"if {name}._grad is not None: return MISS")
            elif id(before) in self._grads and self._grads[id(before)] == i:
                self._say(f"g{i} = {name}._grad")
                self._grad_questions(f"g{i}", i)
            else:
                self._say(f"if {name}._grad is not {guard.name(before)}: return MISS")
        captured = [
            i
            for i, x in enumerate(recording.tensors)
            if not self._is_given(i) and id(x) not in recording.idle
        ]
        self.captured = [recording.tensors[i] for i in captured]
        self._layouts = [_layout(x) for x in self.captured]
        self._hold()
        self._scope["refreshed"] = self._refreshed
        for x in self.captured:
            if x._node is not None:
                self.guard.ask(
                    f"{self.guard.name(x)}._node.hooks is not None", "a tensor has hooks", True
                )
        conditions = []
        for k, i in enumerate(captured):
            name = self._tensor(i)
            conditions.append(f"{name}._array is not m{k}")
            if id(recording.tensors[i]) not in recording.found.state:
                conditions.append(f"{name}._node is not n{k}")
        for steps in recording.equal_steps:
            first, *others = [f"{guard.name(x)}._array.item()" for x in steps]
            self._say(f"count = {first}")
            for k in range(0, len(others), 12):
                some = " or ".join(f"{x} != count" for x in others[k : k + 12])
                self._say(f"if {some}: return MISS")
        for k in range(0, len(conditions), 12):
            some = " or ".join(conditions[k : k + 12])
            self._say(f"if ({some}) and not refreshed(): return MISS")

    def _is_given(self, i: int) -> bool:
        """Whether a tensor comes with the call: an argument, or the `.grad` of a tensor."""
        x = self.recording.tensors[i]
        return id(x) in self._places or id(x) in self._grads

    def _grad_questions(self, name: str, i: int) -> None:
        grad = self.recording._grads[i]
        k = next(j for j, x in enumerate(self.recording.tensors) if x is grad)
        array = grad._array
        self._say(f"if {name} is None or {name}._node is not None: return MISS")
        if k in self.reads:
            self._say(f"y{name} = {name}._array")
            self._say(
                f"if y{name}.__class__ is not ndarray or y{name}.shape != {array.shape!r} or "
                f"y{name}.dtype is not {self._name(array.dtype)} or "
                f"y{name}.strides != {array.strides!r}: return MISS"
            )

    def _refreshed(self) -> bool:
        """Whether tensors with other memory, or of another history, are laid out as before."""
        for x, layout in zip(self.captured, self._layouts, strict=True):
            if not is_plain(x) or type(x._array) is not np.ndarray or _layout(x) != layout:
                return False
        self._hold()
        return True

    def _hold(self) -> None:
        """Remember the memory and the nodes of the tensors that are no arguments."""
        for k, x in enumerate(self.captured):
            self._scope[f"m{k}"], self._scope[f"n{k}"] = x._array, x._node
        owners = {id(x): _owner(x._array) for x in self.captured}
        self._scope["owners"] = set(map(id, owners.values()))
        self._scope["written_owners"] = {
            id(owner) for k, owner in owners.items() if k in self._written_captured
        }

    def _overlaps(self) -> None:
        """What is written shares memory with nothing else that the call reads."""
        recording = self.recording
        arrays = recording._arrays
        self.written = instructions.written_inputs(self.part, len(self.reads))
        written = {self.reads[k] for k in self.written}
        for i in written:
            for j, other in enumerate(arrays):
                if j != i and np.may_share_memory(arrays[i], other):
                    raise Uncompilable("what is written shares memory with another tensor")
        if not written:
            return
        given = [(i, self._tensor(i)) for i in range(len(arrays)) if self._is_given(i)]
        given = [(i, name) for i, name in given if name in self._places.values()]
        for i, name in given:
            self._say(f"w{name} = x{name} if x{name}.base is None else x{name}.base")
            owners = "owners" if i in written else "written_owners"
            self._say(f"if id(w{name}) in {owners}: return MISS")
        for i, name in given:
            for j, other in given:
                if i in written and (j > i or j not in written) and i != j:
                    self._say(f"if w{name} is w{other}: return MISS")
        self._written_captured = {
            id(recording.tensors[i]) for i in written if not self._is_given(i)
        }
        self._hold()

    def _before_run(self, arrays: str) -> None:
        """Let go of gradients that are made anew: their memory may be used again."""
        self._undo: list[str] = []
        for i, stream in enumerate(self.streams):
            name = self._name(stream)
            self._say(f"state{i} = {name}.snapshot()")
            self._undo.append(f"{name}.restore(state{i})")
        depth = 1
        made_anew = self._made_anew()
        if any(instructions.reads_numbers(each) for each in self.part.instructions):
            if not made_anew:
                return
            # the program may say that it does not hold: it has to be asked before
            self._say("check = getattr(entry.runner, 'check', None)")
            self._say("if check is not None:")
            self._say("    try:")
            self._say(f"        check({arrays})")
            self._say("    except Exception as error:")
            for line in self._undo:
                self._say(f"        {line}")
            self._say("        if type(error) is not Changed: return FAILED")
            self._say("        entry.changed = str(error)")
            self._say("        return MISS")
            depth = 2
        for i in made_anew:
            self._say(f"g{i} = {self._tensor(i)}._grad = None", depth)

    def _made_anew(self) -> list[int]:
        """The tensors whose gradient the program makes and does not read."""
        found = []
        for effect in self.recording.effects:
            if effect.grad == "kept" or self.recording._grads[effect.tensor] is None:
                continue
            before = self.recording._grads[effect.tensor]
            k = next((j for j, x in enumerate(self.recording.tensors) if x is before), None)
            if k is None or k not in self.reads:
                found.append(effect.tensor)
        return found

    def _after_run(self) -> None:
        for effect in self.recording.effects:
            name = self._tensor(effect.tensor)
            if effect.writes:
                x = self.recording.tensors[effect.tensor]
                if self._is_given(effect.tensor):
                    count = f"for _ in range({effect.writes}): " if effect.writes > 1 else ""
                    self._say(f"{count}written({name}, {effect.operator!r})")
                else:
                    version_of(x)
                    self._say(f"c = {name}._counter; c.value += {effect.writes}")
                    self._say(f"c.operator = {effect.operator!r}; c.line = None")
            if effect.array is not None:
                self._say(f"{name}._array = r{effect.array}; {name}._signature = None")
            if effect.grad == "none":
                self._say(f"{name}._grad = None")
            elif effect.grad != "kept":
                self._say(f"{name}._grad = g = wrap(r{effect.grad})")
                if effect.grad_writes:
                    self._say(f"version_of(g).value = {effect.grad_writes}")
        for action in self.recording.actions:
            self._say(f"{self._name(action)}()")

    def _result(self) -> None:
        leaves = []
        live = {id(x): i for i, x in enumerate(self.recording.live)}
        attached = False
        for kind, *rest in self.recording.results:
            if kind == "plain":
                leaves.append(self._name(rest[0]))
            elif kind == "item":
                leaves.append(f"r{rest[0]}.item()")
            elif kind == "same":
                leaves.append(self._tensor(rest[0]))
            else:
                k, x = rest
                name = f"t{k}"
                self._say(f"{name} = wrap(r{k})")
                if x._counter is not None and x._counter.value:
                    self._say(f"version_of({name}).value = {x._counter.value}")
                if id(x) in live:
                    attached = True
                elif type(x._node) is AccumulateGrad:
                    self._say(f"make_leaf({name})")
                elif x._node is not None:  # its graph is used up: eager's says so
                    self._say(f"{name}._node = {self._name(x._node)}")
                leaves.append(name)
        if attached:
            self._attach()
        structure = self.recording.structure
        if len(leaves) == 1 and structure.is_leaf():
            self._say(f"return {leaves[0]}")
        else:
            s = self._name(structure)
            self._scope["unflatten"] = tree_unflatten
            self._say(f"return unflatten([{', '.join(leaves)}], {s})")

    def _attach(self) -> None:
        """Put the node of the backward program behind the results."""
        joint: Any = self.joint

        def several(names: list) -> str:
            return f"({', '.join(names)}{',' * bool(names)})"

        self._scope["attach"] = compiled_node(joint)
        self._scope["function"] = self.function
        outs = several([f"t{k}" for k in joint.live_outputs])
        saved = several([f"r{k}" for k in joint.saved_outputs])
        given = several([self._tensor(i) for i in joint.saved_tensors])
        kept = several([f"r{k}" for k in range(joint.n_outputs, len(self.outputs))])
        wanted = several([self._tensor(i) for i in joint.wanted])
        states = several([f"(stream{i}, state{i})" for i in range(len(self.streams))])
        for i, stream in enumerate(self.streams):
            self._scope[f"stream{i}"] = stream
        inputs = several([self._tensor(i) for i in self.reads])
        self._scope["holds"] = self.guard.holds
        call = f"(function, args, kwargs, {wanted}, {states}, {inputs}, versions({inputs}), holds)"
        self._scope["versions"] = versions_of
        self._say(f"attach({outs}, {saved}, {given}, {kept}, {call})")


def _owner(array: Any) -> Any:
    """What owns the memory of an array."""
    return array if array.base is None else array.base


def _layout(x: Any) -> tuple:
    """What of a tensor has to be as it was."""
    array = x._array
    return type(x), array.shape, array.strides, array.dtype, x.requires_grad, x.is_leaf
