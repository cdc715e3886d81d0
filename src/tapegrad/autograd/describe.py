"""Values of a graph in one line each, for messages and for whoever looks at a backward pass."""

import numpy as np

from tapegrad.arrays.namespaces import is_batched
from tapegrad.arrays.signature import Like
from tapegrad.autograd.node import AccumulateGrad, Port
from tapegrad.core.annotations import Any, EdgeLike, NodeLike


def array_of(x: Any) -> Any:
    """The array of a tensor, all members of it where a function is mapped; what else `x` is."""
    array = getattr(x, "_array", x)
    while is_batched(array):
        array = array.value
    return array


def described(x: object) -> str:
    """Shape, dtype and range of an array or tensor; other things as they print.

    >>> from tapegrad.autograd.describe import described
    >>> described(torch.tensor([1.0, float("nan"), 3.0]))
    '[3] float32, from 1 to 3, 1 nan'
    """
    if isinstance(x, (list, tuple)) and any(hasattr(each, "dtype") for each in x):
        return "; ".join(map(described, x))
    if type(x) is Like:
        return f"{list(x.shape)} {x.dtype}, not its values"
    array = array_of(x)
    if type(array) is not np.ndarray:
        return repr(x)
    text = f"{list(array.shape)} {array.dtype}"
    if array.dtype.kind == "V" and array.dtype.names is None:  # bfloat16
        array = array.astype(np.float32)
    if array.dtype.kind == "c" and array.size:
        array, text = np.abs(array), f"{text}, absolute"
    if array.dtype.kind not in "fiu" or not array.size:
        return text
    nan = infinite = 0
    least, most = array.min(), array.max()
    if not (np.isfinite(least) and np.isfinite(most)):
        finite = array[np.isfinite(array)]
        nan, infinite = int(np.isnan(array).sum()), int(np.isinf(array).sum())
        if not finite.size:
            least = most = None
        else:
            least, most = finite.min(), finite.max()
    if least is not None:
        text += f", all {least:.4g}" if least == most else f", from {least:.4g} to {most:.4g}"
    return text + (f", {nan} nan" if nan else "") + (f", {infinite} inf" if infinite else "")


def statistics(x: object) -> str:
    """What `described` says, and the mean of the numbers, and how many of them are zero.

    >>> from tapegrad.autograd.describe import statistics
    >>> statistics(torch.tensor([0.0, 1.0, 3.5]))
    '[3] float32, from 0 to 3.5, mean 1.5, 1 zero'
    """
    if isinstance(x, (list, tuple)) and any(hasattr(each, "dtype") for each in x):
        return "; ".join(map(statistics, x))
    text, array = described(x), array_of(x)
    if type(array) is not np.ndarray or array.size < 2 or array.dtype.kind not in "fiu":
        return text
    finite = array[np.isfinite(array)]
    least = finite.min() if finite.size else 0
    if finite.size and least != finite.max():
        text += f", mean {finite.mean(dtype=np.float64):.4g}"
        n_zero = array.size - int(np.count_nonzero(array))
        text += f", {n_zero} zero" if n_zero else ""
    return text


def saved_name(name: str) -> str:
    """What a node saves by the name of `saved_by`, as a message calls it.

    >>> from tapegrad.autograd.describe import saved_name
    >>> saved_name("y"), saved_name("x_like"), saved_name("other")
    ('its result', 'the shape of x', 'other')
    """
    if name.endswith("_like"):
        return f"the shape of {name.removesuffix('_like')}"
    return "its result" if name == "y" else name


def saved_by(node: NodeLike) -> dict[str, Any]:
    """What a node saves for its rules, by the names these use; empty once it is freed."""
    if hasattr(node, "saved_values"):  # of a custom function
        from tapegrad.autograd.function.saved import saved_value

        saved = node.saved_values if type(node.saved_values) is tuple else ()
        return {
            f"saved_tensors[{i}]": _held(saved_value(x))
            for i, x in enumerate(saved)
            if x is not None
        }
    node = maker_of(node)
    if hasattr(getattr(node, "plan", None), "saved_by") and node.saved is not None:
        return node.plan.saved_by(node)  # of a compiled function
    saves = getattr(getattr(node, "plan", None), "saves", ())
    if not saves or node.saved is None:
        return {}
    return {name: _held(value) for (_, _, name), value in zip(saves, node.saved, strict=True)}


def maker_of(node: NodeLike) -> Any:
    """The node whose rules a node runs: its own, or of a write into a view that of the operator."""
    is_write = type(node).__name__ == "CopySlices" and node.saved is not None
    return node.saved[0] if is_write else node


def _held(x: Any) -> Any:
    """What a node holds; of a tensor that saved-tensor hooks packed, what they made of it."""
    if isinstance(x, tuple):
        return tuple(map(_held, x))
    return x.value if type(x).__name__ == "Packed" else x


def is_freed(node: NodeLike) -> bool:
    """Whether a backward pass has freed what a node saved."""
    if hasattr(node, "saved_values"):
        from tapegrad.autograd.function.node import FREED

        return node.saved_values is FREED
    return type(node) is not AccumulateGrad and node.saved is None


def input_names(node: NodeLike) -> list[str]:
    """What the inputs of a node are called, in the order of its edges."""
    op = getattr(getattr(node, "plan", None), "op", None)
    n = len(node.edges)
    if op is None or op.variadic or len(op.inputs) != n:
        return [str(i) for i in range(n)]
    return list(op.inputs)


def target_name(edge: EdgeLike) -> str:
    """The node at the end of an edge: its name, for a leaf its shape, and which output it is."""
    node = edge.node if type(edge) is Port else edge
    if type(node) is AccumulateGrad:
        return f"leaf {list(node.array.shape)}"
    return type(node).__name__ + (f", output {edge.index}" if type(edge) is Port else "")
