"""Names that are not there: what is suggested, by Python or by a note."""

import pytest

import tapegrad as torch
from tests.command import python


@pytest.mark.parametrize(
    ("program", "end"),
    [
        ("torch.flaot32", "module 'torch' has no attribute 'flaot32'\nDid you mean: 'float32'?"),
        ("torch.nn.Liner", "module 'torch.nn' has no attribute 'Liner'. Did you mean: 'Linear'?"),
        ("torch.ones(1).sine", "'Tensor' object has no attribute 'sine'. Did you mean: 'sin'?"),
        ("from tapegrad.optim import Adm", "Did you mean: 'Adam'?"),
        (
            "torch.bouquet",
            "module 'torch' has no attribute 'bouquet'\n"
            "tapegrad has no torch.bouquet: dir(torch) lists what there is",
        ),
    ],
)
def test_a_typo_ends_with_one_suggestion(program, end):
    printed = python("-c", f"import tapegrad as torch\n{program}").stderr
    assert printed.endswith(f"{end}\n")


def test_a_private_name_is_like_no_other():
    with pytest.raises(AttributeError) as caught:
        _ = torch._float32
    assert caught.value.__notes__[0].startswith("tapegrad has no torch._float32")
