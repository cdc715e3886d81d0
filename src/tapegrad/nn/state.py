"""The state of a module: its parameters and buffers by name, saved and loaded."""

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from contextlib import suppress

from tapegrad.autograd.mode import no_grad
from tapegrad.core.annotations import Any, ModuleLike
from tapegrad.core.argument_check import users_level
from tapegrad.core.errors import assertion_error, deprecated, runtime_error, type_error, warn
from tapegrad.nn.convert import CONVERSION
from tapegrad.nn.hook import RemovableHandle, register
from tapegrad.nn.parameter import Parameter, is_lazy
from tapegrad.tensors.tensor import Tensor
from tapegrad.utils.swap import swap_tensors

EXTRA_STATE = "_extra_state"


class IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """The names that a state lacked, and those that it had too many."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys!r}, "
            f"unexpected_keys={self.unexpected_keys!r})"
        )

    __str__ = __repr__


class State:
    """What a `Module` does to hand out its state and to take it back."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: OrderedDict[int, Callable]
    _state_dict_pre_hooks: OrderedDict[int, Callable]
    _load_state_dict_pre_hooks: OrderedDict[int, Callable]
    _load_state_dict_post_hooks: OrderedDict[int, Callable]
    _version: int

    # --------------------------------------------------------------------------------- handing out

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """All parameters and persistent buffers by dotted name, detached unless `keep_vars`.

        The tensors share their memory with the module.

        >>> list(torch.nn.Sequential(torch.nn.Linear(3, 2)).state_dict())
        ['0.weight', '0.bias']
        """
        if args:
            deprecated(
                "Positional args are being deprecated, use kwargs instead.\n"
                "Write state_dict(destination=..., prefix=..., keep_vars=...)."
            )
            given = dict(zip(("destination", "prefix", "keep_vars"), args, strict=False))
            destination = given.get("destination", destination)
            prefix = given.get("prefix", prefix)
            keep_vars = given.get("keep_vars", keep_vars)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        about = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = about
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in self._state_dict_hooks.values():
            result = hook(self, destination, prefix, about)
            if result is not None:
                if not isinstance(hook, _Replacing):
                    raise runtime_error(
                        "state_dict post-hook must return None",
                        "Change the dict that the hook is given in place.",
                    )
                destination = result
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put this module's own tensors, not those of modules below it, into `destination`."""
        for name, tensor in self._own_state().items():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if _overrides(self, "get_extra_state"):
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    def _own_state(self) -> dict[str, Tensor]:
        hidden = self._non_persistent_buffers_set
        own: dict[str, Tensor] = {k: p for k, p in self._parameters.items() if p is not None}
        own |= {k: b for k, b in self._buffers.items() if b is not None and k not in hidden}
        return own

    def get_extra_state(self) -> Any:
        """What else belongs into the `state_dict` of this module. Define `set_extra_state` too."""
        raise runtime_error(
            "Reached a code path in Module.get_extra_state() that should never be called.",
            f"Class {type(self).__name__} has set_extra_state: define get_extra_state as well.",
        )

    def set_extra_state(self, state: dict) -> None:
        """Take back what `get_extra_state` gave."""
        raise runtime_error(
            "Reached a code path in Module.set_extra_state() that should never be called.",
            f"Class {type(self).__name__} has get_extra_state: define set_extra_state as well.",
        )

    # --------------------------------------------------------------------------------- taking back

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copy `state_dict` into this module; with `assign`, take its tensors themselves.

        Returns: the missing and the unexpected names, which are allowed with `strict=False`.
        Raises: RuntimeError that lists everything that does not fit; the module is then as before.

        >>> a, b = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
        >>> a.load_state_dict(b.state_dict())
        <All keys matched successfully>
        >>> a.load_state_dict({}, strict=False).missing_keys
        ['weight', 'bias']
        """
        if not isinstance(state_dict, Mapping):
            raise type_error(
                f"Expected state_dict to be dict-like, got {type(state_dict)}.",
                "Pass what state_dict() of a module of the same class gave.",
            )
        before = snapshot(self)
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        metadata = getattr(state_dict, "_metadata", {})
        state = OrderedDict(state_dict)
        state._metadata = metadata  # type: ignore[attr-defined]

        try:
            _load(self, state, "", assign, metadata, (missing, unexpected, errors))
        except BaseException:
            restore(before)
            raise
        if strict:
            if unexpected:
                errors.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
            if missing:
                errors.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
        if errors:
            restore(before)
            listed = "\n\t".join(errors)
            raise runtime_error(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}",
                "The module is as it was. strict=False loads what has a name in common.",
            )
        return IncompatibleKeys(missing, unexpected)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Copy this module's own tensors, not those of modules below it, from `state_dict`."""
        args = (strict, missing_keys, unexpected_keys, error_msgs)
        for hook in self._load_state_dict_pre_hooks.values():
            hook(self, state_dict, prefix, local_metadata, *args)
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, tensor in self._own_state().items():
            key = prefix + name
            if key in state_dict:
                error = load_tensor(self, name, key, tensor, state_dict[key], assign)
                error_msgs.extend([error] if error else [])
            elif strict:
                missing_keys.append(key)
        extra = prefix + EXTRA_STATE
        if _overrides(self, "set_extra_state"):
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            own = self._own_state()
            for key in state_dict:
                head, _, rest = key[len(prefix) :].partition(".")
                known = head in self._modules if rest else head in own
                if key.startswith(prefix) and key != extra and not known:
                    unexpected_keys.append(key)

    # --------------------------------------------------------------------------------------- hooks

    def register_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Have `hook(module, prefix, keep_vars)` called before this module's state is read.

        >>> m = torch.nn.ReLU()
        >>> handle = m.register_state_dict_pre_hook(lambda module, *_: print(module))
        >>> _ = m.state_dict()
        ReLU()
        """
        return register(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Have `hook(module, state_dict, prefix, local_metadata)` called after it was read.

        >>> m = torch.nn.Linear(2, 1)
        >>> handle = m.register_state_dict_post_hook(lambda module, state, *_: print(list(state)))
        >>> _ = m.state_dict()
        ['weight', 'bias']
        """
        with suppress(AttributeError):  # of a method
            hook._from_public_api = True  # type: ignore[attr-defined]
        return register(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Callable) -> RemovableHandle:
        """The old `register_state_dict_post_hook`: the hook may return another dict."""
        if getattr(hook, "_from_public_api", False):
            raise runtime_error(
                "Cannot register the same function as the state dict post hook that was previously "
                "registered via register_state_dict_post_hook",
                "Register another function.",
            )
        return register(self._state_dict_hooks, _Replacing(hook))

    def _register_load_state_dict_pre_hook(
        self, hook: Callable, with_module: bool = False
    ) -> RemovableHandle:
        """The old `register_load_state_dict_pre_hook`: the hook is not given the module."""
        stored = hook if with_module else _WithoutModule(hook)
        return register(self._load_state_dict_pre_hooks, stored)

    def register_load_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Have `hook` called before a state is loaded.

        Its arguments: module, state_dict, prefix, local_metadata, strict, missing_keys,
        unexpected_keys, error_msgs.
        """
        return register(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Have `hook(module, incompatible_keys)` called after a state was loaded.

        It may change the lists of `incompatible_keys` in place.
        """
        return register(self._load_state_dict_post_hooks, hook)


def _load(
    module: Any, local: Any, prefix: str, assign: bool, metadata: Any, found: tuple[list, ...]
) -> None:
    about = metadata.get(prefix[:-1], {})
    if assign:
        about = {**about, "assign_to_params_buffers": True}
    module._load_from_state_dict(local, prefix, about, True, *found)
    for name, child in module._modules.items():
        if child is not None:
            path = f"{prefix}{name}."
            own = {k: v for k, v in local.items() if k.startswith(path)}
            _load(child, own, path, assign, metadata, found)
    keys = IncompatibleKeys(*found[:2])
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, keys) is not None:
            raise assertion_error(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to "
                "return new values.",
                "Change the keys in place.",
            )


class _Replacing:
    """A hook that may return another dict in the place of the state."""

    def __init__(self, hook: Callable) -> None:
        self.hook = hook

    def __call__(self, *args: object) -> Any:
        return self.hook(*args)


class _WithoutModule:
    """A hook that is not given the module."""

    def __init__(self, hook: Callable) -> None:
        self.hook = hook

    def __call__(self, module: ModuleLike, *args: object) -> None:
        self.hook(*args)


def _overrides(module: ModuleLike, method: str) -> bool:
    return getattr(type(module), method) is not getattr(State, method)


def _quoted(keys: list[str]) -> str:
    return ", ".join(f'"{key}"' for key in keys)


def load_tensor(
    module: Any, name: str, key: str, tensor: Any, value: Any, assign: bool
) -> str | None:
    """Copy `value` into `tensor`, or put it in its place; returns what is wrong with it."""
    if not isinstance(value, Tensor):
        return (
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
            f"object from checkpoint but received {type(value)}"
        )
    if is_lazy(tensor) and is_lazy(value):
        return None  # both wait for their first input
    if tensor.ndim == 0 and value.shape == (1,):
        value = value[0]  # scalars used to be saved with one dimension
    if value.shape != tensor.shape:
        return (
            f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
            f"the shape in current model is {tensor.shape}."
        )
    if CONVERSION["swap"]:
        try:
            _swap(tensor, value, assign)
        except RuntimeError as error:
            return (
                f'While copying the parameter named "{key}", whose dimensions in the model are '
                f"{tensor.size()} and whose dimensions in the checkpoint are {value.size()}, an "
                f"exception occurred : {error.args}."
            )
    elif not assign:
        if tensor.is_meta and not value.is_meta:
            warn(
                f"for {key}: copying from a non-meta parameter in the checkpoint to a meta "
                "parameter in the current model, which is a no-op. (Did you mean to pass "
                "`assign=True` to assign items in the state dictionary to their corresponding key "
                "in the module instead of copying them in place?)",
                users_level(),
            )
        with no_grad():
            tensor.copy_(value)
    elif name in module._parameters:
        if not isinstance(value, Parameter):
            value = Parameter(value, requires_grad=tensor.requires_grad)
        module._parameters[name] = value.requires_grad_(tensor.requires_grad)
    else:
        module._buffers[name] = value
    return None


def _swap(tensor: Any, value: Any, assign: bool) -> None:
    with no_grad():
        new = tensor.module_load(value, assign=assign)
    if new is tensor or new is value:
        raise runtime_error(
            "module_load returned one of self or other, please .detach() the result if returning "
            "one of the inputs in module_load",
            "The two tensors are swapped.",
        )
    if isinstance(tensor, Parameter) and not isinstance(new, Parameter):
        new = Parameter(new, requires_grad=tensor.requires_grad)
    swap_tensors(tensor, new.requires_grad_(tensor.requires_grad))


def snapshot(module: ModuleLike) -> list:
    """Every table of the modules from here on, and a copy of the elements of what is in them."""
    tables = [t for m in module.modules() for t in (m._parameters, m._buffers)]
    tensors = {id(t): t for table in tables for t in table.values() if t is not None}.values()
    return [
        [(table, dict(table)) for table in tables],
        [(t, t.detach().clone()) for t in tensors if not is_lazy(t)],
    ]


def restore(snapshot: list) -> None:
    tables, tensors = snapshot
    for table, content in tables:
        table.clear()
        table.update(content)
    with no_grad():
        for tensor, saved in tensors:
            tensor.copy_(saved)
