"""What programs import from PyTorch's inside of TorchScript."""

import tapegrad as torch
from tapegrad.compat.torch import _jit_internal


def test_marks_are_those_of_torch_jit():
    assert _jit_internal.ignore is torch.jit.ignore and _jit_internal.export is torch.jit.export
    method = _jit_internal._copy_to_script_wrapper(lambda self: 3)
    assert method(None) == 3
    assert "BroadcastingList2" in dir(_jit_internal) and _jit_internal.BroadcastingList2[int]


def test_a_function_that_an_argument_chooses():
    chosen = _jit_internal.boolean_dispatch(
        "flag", 1, False, lambda x, flag=False: "yes", lambda x, flag=False: "no", __name__, "f"
    )
    assert (chosen(0), chosen(0, True), chosen(0, flag=True)) == ("no", "yes", "yes")
    assert chosen.__name__ == "f"
