"""A module called with other tensors in the place of its own, which stay as they are."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tapegrad.core.errors import advised, deprecated, runtime_error, type_error, value_error
from tapegrad.nn.modules.module import Module
from tapegrad.tensors.tensor import Tensor


def functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """The old name of `torch.func.functional_call`. It warns.

    >>> import warnings
    >>> layer, tensors = torch.nn.Linear(1, 1), {"weight": torch.ones(1, 1), "bias": torch.ones(1)}
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.nn.utils.stateless.functional_call(layer, tensors, torch.ones(1, 1))
    tensor([[2.]])
    """
    deprecated(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be "
        "removed in a future version of PyTorch. Please use `torch.func.functional_call` instead "
        "which is a drop-in replacement."
    )
    options = {"tie_weights": tie_weights, "strict": strict}
    return _functional_call(module, parameters_and_buffers, args, kwargs, **options)


def _functional_call(
    module: Module,
    parameters_and_buffers: Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """`module(*args, **kwargs)` with tensors, by dotted name, as parameters and buffers.

    With `tie_weights`, what a module has under two names is replaced under both. With `strict`, all
    have to be replaced. A buffer that the call assigns anew is put among the tensors.
    """
    with _reparametrize_module(module, parameters_and_buffers, tie_weights, strict):
        positional = () if args is None else args if isinstance(args, tuple) else (args,)
        return module(*positional, **(kwargs or {}))


@contextmanager
def _reparametrize_module(
    module: Module,
    parameters_and_buffers: Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]],
    tie_weights: bool = False,
    strict: bool = False,
    stack_weights: bool = False,
) -> Iterator[None]:
    """While it lasts, `module` has other tensors: see `_functional_call`.

    `stack_weights` says in which order PyTorch puts the old ones back; each has its place here.

    >>> layer = torch.nn.Linear(1, 1)
    >>> replaced = torch.nn.utils.stateless._reparametrize_module
    >>> with replaced(layer, {"weight": torch.ones(1, 1), "bias": torch.ones(1)}):
    ...     layer(torch.ones(1, 1))
    tensor([[2.]])
    """
    tensors = parameters_and_buffers
    given = _merged(tensors)
    wanted = _tied(module, given) if tie_weights else given
    if strict:
        _check_complete(module, wanted)
    places = {name: _place(module, name) for name in wanted}
    before = {name: table and table[key] for name, (_, table, key) in places.items()}
    try:
        for name, (owner, table, key) in places.items():
            if table is None:
                setattr(owner, key, wanted[name])
            else:
                table[key] = wanted[name]
        yield
    finally:
        for name, (owner, table, key) in places.items():
            if table is None and not hasattr(owner, key):
                continue
            if name in given and isinstance(tensors, dict):
                tensors[name] = getattr(owner, key)
            if table is None:
                delattr(owner, key)
            else:
                table[key] = before[name]


def _merged(tensors: Any) -> Mapping[str, Tensor]:
    if isinstance(tensors, Mapping):
        merged: dict[str, Tensor] = dict(tensors)
    elif isinstance(tensors, (list, tuple)):
        if not all(isinstance(part, Mapping) for part in tensors):
            raise value_error(
                "Expected all elements of parameter_and_buffer_dicts to be dictionaries",
                "Pass dicts of tensors by name.",
            )
        names = [name for part in tensors for name in part]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise value_error(
                f"{repeated} appeared in multiple dictionaries; behavior of functional call is "
                "ambiguous",
                "Give each name once.",
            )
        merged = {name: tensor for part in tensors for name, tensor in part.items()}
    else:
        raise value_error(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but "
            f"got {type(tensors)}",
            "Pass dict(module.named_parameters()), or one like it.",
        )
    for tensor in merged.values():
        if tensor is not None and not isinstance(tensor, Tensor):
            raise type_error(
                f"{tensor} is not an instance of torch.Tensor", "The values are tensors by name."
            )
    return merged


def _own(module: Module) -> dict[str, Tensor]:
    """All parameters and buffers by name, what has two names twice."""
    return {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


def _tied(module: Module, given: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    names_of: dict[int, list[str]] = {}
    for name, tensor in _own(module).items():
        names_of.setdefault(id(tensor), []).append(name)
    tied = dict(given)
    for names in names_of.values():
        values = {id(given[name]): given[name] for name in names if name in given}
        if len(values) > 1:
            several = [name for name in names if name in given]
            raise value_error(
                f"functional_call got multiple values for keys {several}, which are tied. "
                "Consider using tie_weights=False",
                "They are one tensor in the module: give the new one under one name.",
            )
        for value in values.values():
            tied.update(dict.fromkeys(names, value))
    return tied


def _check_complete(module: Module, wanted: Mapping[str, Tensor]) -> None:
    own = _own(module)
    unexpected = ", ".join(repr(name) for name in sorted(wanted) if name not in own)
    missing = ", ".join(repr(name) for name in sorted(own) if name not in wanted)
    lines = [f"\n\tUnexpected key(s): {unexpected}."] if unexpected else []
    lines += [f"\n\tMissing key(s): {missing}."] if missing else []
    if lines:
        raise runtime_error(
            f"Error(s) in reparametrizing for {type(module).__name__}:{''.join(lines)}",
            "With strict=False the module's own tensors stand in.",
        )


def _place(module: Module, name: str) -> tuple[Module, dict[str, Any] | None, str]:
    """The module and the table in which the tensor of this name is, if it is, and its key there."""
    path, _, key = name.rpartition(".")
    if not key:
        raise advised(
            KeyError('tensor name can\'t be empty string ""'),
            "Names are those of named_parameters() and named_buffers().",
        )
    owner = module.get_submodule(path)
    for table in (owner._buffers, owner._parameters):
        if key in table:
            return owner, table, key
    there = getattr(owner, key, None)
    if not (there is None or isinstance(there, Tensor)):
        raise type_error(
            f"attribute `{key}`: {there} is not an instance of torch.Tensor",
            "Only tensors can be replaced.",
        )
    return owner, owner.__dict__ if key in owner.__dict__ else None, key
