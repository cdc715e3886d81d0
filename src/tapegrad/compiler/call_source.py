"""The function that a program is called by, written as Python source.

What has to be asked and done in each call is a line for each tensor, number and effect.
"""

from sys import getrefcount

import numpy as np

from tapegrad.arrays.traced.program import Changed, Value
from tapegrad.autograd.node import INFERENCE, AccumulateGrad, make_leaf, version_of
from tapegrad.compiler import instructions
from tapegrad.compiler.argument_questions import FEW, ArgumentQuestions
from tapegrad.compiler.counts import without_counting
from tapegrad.compiler.floats import Given
from tapegrad.compiler.joint import compiled_node, versions_of
from tapegrad.compiler.number_source import SCOPE, expression
from tapegrad.compiler.recording import is_plain
from tapegrad.compiler.sources import Uncompilable
from tapegrad.compiler.stores import MISSING, Store, record, with_objects, with_stores
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.changes import CHANGES
from tapegrad.core.storage import owner_of
from tapegrad.core.tensor_base import wrap
from tapegrad.operators.shape.as_strided import as_strided
from tapegrad.utils._pytree.tree import tree_unflatten

FAILED = object()
"""What it gives where the program raised an error: the function raises it, in its own words."""


def _references_of_a_local_object() -> int:
    x = object()
    return getrefcount(x)


SOLE = _references_of_a_local_object()


class CallSource(ArgumentQuestions):
    """Writes the function of an entry, `call(args, kwargs)`; its text is `source`."""

    joint: Any
    function: Callable
    part: Any
    outputs: list
    numbers: list[int]
    streams: list
    grads_matter: bool

    def __init__(self) -> None:
        super().__init__()
        self._scope |= {
            "FAILED": FAILED, "Changed": Changed, "CHANGES": CHANGES, "wrap": wrap,
            "count_writes": count_writes, "version_of": version_of,
            "make_leaf": make_leaf, "references": getrefcount, "SOLE": SOLE,
            "owner_of": owner_of,
        }  # fmt: skip
        self._written_captured: set[int] = set()
        self._asked: set[str] = set()  # names of gradients that the function has looked at
        self._reused: set[int] = set()  # tensors whose gradient's object is used again

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
        arrays += [self._number(i) for i in self.numbers]
        for kind, *rest in recording.results:
            if kind == "number" and rest[0] not in recording.late:
                self._say(f"number{rest[0]} = {self._number(rest[0])}")
        self._overlaps()
        self._before_run(", ".join(arrays))
        outs = [f"r{i}" for i in range(len(self.outputs))]
        target = "(" + ", ".join(outs) + ("," if len(outs) == 1 else "") + ")" if outs else "_"
        self._say("try:")
        self._say(f"    {target} = entry.runner({', '.join(arrays)})")
        self._say("except Exception as error:")
        for line in self._undo:
            self._say(f"    {line}")
        self._say("    if type(error) is not Changed:")
        if instructions.fails_late(self.part):  # what it has written stays written
            self._count_writes(depth=3)
            self._scope["of_tensors"] = of_tensors
            self._say("        raise of_tensors(error)")
        else:
            self._say("        entry.error = error")
            self._say("        return FAILED")
        self._say("    entry.changed = str(error)")
        self._say("    return MISS")
        self._after_run()
        self._result()
        head = "def call(args, kwargs):\n"
        self.source = head + "\n".join(self._lines) + "\n"
        self._scope.update(guard.scope(self.source), entry=self)
        exec(compile(self.source, "<entry>", "exec"), self._scope)
        self.call = self._scope["call"]

    def _number(self, i: int) -> str:
        """Where a number that is an input is found."""
        owner, key, index = self.recording.numbers[i]
        if type(owner) is Given:
            return f"kwargs[{key!r}]" if isinstance(key, str) else f"args[{key}]"
        at = f"{self.guard.name(owner)}[{key!r}]"
        return at if index is None else f"{at}[{index}]"

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
            if id(x) in recording.idle:
                continue
            if not self.grads_matter or (before is None and not (x.requires_grad and x.is_leaf)):
                continue
            name = self._tensor(i)
            if name.startswith("g"):
                continue
            if before is None:
                self._say(f"if {name}._grad is not None: return MISS")
            elif id(before) in self._grads and self._grads[id(before)] == i:
                self._asked.add(f"g{i}")
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
                    f"{self.guard.name(x)}._node.hooks is not None", "a tensor had no hooks", True
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
        owners = {id(x): owner_of(x._array) for x in self.captured}
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
        together: dict[int, list[int]] = {}
        for i, array in enumerate(arrays):
            together.setdefault(id(owner_of(array)), []).append(i)
        for i in written:
            for j in together[id(owner_of(arrays[i]))]:
                if j != i and np.may_share_memory(arrays[i], arrays[j]):
                    raise Uncompilable("what is written shares memory with another tensor")
        if not written:
            return
        given = [(i, self._tensor(i)) for i in range(len(arrays)) if self._is_given(i)]
        given = [(i, name) for i, name in given if name in self._places.values()]
        for i, name in given:
            self._say(f"w{name} = x{name} if x{name}.base is None else owner_of(x{name})")
            owners = "owners" if i in written else "written_owners"
            self._say(f"if id(w{name}) in {owners}: return MISS")
        mine = [f"w{name}" for i, name in given if i in written]
        self._are_different(mine)
        if len(mine) > FEW:
            owners = f"{{{', '.join([f'id({x})' for x in mine])}}}"
            self._say(f"w = {owners}")
        for i, name in given:
            if i not in written and mine:
                others = " or ".join([f"w{name} is {x}" for x in mine])
                others = others if len(mine) <= FEW else f"id(w{name}) in w"
                self._say(f"if {others}: return MISS")
        self._written_captured = {
            id(recording.tensors[i]) for i in written if not self._is_given(i)
        }
        self._hold()

    def _before_run(self, arrays: str) -> None:
        """Let go of gradients that are made anew: their memory may be used again."""
        self._undo: list[str] = []
        self._keep_places()
        self._keep_written()
        for i, stream in enumerate(self.streams):
            name = self._name(stream)
            self._say(f"state{i} = {name}.snapshot()")
            self._undo.append(f"{name}.restore(state{i})")
        made_anew = self._made_anew()
        if any(instructions.reads_numbers(each) for each in self.part.instructions):
            if made_anew:
                self._check_first(arrays, made_anew)
            return
        for i in made_anew:
            if f"g{i}" in self._asked:
                # a tensor that nobody else has is used again, and so may its memory be
                self._reused.add(i)
                self._say(f"{self._tensor(i)}._grad = None")
                self._say(f"if references(g{i}) == SOLE and g{i}.__class__ is Tensor \\")
                self._say(f"        and g{i}._view is None:")
                self._say(f"    g{i}._array = None")
                self._say(f"else: g{i} = None")
            else:
                self._say(f"{self._tensor(i)}._grad = None")

    def _keep_places(self) -> None:
        """Keep what is in the places in which the call puts something, for second derivatives."""
        stores = self.recording.stores
        if not stores or self.joint is None:
            return
        for i, store in enumerate(stores):
            key = self._name(store.place.key)
            self._say(f"p{i} = {self._owner(store)}")
            there = f"p{i}.get({key}, MISSING)" if isinstance(store.place.owner, dict) else ""
            self._say(f"b{i} = {there or f'p{i}[{key}]'}")
        self._scope["MISSING"] = MISSING
        owners, contents = ["".join([f"{x}{i}, " for i in range(len(stores))]) for x in "pb"]
        self._places_before = f"({owners}), ({contents})"

    def _keep_written(self) -> None:
        """Keep what the results were made of and the program writes, for second derivatives."""
        self._written: list[str] = []
        if self.joint is None:
            return
        recording, joint = self.recording, self.joint
        live = [self.outputs[k] for k in (*joint.live_outputs, *joint.saved_outputs)]
        live += self.outputs[joint.n_outputs :]
        behind = instructions.roots_behind(self.part.instructions, live)
        places = [x for x in recording.program.inputs if isinstance(x, Value)]
        effects = {effect.tensor: effect for effect in recording.effects}
        written = {self.reads[k] for k in self.written}  # some, as of batch norm, are not counted
        for i in sorted({*effects, *written}):
            effect, name, before = effects.get(i), self._tensor(i), "None"
            if effect is not None and effect.array is not None:
                before = f"before{i}"
                self._say(f"{before} = {name}._array")
            elif i in written and id(places[i].root) in behind:
                before = f"before{i}"
                self._say(f"{before} = {name}._array.copy('K')")
            writes = 0 if effect is None else effect.writes
            replaced = effect is not None and effect.array is not None
            self._written.append(f"({name}, {writes}, {before}, {replaced})")

    def _check_first(self, arrays: str, made_anew: list[int]) -> None:
        """Where the program may say that it does not hold, ask it before gradients are let go of.

        A program whose results are small is not worth asking: it has no `check`.
        """
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
        for i in made_anew:
            self._say(f"g{i} = {self._tensor(i)}._grad = None", 2)

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

    def _count_writes(self, depth: int = 1) -> None:
        """Let the tensors that the program has written know it."""
        for effect in self.recording.effects:
            if not effect.writes:
                continue
            name = self._tensor(effect.tensor)
            is_counted = self.recording.tensors[effect.tensor]._counter is not INFERENCE
            if self._is_given(effect.tensor) or not is_counted:
                self._say(f"count_writes({name}, {effect.writes}, {effect.operator!r})", depth)
            else:
                version_of(self.recording.tensors[effect.tensor])
                self._say(f"c = {name}._counter; c.value += {effect.writes}", depth)
                self._say(f"c.operator = {effect.operator!r}; c.line = None", depth)

    def _after_run(self) -> None:
        self._count_writes()
        for effect in self.recording.effects:
            name = self._tensor(effect.tensor)
            if effect.array is not None:
                self._say(f"{name}._array = r{effect.array}; {name}._signature = None")
            if effect.grad == "none":
                self._say(f"{name}._grad = None")
            elif effect.grad != "kept":
                if effect.tensor in self._reused:
                    g = f"g{effect.tensor}"
                    self._say(f"if {g} is None: {g} = wrap(r{effect.grad})")
                    self._say(f"else: {g}._array = r{effect.grad}; {g}._counter = None")
                    self._say(f"{name}._grad = g = {g}")
                else:
                    self._say(f"{name}._grad = g = wrap(r{effect.grad})")
                if effect.grad_writes:
                    self._say(f"version_of(g).value = {effect.grad_writes}")
        self._change_numbers()
        for action in self.recording.actions:
            self._say(f"{self._name(action)}()")

    def _change_numbers(self) -> None:
        """Put what the call has computed of numbers of optimizers where it has put it."""
        recording, name = self.recording, self.guard.name
        if not recording.options.changes:
            return
        if self.joint is not None:  # whose second derivatives would have them changed once more
            raise Uncompilable("it changes numbers of an optimizer, and gives what has a graph")
        late = recording.late
        inputs = {at: self._number(i) for at, i in recording.number_of.items() if i not in late}
        self._scope.update(SCOPE)
        for i, x in enumerate(recording.options.changes):
            self._say(f"changed{i} = {expression(x.place, recording.program, inputs)}")
        for i, x in enumerate(recording.options.changes):
            self._say(f"{name(x.owner)}[{name(x.key)}] = changed{i}")

    def _result(self) -> None:
        leaves = []
        live = {id(x): i for i, x in enumerate(self.recording.live)}
        attached = False
        for kind, *rest in self.recording.results:
            if kind == "plain":
                leaves.append(self._name(rest[0]))
            elif kind == "item":
                leaves.append(f"r{rest[0]}.item()")
            elif kind == "number":
                is_late = rest[0] in self.recording.late
                leaves.append(self._number(rest[0]) if is_late else f"number{rest[0]}")
            elif kind == "given":
                leaves.append(self._objects[rest[0]])
            elif kind == "same":
                leaves.append(self._tensor(rest[0]))
            elif kind == "again":
                leaves.append(leaves[rest[0]])
            elif kind in ("object", "view", "view of input"):
                leaves.append("")  # it is made when its tensors, and the graph, are there
            else:
                k, x = rest
                name = f"t{k}"
                self._say(f"{name} = wrap(r{k})")
                if self.recording.infers:
                    self._say(f"{name}._counter = INFERENCE")
                elif x._counter is not None and x._counter.value:
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
        for i, (kind, *given) in enumerate(self.recording.results):
            if kind == "view":
                base, x = given
                text = self._view(leaves[base], self.recording.leaves[base], x)
                self._say(f"v{i} = {text}")
                leaves[i] = f"v{i}"
            elif kind == "view of input":
                base, x, how = given
                name = self._tensor(base) + ".detach()" * (how == "detach.view")
                text = self._view(name, self.recording.tensors[base], x)
                self._say(f"v{i} = {text}{'.detach()' * (how == 'view.detach')}")
                leaves[i] = f"v{i}"
        n, structure = self.recording.n_results, self.recording.structure
        leaves, rest = leaves[:n], leaves[n:]
        for i, form in self.recording.objects.items():
            mine, rest = rest[: len(form.tensors)], rest[len(form.tensors) :]
            self._scope["record"] = record
            self._say(f"o{i} = {form.text(mine, self._name, self._objects)}")
            leaves[i] = f"o{i}"
        self._store(rest)
        if len(leaves) == 1 and structure.is_leaf():
            self._say(f"return {leaves[0]}")
        else:
            s = self._name(structure)
            self._scope["unflatten"] = tree_unflatten
            self._say(f"return unflatten([{', '.join(leaves)}], {s})")

    def _view(self, name: str, base: Any, x: Any) -> str:
        """An expression for `x`, a view of `base`, which is called `name`."""
        self._scope["as_strided"] = as_strided
        offset = x.storage_offset() - base.storage_offset()
        at = f"{name}.storage_offset()" + (f" + {offset}" if offset else "")
        return f"as_strided({name}, {tuple(x.shape)}, {x.stride()}, {at})"

    def _store(self, names: list[str]) -> None:
        """Put what is made of tensors of these names where the call has put it."""
        for store in self.recording.stores:
            n = len(store.tensors)
            mine, names = names[:n], names[n:]
            self._scope["record"] = record
            where = f"{self._owner(store)}[{self._name(store.place.key)}]"
            text = store.text(mine, self._name, self._objects)
            self._say(f"{where} += {store.steps}" if store.steps else f"{where} = {text}")

    def _owner(self, store: Store) -> str:
        """The list or dictionary in which the call puts something."""
        if store.of is None:
            return self.guard.name(store.place.owner)
        x, _ = self.recording.found.arguments.contents[store.of]
        name = self._objects[store.of]
        return name if x is store.place.owner else f"{name}.__dict__"

    def _attach(self) -> None:
        """Put the node of the backward program behind the results."""
        joint: Any = self.joint

        def several(names: list) -> str:
            return f"({', '.join(names)}{',' * bool(names)})"

        self._scope["attach"] = compiled_node(joint)
        function, stores, objects = self.function, self.recording.stores, self.recording.objects
        function = with_objects(function, objects) if objects else function
        counts = self.recording.counts
        function = without_counting(function, counts) if counts else function
        name = "function"
        if stores:
            function, name = with_stores(function, stores), f"function({self._places_before})"
        self._scope["function"] = function
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
        written = several(self._written)
        call = f"({name}, args, kwargs, {wanted}, {states}, {written}, {inputs}, "
        call += f"versions({inputs}), holds)"
        self._scope["versions"] = versions_of
        tensors = several([self._output(k) for k in joint.saved_outputs])
        self._say(f"attach({outs}, {saved}, {tensors}, {given}, {kept}, {call})")

    def _output(self, k: int) -> str:
        """The tensor of an output that the backward program reads, or its array."""
        is_result = any(x[0] == "tensor" and x[1] == k for x in self.recording.results)
        return f"t{k}" if is_result else f"wrap(r{k})"


def count_writes(x: Any, n: int, operator: str) -> None:
    """Let a tensor know that a program has written it."""
    version = version_of(x)
    if version is not INFERENCE:
        version.value += n
        version.operator, version.line = operator, None


def of_tensors(error: Exception) -> Exception:
    """An error of NumPy in the words of tensors."""
    if type(error) is IndexError:
        return IndexError(
            str(error).replace("out of bounds for axis", "out of bounds for dimension")
        )
    return error


def _layout(x: Any) -> tuple:
    """What of a tensor has to be as it was."""
    array = x._array
    return type(x), array.shape, array.strides, array.dtype, x.requires_grad, x.is_leaf
