"""Several programs of this folder, one after another in the same ranks.

torchrun --nproc-per-node 2 in_turn.py FOLDER tensors.py sharded.py
"""

import runpy
import sys
from pathlib import Path

folder, *names = sys.argv[1:]
for name in names:
    sys.argv = [name, folder]
    runpy.run_path(str(Path(__file__).with_name(name)), run_name="__main__")
