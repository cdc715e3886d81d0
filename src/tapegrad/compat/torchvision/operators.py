"""Signatures and kernels of torchvision's compiled operators.

Their derivatives, shapes without elements and rules for autocast torchvision registers itself, in
Python. Operators on quantised tensors, and of rotated boxes, have a signature and no kernel.
"""

from collections.abc import Callable

from tapegrad.compat.torchvision import deform_conv, nms, regions
from tapegrad.library import registry
from tapegrad.library.libraries import Library

_REGION = "float spatial_scale, SymInt pooled_height, SymInt pooled_width"
_SIZE = "SymInt batch_size, SymInt channels, SymInt height, SymInt width"
_DEFORM = (
    "SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, "
    "SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask"
)
_SIGNATURES = f"""
_cuda_version() -> int _0
nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor
qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor
box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor
roi_align(Tensor input, Tensor rois, {_REGION}, int sampling_ratio, bool aligned) -> Tensor
_roi_align_backward(Tensor grad, Tensor rois, {_REGION}, {_SIZE}, int sampling_ratio, bool aligned)\
 -> Tensor
qroi_align(Tensor input, Tensor rois, float input_scale, int input_zero_point, float rois_scale,\
 int rois_zero_point, {_REGION}, int sampling_ratio, bool aligned) -> Tensor
ps_roi_align(Tensor input, Tensor rois, {_REGION}, int sampling_ratio) -> (Tensor, Tensor)
_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {_REGION},\
 int sampling_ratio, {_SIZE}) -> Tensor
roi_pool(Tensor input, Tensor rois, {_REGION}) -> (Tensor, Tensor)
_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, {_REGION}, {_SIZE}) -> Tensor
ps_roi_pool(Tensor input, Tensor rois, {_REGION}) -> (Tensor, Tensor)
_ps_roi_pool_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {_REGION}, {_SIZE})\
 -> Tensor
deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, {_DEFORM})\
 -> Tensor
_deform_conv2d_backward(Tensor grad, Tensor input, Tensor weight, Tensor offset, Tensor mask,\
 Tensor bias, {_DEFORM}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)
"""

_KERNELS: dict[str, Callable] = {
    "_cuda_version": lambda: -1,  # torchvision's word for a build without CUDA
    "nms": nms.nms,
    "deform_conv2d": deform_conv.deform_conv2d,
    "_deform_conv2d_backward": deform_conv.deform_conv2d_backward,
    **regions.KERNELS,
}


def define() -> Library:
    """Define the operators; a second call finds them there."""
    if "torchvision::nms" not in registry.PACKETS:
        library = Library("torchvision", "DEF")
        for signature in _SIGNATURES.strip().splitlines():
            library.define(signature)
        for name, kernel in _KERNELS.items():
            library.impl(name, kernel, "CPU")
        _LIBRARIES.append(library)
    return _LIBRARIES[-1]


_LIBRARIES: list[Library] = []  # held as long as the process: so are compiled ones
