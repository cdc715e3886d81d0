"""The calls of `tests/laws/first_complaints.txt`: PyTorch complains of the same."""

import pytest

from tests.laws.test_first_complaint import names, rows


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("call", "name", "message"), list(rows()))
def test_pytorch_says_so(pytorch, call, name, message):
    with pytest.raises(Exception, match="") as caught:
        eval(call, names(pytorch))
    assert type(caught.value).__name__ == name
    assert str(caught.value).startswith(message)
