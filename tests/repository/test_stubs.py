"""Type stubs are what `tools/stubs` makes of the modules."""

from tests import needs
from tools.stubs.__main__ import outdated


def test_the_stubs_are_up_to_date():
    needs.package("ruff", "formats them", extra="dev")
    assert [*outdated()] == [], "run python -m tools.stubs"
