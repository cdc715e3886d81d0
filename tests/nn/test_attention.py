"""The choice between implementations of attention, which is accepted."""

from tapegrad.nn.attention import SDPBackend, sdpa_kernel
from tests.messages import raises


def test_implementations_have_pytorchs_numbers():
    assert {each.name: each.value for each in SDPBackend} == {
        "ERROR": -1,
        "MATH": 0,
        "FLASH_ATTENTION": 1,
        "EFFICIENT_ATTENTION": 2,
        "CUDNN_ATTENTION": 3,
        "OVERRIDEABLE": 4,
    }
    with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION], set_priority=True):
        pass


def test_what_is_no_implementation_is_refused():
    message = "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got int"
    with raises(AssertionError, message), sdpa_kernel(3):
        pass
