"""Summaries of numbers, arrays and text."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.text.plugin_data_pb2 import TextPluginData

from tapegrad.core.dtype import int16
from tapegrad.core.errors import value_error
from tapegrad.utils.tensorboard.array import as_number

# dtype -> its name in a TensorProto and the field that holds its elements
_KINDS = {
    "float16": ("DT_HALF", "half_val"),
    "bfloat16": ("DT_BFLOAT16", "half_val"),
    "float32": ("DT_FLOAT", "float_val"),
    "float64": ("DT_DOUBLE", "double_val"),
    "uint8": ("DT_UINT8", "int_val"),
    "int8": ("DT_INT8", "int_val"),
    "int16": ("DT_INT16", "int_val"),
    "int32": ("DT_INT32", "int_val"),
    "int64": ("DT_INT64", "int64_val"),
    "bool": ("DT_BOOL", "bool_val"),
    "complex64": ("DT_COMPLEX64", "scomplex_val"),
    "complex128": ("DT_COMPLEX128", "dcomplex_val"),
}


def plugin(name: str, content: bytes = b"") -> Any:
    """The metadata by which a plugin of TensorBoard knows what is its own."""
    data = SummaryMetadata.PluginData(plugin_name=name, content=content)
    return SummaryMetadata(plugin_data=data)


def shape_proto(shape: Any) -> Any:
    """A shape as TensorBoard has it."""
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in shape])


def scalar(
    name: str,
    tensor: Any,
    collections: Any = None,
    new_style: bool = False,
    double_precision: bool = False,
) -> Any:
    """A number: a field of its own, or with `new_style` or `double_precision` a tensor.

    >>> from tapegrad.utils.tensorboard.summary import scalar
    >>> scalar("loss", torch.tensor(0.5)).value[0].simple_value
    0.5
    """
    number = as_number(tensor)
    if not new_style:
        return Summary(value=[Summary.Value(tag=name, simple_value=number)])
    if double_precision:
        proto = TensorProto(double_val=[number], dtype="DT_DOUBLE")
    else:
        proto = TensorProto(float_val=[number], dtype="DT_FLOAT")
    return Summary(value=[Summary.Value(tag=name, tensor=proto, metadata=plugin("scalars"))])


def tensor_proto(tag: str, tensor: Any) -> Any:
    """All elements of a tensor.

    >>> from tapegrad.utils.tensorboard.summary import tensor_proto
    >>> list(tensor_proto("x", torch.arange(3)).value[0].tensor.int64_val)
    [0, 1, 2]
    """
    kind, field = _KINDS.get(tensor.dtype.name, ("", ""))
    if not kind:
        raise value_error(
            f"{tag} has unsupported tensor dtype {tensor.dtype}",
            "Convert it to one of: " + ", ".join(_KINDS),
        )
    x = tensor.detach().contiguous()
    if field == "half_val":
        elements = [bits & 0xFFFF for bits in x.view(int16).flatten().tolist()]
    elif field.endswith("complex_val"):
        elements = [part for z in x.flatten().tolist() for part in (z.real, z.imag)]
    else:
        elements = x.flatten().tolist()
    proto = TensorProto(dtype=kind, tensor_shape=shape_proto(x.shape), **{field: elements})
    return Summary(value=[Summary.Value(tag=tag, tensor=proto, metadata=plugin("tensor"))])


def text(tag: str, text: str) -> Any:
    """A text, which TensorBoard reads as Markdown.

    >>> from tapegrad.utils.tensorboard.summary import text
    >>> text("note", "*good*").value[0].tag
    'note/text_summary'
    """
    metadata = plugin("text", TextPluginData(version=0).SerializeToString())
    proto = TensorProto(
        dtype="DT_STRING", string_val=[text.encode("utf8")], tensor_shape=shape_proto([1])
    )
    return Summary(
        value=[Summary.Value(tag=f"{tag}/text_summary", metadata=metadata, tensor=proto)]
    )
