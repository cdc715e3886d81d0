"""Functions compiled by a compiler that the program brings: `torch.compile(backend=function)`.

It is given the graph of a call, a `torch.fx.GraphModule`, and the tensors that the call was given;
what it returns runs, for calls with tensors of the same shapes and dtypes, while all that the
function has read is as it was.
"""

from __future__ import annotations

import functools
import inspect
import re
import warnings

from tapegrad.arrays.traced.program import RECORDING, Program
from tapegrad.autograd.mode import is_grad_enabled
from tapegrad.compiler.backends import Unsupported
from tapegrad.compiler.python_effects import Watch
from tapegrad.compiler.sources import PLAIN, Uncompilable, found_by
from tapegrad.compiler.state import COMPILED, STATE
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.errors import advised
from tapegrad.core.streams.mersenne_twister import DRAWS
from tapegrad.core.tensor_base import TensorBase
from tapegrad.dispatch.autocast_state import STATE as AUTOCAST
from tapegrad.utils._pytree.tree import tree_flatten

MOST = 8  # graphs of one function


class _Graph:
    """A graph that was compiled, and what it holds for."""

    def __init__(self, key: tuple, guard: Any, traced: Any, run: Callable):
        self.key, self.holds, self.traced, self.run = key, guard.question(), traced, run


class GraphCompiled:
    """A function, and what a compiler has made of the graphs of its calls.

    Attributes:
        compiled_function: the function as it was written
        graphs: the GraphModules that the compiler was given
        why_not: why it runs as it is; "" where it is compiled, or may be
    """

    is_compiled = False  # to a program of ours: `inspect.graph` draws what its calls leave behind

    def __init__(
        self, function: Callable, backend: Callable, fullgraph: bool, most: int | None, options: Any
    ):
        functools.update_wrapper(self, function)
        self.compiled_function, self._backend = function, backend
        self._fullgraph, self._most = fullgraph, MOST if most is None else most
        self._options = options
        self._graphs: list[_Graph] = []
        self.entries: list[Any] = []  # programs of ours, of which it has none
        self.why_not = ""
        COMPILED.add(self)

    @property
    def graphs(self) -> list[Any]:
        return [each.traced.module for each in self._graphs]

    def reset(self) -> None:
        """Forget all graphs."""
        self._graphs, self.why_not = [], ""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.why_not or STATE.stance == "force_eager":
            return self.compiled_function(*args, **kwargs)
        leaves, structure = tree_flatten((args, kwargs))
        key = (is_grad_enabled(), AUTOCAST.get(), structure, *map(_key, leaves))
        tensors = [x for x in leaves if isinstance(x, TensorBase)]
        for each in self._graphs:
            if each.key == key and each.holds():
                return each.traced.result(each.run(*tensors))
        return self._compiled(key, leaves, structure, tensors, args, kwargs)

    def _compiled(
        self, key: tuple, leaves: list, structure: Any, tensors: list, args: tuple, kwargs: dict
    ) -> Any:
        if len(self._graphs) >= self._most:
            self._failed(f"it was traced {len(self._graphs)} times")
            return self.compiled_function(*args, **kwargs)
        try:
            guard, traced = self._traced(leaves, structure, args, kwargs)
        except Uncompilable as error:
            self._failed(str(error))
            return self.compiled_function(*args, **kwargs)
        run = self._made(traced.module, tensors)
        self._graphs.insert(0, _Graph(key, guard, traced, run))
        return traced.result(run(*tensors))

    def _traced(self, leaves: list, structure: Any, args: tuple, kwargs: dict) -> tuple[Any, Any]:
        """What the call depends on, and its graph. Raises: Uncompilable."""
        from tapegrad.compiler.graph_tracer import Traced

        function = self.compiled_function
        found = found_by(function, leaves)
        if found.optimizers:
            raise Uncompilable("it has an optimizer")
        before = [(place, place.now()) for place in found.places.values()]
        drawn, watch = DRAWS[0], _Stopping(found)
        token = RECORDING.set(Program())  # which knows who watches
        try:
            with watch:
                traced = Traced(function, leaves, structure, _names(function, args, kwargs))
        except Exception as error:  # whatever a proxy is no substitute for
            why = watch.why_not or f"it cannot be traced: {(str(error) or repr(error))}"
            raise Uncompilable(why.splitlines()[0]) from error
        finally:
            RECORDING.reset(token)
            changed = [place for place, x in before if place.now() is not x]
            for place, x in before:
                if place in changed and isinstance(place.owner, (dict, list)):
                    place.owner[place.key] = x
        if changed:
            raise Uncompilable("it puts something in an attribute, a global or a container")
        if watch.why_not:
            raise Uncompilable(watch.why_not)
        if not found.guard.holds():
            raise Uncompilable(f"it changes what it reads: {found.guard.why_not()}")
        if DRAWS[0] != drawn:
            raise Uncompilable("it draws random numbers that are no part of the graph")
        return found.guard, traced

    def _made(self, module: Any, tensors: list) -> Callable:
        """What the compiler makes of a graph."""
        from tapegrad.compat.torch._dynamo.exc import BackendCompilerFailed

        given = {} if self._options is None else {"options": self._options}
        name = getattr(self._backend, "__name__", type(self._backend).__name__)
        try:
            run = self._backend(module, tensors, **given)
            if not callable(run):
                raise TypeError(f"it returned a {type(run).__name__}, which cannot be called")
        except Exception as error:
            raise advised(
                BackendCompilerFailed(f"backend={name!r} raised:\n{type(error).__name__}: {error}"),
                "The compiler is called with a GraphModule and a list of tensors, and returns a "
                "function of these tensors, as the module's forward is one.",
            ) from error
        return run

    def _failed(self, why: str) -> None:
        self.why_not = why
        name = getattr(self.compiled_function, "__qualname__", None)
        name = name or type(self.compiled_function).__name__
        if self._fullgraph:
            self.why_not = ""
            raise Unsupported(f"{name} is not compiled: {why}")
        text = f"{name} is not compiled and runs as it is: {why}"
        warnings.warn(text, UserWarning, stacklevel=4)


class _Stopping(Watch):
    """Does not let the function do what a graph would not do again: the function runs as it is."""

    def _note(self, frame: Any, what: str) -> None:
        super()._note(frame, what)
        if self.why_not:
            raise RuntimeError(self.why_not)


def _key(x: Any) -> Any:
    """What a graph depends on of an argument."""
    if isinstance(x, TensorBase):
        return type(x), x.shape, x.dtype, x.device, x.requires_grad
    return (type(x), x) if isinstance(x, PLAIN) else (type(x), id(x))


def _names(function: Callable, args: tuple, kwargs: dict) -> list[str]:
    """What the inputs of a graph are called, as PyTorch calls them: `l_x_` for `x`."""
    called = function.forward if hasattr(function, "forward") else function
    try:
        bound = inspect.signature(called).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):  # a function written in C
        bound = {f"arg{i}": x for i, x in enumerate((*args, *kwargs.values()))}
    found: list[str] = []
    for name, x in bound.items():
        tensors = [y for y in tree_flatten(x)[0] if isinstance(y, TensorBase)]
        several = not isinstance(x, TensorBase)
        for i in range(len(tensors)):
            wanted = re.sub(r"\W", "_", f"l_{name}_{i}_" if several else f"l_{name}_")
            found.append(wanted if wanted not in found else f"{wanted}{len(found)}")
    return found
