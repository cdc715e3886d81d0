"""Expecting an error by its class and its whole message; the notes that advise are apart."""

from contextlib import contextmanager

import pytest


@contextmanager
def raises(error, message):
    with pytest.raises(error) as caught:
        yield caught
    assert str(caught.value) == message


@contextmanager
def raises_beginning(error, message):
    """The same for a long message of which the test says how it begins."""
    with pytest.raises(error) as caught:
        yield caught
    assert str(caught.value).startswith(message)
