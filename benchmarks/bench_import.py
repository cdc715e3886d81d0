"""Importing in a fresh process: what every script and every command pays before it begins."""

import subprocess
import sys

from row import CPU, NUMPY, OTHERS, WALL, Row, ratio

PROGRAM = """
import sys, time
cpu, wall = time.process_time(), time.perf_counter()
import {name}
sys.stdout.write(f"{{time.process_time() - cpu}} {{time.perf_counter() - wall}}")
"""


def fresh_import(module):
    command = [sys.executable, "-c", PROGRAM.format(name=module.__name__)]

    def step():
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        cpu, wall = run.stdout.split()
        return {CPU: float(cpu), WALL: float(wall)}

    return step


ROWS = [
    Row(
        "import",
        "the import statement in a fresh process",
        fresh_import,
        fresh_import,
        others=dict.fromkeys(OTHERS, fresh_import),
        per="import",
        repeats=41,
        bounds=(ratio(NUMPY, 1.6), ratio(NUMPY, 1.6, WALL)),
    )
]
