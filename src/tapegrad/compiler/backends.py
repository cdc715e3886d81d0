"""Names of compilers that `torch.compile` takes: those of PyTorch, and those registered here."""

from __future__ import annotations

from tapegrad.core.annotations import Any, Callable, Sequence
from tapegrad.core.errors import advised, not_implemented

_PYTORCHS = frozenset(
    "auto numpy c aot_eager aot_eager_decomp_partition aot_eager_default_partitioner aot_ts "
    "cudagraphs eager "
    "eager_debug eager_noexcept inductor invoke_subgraph openxla openxla_eval pre_dispatch_eager "
    "ts tvm".split()
)
_registered: dict[str, tuple[Callable, tuple[str, ...]]] = {}
_default: Any = "inductor"


class TorchDynamoException(RuntimeError):
    """An error of the compiler, of which there are few here."""


class Unsupported(TorchDynamoException):
    """A call that cannot be compiled, where the whole of it has to be: `fullgraph=True`."""


class InvalidBackend(TorchDynamoException):
    """A backend that nobody has registered."""

    def __init__(self, name: str):
        super().__init__(
            f"Invalid backend: {name!r}, see `torch._dynamo.list_backends()` for available "
            "backends."
        )


def check(backend: Any) -> None:
    """Raise InvalidBackend for a name that is none of a backend."""
    if isinstance(backend, str) and backend not in _PYTORCHS and backend not in _registered:
        raise advised(InvalidBackend(backend), 'Leave backend= away, or take "numpy" or "c".')


def register_backend(
    compiler_fn: Callable | None = None, name: str | None = None, tags: Sequence[str] = ()
) -> Any:
    """Give a compiler of graphs a name, for `torch.compile(backend=name)`.

    >>> @torch._dynamo.register_backend
    ... def printing(graph, example_inputs):
    ...     return graph.forward
    >>> torch.compiler.list_backends()
    ['printing']
    """
    if compiler_fn is None:
        return lambda function: register_backend(function, name, tags)
    _registered[name or compiler_fn.__name__] = compiler_fn, tuple(tags)
    return compiler_fn


def is_programs(backend: Any) -> bool:
    """Whether a backend is one that the program at hand brings: a function, or its name."""
    return callable(backend) or backend in _registered


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """The compilers of PyTorch's graphs: those that were registered, as tapegrad brings none."""
    excluded = set(exclude_tags or ())
    return sorted(name for name, (_, tags) in _registered.items() if not excluded & set(tags))


def lookup_backend(compiler_fn: Any) -> Any:
    """The compiler of a name.

    Raises: InvalidBackend for a name that nobody has; NotImplementedError for one of PyTorch's.
    """
    if not isinstance(compiler_fn, str):
        return compiler_fn
    check(compiler_fn)
    if compiler_fn in _registered:
        return _registered[compiler_fn][0]
    raise not_implemented(
        f"tapegrad has no compiler {compiler_fn!r} of PyTorch's graphs",
        'torch.compile() records programs of its own: backend="numpy" or "c".',
    )


def set_default_backend(backend: Any) -> None:
    """Set what `torch.compile` uses where `backend=` is not given; None for PyTorch's own default.

    >>> torch.compiler.set_default_backend("eager")
    >>> torch.compiler.get_default_backend()
    'eager'
    >>> torch.compiler.set_default_backend(None)
    """
    global _default
    check(backend)
    _default = "inductor" if backend is None else backend


def get_default_backend() -> Any:
    """What `torch.compile` uses where `backend=` is not given.

    >>> torch.compiler.get_default_backend()
    'inductor'
    """
    return _default
