"""Summaries of meshes, and of charts that show several scalars together."""

from __future__ import annotations

import json
from typing import Any

from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData

from tapegrad.utils.tensorboard.array import as_array
from tapegrad.utils.tensorboard.scalar import plugin, shape_proto


def custom_scalars(layout: dict[str, dict[str, Any]]) -> Any:
    """Charts in categories: `{category: {title: (kind, tags)}}`.

    A kind is "Multiline", with any number of tags, or "Margin", with those of a value and of its
    lower and upper bound.

    >>> from tapegrad.utils.tensorboard.summary import custom_scalars
    >>> custom_scalars({"all": {"losses": ("Multiline", ["train", "test"])}}).value[0].tag
    'custom_scalars__config__'
    """
    categories = []
    for category, charts in layout.items():
        made = [_chart(title, kind, tags) for title, (kind, tags) in charts.items()]
        categories.append(layout_pb2.Category(title=category, chart=made))
    content = layout_pb2.Layout(category=categories).SerializeToString()
    proto = TensorProto(dtype="DT_STRING", string_val=[content], tensor_shape=shape_proto([]))
    metadata = plugin("custom_scalars")
    return Summary(
        value=[Summary.Value(tag="custom_scalars__config__", tensor=proto, metadata=metadata)]
    )


def _chart(title, kind, tags):
    if kind != "Margin":
        return layout_pb2.Chart(
            title=title, multiline=layout_pb2.MultilineChartContent(tag=list(tags))
        )
    if len(tags) != 3:
        raise AssertionError(f"Expected 3 tags, got {len(tags)}.")
    value, lower, upper = tags
    series = layout_pb2.MarginChartContent.Series(value=value, lower=lower, upper=upper)
    return layout_pb2.Chart(title=title, margin=layout_pb2.MarginChartContent(series=[series]))


def mesh(
    tag: str,
    vertices: Any,
    colors: Any,
    faces: Any,
    config_dict: dict | None,
    display_name: str | None = None,
    description: str | None = None,
) -> Any:
    """Points in space, their colours, and the triangles between them.

    Args:
        vertices: (B, N, 3); colors: (B, N, 3), 0 to 255; faces: (B, F, 3), numbers of vertices.
        config_dict: what the viewer is told, of cameras for example.

    >>> from tapegrad.utils.tensorboard.summary import mesh
    >>> [value.tag for value in mesh("m", torch.zeros(1, 4, 3), None, None, None).value]
    ['m_VERTEX']
    """
    kinds = MeshPluginData.ContentType
    given = [(kinds.VERTEX, vertices), (kinds.FACE, faces), (kinds.COLOR, colors)]
    given = [(kind, as_array(x)) for kind, x in given if x is not None]
    components = sum(1 << kind for kind, _ in given)
    values = []
    for kind, x in given:
        name = f"{tag}_{kinds.Name(kind)}"
        content = MeshPluginData(
            version=0,
            name=tag,
            content_type=kind,
            components=components,
            shape=x.shape,
            json_config=json.dumps(config_dict or {}, sort_keys=True),
        )
        metadata = plugin("mesh", content.SerializeToString())
        metadata.display_name = display_name or ""
        metadata.summary_description = description or ""
        proto = TensorProto(
            dtype="DT_FLOAT", float_val=x.reshape(-1).tolist(), tensor_shape=shape_proto(x.shape)
        )
        values.append(Summary.Value(tag=name, tensor=proto, metadata=metadata))
    return Summary(value=values)
