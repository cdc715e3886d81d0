"""torchvision's operators, as torchvision comes by them: it loads its compiled library."""

import pytest

import tapegrad as torch
from tapegrad.compat.torchvision import operators
from tests.messages import raises, raises_beginning


@pytest.fixture(autouse=True)
def library():
    there = bool(operators._LIBRARIES)
    torch.ops.load_library("/anywhere/torchvision/_C.so")
    yield
    torch.ops.loaded_libraries.discard("/anywhere/torchvision/_C.so")
    if not there:
        operators._LIBRARIES.pop()._destroy()


def test_they_are_defined_once_with_torchvisions_signatures():
    first = operators.define()
    assert operators.define() is first
    signature = "torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
    assert str(torch.ops.torchvision.nms.default._schema) == signature
    assert torch.ops.torchvision._cuda_version() == -1
    assert len(dir(torch.ops.torchvision)) == 15


def test_a_region_is_a_call_of_the_operator():
    x = torch.arange(16.0).reshape(1, 1, 4, 4)
    rois = torch.tensor([[0.0, 0.0, 0.0, 4.0, 4.0]])
    y = torch.ops.torchvision.roi_align(x, rois, 1.0, 2, 2, 2, True)
    assert y.tolist() == [[[[2.5, 4.5], [10.5, 12.5]]]]


def test_the_gradient_that_torchvision_registers_is_found():
    def setup_context(ctx, inputs, output):
        x, rois, *ctx.options = inputs
        ctx.save_for_backward(rois)
        ctx.size = x.shape

    def backward(ctx, g):
        scale, height, width, ratio, aligned = ctx.options
        grad = torch.ops.torchvision._roi_align_backward(
            g, *ctx.saved_tensors, scale, height, width, *ctx.size, ratio, aligned
        )
        return grad, None, None, None, None, None, None

    name = "torchvision::roi_align"
    torch.library.register_autograd(name, backward, setup_context=setup_context)
    x = torch.zeros(1, 1, 4, 4, requires_grad=True)
    rois = torch.tensor([[0.0, 0.0, 0.0, 4.0, 4.0]])
    torch.ops.torchvision.roi_align(x, rois, 1.0, 2, 2, 2, True).sum().backward()
    assert x.grad.sum().item() == 4


def test_what_is_not_there_says_so():
    box = torch.ones(1, 4)
    with raises_beginning(NotImplementedError, "Could not run 'torchvision::qnms' with arguments"):
        torch.ops.torchvision.qnms(box, torch.ones(1), 0.5)
    with raises(OSError, "Could not load this library: /anywhere/torchvision/image.so"):
        torch.ops.load_library("/anywhere/torchvision/image.so")
