"""The summaries that a writer writes, by PyTorch's names: protocol buffers of TensorBoard."""

import io
import json
import wave

import numpy as np
from google.protobuf.struct_pb2 import ListValue, Value
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.hparams.api_pb2 import (
    DataType,
    Experiment,
    HParamInfo,
    MetricInfo,
    MetricName,
    Status,
)
from tensorboard.plugins.hparams.plugin_data_pb2 import (
    HParamsPluginData,
    SessionEndInfo,
    SessionStartInfo,
)
from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData
from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData
from tensorboard.plugins.text.plugin_data_pb2 import TextPluginData

import tapegrad
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.dtype import int16
from tapegrad.core.errors import value_error
from tapegrad.core.missing import public_names
from tapegrad.tensors.tensor import Tensor


def make_np(x: Any) -> np.ndarray:
    """A tensor, an array or a number as an array; a number has the shape (1,).

    Raises:
        NotImplementedError: `x` is something else.

    >>> from tapegrad.utils.tensorboard.summary import make_np
    >>> make_np(torch.ones(2, requires_grad=True)), make_np(3)
    (array([1., 1.], dtype=float32), array([3]))
    """
    if isinstance(x, np.ndarray):
        return x
    if np.isscalar(x):
        return np.array([x])
    if isinstance(x, Tensor):
        x = x.detach()
        if x.dtype is tapegrad.bfloat16:
            x = x.float()
        return x.numpy(force=True)
    raise NotImplementedError(f"Got {type(x)}, but numpy array or torch tensor are expected.")


def _as_number(x: object) -> float:
    """The one element of `x`.

    >>> from tapegrad.utils.tensorboard.summary import _as_number
    >>> _as_number(torch.tensor([2]))
    2.0
    """
    element = make_np(x).squeeze()
    if element.ndim:
        raise AssertionError(
            "Tensor should contain one element (0 dimensions). Was given size: "
            f"{element.size} and {element.ndim} dimensions."
        )
    return float(element)


_COLUMNS = 8


def _to_hwc(pixels: np.ndarray, dataformats: str) -> np.ndarray:
    """Pictures of any order of axes as (height, width, channels); a batch becomes a grid.

    Args:
        dataformats: a letter for each axis: H, W and, where there are such, C and N.

    >>> from tapegrad.utils.tensorboard.summary import _to_hwc
    >>> _to_hwc(np.zeros((3, 8, 6)), "CHW").shape, _to_hwc(np.zeros((10, 3, 8, 6)), "NCHW").shape
    ((8, 6, 3), (16, 48, 3))
    """
    if len(set(dataformats)) != len(dataformats):
        raise AssertionError(
            "You can not use the same dimension shorthand twice. "
            f"            input_format: {dataformats}"
        )
    if pixels.ndim != len(dataformats):
        raise AssertionError(
            "size of input tensor and input format are different. "
            f"        tensor shape: {pixels.shape}, input_format: {dataformats}"
        )
    axes = dataformats.upper()
    if set(axes) not in ({*"NCHW"}, {*"CHW"}, {*"HW"}):
        raise value_error(
            f"unknown dataformats: {dataformats!r}",
            "Give a letter for each axis: NCHW, CHW or HW in any order.",
        )
    if len(axes) == 4:
        return _grid(pixels.transpose([axes.index(axis) for axis in "NCHW"])).transpose(1, 2, 0)
    if len(axes) == 3:
        pixels = pixels.transpose([axes.index(axis) for axis in "HWC"])
    else:
        pixels = pixels.transpose([axes.index(axis) for axis in "HW"])[..., None]
    return pixels.repeat(3, axis=2) if pixels.shape[2] == 1 else pixels


def _grid(pictures: np.ndarray, n_columns: int = _COLUMNS) -> np.ndarray:
    """(N, C, H, W) as one picture (3, rows H, columns W), in lines from left to right.

    >>> from tapegrad.utils.tensorboard.summary import _grid
    >>> _grid(np.ones((3, 1, 8, 6)), 2).shape
    (3, 16, 12)
    """
    if pictures.shape[1] == 1:
        pictures = pictures.repeat(3, axis=1)
    count, channels, height, width = pictures.shape
    n_columns = min(count, n_columns)
    n_rows = -(-count // n_columns)
    empty = np.zeros((n_rows * n_columns - count, channels, height, width), pictures.dtype)
    cells = np.concatenate([pictures, empty]).reshape(n_rows, n_columns, channels, height, width)
    cells = cells.transpose(2, 0, 3, 1, 4)  # (channels, row, height, column, width)
    return cells.reshape(channels, n_rows * height, n_columns * width)


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


def _plugin(name: str, content: bytes = b"") -> Any:
    """The metadata by which a plugin of TensorBoard knows what is its own."""
    data = SummaryMetadata.PluginData(plugin_name=name, content=content)
    return SummaryMetadata(plugin_data=data)


def _single(tag: str, **content: Any) -> Any:
    """A summary of one value."""
    return Summary(value=[Summary.Value(tag=tag, **content)])


def _floats(values: np.ndarray) -> Any:
    shape = _shape_proto(values.shape)
    return TensorProto(dtype="DT_FLOAT", float_val=values.ravel().tolist(), tensor_shape=shape)


def _shape_proto(shape: Any) -> Any:
    """A shape as TensorBoard has it."""
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in shape])


def scalar(
    name: str,
    tensor: Tensor,
    collections: Any = None,
    new_style: bool = False,
    double_precision: bool = False,
) -> Any:
    """A number: a field of its own, or with `new_style` or `double_precision` a tensor.

    >>> from tapegrad.utils.tensorboard.summary import scalar
    >>> scalar("loss", torch.tensor(0.5)).value[0].simple_value
    0.5
    """
    number = _as_number(tensor)
    if not new_style:
        return _single(name, simple_value=number)
    if double_precision:
        proto = TensorProto(double_val=[number], dtype="DT_DOUBLE")
    else:
        proto = TensorProto(float_val=[number], dtype="DT_FLOAT")
    return _single(name, tensor=proto, metadata=_plugin("scalars"))


def tensor_proto(tag: str, tensor: Tensor) -> Any:
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
    proto = TensorProto(dtype=kind, tensor_shape=_shape_proto(x.shape), **{field: elements})
    return _single(tag, tensor=proto, metadata=_plugin("tensor"))


def text(tag: str, text: str) -> Any:
    """A text, which TensorBoard reads as Markdown.

    >>> from tapegrad.utils.tensorboard.summary import text
    >>> text("note", "*good*").value[0].tag
    'note/text_summary'
    """
    metadata = _plugin("text", TextPluginData(version=0).SerializeToString())
    proto = TensorProto(
        dtype="DT_STRING", string_val=[text.encode("utf8")], tensor_shape=_shape_proto([1])
    )
    return _single(f"{tag}/text_summary", metadata=metadata, tensor=proto)


def _default_bins() -> list[float]:
    """Edges that grow by a tenth from 1e-12 to 1e20, their negatives, and zero.

    >>> from tapegrad.utils.tensorboard.summary import _default_bins
    >>> len(_default_bins()), _default_bins()[774:777]
    (1549, [0, 1e-12, 1.1000000000000002e-12])
    """
    edges = []
    edge = 1e-12
    while edge < 1e20:
        edges.append(edge)
        edge *= 1.1
    return [*(-edge for edge in reversed(edges)), 0, *edges]


def histogram(name: str, values: object, bins: Any, max_bins: int | None = None) -> Any:
    """How many of `values` lie between each two edges.

    Args:
        bins: the edges, their number, or the name of a rule of `numpy.histogram_bin_edges`.
        max_bins: neighbouring bins are added up until there are no more than so many.

    >>> from tapegrad.utils.tensorboard.summary import histogram
    >>> histo = histogram("w", torch.arange(4.0), bins=[0, 1, 2, 4]).value[0].histo
    >>> list(histo.bucket_limit), list(histo.bucket)
    ([0.0, 1.0, 2.0, 4.0], [0.0, 1.0, 1.0, 2.0])
    """
    histo = make_histogram(make_np(values).astype(float), bins, max_bins)
    return _single(name, histo=histo)


def histogram_raw(
    name: str,
    min: float,
    max: float,
    num: int,
    sum: float,
    sum_squares: float,
    bucket_limits: Any,
    bucket_counts: Any,
) -> Any:
    """A distribution that was counted elsewhere.

    >>> from tapegrad.utils.tensorboard.summary import histogram_raw
    >>> histogram_raw("w", 0, 1, 3, 2, 2, [0.5, 1.0], [1, 2]).value[0].histo.num
    3.0
    """
    moments = {"min": min, "max": max, "num": num, "sum": sum, "sum_squares": sum_squares}
    histo = HistogramProto(**moments, bucket_limit=bucket_limits, bucket=bucket_counts)
    return _single(name, histo=histo)


def make_histogram(values: np.ndarray, bins: Any, max_bins: int | None = None) -> Any:
    """The counts of `histogram` from the first bin that is not empty to the last.

    An empty bucket comes first: its limit is where the first one begins.
    """
    if values.size == 0:
        raise ValueError("The input has no element.")
    values = values.reshape(-1)
    counts, edges = np.histogram(values, bins=bins)
    if max_bins is not None and len(counts) > max_bins:
        counts, edges = _merged(counts, edges, len(counts) // max_bins)
    full = np.flatnonzero(counts)
    if not full.size:
        raise value_error(
            "The histogram is empty, please file a bug report.",
            f"None of the values lies between {edges[0]} and {edges[-1]}.",
        )
    first, last = full[0], full[-1]
    counts, edges = counts[first : last + 1], edges[first : last + 2]
    return HistogramProto(
        min=values.min(),
        max=values.max(),
        num=len(values),
        sum=values.sum(),
        sum_squares=values.dot(values),
        bucket_limit=edges.tolist(),
        bucket=[0, *counts.tolist()],
    )


def _merged(counts, edges, n):
    """Bins of which each is `n` of the given ones."""
    counts = np.pad(counts, (0, -len(counts) % n)).reshape(-1, n).sum(axis=-1)
    return counts, np.append(edges[:-1:n], edges[-1])


_MOST = 127  # thresholds: with more of them TensorBoard's format takes more than a byte
_TINY = 1e-7


def pr_curve(
    tag: str, labels: Any, predictions: Any, num_thresholds: int = _MOST, weights: Any = None
) -> Any:
    """Count what is decided rightly and wrongly, for thresholds from 0 to 1.

    Args:
        labels: 0 or 1 for each sample.
        predictions: the probability of 1.
        weights: how much each sample counts.

    >>> from tapegrad.utils.tensorboard.summary import pr_curve
    >>> curve = pr_curve("p", torch.tensor([0, 1]), torch.tensor([0.2, 0.8]), 3)
    >>> list(curve.value[0].tensor.float_val)[:3]  # true positives at 0, 0.5 and 1
    [1.0, 1.0, 0.0]
    """
    num_thresholds = min(num_thresholds, _MOST)
    weights = None if weights is None else make_np(weights)
    data = compute_curve(make_np(labels), make_np(predictions), num_thresholds, weights)
    return _curve(tag, data, num_thresholds)


def pr_curve_raw(
    tag: str,
    tp: Any,
    fp: Any,
    tn: Any,
    fn: Callable,
    precision: Any,
    recall: Any,
    num_thresholds: int = _MOST,
    weights: Any = None,
) -> Any:
    """A curve that was computed elsewhere; each argument has a number for each threshold.

    >>> from tapegrad.utils.tensorboard.summary import pr_curve_raw
    >>> rows = [[2, 1], [1, 0], [0, 1], [0, 1], [0.7, 1], [1, 0.5]]
    >>> [dim.size for dim in pr_curve_raw("p", *rows, 2).value[0].tensor.tensor_shape.dim]
    [6, 2]
    """
    rows = [np.asarray(_plain(row)) for row in (tp, fp, tn, fn, precision, recall)]
    return _curve(tag, np.stack(rows), min(num_thresholds, _MOST))


def compute_curve(
    labels: np.ndarray,
    predictions: np.ndarray,
    num_thresholds: int | None = None,
    weights: Any = None,
) -> np.ndarray:
    """(6, thresholds): true and false positives, true and false negatives, precision, recall.

    >>> from tapegrad.utils.tensorboard.summary import compute_curve
    >>> compute_curve(np.array([0, 1]), np.array([0.2, 0.8]), 3)[4]
    array([0.5, 1. , 0. ])
    """
    n = _MOST if num_thresholds is None else num_thresholds
    weights = 1.0 if weights is None else weights
    place = np.floor(predictions * (n - 1)).astype(np.int64)  # the highest threshold that is passed
    positive = labels.astype(float)

    def passing(weights):
        counts, _ = np.histogram(place, bins=n, range=(0, n - 1), weights=weights)
        return np.cumsum(counts[::-1])[::-1]

    tp, fp = passing(positive * weights), passing((1.0 - positive) * weights)
    tn, fn = fp[0] - fp, tp[0] - tp
    return np.stack(
        [tp, fp, tn, fn, tp / np.maximum(_TINY, tp + fp), tp / np.maximum(_TINY, tp + fn)]
    )


def _curve(tag, data, n):
    content = PrCurvePluginData(version=0, num_thresholds=n).SerializeToString()
    metadata = _plugin("pr_curves", content)
    return _single(tag, tensor=_floats(data), metadata=metadata)


def _plain(row):
    return row if isinstance(row, list | tuple) else make_np(row)


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
    proto = TensorProto(dtype="DT_STRING", string_val=[content], tensor_shape=_shape_proto([]))
    metadata = _plugin("custom_scalars")
    return _single("custom_scalars__config__", tensor=proto, metadata=metadata)


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
    given = [(kind, make_np(x)) for kind, x in given if x is not None]
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
        metadata = _plugin("mesh", content.SerializeToString())
        metadata.display_name = display_name or ""
        metadata.summary_description = description or ""
        values.append(Summary.Value(tag=name, tensor=_floats(x), metadata=metadata))
    return Summary(value=values)


def hparams(
    hparam_dict: dict[str, Any],
    metric_dict: dict[str, Any],
    hparam_domain_discrete: dict[str, list] | None = None,
) -> tuple[Any, Any, Any]:
    """Three summaries: the experiment, the start of a session in it, and the session's end.

    Args:
        hparam_dict: numbers, texts, booleans or tensors of one element; None is left out.
        metric_dict: of which the names are used.
        hparam_domain_discrete: the values that a hyperparameter may have.

    >>> from tapegrad.utils.tensorboard.summary import hparams
    >>> [summary.value[0].tag for summary in hparams({"lr": 0.1}, {"loss": 0.5})]
    ['_hparams_/experiment', '_hparams_/session_start_info', '_hparams_/session_end_info']
    """
    domains = {} if hparam_domain_discrete is None else hparam_domain_discrete
    _check(hparam_dict, metric_dict, domains)
    infos, values = [], {}
    for name, given in hparam_dict.items():
        if given is None:
            continue
        kind, values[name] = _value(given)
        allowed = None
        if name in domains:
            allowed = ListValue(values=[_value(each)[1] for each in domains[name]])
        infos.append(HParamInfo(name=name, type=kind, domain_discrete=allowed))
    metrics = [MetricInfo(name=MetricName(tag=name)) for name in metric_dict]
    start = SessionStartInfo()
    for name, value in values.items():
        start.hparams[name].CopyFrom(value)
    return (
        _summary("experiment", experiment=Experiment(hparam_infos=infos, metric_infos=metrics)),
        _summary("session_start_info", session_start_info=start),
        _summary("session_end_info", session_end_info=SessionEndInfo(status=Status.STATUS_SUCCESS)),
    )


def _check(hparam_dict, metric_dict, domains):
    named = {"hparam_dict": hparam_dict, "metric_dict": metric_dict}
    for name, given in (*named.items(), ("hparam_domain_discrete", domains)):
        if not isinstance(given, dict):
            raise TypeError(f"parameter: {name} should be a dictionary, nothing logged.")
    for name, allowed in domains.items():
        if (
            name not in hparam_dict
            or not isinstance(allowed, list)
            or not all(isinstance(each, type(hparam_dict[name])) for each in allowed)
        ):
            raise TypeError(
                f"parameter: hparam_domain_discrete[{name}] should be a list of same type as "
                f"hparam_dict[{name}]."
            )


def _value(given):
    """The type of a hyperparameter, and its value. A boolean is a number, as in PyTorch."""
    if isinstance(given, str):
        return DataType.DATA_TYPE_STRING, Value(string_value=given)
    if isinstance(given, Tensor) and given.numel() == 1:
        given = given.item()
    if not isinstance(given, (int, float)):
        raise value_error(
            "value should be one of int, float, str, bool, or torch.Tensor",
            f"Convert it: {type(given).__name__} is none of these.",
        )
    return DataType.DATA_TYPE_FLOAT64, Value(number_value=given)


def _summary(part, **content):
    data = HParamsPluginData(version=0, **content).SerializeToString(deterministic=True)
    return _single(f"_hparams_/{part}", metadata=_plugin("hparams", data))


def _figure_to_image(figures: Any, close: bool = True) -> np.ndarray:
    """The bytes of a figure (3, H, W), or of several (N, 3, H, W); `close` closes them.

    >>> from matplotlib.figure import Figure
    >>> from tapegrad.utils.tensorboard.summary import _figure_to_image
    >>> _figure_to_image(Figure(figsize=(2, 1), dpi=50), close=False).shape
    (3, 50, 100)
    """
    from matplotlib import pyplot
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    def pixels(figure):
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        rgba = np.asarray(canvas.buffer_rgba())  # (H, W, 4)
        if close:
            pyplot.close(figure)
        return rgba[:, :, :3].transpose(2, 0, 1)

    return np.stack([pixels(f) for f in figures]) if isinstance(figures, list) else pixels(figures)


_BOX = "red"
_BOX_WIDTH = 2


def image(tag: str, tensor: Tensor, rescale: float = 1, dataformats: str = "NCHW") -> Any:
    """A picture as PNG, several of them in a grid.

    Numbers are from 0 to 1, or bytes. `rescale` is a factor for the size in pixels.

    >>> from tapegrad.utils.tensorboard.summary import image
    >>> picture = image("x", torch.zeros(3, 8, 6), dataformats="CHW").value[0].image
    >>> picture.height, picture.width, picture.encoded_image_string[:4]
    (8, 6, b'\\x89PNG')
    """
    pixels = _to_hwc(make_np(tensor), dataformats)
    return _single(tag, image=make_image(_bytes_of(pixels), rescale))


def image_boxes(
    tag: str,
    tensor_image: Any,
    tensor_boxes: Any,
    rescale: float = 1,
    dataformats: str = "CHW",
    labels: Any = None,
) -> Any:
    """A picture with boxes: rows of left, top, right, bottom. `labels` has a text for each.

    >>> from tapegrad.utils.tensorboard.summary import image_boxes
    >>> summary = image_boxes("x", torch.zeros(3, 8, 6), torch.tensor([[1, 1, 4, 5]]))
    >>> summary.value[0].image.width
    6
    """
    pixels = _to_hwc(make_np(tensor_image), dataformats)
    boxes = make_np(tensor_boxes)
    if isinstance(labels, str):
        labels = [labels]
    if labels is not None and len(labels) != boxes.shape[0]:
        labels = None
    picture = make_image(_bytes_of(pixels), rescale, boxes, labels)
    return _single(tag, image=picture)


def make_image(tensor: np.ndarray, rescale: float = 1, rois: Any = None, labels: Any = None) -> Any:
    """A PNG of bytes (height, width, channels); the sizes it states are those before scaling."""
    from PIL import Image

    height, width, _ = tensor.shape
    picture = Image.fromarray(tensor)
    if rois is not None:
        picture = draw_boxes(picture, rois, labels)
    size = (int(width * rescale), int(height * rescale))
    if size != (width, height):
        picture = picture.resize(size, Image.Resampling.LANCZOS)
    file = io.BytesIO()
    picture.save(file, format="PNG")
    return _picture(tensor.shape, file)


def _picture(shape: tuple[int, int, int], file: io.BytesIO) -> Any:
    height, width, channels = shape
    return Summary.Image(
        height=height, width=width, colorspace=channels, encoded_image_string=file.getvalue()
    )


def draw_boxes(disp_image: Any, boxes: np.ndarray, labels: Any = None) -> Any:
    """Draw boxes into a picture of Pillow, a label at the lower left corner of each."""
    from PIL import ImageDraw, ImageFont

    draw = ImageDraw.Draw(disp_image)
    for number, (left, top, right, bottom) in enumerate(boxes[:, :4].tolist()):
        corners = [(left, top), (left, bottom), (right, bottom), (right, top), (left, top)]
        draw.line(corners, width=_BOX_WIDTH, fill=_BOX)
        if labels is None:
            continue
        font = ImageFont.load_default()
        x0, y0, x1, y1 = font.getbbox(labels[number])
        width, height = x1 - x0, y1 - y0
        margin = np.ceil(0.05 * height)
        draw.rectangle([(left, bottom - height - 2 * margin), (left + width, bottom)], fill=_BOX)
        place = (left + margin, bottom - height - margin)
        draw.text(place, labels[number], fill="black", font=font)
    return disp_image


def video(tag: str, tensor: Tensor, fps: float = 4) -> Any:
    """Moving pictures (N, T, C, H, W) as an animated GIF, several of them in a grid.

    >>> from tapegrad.utils.tensorboard.summary import video
    >>> video("v", torch.zeros(1, 3, 3, 8, 6)).value[0].image.encoded_image_string[:6]
    b'GIF89a'
    """
    clips = make_np(tensor)
    if clips.ndim != 5:
        raise value_error(
            f"not enough values to unpack (expected 5, got {clips.ndim})",
            "The shape is (clips, frames, channels, height, width).",
        )
    n_columns = 1 << -(-(len(clips) - 1).bit_length() // 2)
    frames = [
        _bytes_of(_grid(clips[:, time], n_columns).transpose(1, 2, 0))
        for time in range(clips.shape[1])
    ]
    return _single(tag, image=make_video(frames, fps))


def make_video(tensor: Any, fps: float) -> Any:
    """A GIF of frames, each bytes (height, width, channels)."""
    from PIL import Image

    first, *others = (Image.fromarray(frame).convert("RGB") for frame in tensor)
    file = io.BytesIO()
    first.save(
        file, format="GIF", save_all=True, append_images=others, duration=round(1000 / fps), loop=0
    )
    return _picture(tensor[0].shape, file)


def audio(tag: str, tensor: Tensor, sample_rate: int = 44100) -> Any:
    """A sound of one channel, numbers from -1 to 1, as WAV with 16 bits a sample.

    >>> from tapegrad.utils.tensorboard.summary import audio
    >>> sound = audio("a", torch.zeros(10)).value[0].audio
    >>> sound.length_frames, sound.content_type
    (10, 'audio/wav')
    """
    samples = make_np(tensor).squeeze()
    if np.abs(samples).max() > 1:
        print("warning: audio amplitude out of range, auto clipped.")
        samples = samples.clip(-1, 1)
    if samples.ndim != 1:
        raise AssertionError("input tensor should be 1 dimensional.")
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(sample_rate)
        writer.writeframes((samples * np.iinfo(np.int16).max).astype("<i2").tobytes())
    sound = Summary.Audio(
        sample_rate=sample_rate,
        num_channels=1,
        length_frames=len(samples),
        encoded_audio_string=file.getvalue(),
        content_type="audio/wav",
    )
    return _single(tag, audio=sound)


def _bytes_of(pixels):
    """Numbers from 0 to 1 as bytes; bytes stay as they are."""
    factor = 1 if pixels.dtype == np.uint8 else 255
    return (pixels.astype(np.float32) * factor).clip(0, 255).astype(np.uint8)


__all__ = public_names(globals())
