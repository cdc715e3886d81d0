"""The graph that a compiler of PyTorch's graphs is given: a call traced by `torch.fx`.

Tensors among the arguments are its inputs, whose shapes and dtypes are known; parameters, buffers
and modules of `torch.nn` are its attributes. What a graph cannot say raises `TraceError`.
"""

import operator

from tapegrad.autograd.mode import is_grad_enabled
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.tensor_base import TensorBase
from tapegrad.dispatch.autocast_state import STATE as AUTOCAST
from tapegrad.fx import GraphModule, Node, Proxy, Tracer
from tapegrad.fx.proxy import TraceError
from tapegrad.nn.modules.module import Module
from tapegrad.nn.parameter import Parameter
from tapegrad.overrides import TorchFunctionMode
from tapegrad.utils._pytree.tree import tree_flatten, tree_unflatten

_MAKERS = frozenset(
    "arange bartlett_window blackman_window empty empty_strided eye full hamming_window "
    "hann_window kaiser_window linspace logspace normal ones rand randint randn randperm range "
    "scalar_tensor tril_indices triu_indices zeros".split()
)


class _Input(Proxy):
    """An input of the graph, of which all is known but its numbers."""

    def __init__(self, proxy: Proxy, example: Any):
        super().__init__(proxy.node, proxy.tracer)
        self._example = example

    def size(self, *args: Any) -> Any:
        return self._example.size(*args)

    def dim(self) -> int:
        return self._example.dim()

    def numel(self) -> int:
        return self._example.numel()

    def is_floating_point(self) -> bool:
        return self._example.is_floating_point()

    def __len__(self) -> int:
        return len(self._example)

    def __iter__(self) -> Any:
        return iter([operator.getitem(self, i) for i in range(len(self._example))])


for _name in ("device", "dtype", "layout", "ndim", "requires_grad", "shape"):
    setattr(_Input, _name, property(operator.attrgetter(f"_example.{_name}")))


class Traced:
    """A call as a graph.

    Attributes:
        module: the GraphModule: of tensors, a tuple of tensors
        outputs: the leaves of what the function gives: ("output", number) or ("object", x)
        structure: how these leaves make its result
    """

    def __init__(self, function: Callable, leaves: list, structure: Any, names: list[str]):
        places = [i for i, x in enumerate(leaves) if isinstance(x, TensorBase)]
        self.outputs: list[tuple[str, Any]] = []
        self.structure: Any = None

        def run(*tensors: Any) -> tuple:
            given = list(leaves)
            for i, x in zip(places, tensors, strict=True):
                given[i] = _Input(x, leaves[i])
            args, kwargs = tree_unflatten(given, structure)
            results, self.structure = tree_flatten(function(*args, **kwargs))
            found: list[Any] = []
            for x in results:
                if isinstance(x, Proxy):
                    self.outputs.append(("output", len(found)))
                    found.append(x)
                else:
                    self.outputs.append(("object", x))
            return tuple(found)

        scope: dict[str, Any] = {"run": run, "__name__": __name__}
        exec(f"def forward({', '.join(names)}):\n    return run({', '.join(names)})", scope)
        tracer = _Tracer()
        with _Makers(tracer):
            graph = tracer.trace(_root_of(function, scope["forward"]))
        if not any(kind == "output" for kind, _ in self.outputs):
            raise TraceError("its result does not depend on its arguments")
        self.module = GraphModule(tracer.root, graph)

    def result(self, outputs: Any) -> Any:
        """What the function gives, made of what the graph has given."""
        leaves = [outputs[x] if kind == "output" else x for kind, x in self.outputs]
        return tree_unflatten(leaves, self.structure)


def _root_of(function: Callable, forward: Callable) -> Module:
    """A module with the attributes of a compiled one, whose `forward` is the function to trace."""
    root: Any = type("GraphModule", (Module,), {"forward": lambda self, *x: None})()
    if isinstance(function, Module):
        for name in ("_parameters", "_buffers", "_modules"):
            root.__dict__[name] = dict(function.__dict__[name])
    names = forward.__code__.co_varnames[: forward.__code__.co_argcount]
    scope = {"traced": forward, "__name__": __name__}
    exec(f"def forward(self, {', '.join(names)}):\n    return traced({', '.join(names)})", scope)
    type(root).forward = scope["forward"]
    return root


class _Tracer(Tracer):
    """Takes in parameters and modules that are not below the root.

    Modules of `torch.nn` are called as they are; those that others wrote are traced through.
    """

    proxy_buffer_attributes = True

    def __init__(self) -> None:
        super().__init__()
        self._modes = is_grad_enabled(), AUTOCAST.get()

    def path_of_module(self, mod: Module) -> str:
        try:
            return super().path_of_module(mod)
        except NameError:  # the function knows it by itself
            name = self.get_fresh_qualname(f"{type(mod).__name__.lower()}_")
            self.root.add_module(name, mod)
            return name

    def create_arg(self, a: Any) -> Any:
        if isinstance(a, Parameter) and not any(a is x for x in self.root.parameters()):
            name = self.get_fresh_qualname("_parameter")
            self.root.register_parameter(name, a)
        return super().create_arg(a)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        if isinstance(attr_val, TensorBase):
            found = super().getattr(attr, attr_val, parameter_proxy_cache)
            return self.proxy(self.create_arg(attr_val)) if found is attr_val else found
        return attr_val

    def create_node(self, kind: str, target: Any, *args: Any, **kwargs: Any) -> Node:
        if kind == "call_method" and target in ("backward", "requires_grad_"):
            raise TraceError(f"it calls {target}()")
        if (is_grad_enabled(), AUTOCAST.get()) != self._modes:
            raise TraceError("it changes the grad mode or autocast")
        return super().create_node(kind, target, *args, **kwargs)


class _Makers(TorchFunctionMode):
    """What functions without tensors make, be it of random numbers, is made by the graph."""

    def __init__(self, tracer: _Tracer):
        super().__init__()
        self._tracer = tracer

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(function, "__name__", "")
        leaves = tree_flatten((args, kwargs))[0]
        if any(isinstance(x, Proxy) for x in leaves):
            return function(*args, **kwargs)
        if name in _MAKERS or (name == "tensor" and kwargs.get("requires_grad")):
            return self._tracer.create_proxy("call_function", function, args, kwargs)
        if name in ("__setitem__", "backward") or (name[-1:] == "_" and name[:2] != "__"):
            raise TraceError(f"{name} changes a tensor that is no argument")
        return function(*args, **kwargs)
