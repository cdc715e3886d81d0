"""The names that every example in a docstring may use."""

import pytest


@pytest.fixture(autouse=True)
def _names_for_doctests(doctest_namespace):
    import tapegrad

    doctest_namespace.update(tapegrad=tapegrad, torch=tapegrad)
