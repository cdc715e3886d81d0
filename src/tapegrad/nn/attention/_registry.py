"""Implementations of attention by name, which a program may register and choose.

Here they decide nothing: tapegrad has one, and `torch.library` where a program brings its own.
"""

from collections.abc import Callable
from typing import Any

from tapegrad.core.errors import value_error
from tapegrad.core.missing import refuses as _refuses

__all__ = [
    "activate_flash_attention_impl", "current_flash_attention_impl", "list_flash_attention_impls",
    "register_flash_attention_impl", "restore_flash_attention_impl",
]  # fmt: skip


def _of_flash_attn() -> None:
    raise ModuleNotFoundError(
        "No module named 'flash_attn'\nIt computes on GPUs: there are none here.", name="flash_attn"
    )


_IMPLEMENTATIONS: dict[str, Callable] = {"FA3": _of_flash_attn, "FA4": _of_flash_attn}
_active: tuple[str, Any] | None = None


def register_flash_attention_impl(impl: str, *, register_fn: Callable[..., Any]) -> None:
    """Let `activate_flash_attention_impl(impl)` call `register_fn`, which puts kernels in place."""
    _IMPLEMENTATIONS[impl] = register_fn


def list_flash_attention_impls() -> list[str]:
    """The names that are registered.

    >>> torch.nn.attention.list_flash_attention_impls()
    ['FA3', 'FA4']
    """
    return sorted(_IMPLEMENTATIONS)


def activate_flash_attention_impl(impl: str) -> None:
    """Put the kernels of an implementation in place.

    Raises: ValueError for one that is not registered.
    """
    global _active
    if impl not in _IMPLEMENTATIONS:
        raise value_error(
            f"Unknown flash attention impl '{impl}'. Available implementations: "
            f"{list_flash_attention_impls()}",
            "register_flash_attention_impl makes one known.",
        )
    restore_flash_attention_impl(_raise_warn=False)
    handle = _IMPLEMENTATIONS[impl]()
    if handle is not None:
        _active = impl, handle


def current_flash_attention_impl() -> str | None:
    """The one that is in place; None for tapegrad's own."""
    return None if _active is None else _active[0]


def restore_flash_attention_impl(_raise_warn: bool = True) -> None:
    """Take the kernels back, so that tapegrad's own are in place."""
    global _active
    if _active is not None:
        _active[1].remove()
        _active = None


__getattr__ = _refuses(__name__)
