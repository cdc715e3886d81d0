"""The older names of interpolation."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Number, Shape, Tensor
from tapegrad.core.argument_check import users_level
from tapegrad.operators.nn.interpolate import interpolate


def _deprecated(name: str) -> None:
    errors.warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.",
        users_level(),
    )


def upsample(
    input: Tensor,
    size: Shape | None = None,
    scale_factor: Number | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Any:
    """The older name of `interpolate`.

    Shape: (N, C, ...), and so the result, with `size` behind the channels.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.nn.functional.upsample(torch.tensor([[[1.0, 2.0]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])
    """
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(
    input: Tensor, size: Shape | None = None, scale_factor: Number | None = None
) -> Any:
    """`interpolate` with mode `nearest`.

    Shape: (N, C, ...), and so the result, with `size` behind the channels.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.nn.functional.upsample_nearest(torch.tensor([[[1.0, 2.0]]]), size=3)
    tensor([[[1., 1., 2.]]])
    """
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(
    input: Tensor, size: Shape | None = None, scale_factor: Number | None = None
) -> Any:
    """`interpolate` with mode `bilinear` and aligned corners.

    Shape: (N, C, H, W), and so the result, with `size` for H and W.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.nn.functional.upsample_bilinear(torch.tensor([[[[1.0, 2.0]]]]), size=(1, 3))
    tensor([[[[1.0000, 1.5000, 2.0000]]]])
    """
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
