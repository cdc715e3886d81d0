"""How a sparse tensor prints: indices, values, and what they do not show."""

from typing import Any

from tapegrad.core.dtype import get_default_dtype
from tapegrad.core.memory_format import sparse_csc, sparse_csr
from tapegrad.tensors.printing import contents, get_printoptions, place


def _indices(x: Any) -> list[tuple[str, Any]]:
    if x.layout is sparse_csr:
        return [("crow_indices", x.crow_indices()), ("col_indices", x.col_indices())]
    if x.layout is sparse_csc:
        return [("ccol_indices", x.ccol_indices()), ("row_indices", x.row_indices())]
    return [("indices", x._index)]


def sparse_repr(x: Any) -> str:
    """The text of a sparse tensor, equal to PyTorch's to the character."""
    indent = len("tensor(")
    parts = []
    for name, part in (*_indices(x), ("values", x._data)):
        prefix = f"{name}=tensor("
        text = contents(part.detach().resolve_conj().resolve_neg()._array, indent + len(prefix))
        if not part.numel():
            text += f", size={tuple(part.shape)}"
        parts.append(f"{prefix}{text})")
    text = "tensor(" + (",\n" + " " * indent).join(parts)
    said = [f"size={tuple(x.shape)}", f"nnz={x._data.shape[0]}"]
    default = get_default_dtype()
    name = x.dtype.name
    default_complex = "complex128" if default.name == "float64" else "complex64"
    if name not in (default.name, default_complex, "int64", "bool"):
        said.append(f"dtype={x.dtype}")
    said += [f"layout={x.layout}", *place(x)]
    width, fresh = get_printoptions()["linewidth"], x.is_sparse
    column = len(text) - text.rfind("\n") + 1  # of a compressed one, whose sizes follow there
    for suffix in said:
        if fresh or column + len(suffix) + 2 > width:
            text += ",\n" + " " * indent + suffix
            column, fresh = indent + len(suffix), False
        else:
            text += ", " + suffix
            column += len(suffix) + 2
    text += ")"
    return f"Parameter containing:\n{text}" if "_is_param" in x.__dict__ else text
