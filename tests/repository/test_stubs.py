"""Type stubs are what `tools/stubs` makes of the modules."""

from tests import needs
from tests.command import python
from tests.repository.pages import ROOT


def test_the_stubs_are_up_to_date():
    needs.package("ruff", "formats them", extra="dev")
    # in a process of its own: what tests have imported are attributes of packages by now
    checked = python("-m", "tools.stubs", "--check", cwd=ROOT)
    assert checked.returncode == 0, f"run python -m tools.stubs: {checked.stdout}{checked.stderr}"
