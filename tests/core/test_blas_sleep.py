"""How NumPy's BLAS is told to let its threads sleep."""

import os
import sys

from tapegrad.core.blas_sleep import sleeping

NAME = "OPENBLAS_THREAD_TIMEOUT"


def test_the_environment_says_so_while_numpy_is_imported(monkeypatch):
    monkeypatch.delenv(NAME, raising=False)
    with sleeping():
        assert NAME not in os.environ  # too late: it is imported
    monkeypatch.delitem(sys.modules, "numpy")
    with sleeping():
        assert os.environ[NAME] == "4"
    assert NAME not in os.environ


def test_what_the_user_chose_holds(monkeypatch):
    monkeypatch.delitem(sys.modules, "numpy")
    monkeypatch.setenv(NAME, "26")
    with sleeping():
        assert os.environ[NAME] == "26"
    assert os.environ[NAME] == "26"
