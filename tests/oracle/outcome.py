"""What a call gives or raises and warns of, as text; comparing two such texts."""

import re
import warnings

import pytest

_NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d*(?:e[-+]?\d+)?")
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_NOISE = (DeprecationWarning, PendingDeprecationWarning)  # of PyTorch's own files


def outcome(call, torch):
    """The result of `call(torch)` as it prints, or its error; and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = repr(call(torch))
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
    texts = [str(w.message) for w in caught if not issubclass(w.category, _NOISE)]
    return _ADDRESS.sub("0x", result), [text.partition(" (Triggered")[0] for text in texts]


def assert_same(ours, theirs):
    """The same text, numbers within rounding."""
    assert _NUMBER.sub("#", ours) == _NUMBER.sub("#", theirs)
    for a, b in zip(_NUMBER.findall(ours), _NUMBER.findall(theirs), strict=True):
        assert float(a) == pytest.approx(float(b), rel=1e-5, abs=1e-8)


def compare(call, ours, theirs):
    """Raise unless a call does the same in two libraries."""
    (text, heard), (their_text, they_heard) = outcome(call, ours), outcome(call, theirs)
    assert_same(text, their_text)
    assert heard == they_heard
