"""The choice between implementations of attention."""

import tapegrad
from tapegrad.nn.attention import SDPBackend, sdpa_kernel
from tests.messages import raises, raises_beginning
from tests.needs import pytorch


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


def attended(torch, **options):
    q = torch.ones(1, 1, 2, 2, requires_grad=True)
    try:
        return torch.nn.functional.scaled_dot_product_attention(q, q, q).grad_fn.name()
    except RuntimeError as error:
        return str(error).splitlines()[0]


def chosen(torch):
    """What computes an attention under each setting, and the settings."""
    switches = torch.backends.cuda
    kinds = torch.nn.attention.SDPBackend
    found = []

    def note():
        found.append((switches.flash_sdp_enabled(), switches.math_sdp_enabled(), attended(torch)))
        found.append((switches.mem_efficient_sdp_enabled(), switches.cudnn_sdp_enabled()))

    note()
    for kind in ("MATH", "FLASH_ATTENTION", "EFFICIENT_ATTENTION"):
        with torch.nn.attention.sdpa_kernel(getattr(kinds, kind)):
            note()
    try:
        for name in ("enable_flash_sdp", "enable_math_sdp", "enable_cudnn_sdp"):
            getattr(switches, name)(False)
            note()
        switches.enable_mem_efficient_sdp(False)
        note()
    finally:
        for name in ("flash", "math", "mem_efficient", "cudnn"):
            getattr(switches, f"enable_{name}_sdp")(True)
    note()
    return found


def test_switches_choose_as_in_pytorch():
    ours, theirs = chosen(tapegrad), chosen(pytorch())
    flash = "ScaledDotProductFlashAttentionForCpuBackward0"
    assert [flash in each for each in ours] == [flash in each for each in theirs]
    failed = [[isinstance(x, str) and x.startswith("No viable") for x in each] for each in ours]
    assert failed == [
        [isinstance(x, str) and x.startswith("No viable") for x in each] for each in theirs
    ]
    assert [each[:2] for each in ours] == [each[:2] for each in theirs]


def test_implementations_are_registered_and_restored():
    attention = tapegrad.nn.attention
    removed = []

    class Handle:
        def remove(self):
            removed.append(True)

    attention.register_flash_attention_impl("mine", register_fn=Handle)
    try:
        assert attention.list_flash_attention_impls() == ["FA3", "FA4", "mine"]
        attention.activate_flash_attention_impl("mine")
        assert attention.current_flash_attention_impl() == "mine"
        attention.restore_flash_attention_impl()
        assert attention.current_flash_attention_impl() is None and removed == [True]
    finally:
        del attention._registry._IMPLEMENTATIONS["mine"]
    with raises_beginning(ValueError, "Unknown flash attention impl 'mine'"):
        attention.activate_flash_attention_impl("mine")
    with raises_beginning(ModuleNotFoundError, "No module named 'flash_attn'"):
        attention.activate_flash_attention_impl("FA4")
