"""Files for TensorBoard, next to those that PyTorch writes for the same calls."""

import warnings

import pytest

import tapegrad
from tests import needs
from tests.utils import tensorboard_calls
from tests.utils.tensorboard_calls import CALLS, REFUSED, outcome

needs.package("tensorboard", "reads what was written")


@pytest.fixture(scope="module")
def pytorch(pytorch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tensorboard_calls.writer_of(pytorch)
    return pytorch


@pytest.mark.filterwarnings("ignore::Warning:torch")
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_the_files_are_pytorchs(call, pytorch, tmp_path, capsys):
    theirs, error = outcome(pytorch, call, tmp_path / "theirs")
    printed = capsys.readouterr().out
    assert error is None
    ours, error = outcome(tapegrad, call, tmp_path / "ours")
    assert error is None
    assert ours.keys() == theirs.keys()
    for name, expected in theirs.items():
        assert ours[name] == expected, name
    assert capsys.readouterr().out == printed


@pytest.mark.filterwarnings("ignore::Warning:torch")
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_refused_as_by_pytorch(case, pytorch, tmp_path):
    _, theirs = outcome(pytorch, REFUSED[case], tmp_path / "theirs")
    _, ours = outcome(tapegrad, REFUSED[case], tmp_path / "ours")
    assert theirs is not None
    assert ours[0] is theirs[0]
    assert " ".join(ours[1].split()) == " ".join(theirs[1].split())
