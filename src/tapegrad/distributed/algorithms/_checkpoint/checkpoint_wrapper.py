"""Modules around others: what these save for the backward pass is computed again, or kept in main
memory. Their names in a state dict, and those of their parameters, are the wrapped module's.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from enum import Enum, auto
from functools import partial
from typing import Any

from tapegrad.autograd.graph import save_on_cpu
from tapegrad.nn.modules.module import Module
from tapegrad.utils.checkpoint.run import checkpoint

_CHECKPOINT_WRAPPED_MODULE = "_checkpoint_wrapped_module"
_CHECKPOINT_PREFIX = f"{_CHECKPOINT_WRAPPED_MODULE}."


class CheckpointImpl(Enum):
    """How activations are computed again: by a nested backward pass, or when they are asked for."""

    REENTRANT = auto()
    NO_REENTRANT = auto()


class ActivationWrapper(Module, ABC):
    """A module around another one, `_checkpoint_wrapped_module`, whose attributes it has too."""

    def __init__(self, mod: Module) -> None:
        super().__init__()
        self._checkpoint_wrapped_module = mod
        self._register_state_dict_hook(self._post_state_dict_hook)
        self.register_load_state_dict_pre_hook(self._pre_load_state_dict_hook)

    @abstractmethod
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the wrapped module gives."""
        raise ValueError("Subclasses should implement this")

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self._checkpoint_wrapped_module, name)

    def __getitem__(self, key: Any) -> Any:
        return self._modules[_CHECKPOINT_WRAPPED_MODULE][key]

    def named_parameters(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, Any]]:
        """Names as the wrapped module has them, and parameters."""
        for name, parameter in super().named_parameters(*args, **kwargs):
            yield name.replace(_CHECKPOINT_PREFIX, ""), parameter

    @staticmethod
    def _post_state_dict_hook(module: Any, state_dict: dict, prefix: str, *args: Any) -> dict:
        _rename(state_dict, f"{prefix}{_CHECKPOINT_PREFIX}", prefix)
        return state_dict

    @staticmethod
    def _pre_load_state_dict_hook(module: Any, state_dict: dict, prefix: str, *args: Any) -> None:
        _rename(state_dict, prefix, f"{prefix}{_CHECKPOINT_PREFIX}")


def _rename(state: dict, old: str, new: str) -> None:
    """Let the keys that begin with `old` begin with `new`; the order stays."""
    items = [(new + k[len(old) :] if k.startswith(old) else k, v) for k, v in state.items()]
    state.clear()
    state.update(items)


class OffloadWrapper(ActivationWrapper):
    """A module around another one, what it saves for the backward pass kept in main memory."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the wrapped module gives."""
        with save_on_cpu(pin_memory=True):
            return self._checkpoint_wrapped_module(*args, **kwargs)


class CheckpointWrapper(ActivationWrapper):
    """A module around another one that runs again in the backward pass.

    `checkpoint_fn` takes the place of `torch.utils.checkpoint.checkpoint`; it, or else this, gets
    the other keywords.
    """

    def __init__(
        self,
        mod: Module,
        checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
        checkpoint_fn: Callable | None = None,
        **checkpoint_fn_kwargs: Any,
    ) -> None:
        super().__init__(mod)
        self.checkpoint_impl = checkpoint_impl
        if checkpoint_fn is None:
            checkpoint_fn_kwargs["use_reentrant"] = checkpoint_impl == CheckpointImpl.REENTRANT
            checkpoint_fn = checkpoint
        self.checkpoint_fn = partial(checkpoint_fn, **checkpoint_fn_kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the wrapped module gives."""
        module = self._checkpoint_wrapped_module
        if self.checkpoint_impl != CheckpointImpl.REENTRANT or not kwargs:
            return self.checkpoint_fn(module, *args, **kwargs)
        names = tuple(kwargs)  # a nested pass takes arguments by their order alone

        def run(*inputs: Any) -> Any:
            return module(
                *inputs[: len(args)], **dict(zip(names, inputs[len(args) :], strict=True))
            )

        return self.checkpoint_fn(run, *args, *kwargs.values())


def offload_wrapper(module: Module) -> Module:
    """`module`, what it saves for the backward pass kept in main memory.

    >>> from tapegrad.distributed.algorithms._checkpoint import checkpoint_wrapper as wrappers
    >>> wrappers.offload_wrapper(torch.nn.Tanh())
    OffloadWrapper(
      (_checkpoint_wrapped_module): Tanh()
    )
    """
    return OffloadWrapper(module)


def checkpoint_wrapper(
    module: Module,
    checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
    checkpoint_fn: Callable | None = None,
    **checkpoint_fn_kwargs: Any,
) -> Module:
    """`module`, which runs again in the backward pass and saves its arguments alone.

    >>> from tapegrad.distributed.algorithms._checkpoint import checkpoint_wrapper as wrappers
    >>> block = wrappers.checkpoint_wrapper(torch.nn.Linear(2, 1))
    >>> block.in_features, list(block.state_dict())
    (2, ['weight', 'bias'])
    """
    return CheckpointWrapper(module, checkpoint_impl, checkpoint_fn, **checkpoint_fn_kwargs)


def apply_activation_checkpointing(
    model: Module,
    checkpoint_wrapper_fn: Callable[[Module], Module] = checkpoint_wrapper,
    check_fn: Callable[[Module], bool] = lambda _: True,
    auto_wrap_policy: Callable[[Module, bool, int], bool] | None = None,
) -> None:
    """Wrap, in place, the modules within `model` that `check_fn`, or else a policy, names.

    A policy, as those of `torch.distributed.fsdp.wrap`, is asked with `recurse=True` whether the
    children of a module are looked at, then with `recurse=False` and the number of elements of
    parameters that no wrapped child has, whether the module is wrapped.

    >>> from tapegrad.distributed.algorithms._checkpoint import checkpoint_wrapper as wrappers
    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    >>> is_linear = lambda module: isinstance(module, torch.nn.Linear)
    >>> wrappers.apply_activation_checkpointing(model, check_fn=is_linear)
    >>> [type(each).__name__ for each in model]
    ['CheckpointWrapper', 'ReLU']
    """

    def checked(module: Module, recurse: bool, nonwrapped_numel: int) -> bool:
        return recurse or check_fn(module)

    _wrapped(model, checkpoint_wrapper_fn, auto_wrap_policy or checked, is_root=True)


def _wrapped(
    module: Module, wrapper: Callable, policy: Callable, is_root: bool = False
) -> tuple[Module, int]:
    """A module, wrapped where a policy says so, and how many elements of parameters are wrapped."""
    count = sum(x.numel() for x in module.parameters())
    if not policy(module=module, recurse=True, nonwrapped_numel=count):
        return module, 0
    below = 0
    for name, child in module.named_children():
        child, n = _wrapped(child, wrapper, policy)
        setattr(module, name, child)
        below += n
    if is_root or not policy(module=module, recurse=False, nonwrapped_numel=count - below):
        return module, below
    return wrapper(module), count
