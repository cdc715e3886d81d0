"""`torch.compile(backend=f)`: compilers that the program at hand brings, which are given graphs.

A call is recorded while it runs, as the calls of functions of tensors that it makes: a graph of
`torch.fx`. The backend is given its module and the tensors that it reads, and gives back what is
called with these from then on, under the conditions under which other programs of a function hold.
"""

from tapegrad.arrays.traced.program import Program
from tapegrad.compiler.argument_questions import MISS
from tapegrad.compiler.backends import BackendCompilerFailed
from tapegrad.compiler.compiled import Compiled
from tapegrad.compiler.graphs.output_graph import OutputGraphs
from tapegrad.compiler.graphs.tensor_names import tensor_names
from tapegrad.compiler.python_effects import Watch
from tapegrad.compiler.sources import PLAIN, Found, Uncompilable, found_by
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.errors import advised, runtime_error
from tapegrad.core.streams.mersenne_twister import DRAWS
from tapegrad.core.tensor_base import TensorBase
from tapegrad.fx.graph_module import GraphModule
from tapegrad.random import get_rng_state, set_rng_state
from tapegrad.utils._pytree.tree import tree_flatten, tree_unflatten


class GraphCompiled(Compiled):
    """A function whose graphs a backend compiles.

    The first call is recorded: its result is what the backend's function gives, or, where the call
    writes to tensors that it was given, what the call itself gave.
    """

    def __init__(self, function: Callable, backend: Callable, options: dict, **given: Any):
        super().__init__(function, build=backend, at_once=True, dynamic=False, **given)
        self._backend, self._options, self._given = backend, options, given

    def __reduce__(self) -> Any:
        return _made, (self.compiled_function, self._backend, self._options, self._given)

    @property
    def source(self) -> str:
        """The graph of the last call as Python.

        Raises: RuntimeError where no call was recorded yet.
        """
        return self._graph().code

    def explain(self) -> Any:
        """What `torch._dynamo.explain` tells of the graph of the last call.

        Raises: RuntimeError where no call was recorded yet.
        """
        from tapegrad.compiler.graphs.explain_output import explained

        return explained([self._graph()], [])

    def save(self, path: str) -> None:
        """Raises RuntimeError: what a backend gives is known to nobody else."""
        raise runtime_error(
            f"the programs of backend {_name_of(self._backend)!r} cannot be saved",
            'torch.compile(f, backend="numpy").save("f.py") writes one that runs alone.',
        )

    def _graph(self) -> GraphModule:
        if not self.entries:
            raise runtime_error(
                f"{self._name()} is not compiled yet" + (f": {self.why_not}" * bool(self.why_not)),
                "The first call is recorded.",
            )
        return self.entries[0].graph  # type: ignore[attr-defined]

    def _recorded(self, mode: Any, args: tuple, kwargs: dict, plain: list) -> Any:
        function = self.compiled_function
        leaves, structure = tree_flatten((args, kwargs))
        try:
            found = found_by(function, leaves)
        except Uncompilable as error:
            self._failed(str(error))
            return function(*args, **kwargs)
        call = _RecordedCall(function, found)
        result = call.run(args, kwargs)
        try:
            graph, inputs = call.graph(result, leaves)
        except Uncompilable as error:
            self._failed(str(error))
            return result
        compiled = self._compile(graph, [x for _, x in inputs])
        entry = GraphEntry(compiled, graph, call, inputs, leaves, structure)
        entry.mode, entry.plain_arguments = mode, plain
        self._put_first(entry)  # type: ignore[arg-type]
        return result if call.writes else entry.first(leaves)

    def _compile(self, graph: GraphModule, inputs: list) -> Callable:
        try:
            compiled = self._backend(graph, inputs, **self._options)
            if not callable(compiled):
                raise advised(
                    AssertionError("compiler_fn did not return callable"),
                    "Give back graph.forward, or another function of the same inputs.",
                )
        except Exception as error:
            raise advised(
                BackendCompilerFailed(
                    f"backend={_name_of(self._backend)!r} raised:\n{type(error).__name__}: {error}"
                ),
                "The backend's own lines are in the traceback above.",
            ) from error
        return compiled


def _made(function: Callable, backend: Callable, options: dict, given: dict) -> GraphCompiled:
    return GraphCompiled(function, backend, options, **given)


def _name_of(backend: Callable) -> str:
    return getattr(backend, "__name__", None) or type(backend).__name__


class _RecordedCall:
    """One call, and the graph of what it does."""

    def __init__(self, function: Callable, found: Found):
        self.function, self.found = function, found
        self.why_not = ""
        self.writes = False  # whether it writes to tensors that were there before
        self.state: Any = None  # of the generator before the call, where the call draws

    def refuse(self, why: str, again: bool = False) -> None:
        """Note that no graph can stand for the call, which goes on."""
        self.why_not = self.why_not or why

    def run(self, args: tuple, kwargs: dict) -> Any:
        """What the call gives, recorded."""
        known = list(self.found.tensors.values())
        before, grads = [_state_of(x) for x in known], [id(x._grad) for x in known]
        state, drawn = get_rng_state(), DRAWS[0]
        self.graphs = OutputGraphs(tensor_names(self.function, args, kwargs))
        program = Program()
        program.owner = self
        watch = Watch(self.found)
        with program, watch:
            result = self.graphs.call(self.function, args, kwargs)
        self.writes = before != [_state_of(x) for x in known]
        if DRAWS[0] != drawn:
            self.state = state
            self.writes |= state.equal(get_rng_state())  # another generator has moved
        if grads != [id(x._grad) for x in known]:
            self.refuse("it sets the .grad of a tensor")
        guard = self.found.guard
        self.refuse(watch.why_not)
        if not guard.holds():
            self.refuse(f"it changes what it reads: {guard.why_not()}")
        return result

    def graph(self, result: Any, leaves: list) -> tuple[GraphModule, list]:
        """The graph, and its inputs: (number of an argument, or None, and the tensor).

        Raises: Uncompilable.
        """
        for each in self.graphs.break_reasons:
            where = each.user_stack[-1:]
            at = f", in line {where[0].lineno} of {where[0].filename}" if where else ""
            self.refuse(f"{each.reason}{at}")
        if self.why_not:
            raise Uncompilable(self.why_not)
        self.results, self.structure = tree_flatten(result)
        graph, inputs, self.places = self.graphs.one_graph(self.results)
        numbers = {id(x): i for i, x in reversed(list(enumerate(leaves)))}
        for x in inputs:
            if id(x) not in numbers and id(x) not in self.found.tensors:
                raise Uncompilable("it reads a tensor that is no argument, parameter or global")
        for x, place in zip(self.results, self.places, strict=True):
            if place is None and not isinstance(x, PLAIN) and id(x) not in numbers:
                if id(x) not in self.found.tensors:
                    raise Uncompilable(f"it gives a {type(x).__name__}")
        return graph, [(numbers.get(id(x)), x) for x in inputs]


class GraphEntry:
    """What a backend made of one graph, and when it holds.

    Attributes:
        graph: the module that the backend was given
        guard: asks whether what the function read is as it was
    """

    joint = runner = None  # what entries of other programs have
    changed = ""

    def __init__(
        self,
        compiled: Callable,
        graph: GraphModule,
        call: _RecordedCall,
        inputs: list,
        leaves: list,
        structure: Any,
    ):
        self.compiled, self.graph = compiled, graph
        self.guard = call.found.guard
        self._holds = self.guard.question()
        self.mode: Any = True
        self.plain_arguments: list = []
        self._structure = structure
        self._arguments = [_kind_of(x) for x in leaves]
        self._same = _first_places(leaves)
        arguments = {id(x) for x in leaves}
        self._captured = [
            (x, _kind_of(x)) for x in call.found.tensors.values() if id(x) not in arguments
        ]
        self._inputs = [(i, None if i is not None else x) for i, x in inputs]
        numbers = {id(x): i for i, x in reversed(list(enumerate(leaves)))}
        self._results = [
            (place, numbers.get(id(x)) if place is None else None)
            for x, place in zip(call.results, call.places, strict=True)
        ]
        self._plain = [
            x if place is None and number is None else None
            for x, (place, number) in zip(call.results, self._results, strict=True)
        ]
        self._result = call.structure
        self._state = call.state

    def is_of_another_size(self, plain: list) -> bool:
        """Whether a call with other tensors is not counted: each is, here."""
        return False

    def forget_memory(self) -> None:
        """Nothing is kept for the next call."""

    def call(self, args: tuple, kwargs: dict) -> Any:
        """What the backend's function gives, or `MISS`."""
        leaves, structure = tree_flatten((args, kwargs))
        if structure != self._structure or [_kind_of(x) for x in leaves] != self._arguments:
            return MISS
        if _first_places(leaves) != self._same or not self._holds():
            return MISS
        if any(_kind_of(x) != kind for x, kind in self._captured):
            return MISS
        return self._run(leaves)

    def first(self, leaves: list) -> Any:
        """The same of the call that was recorded, with the random numbers that it drew."""
        if self._state is not None:
            set_rng_state(self._state)
            self._state = None
        return self._run(leaves)

    def _run(self, leaves: list) -> Any:
        given = self.compiled(*[x if i is None else leaves[i] for i, x in self._inputs])
        results = [
            given[place] if place is not None else plain if number is None else leaves[number]
            for (place, number), plain in zip(self._results, self._plain, strict=True)
        ]
        return tree_unflatten(results, self._result)


def _state_of(x: Any) -> tuple[int, int]:
    """What tells whether a tensor was written."""
    return 0 if x._counter is None else x._counter.value, id(x._array)


def _kind_of(x: Any) -> Any:
    """What has to be the same of an argument: of tensors all but their values."""
    if isinstance(x, TensorBase):
        return type(x), x.shape, x.dtype, x.stride(), x.device, x.requires_grad, x.is_leaf
    return type(x), x if isinstance(x, PLAIN) else id(x)


def _first_places(leaves: list) -> list[int]:
    """For each argument where it stands first: which tensors are one."""
    first: dict[int, int] = {}
    return [
        first.setdefault(id(x), i) if isinstance(x, TensorBase) else i for i, x in enumerate(leaves)
    ]
