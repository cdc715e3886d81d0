"""A default device as a mode."""

import tapegrad as torch
from tapegrad.compat.torch.utils import _device
from tapegrad.overrides import _get_current_function_mode
from tests.command import run_code


def test_a_context_says_the_device_of_what_is_made_and_nothing_else():
    x = torch.ones(2)
    with _device.DeviceContext("meta") as context:
        assert _device.CURRENT_DEVICE == context.device == torch.device("meta")
        assert _get_current_function_mode() is context
        made = torch.empty(2), torch.tensor([1]), torch.fft.fftfreq(3), torch.ones(2, device=None)
        assert {each.device.type for each in made} == {"meta"}
        assert torch.ones(2, device="cpu").device.type == "cpu"
        assert (x + 1).device.type == torch.zeros_like(x).device.type == "cpu"
        with _device.DeviceContext("cpu"):
            assert torch.ones(2).device.type == "cpu"
            assert _device.CURRENT_DEVICE == torch.device("cpu")
    assert _device.CURRENT_DEVICE is None and torch.ones(2).device.type == "cpu"


def test_the_current_device_is_the_one_that_was_set():
    try:
        torch.set_default_device("meta")
        assert _device.CURRENT_DEVICE == torch.device("meta")
    finally:
        torch.set_default_device(None)
    with torch.device("meta"):  # no default, but a block
        assert _device.CURRENT_DEVICE is None


def test_a_decorator_lets_a_function_make_its_tensors_elsewhere():
    @_device.set_device("meta")
    def made(n):
        """Makes."""
        return torch.zeros(n)

    assert made(3).device.type == "meta" and made.__doc__ == "Makes."
    assert torch.zeros(3).device.type == "cpu"


def test_it_is_a_module_of_torch():
    code = """
from tapegrad import compat; compat.install()
import torch.utils._device
print(torch.utils._device.CURRENT_DEVICE, torch.zeros in torch.utils._device._device_constructors())
"""
    assert run_code(code).split() == ["None", "True"]


def test_a_generator_makes_its_tensors_on_the_device():
    @_device.set_device("meta")
    def made():
        yield torch.ones(1)
        yield torch.ones(2)

    assert [x.is_meta for x in made()] == [True, True] and not torch.ones(1).is_meta
