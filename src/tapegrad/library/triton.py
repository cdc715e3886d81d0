"""Operators made of Triton's kernels, by name: there is no Triton for NumPy's arrays."""

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from tapegrad.core import errors
from tapegrad.library.custom_op import custom_op


def triton_op(
    name: str,
    fn: Callable | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    schema: str | None = None,
) -> Any:
    """`custom_op`: what PyTorch's compiler sees of such an operator makes no difference here."""
    return custom_op(name, fn, mutates_args=mutates_args, schema=schema)


def wrap_triton(triton_kernel: Callable, /) -> NoReturn:
    """A kernel of Triton, to be called in a `triton_op`.

    Raises:
        RuntimeError: there is no Triton.
    """
    raise errors.runtime_error(
        "wrap_triton only works with functions annotated with triton.jit or triton.autotune",
        "tapegrad has no Triton: write the kernel with tensor operators or NumPy.",
    )
