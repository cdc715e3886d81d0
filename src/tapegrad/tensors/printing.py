"""Printing of tensors: rows in brackets, the edges of a large one, suffixes; and the options."""

from contextlib import contextmanager
from math import inf, isfinite

import numpy as np

from tapegrad.arrays.namespaces import is_batched
from tapegrad.autograd.mode import MODE, TRANSFORMS
from tapegrad.core import errors
from tapegrad.core.conj_neg_view import resolved
from tapegrad.core.dtype import get_default_dtype
from tapegrad.core.meta_array import MetaArray
from tapegrad.core.registration import TRANSFORM_STACK
from tapegrad.core.tensor_base import wrap


class WholeStyle:
    """Integers and booleans: as Python writes them."""

    def __init__(self, values):
        self.width = max(len(str(value)) for value in (values.min(), values.max()))

    def write(self, value) -> str:
        return str(value).rjust(self.width)


class FloatStyle:
    """Floating-point numbers: `1.` if all are whole, else fixed point or scientific."""

    def __init__(self, values, precision, scientific):
        # Zeros, nan and infinities have no say: they may stick out of their column.
        values = values[np.isfinite(values) & (values != 0)]
        whole = bool((values == np.ceil(values)).all())
        if values.size == 0:
            scientific = False
        elif scientific is None:
            scientific = _is_scientific(np.abs(values), whole)
        self._spec = f".{precision}e" if scientific else ".0f" if whole else f".{precision}f"
        self._point = "." if whole and not scientific else ""
        self.width = max((len(self._text(value)) for value in values.tolist()), default=1)

    def _text(self, value):
        text = format(value, self._spec)
        return text + self._point if isfinite(value) else text

    def write(self, value) -> str:
        return self._text(value).rjust(self.width)


def _is_scientific(sizes, whole):
    """Whether numbers of these absolute values are better read in scientific notation."""
    low, high = sizes.min().item(), sizes.max().item()  # Python's floats overflow silently
    return high / low > 1000 or high > 1e8 or (not whole and low < 1e-4)


class ComplexStyle:
    """Complex numbers: the real and the imaginary parts each have a style of their own."""

    def __init__(self, values, precision, scientific):
        self._real = FloatStyle(values.real, precision, scientific)
        self._imag = FloatStyle(values.imag, precision, scientific)
        self.width = self._real.width + self._imag.width + 1

    def write(self, value) -> str:
        imag = self._imag.write(value.imag).lstrip() + "j"
        sign = "" if imag[0] == "-" else "+"
        return self._real.write(value.real) + sign + imag


def style_of(values, precision, scientific=None):
    """The style that fits `values`, judged in double precision whatever their dtype.

    Args:
        values: array of any shape with at least one element.
        precision: digits after the decimal point.
        scientific: True or False to force the notation, None to let the values decide.

    >>> import numpy as np
    >>> style = style_of(np.array([1.5, -20.0]), precision=2)
    >>> style.width, style.write(1.5)
    (6, '  1.50')
    """
    kind = values.dtype.kind
    if kind in "iub":
        return WholeStyle(values)
    double = np.complex128 if kind == "c" else np.float64
    style = ComplexStyle if kind == "c" else FloatStyle
    return style(values.astype(double).reshape(-1), precision, scientific)


_PROFILES: dict = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": inf, "edgeitems": 3, "linewidth": 80},
}
_options: dict = {**_PROFILES["default"], "sci_mode": None}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Choose how tensors print; what is not given stays, except `sci_mode`, which returns to None.

    Args:
        precision: digits after the decimal point (4).
        threshold: with more elements than this (1000) only the edges are shown.
        edgeitems: how many elements an edge has (3).
        linewidth: columns of a line (80).
        profile: "default", "short" or "full" sets the four above; any other name sets nothing.
        sci_mode: True or False forces scientific notation on or off, None lets the values decide.

    >>> torch.set_printoptions(precision=2)
    >>> torch.tensor([1.12345])
    tensor([1.12])
    >>> torch.set_printoptions(profile="default")
    """
    _options.update(_PROFILES.get(profile, {}))
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    _options.update({name: value for name, value in given.items() if value is not None})
    _options["sci_mode"] = sci_mode


def get_printoptions() -> dict:
    """The print options now in force, in a dictionary of its own.

    >>> from tapegrad.tensors.printing import get_printoptions
    >>> get_printoptions()["precision"]
    4
    """
    return dict(_options)


@contextmanager
def printoptions(**options):
    """A block in which other print options hold; takes what `set_printoptions` takes.

    >>> from tapegrad.tensors.printing import printoptions
    >>> with printoptions(precision=1):
    ...     print(torch.tensor([0.25, 1.0]))
    tensor([0.2, 1.0])
    """
    before = get_printoptions()
    try:
        set_printoptions(**options)
        yield
    finally:
        _options.update(before)


def _edges(array, edge):
    """The elements that are shown of a summarised array: a small copy."""
    shown = [
        range(n) if n <= 2 * edge else [*range(edge), *range(n - edge, n)] for n in array.shape
    ]
    return array[np.ix_(*shown)]


def _row(items, cut, style, indent):
    """One innermost row, broken into lines."""
    texts = [style.write(item) for item in items]
    if cut[0]:
        texts.insert(_options["edgeitems"], " ...")
    per_line = max(1, (_options["linewidth"] - indent) // (style.width + 2))
    lines = [", ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _block(items, cut, style, indent):
    """Nested brackets for nested lists; an axis that is `cut` gets dots in its middle."""
    if not cut:
        return style.write(items)
    if len(cut) == 1:
        return _row(items, cut, style, indent)
    parts = [_block(item, cut[1:], style, indent + 1) for item in items]
    if cut[0]:
        parts.insert(_options["edgeitems"], "...")
    return "[" + ("," + "\n" * (len(cut) - 1) + " " * (indent + 1)).join(parts) + "]"


def contents(array, indent) -> str:
    """The numbers of an array in brackets, the first `indent` columns from the left."""
    if not isinstance(array, np.ndarray):
        array = np.from_dlpack(array)  # of another array library
    if array.size == 0:
        return "[]"
    cut = (False,) * array.ndim
    if array.ndim and array.size > _options["threshold"]:
        edge = _options["edgeitems"]
        if edge == 0:
            return "[...]"
        cut = tuple(n > 2 * edge for n in array.shape)
        array = _edges(array, edge)
    if array.dtype.kind not in "iubc":
        array = array.astype(np.float64)  # bfloat16 included; a float32 prints its exact value
    style = style_of(array, _options["precision"], _options["sci_mode"])
    return _block(array.tolist(), cut, style, indent)


def _prints_its_dtype(t):
    """Whether reading the numbers back would give another dtype than that of `t`."""
    name, default = t.dtype.name, get_default_dtype().name
    if t._array.size == 0:
        return name != default
    default_complex = "complex128" if default == "float64" else "complex64"
    return name not in (default, default_complex, "int64", "bool")


def _grad_fn_name(t):
    try:
        node = t.grad_fn
    except RuntimeError:  # a view whose base was changed where its history cannot follow
        return "Invalid"
    return None if node is None else type(node).__name__


def form(t):
    """What is said of the size and the dtype, where the numbers do not show it."""
    array = t._array
    if array.ndim != 1 if array.size == 0 else _options["edgeitems"] == 0:
        yield f"size={array.shape}"
    if _prints_its_dtype(t):
        yield f"dtype={t.dtype}"


def place(t):
    """What is said of the place in the graph."""
    grad_fn = _grad_fn_name(t)
    if grad_fn is not None:
        yield f"grad_fn=<{grad_fn}>"
    elif t.requires_grad:
        yield "requires_grad=True"


def _tangents(t):
    if type(MODE.get()) is not bool:
        from tapegrad.autograd.forward_ad import unpack_dual

        tangent = unpack_dual(t).tangent
        if tangent is not None:
            yield f"tangent={tangent}"


def batched_repr(array) -> str:
    """The text of a tensor of a level of `vmap` that is not one of the user's: all members."""
    inner = tensor_repr(wrap(array.value))
    return (
        nested(f"BatchedTensor(lvl={array.level.depth}, bdim=0", inner) if array.mapped else inner
    )


def meta_repr(t) -> str:
    """The text of a tensor without elements."""
    said = ["...", "device='meta'", f"size={tuple(t.shape)}"]
    if t.dtype is not get_default_dtype():
        said.append(f"dtype={t.dtype}")
    kind = type(t).__name__
    prefix = "tensor(" if kind in ("Tensor", "Parameter") else f"{kind}("
    return prefix + ", ".join([*said, *place(t)]) + ")"


def nested(start: str, inner: str) -> str:
    """The text of what holds another tensor, whose own is `inner`."""
    lines = [f"    {line}" if line else "" for line in inner.split("\n")]
    return f"{start}, value=\n" + "\n".join(lines) + "\n)"


def tensor_repr(t, written=None) -> str:
    """The text of a tensor, equal to PyTorch's to the character; `written` in place of the numbers.

    >>> torch.tensor([[1.0, 2.5], [float("nan"), -1.0]], requires_grad=True)
    tensor([[ 1.0000,  2.5000],
            [    nan, -1.0000]], requires_grad=True)
    """
    if TRANSFORMS.get() is not None:
        return TRANSFORM_STACK().inside_repr(t)
    if type(t._array) is MetaArray:
        return meta_repr(t)
    if is_batched(t._array):
        return batched_repr(t._array)
    text = plain_repr(t, t, [*form(t), *place(t), *_tangents(t)], written)
    return f"Parameter({text})" if "_is_param" in t.__dict__ else text


def plain_repr(t, values, suffixes, written=None) -> str:
    """The text of `t` with the numbers of `values` and what is said after them."""
    kind = type(t).__name__
    prefix = "tensor(" if kind in ("Tensor", "Parameter") else f"{kind}("
    indent = len(prefix)
    text = prefix + (contents(resolved(values._array), indent) if written is None else written)
    column = len(text) - text.rfind("\n") + 1  # two more than the last line is long
    for suffix in suffixes:
        if column + len(suffix) + 2 > _options["linewidth"]:
            text += ",\n" + " " * indent + suffix
            column = indent + len(suffix)
        else:
            text += ", " + suffix
            column += len(suffix) + 2
    return text + ")"


def format_tensor(t, spec: str) -> str:
    """What `format(t, spec)` gives: a tensor of no dimensions formats like its number.

    >>> f"{torch.tensor(2.5):.2f} {torch.tensor([2.5])}"
    '2.50 tensor([2.5000])'
    """
    kind = type(t).__name__
    if kind == "Tensor" and t._array.ndim == 0:
        return format(t.item(), spec)
    if spec:
        raise errors.type_error(
            f"unsupported format string passed to {kind}.__format__",
            f"Only a plain tensor of one number takes {spec!r}: format x.item() or str(x) instead.",
        )
    return str(t)
