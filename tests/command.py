"""Python in a process of its own, with the tapegrad that is under test."""

import os
import subprocess
import sys
from pathlib import Path

import tapegrad


def python(*args, cwd=None, **environment):
    """What `python args` prints and its exit status, with warnings as errors.

    All but those of `torch.jit`, whose functions are deprecated in PyTorch.
    """
    env = {**os.environ, "PYTHONPATH": str(Path(tapegrad.__file__).parents[1]), **environment}
    quiet = "ignore:`torch.jit.:DeprecationWarning"
    command = [sys.executable, "-W", "error", "-W", quiet, *map(str, args)]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=600)


def run_code(code):
    """What the program `code` prints; it must end well."""
    result = python("-c", code)
    assert result.returncode == 0, result.stderr
    return result.stdout
