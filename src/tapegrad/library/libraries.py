"""`Library`: definitions and kernels of a namespace, which go when it does."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tapegrad.core import errors
from tapegrad.library import registry
from tapegrad.library.operator import IMPLICIT
from tapegrad.library.overload import OpOverload
from tapegrad.library.schema import parse_schema

_DEVICES = {"cpu": "CPU", "cuda": "CUDA", "meta": "Meta", "xpu": "XPU", "mps": "MPS"}
_OWNERS: dict[str, str] = {"aten": "tapegrad", "prim": "tapegrad", "prims": "tapegrad"}


def key_of(name: str) -> str:
    """A key of PyTorch's dispatcher, by its name or that of a kind of device.

    Raises:
        RuntimeError: there is none.
    """
    if name in _DEVICES:
        return _DEVICES[name]
    from tapegrad.compat.torch._C.dispatch_keys import DispatchKey

    if name not in DispatchKey.__members__:
        raise errors.runtime_error(
            f"could not parse dispatch key: {name}",
            "Keys are CPU, CUDA, Meta, Autograd, AutocastCPU, CompositeImplicitAutograd, "
            "CompositeExplicitAutograd and the like.",
        )
    return name


class Library:
    """Defines operators of a namespace, or implements them.

    Args:
        ns: the namespace.
        kind: "DEF", the one that defines it; "FRAGMENT", which adds to it; "IMPL", which does not
            define operators.
        dispatch_key: for what `impl` registers where it does not say.

    Raises:
        ValueError: `kind` is none of them.
        RuntimeError: another library defines the namespace.

    >>> library = torch.library.Library("pages", "DEF")
    >>> library.define("plus(Tensor x, Scalar n=1) -> Tensor")
    'plus'
    >>> library.impl("plus", lambda x, n=1: x + n, "CPU")
    >>> torch.ops.pages.plus(torch.zeros(2), 3)
    tensor([3., 3.])
    >>> library._destroy()
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = ""):
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise errors.value_error(f"Unsupported kind: {kind}", "Pass DEF, FRAGMENT or IMPL.")
        if ns == "prim" and kind in ("DEF", "FRAGMENT"):
            raise errors.value_error(
                f"{ns} is a reserved namespace. Please try creating a library with another name.",
                "Take a name of your own.",
            )
        frame = sys._getframe(1)
        place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        if kind == "DEF":
            if ns in _OWNERS:
                raise errors.runtime_error(
                    "Only a single TORCH_LIBRARY can be used to register the namespace "
                    f"{ns}; please put all of your definitions in a single TORCH_LIBRARY block.  "
                    "If you were trying to specify implementations, consider using "
                    "TORCH_LIBRARY_IMPL (which can be duplicated).  If you really intended to "
                    "define operators for a single namespace in a distributed way, you can use "
                    "TORCH_LIBRARY_FRAGMENT to explicitly indicate this.  Previous registration of "
                    f"TORCH_LIBRARY was registered at {_OWNERS[ns]}; latest registration was "
                    f"registered at {place}",
                    "FRAGMENT is the kind that adds to a namespace.",
                )
            _OWNERS[ns] = place
        self.ns = ns
        self.kind = kind
        self.dispatch_key = dispatch_key
        self._defined: list[OpOverload] = []
        self._implemented: list[tuple[dict[str, Callable], str]] = []
        self._end = weakref.finalize(
            self, _undo, ns if kind == "DEF" else None, self._defined, self._implemented
        )

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Define an operator: `name(Tensor x) -> Tensor`.

        Returns: its name.

        Raises:
            RuntimeError: the text is no signature, or there is such an operator.
        """
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise errors.runtime_error(
                f"Invalid alias_analysis type {alias_analysis}", "Leave it out."
            )
        frame = sys._getframe(1)
        place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        parsed = parse_schema(schema)
        if self.kind == "IMPL":
            raise errors.runtime_error(
                f'def("{parsed.name}"): Cannot define an operator inside of a TORCH_LIBRARY_IMPL '
                "block.  All def()s should be placed in the (unique) TORCH_LIBRARY block for "
                "their namespace.  (Error occurred while processing TORCH_LIBRARY_IMPL block at "
                f"{place})",
                "FRAGMENT is the kind that adds to a namespace.",
            )
        name = parsed.name
        ns, _, plain = name.rpartition("::")
        if ns not in ("", self.ns):
            raise errors.runtime_error(
                f"Explicitly provided namespace ({ns}) in schema string does not match namespace "
                f"of enclosing TORCH_LIBRARY block ({self.ns}).  Move this definition to the "
                "(unique) TORCH_LIBRARY block corresponding to this namespace (and consider "
                "deleting the namespace from your schema string.)  (Error occurred while "
                f"processing TORCH_LIBRARY block at {place})",
                "A Library defines operators of one namespace.",
            )
        parsed.name = f"{self.ns}::{plain}"
        tags = list(tags) if isinstance(tags, tuple | list) else [tags]
        self._defined.append(registry.define(parsed, place, tags))
        return name

    def impl(
        self,
        op_name: Any,
        fn: Callable,
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = False,
    ) -> None:
        """Say what computes an operator of the namespace, by its name or as an overload.

        It may be defined later.

        Raises:
            RuntimeError: there is no such key, or the name has another namespace.
            NotImplementedError: the operator is one of tapegrad's own.
        """
        if not callable(fn):
            raise errors.type_error(
                f"Input function is required to be a callable but found type {type(fn)}",
                "Pass a function.",
            )
        if with_keyset:
            raise errors.not_implemented(
                "Library.impl: with_keyset is not supported in tapegrad",
                "There is no dispatcher whose keys a kernel could be given.",
            )
        key = key_of(dispatch_key or self.dispatch_key or IMPLICIT)
        if isinstance(op_name, OpOverload):
            op_name = op_name.name()
        name = op_name if "::" in op_name else f"{self.ns}::{op_name}"
        ns = name.partition("::")[0]
        if ns != self.ns:
            block = "TORCH_LIBRARY_IMPL" if self.kind == "IMPL" else "TORCH_LIBRARY"
            frame = sys._getframe(1)
            raise errors.runtime_error(
                f'impl("{name}", ...): Explicitly provided namespace ({ns}) in operator name does '
                f"not match namespace of enclosing {block} block ({self.ns}).  Move this "
                f"definition to the {block} block corresponding to this namespace (and consider "
                "deleting the namespace from your schema string.)  (Error occurred while "
                f"processing {block} block at {frame.f_code.co_filename}:{frame.f_lineno})",
                "A Library implements operators of one namespace.",
            )
        self._register(registry.kernels_of(name), key, fn)

    def _register(self, kernels: dict[str, Callable], key: str, fn: Callable) -> None:
        """Put a kernel among those of an operator, until the library goes."""
        kernels[key] = fn
        self._implemented.append((kernels, key))

    def fallback(self, fn: Callable, dispatch_key: str = "", *, with_keyset: bool = False) -> None:
        """What PyTorch calls for all operators of a key.

        Raises:
            NotImplementedError: tapegrad has no dispatcher.
        """
        raise errors.not_implemented(
            "Library.fallback is not supported in tapegrad",
            "A TorchDispatchMode is handed every operator.",
        )

    def _register_fake(self, op_name: str, fn: Callable, *args: Any, **kwargs: Any) -> None:
        registry.operator_named(f"{self.ns}::{op_name.rpartition('::')[2]}").fake = fn

    def _destroy(self) -> None:
        """Take back what was defined and registered."""
        self._end()


@contextmanager
def _scoped_library(*args: Any, **kwargs: Any) -> Iterator[Library]:
    """A block with a library that is taken back at its end."""
    library = Library(*args, **kwargs)
    try:
        yield library
    finally:
        library._destroy()


def _undo(ns: str | None, defined: list, implemented: list) -> None:
    for kernels, key in implemented:
        kernels.pop(key, None)
    for overload in defined:
        registry.forget(overload)
    if ns is not None:
        _OWNERS.pop(ns, None)
