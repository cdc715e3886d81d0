"""The forms of native functions that `tools.record_forms` wrote down are those of this PyTorch."""

import subprocess
import sys

from tests import needs

needs.pytorch()


def test_recording_anew_changes_nothing():
    done = subprocess.run(
        [sys.executable, "-m", "tools.record_forms", "--check"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stdout + done.stderr
