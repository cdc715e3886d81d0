"""Recording one call of a function: what it computes as a program, and what it leaves behind.

The call really runs, on arrays that write down what is done with them, and what it gives is given
to the caller: a graph like any other. If it turns out that no program can stand for the call,
nothing is lost but time.
"""

import gc
from collections import Counter
from functools import cache
from sys import getrefcount
from types import BuiltinFunctionType, FunctionType

import numpy as np

from tapegrad.arrays.namespaces import below_batches, is_batched
from tapegrad.arrays.numpy.memory_pool import drop_unused
from tapegrad.arrays.traced.array import Traced
from tapegrad.arrays.traced.number import TracedNumber, plain
from tapegrad.arrays.traced.program import Program
from tapegrad.autograd.backward_grad import grad
from tapegrad.autograd.layered_mode import Layered
from tapegrad.autograd.mode import MODE, infers, is_grad_enabled, switched
from tapegrad.autograd.node import INFERENCE, AccumulateGrad, next_sequence
from tapegrad.autograd.plan import Plan
from tapegrad.autograd.view import View
from tapegrad.compiler.counts import Count, counts_of
from tapegrad.compiler.floats import Given
from tapegrad.compiler.graph_behind import backward_of, is_over, nodes_behind, saved_behind
from tapegrad.compiler.joint import views_of_inputs, views_of_others
from tapegrad.compiler.options import Options
from tapegrad.compiler.python_effects import Watch, may_have_effects
from tapegrad.compiler.sources import PLAIN, Found, Uncompilable
from tapegrad.compiler.stores import (
    CannotStore,
    Form,
    Place,
    Store,
    is_constant,
    objects_of,
    stores_of,
    taken_apart,
)
from tapegrad.compiler.whose_code import is_library
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.conj_neg_view import resolved
from tapegrad.core.dtype import dtype
from tapegrad.core.memory_format import memory_format
from tapegrad.core.streams.mersenne_twister import DRAWS
from tapegrad.core.tensor_base import TensorBase, wrap
from tapegrad.dispatch.op import Op
from tapegrad.nn.parameter import Buffer, Parameter
from tapegrad.operators.creation.factory_options import Maker
from tapegrad.optim.optimizer import Optimizer
from tapegrad.tensors.tensor import Tensor
from tapegrad.utils._pytree.tree import tree_unflatten

_BEHIND_AN_ARGUMENT = "a backward pass goes on into the graph behind an argument"


@cache
def _is_ours(plan: Any) -> bool:
    """Whether the rules of a plan are an operator's of tapegrad, which calls nothing of the user's.

    Others are those of custom functions, of hooks of saved tensors, of what a program declares.
    """
    return type(plan) is Plan and all(is_library(rule.function) for _, rule in plan.rules)


class RecordingMode(Layered):
    """The mode of a call that is recorded."""

    records = True
    __slots__ = given = ("recording",)
    recording: Any

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        op, inputs, _ = args
        recording = self.recording
        if type(op) is Maker:
            return recording.made(op, lambda: self.below(name, function, args, kwargs))
        tensors = [x for x in inputs if isinstance(x, TensorBase)]
        for x in tensors:
            if type(x._array) is not Traced:
                recording.check(name, x)
        if inputs and not tensors:
            return recording.of_numbers(self.below(name, function, args, kwargs))
        if type(op) is Op and type(self.under) is bool:
            given = name, function, args, kwargs
            return recording.program.run_for_line(self.below, given)
        return self.below(name, function, args, kwargs)

    def backward_node(self, node: Any, function: Callable, args: tuple) -> Any:
        if type(node) is not AccumulateGrad and node.sequence < self.recording.first_node:
            self.recording.refuse(_BEHIND_AN_ARGUMENT)
        return super().backward_node(node, function, args)

    def runner(self) -> Callable | None:
        if type(self.under) is not bool:
            return None
        recording = self.recording
        first, run_for_line = recording.first_node, recording.program.run_for_line

        def run(node: Any, g: Any, retain: bool) -> Any:
            if node.sequence < first:
                recording.refuse(_BEHIND_AN_ARGUMENT)
            plan = node.plan
            if _is_ours(plan):
                return run_for_line(plan.run, (node, g, retain))
            return plan.run(node, g, retain)

        return run

    def cut(self, x: object, result: object, how: str) -> None:
        if how == "numpy()":
            self.recording.refuse("the numbers of a tensor are given to NumPy")
        super().cut(x, result, how)


class Effect:
    """What a call leaves behind in a tensor, besides what it computes.

    Attributes:
        tensor: the number of the tensor
        writes: how often it was written, and by whom at last
        grad: "kept", "none", or the number of the value that is its new `.grad`
        array: the number of the value that is its memory now, as after `x.data = y`; None
    """

    __slots__ = ("array", "grad", "grad_writes", "operator", "tensor", "writes")

    def __init__(self, tensor: int):
        self.tensor = tensor
        self.writes, self.operator = 0, ""
        self.grad: Any = "kept"
        self.array: Any = None
        self.grad_writes = 0


class Recording:
    """One recorded call.

    Attributes:
        infers: whether inference mode is on: what the call makes are inference tensors afterwards
        tensors: those that the call may read, in the order of the inputs of the program
        numbers: where the program's inputs that are Python floats are found: (owner, key, index)
        outputs: the values that the program has to give: results, new gradients, new memory
        floats: the places of arguments that are floats and inputs of the program
        results: for each leaf of what the call gave: ("tensor", number of an output, the tensor),
            or ("same", number of a tensor), or ("item", number of an output), or
            ("number", number of one), or ("plain", object),
            or ("again", number of a leaf), or ("view", number of a leaf, the tensor), or ("view of
            input", number of a tensor, the view, how it is made), or ("object", its `Form`), or
            ("given", id of an argument or of a part of one); from `n_results` on those of
            `objects` and `stores`
        objects: those that the call has made and gives, by the numbers of the leaves
        stores: what the call has put somewhere
        parameters: the numbers of the tensors that are parameters, once it is released
        new: in inference mode, the tensors that the call has made and somebody has
        opened: the places of these, and others whose tensors somebody replaces between calls
        effects: what is left behind in tensors
        actions: Python functions to be called after the program, as a schedule's step
        counts: ints that the call has added to; some of the actions do it again
    """

    def __init__(self, found: Found, floats: tuple = ()):
        self.infers = infers(MODE.get())
        self.formats = found.formats_floats()
        asks = self.formats or "type" in found.names_in_code()
        self.floats = () if floats and asks else floats
        self.program = Program()
        self.program.owner = self
        self.found = found
        self.tensors = list(found.tensors.values())
        self.numbers: list[tuple] = []
        self.outputs: list[Any] = []
        self.results: list[tuple] = []
        self.effects: list[Effect] = []
        self.actions: list[Callable] = []
        self.why_not, self.again = "", False
        self.views: dict[int, tuple[int, str]] = {}  # among what it gives, of which tensors
        self.equal_steps: list[list] = []  # of optimizers: counts that have to be the same
        self.idle: set[int] = set()  # tensors that are state of optimizers which take no step
        self._cannot_store = ""
        self._uncounted: dict[int, Any] = {}  # writes to tensors of inference mode
        self.new: list[Any] = []
        self.objects: dict[int, Form] = {}
        self.stores: list[Store] = []
        self.counts: list[Count] = []
        self.opened: list[Place] = []
        self.parameters: list[int] = []
        self.cotangents: list[Traced] = []
        self.gradients: list[Traced | None] = []
        self.late: set[int] = set()  # those of the numbers that an action has changed
        self.number_of: dict[int, int] = {}  # the number of each, by the identity of its place
        self._scalars: dict[tuple, Any] = {}
        # an optimizer with a step of its own keeps numbers that it has read
        self.traces_items = not self.formats and all(
            type(x).step is Optimizer.step for x in found.optimizers
        )
        self._touched: set[int] = set()  # groups whose numbers an action has changed
        self._arrays = [x._array for x in self.tensors]

    # --- what is asked while the call runs -------------------------------------------------------

    def refuse(self, why: str, again: bool = False) -> None:
        """Note that no program can stand for the call, which goes on; `again`: the next may do."""
        if not self.why_not:
            self.why_not, self.again = why, again

    def check(self, name: str, x: Any) -> None:
        """Refuse if a tensor that is read came from nowhere that is looked at."""
        array = resolved(x._array)
        while is_batched(array):
            if array.factors is not None:
                return  # unit vectors, whose value nobody needs
            array = array.value
        if not isinstance(array, Traced):
            self.refuse(f"{name} reads a tensor that is no argument, parameter or global")

    def made(self, op: Any, make: Callable) -> Any:
        """A tensor that a function without tensors makes."""
        name, drawn = op.name, DRAWS[0]
        tensor = make()
        array = tensor._array if isinstance(tensor, TensorBase) else None
        below = below_batches(array)
        if isinstance(below, Traced):
            return tensor
        if type(below) is not np.ndarray:
            self.refuse(f"{name} makes no plain tensor")
        elif DRAWS[0] != drawn:
            self.refuse(f"{name} draws random numbers that are not recorded")
        elif _is_pure(op.args, name.endswith("_like") or name.startswith("new_")):
            tensor._array = _with_value(array, self._copied_anew(below))
        elif below is not array:
            self.refuse(f"{name} makes a tensor inside of vmap")
        else:
            tensor._array = self._made_anew(name, make, below)
        tensor._signature = None
        return tensor

    def _copied_anew(self, array: Any) -> Any:
        """An array that depends on nothing: a copy of it is made each time."""
        place = self.program.constant(array.copy("K"))
        value = self.program.place(array)
        self.program.note("np.array", np.array, (place,), {}, value)
        return self.program.array(array, value)

    def _made_anew(self, name: str, make: Callable, array: Any) -> Any:
        """An array that a function of Python makes, which is called each time."""
        value = self.program.place(array)
        mode = MODE.get()
        under = mode.under if isinstance(mode, RecordingMode) else mode

        def again() -> Any:
            token = MODE.set(under)
            try:
                return make()._array
            finally:
                MODE.reset(token)

        self.program.note(f"make.{name}", again, (), {}, value)
        return self.program.array(array, value)

    def of_numbers(self, result: Any) -> Any:
        """What an operator gives of Python's numbers, as a constant."""
        for x in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(x, TensorBase) and type(x._array) is np.ndarray:
                x._array, x._signature = self.program.as_constant(x._array), None
        return result

    def number(self, owner: Any, key: Any, index: int | None, x: float) -> Any:
        """A number that `owner[key]` (`[index]`) has, as an input of the program."""
        if id(owner) in self._touched:
            self.refuse(f"{key!r} is changed before it is used")
        at = id(owner), key, index
        if at not in self._scalars:
            self._scalars[at] = self._new_number(owner, key, index, x)
        return self._scalars[at]

    def _new_number(self, owner: Any, key: Any, index: int | None, x: float) -> Any:
        found = self.program.number(x)
        self.numbers.append((owner, key, index))
        self.number_of[id(found.place)] = len(self.numbers) - 1
        return found

    def late_number(self, owner: Any, key: Any, index: int | None, x: float) -> Any:
        """The same where an action has put it: the program, which runs before, cannot read it."""
        found = self._new_number(owner, key, index, x)
        self.late.add(len(self.numbers) - 1)
        return found

    def with_numbers(self, args: tuple, kwargs: dict) -> tuple[list, dict]:
        """The arguments with numbers of the program in the places of floats that are its inputs."""
        given, named, floats = list(args), dict(kwargs), Given()
        for place in self.floats:
            to: Any = named if isinstance(place, str) else given
            floats[place] = to[place]
            to[place] = self._new_number(floats, place, None, to[place])
        return given, named

    def act(self, action: Callable, touched: list) -> None:
        """Have `action()` called after the program each time; it changes the groups `touched`."""
        self.actions.append(action)
        self._touched.update(map(id, touched))
        self.options.give_back(touched)

    # --- the call --------------------------------------------------------------------------------

    def check_tensors(self) -> None:
        """Raise Uncompilable if a tensor that may be read cannot be recorded."""
        for x, array in zip(self.tensors, self._arrays, strict=True):
            if type(array) is not np.ndarray:
                raise Uncompilable("a tensor is on no CPU, or a conjugate view")
            if x._view is not None and id(x._view.base) in self.found.tensors:
                raise Uncompilable("a tensor is a view of another one that may be read")
            if not is_plain(x, self.infers):
                raise Uncompilable("a tensor is of a class of its own, or of inference mode")
            if x._node is not None and getattr(x._node, "hooks", None) is not None:
                raise Uncompilable("a tensor has hooks")

    def run(self, call: Callable) -> Any:
        """What `call()` gives, recorded; `why_not` says afterwards if no program stands for it."""
        self._versions = [_version(x) for x in self.tensors]
        self._grads = [x._grad for x in self.tensors]
        self._nodes = [x._node for x in self.tensors]
        self.first_node = next_sequence()
        uncounted = [x for x in self.tensors if x._counter is INFERENCE]
        self._uncounted_before = set(map(id, uncounted))
        for x in uncounted:
            x._counter = None  # so that a write is seen
        token = MODE.set(RecordingMode(False if self.infers else MODE.get(), self))
        drawn = DRAWS[0]
        recorded_draws = self.program.drawn
        watch = Watch(self.found)
        drop_unused()  # what is recorded has memory of its own
        try:
            with self.program:
                for x, array in zip(self.tensors, self._arrays, strict=True):
                    x._array, x._signature = self.program.input(array), None
                self.options = Options(self)
                watch.gives_numbers = self.options.are_there()
                with self.options.recorded_functions(), watch:
                    result = call()
                self.n_forward = len(self.program.instructions)
                self.leaves, self.structure = taken_apart(result)
                self.n_results = len(self.leaves)
                if any(type(x) is TracedNumber for x in self.leaves):
                    result = tree_unflatten([plain(x) for x in self.leaves], self.structure)
                self._find_objects_and_stores()
                for made in (*self.objects.values(), *self.stores):
                    self.leaves += made.tensors
                with watch:
                    self._try_backward()
        finally:
            left = MODE.get().grad
            MODE.reset(token)
            if left != is_grad_enabled():
                MODE.set(switched(left))
                self.refuse("it leaves the grad mode changed")
            self._restore()
            for x in uncounted:
                if x._counter is not None:
                    self._uncounted[id(x)] = x._counter
                x._counter = INFERENCE
        for each in self.found.optimizers:
            if id(each) not in watch.stepped and not self.options.may_be_read:
                self.found.guard.forget(id(each))
                self.idle.update(id(x) for x in _tensors_of(each))
        self.reads_grads = watch.reads_grads or bool(self.numbers)
        stored = [store.place for store in self.stores if store.of is None]
        self.opened = [*stored, *[x for x in self.opened if x not in stored]]
        for place in self.opened:
            self.found.leave_open(place)
        self.counts = counts_of(self.found.ints, self.found.seen.values())
        for each in self.counts:
            self.found.guard.may_count(each.owner, each.key, each.before)
            self.actions.append(each.action())
        why = watch.why_not or self._state_changed() or self._cannot_store
        if why:
            self.refuse(why)
        if watch.found_function:
            self.why_not = "it runs functions that it did not run before"
            self.again = self.found.called.may_grow()
        if DRAWS[0] - drawn != self.program.drawn - recorded_draws:
            self.refuse("random numbers are drawn that are not recorded")
        return result

    def _find_objects_and_stores(self) -> None:
        """Note which objects the call has made, and what it has put where."""
        found = self.found
        given = found.arguments.contents
        self.objects = objects_of(self.leaves, found.seen, found.outside, given)
        self.stores = stores_of(found.places, found.seen, given)
        try:
            self.stores += found.arguments.stores(found.seen)
        except CannotStore as error:
            self._cannot_store = f"it puts in an argument what no program can: {error}"

    def _new_of(self, tensors: list) -> list[Any]:
        """Those of the tensors that are new, and no views of what was there and counts writes."""
        before, uncounted = self.found.tensors, self._uncounted_before
        counters = {id(x._counter) for x in self.tensors if x._counter and id(x) not in uncounted}
        return [x for x in tensors if id(x) not in before and id(x._counter) not in counters]

    def mark_new(self) -> None:
        """Make what a call in inference mode has made what inference mode makes."""
        for x in self.new:
            x._counter, x._view = INFERENCE, None
        self.new = []

    def _state_changed(self) -> str:
        """What Python has changed in the objects that the call has read."""
        guard = self.found.guard
        why = "" if guard.holds() else guard.why_not()
        return f"it changes what it reads: {why}" if why else ""

    def _try_backward(self) -> None:
        """Record the backward pass of the results, if they have one."""
        self.live: list = []
        self.wanted = [i for i, x in enumerate(self.tensors) if x.requires_grad]
        if not self.infers:
            self.views = views_of_inputs(self.leaves, self.tensors, self._arrays)
        if self.why_not:
            return
        try:
            self._live_results()
        except Exception as error:  # whoever calls backward() sees it then
            self.live = []
            self.refuse(f"its backward pass cannot be recorded: {str(error).splitlines()[0]}")

    def _live_results(self) -> None:
        """Record what the gradients of the results are, for cotangents that are inputs."""
        known = {id(x) for x in self.tensors} | views_of_others(self.leaves).keys()
        known |= self.views.keys()
        self.live = [
            x
            for x in {id(x): x for x in self.leaves}.values()
            if isinstance(x, TensorBase)
            and x._node is not None
            and type(x._node) is not AccumulateGrad
            and not is_over(x._node)
            and id(x) not in known
        ]
        if not self.live:
            return
        nodes = list(nodes_behind([x._node for x in self.live]))
        given = {id(x._node) for x in self.leaves if isinstance(x, TensorBase)}
        given -= {id(x._node) for x in (*self.live, *self.tensors)}
        if not self.wanted or any(type(x) is AccumulateGrad and id(x) in given for x in nodes):
            self.live = []
            return self.refuse("a result is computed of a leaf that the call makes")
        for node in nodes:
            if hasattr(node, "user_backward") and may_have_effects(backward_of(node)):
                self.live = []
                return self.refuse(f"{node.name()} does more than compute")
            hooks = getattr(node, "hooks", None)
            if hooks is not None:
                self.live = []
                return self.refuse("the graph behind a result has hooks")
        cotangents = []
        for y in self.live:
            if y.is_complex() or not y.dtype.is_floating_point:
                self.live = []
                return self.refuse("a result that requires grad is complex")
            g = self.program.input(np.ones(y.shape, y._array.dtype))
            self.cotangents.append(g)
            cotangents.append(wrap(g))
        wanted = [self.tensors[i] for i in self.wanted]
        found = grad(self.live, wanted, cotangents, retain_graph=True, allow_unused=True)
        for g in found:
            if g is not None and not isinstance(resolved(g._array), Traced):
                self.refuse("a gradient was not made of the arguments")
                g = None
            self.gradients.append(None if g is None else resolved(g._array))

    def _restore(self) -> None:
        """Give plain arrays to all tensors that have recorded ones, and note what has changed."""
        program = self.program
        self._moved: dict[int, Traced] = {}
        for i, (x, array) in enumerate(zip(self.tensors, self._arrays, strict=True)):
            now = x._array
            if not isinstance(now, Traced) or now.array is not array:
                self._moved[i] = now
                now = getattr(now, "array", now)
                x._array = np.asarray(now)
            else:
                x._array = array
            x._signature = now = None
        alive = program.alive()
        leaves = getattr(self, "leaves", ())  # none where the call raised an error
        self._results = {id(x): x._array for x in leaves if isinstance(x, TensorBase)}
        self._new_grads = {i: x._grad for i, x in enumerate(self.tensors)}
        grad_arrays = {}
        for i, g in self._new_grads.items():
            if g is not None and not g.is_sparse and isinstance(g._array, Traced):
                grad_arrays[i] = g._array
        self._grad_arrays = grad_arrays
        self.kept = {id(x.place): np.asarray(x.array) for x in alive}
        mine = {id(x) for x in leaves} | {id(x._grad) for x in self.tensors}
        views = [x._view for x in leaves if isinstance(x, TensorBase) and x._view is not None]
        mine |= {id(view.base) for view in views}
        mine |= saved_behind([x for x in leaves if isinstance(x, TensorBase)])
        self.escaped = ""
        del alive
        tensors, views = self._holders()
        if hasattr(self, "leaves") and any(id(x) not in mine for x in tensors):
            del tensors, views
            gc.collect()  # what only a cycle of references keeps is gone
            tensors, views = self._holders()
        for x in tensors:
            if id(x) not in mine:
                self.escaped = "a tensor that the call makes outlives it"
            x._array, x._signature = np.asarray(x._array.array), None
        for view in views:
            view.array = view.array.array
        if self.infers:
            self.new = self._new_of(tensors)
            if not hasattr(self, "leaves"):
                self.mark_new()
        self._restore_rest()

    def _restore_rest(self) -> None:
        """Give plain arrays to optimizers, plain numbers to lists and dictionaries with some."""
        self.options.give_back()
        for optimizer in self.found.optimizers:
            for entry in optimizer.state.values():
                if isinstance(entry, dict):
                    entry.update({k: _plain_state(x) for k, x in entry.items()})
        self._scalars.clear()
        numbers = self.program.kept_numbers()
        for x in gc.get_referrers(*numbers) if numbers else ():
            if type(x) is list and x is not numbers and x is not getattr(self, "leaves", None):
                x[:] = [plain(each) for each in x]
            elif type(x) is dict:
                for key, each in list(x.items()):
                    if type(each) is TracedNumber:
                        x[key] = plain(each)
                        self.refuse(f"it puts a number that it has read in {str(key)!r:.40}")

    def _holders(self) -> tuple[list, list]:
        """The tensors, and what is known of views, that have recorded arrays."""
        alive = self.program.alive()
        if not alive:
            return [], []
        known = self._known_holders(alive)
        if known is not None:
            return known
        found = gc.get_referrers(*alive) if len(alive) <= _FEW else gc.get_objects()
        kinds = {x for x in _with_subclasses(TensorBase) if x._array is TensorBase._array}
        tensors = [x for x in found if type(x) in kinds and self._is_mine(x, "_array")]
        return tensors, [x for x in found if type(x) is View and self._is_mine(x, "array")]

    def _known_holders(self, alive: list) -> tuple[list, list] | None:
        """The same without a walk through all objects, where results and gradients are all.

        Counts of references say so; None where there is somebody else.
        """
        candidates = (*getattr(self, "leaves", ()), *self._new_grads.values())
        tensors = {id(x): x for x in candidates if isinstance(x, TensorBase)}
        views = {id(x._view): x._view for x in tensors.values() if x._view is not None}
        held = [*self._moved.values(), *self._grad_arrays.values(), *self._results.values()]
        held += [*self.cotangents, *self.gradients]
        held += [x._array for x in tensors.values()] + [x.array for x in views.values()]
        known = Counter(map(id, held))
        del held
        counts = list(map(getrefcount, alive))
        if any(n != _ONCE + known[id(x)] for x, n in zip(alive, counts, strict=True)):
            return None
        kept = [x for x in tensors.values() if self._is_mine(x, "_array")]
        return kept, [x for x in views.values() if self._is_mine(x, "array")]

    def _is_mine(self, holder: Any, name: str) -> bool:
        array = getattr(holder, name, None)  # another thread may be making it
        return type(array) is Traced and array.program is self.program

    # --- afterwards ------------------------------------------------------------------------------

    def conclude(self) -> None:
        """Work out the outputs and effects. Raises: Uncompilable."""
        if self.why_not or self.escaped:
            raise Uncompilable(self.why_not or self.escaped)
        for x, node in zip(self.tensors, self._nodes, strict=True):
            if x._node is not node:
                raise Uncompilable("a tensor from outside gets another history")
            if getattr(node, "hooks", None) is not None:
                raise Uncompilable("a tensor from outside gets hooks")
        first: dict[int, int] = {}  # of results that are tensors
        views = views_of_others(self.leaves)
        for i, x in enumerate(self.leaves):
            if isinstance(x, TensorBase) and first.setdefault(id(x), i) != i:
                self.results.append(("again", first[id(x)]))
            elif id(x) in views:
                self.results.append(("view", views[id(x)], x))
            elif id(x) in self.views:
                base, how = self.views[id(x)]
                self.results.append(("view of input", base, x, how))
            elif i in self.objects:
                self.results.append(("object", self.objects[i]))
            else:
                self.results.append(self._result(x))
        for i, x in enumerate(self.tensors):
            self._effect(i, x)

    def was_stored(self, i: int) -> bool:
        """Whether a tensor was in a place in which another one may be in a later call."""
        askers = self.found.asked_for.get(id(self.tensors[i]), ())
        return any(id(place) in askers for place in self.opened)

    def release(self) -> None:
        """Let go of arrays and tensors: the program is made."""
        self.kept, self._results, self._grad_arrays, self._new_grads = {}, {}, {}, {}
        self.outputs, self.gradients, self.cotangents = [], [], []
        self.leaves, self.live, self._arrays, self._grads = [], [], [], []
        self._moved, self._nodes, self._scalars = {}, [], {}
        self.results = [(kind, *rest[:1]) for kind, *rest in self.results]  # without the tensors
        self.parameters = [i for i, x in enumerate(self.tensors) if isinstance(x, Parameter)]
        self.tensors = []
        self.program.forget_arrays()
        self.found.forget()
        for made in (*self.objects.values(), *self.stores):
            made.tensors = []
        for store in self.stores:
            store.name = self.found.guard.called(store.place.owner, store.place.key)
            if store.of is not None:
                store.place.owner = None
        for place in self.opened:
            place.old = None

    def _result(self, x: Any) -> tuple:
        if not isinstance(x, TensorBase):
            if type(x) is TracedNumber:
                for each in self.program.instructions:
                    if each.result is x.place and each.text == ".item":
                        array = np.asarray(plain(x))
                        self.outputs.append(Traced(self.program, array, each.args[0]))
                        return "item", len(self.outputs) - 1
                if id(x.place) in self.number_of:
                    return "number", self.number_of[id(x.place)]
                raise Uncompilable("it gives a number that Python computes")
            if id(x) in self.found.arguments.contents:
                return "given", id(x)
            if not is_constant(x) and not callable(x) and not self._stays(x):
                raise Uncompilable(f"it gives a {type(x).__name__}")
            return "plain", x
        for i, each in enumerate(self.tensors):
            if each is x:
                return "same", i
        array = self._results[id(x)]
        if not isinstance(array, Traced):
            raise Uncompilable("a result was not made of the arguments")
        if not is_plain(x):
            raise Uncompilable("a result is of a class of its own")
        if type(x._node) is AccumulateGrad and type(x) is not Tensor:
            raise Uncompilable("a result is a parameter that the call makes")
        self.outputs.append(array)
        return "tensor", len(self.outputs) - 1, x

    def _stays(self, x: Any) -> bool:
        """Whether an object is where it is in each call for which the program stands."""
        places = {id(place) for place in self.opened}
        return id(x) in self.found.outside and places.isdisjoint(
            self.found.asked_for.get(id(x), ())
        )

    def _effect(self, i: int, x: Any) -> None:
        effect = Effect(i)
        counter = self._uncounted.get(id(x), x._counter)
        if counter is not None and counter is not INFERENCE:
            effect.writes = counter.value - self._versions[i]
            effect.operator = counter.operator if effect.writes else ""
        if i in self._moved:
            if not isinstance(self._moved[i], Traced):
                raise Uncompilable("a tensor is given memory from outside")
            effect.array = len(self.outputs)
            self.outputs.append(self._moved[i])
        before, now = self._grads[i], self._new_grads[i]
        if now is not before:
            if now is None:
                effect.grad = "none"
            elif i in self._grad_arrays and now._node is None:
                effect.grad_writes = _version(now)
                effect.grad = len(self.outputs)
                self.outputs.append(self._grad_arrays[i])
            else:
                raise Uncompilable("a .grad is set to a tensor from outside, or has a history")
        if effect.writes or effect.grad != "kept" or effect.array is not None:
            self.effects.append(effect)


def _with_value(array: Any, value: Any) -> Any:
    """A batched array with another array below all its levels; `value` itself where it is none."""
    if not is_batched(array):
        return value
    return type(array)(array.level, _with_value(array.value, value), array.mapped)


_ONCE = next(map(getrefcount, [object()]))
"""What `getrefcount` says of what nobody but one list has."""

_FEW = 32
"""More arrays are looked for in a list of all objects, which does not grow with their number."""


def _with_subclasses(kind: Any) -> list:
    return [kind, *[x for each in kind.__subclasses__() for x in _with_subclasses(each)]]


def _plain_state(x: Any) -> Any:
    """Numbers that an optimizer with a step of its own has kept, as plain ones."""
    if type(x) in (list, tuple):
        return type(x)(map(_plain_state, x))
    return plain(x)


def _tensors_of(optimizer: Any) -> list:
    """The tensors in the state of an optimizer."""
    entries = [x for x in optimizer.state.values() if isinstance(x, dict)]
    return [x for each in entries for x in each.values() if isinstance(x, TensorBase)]


def is_plain(x: Any, infers: bool = False) -> bool:
    """Whether a tensor is of no class of its own and has a version counter; in inference mode it
    needs none."""
    return (
        type(x) in (Tensor, Parameter, Buffer)
        and type(x._array) in (np.ndarray, Traced)
        and (infers or x._counter is not INFERENCE)
    )


def _is_pure(params: Any, like: bool = False) -> bool:
    """Whether options are numbers, texts and dtypes alone; `like`: of arrays the shape counts."""
    if isinstance(params, Traced) or is_batched(params):
        return like
    if isinstance(params, dict):
        return all(_is_pure(x, like) for x in params.values())
    if isinstance(params, (list, tuple)):
        return all(_is_pure(x, like) for x in params)
    if isinstance(params, FunctionType):
        return not params.__closure__
    return isinstance(params, _PURE)


_PURE = (
    *PLAIN, np.dtype, dtype, np.generic, type, BuiltinFunctionType, memory_format,
)  # fmt: skip


def _version(x: Any) -> int:
    return 0 if x._counter is None else x._counter.value
