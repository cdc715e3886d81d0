"""Saves to one folder and is killed, again and again: a whole checkpoint is always there.

python killed.py FOLDER N
"""

import os
import random
import signal
import sys
import time

import tapegrad as torch
from tapegrad.distributed import checkpoint


def state(n):
    return {"n": n, "w": {str(i): torch.full((50, 50), float(n)) for i in range(2)}}


def save_forever(folder, n):
    while True:
        n += 1
        checkpoint.save(state(n), checkpoint_id=folder)


def loaded(folder):
    found = state(0)
    checkpoint.load(found, checkpoint_id=folder)
    for x in found["w"].values():
        assert (x == found["n"]).all(), found["n"]
    return found["n"]


def main(folder, n_kills):
    for _ in range(3):
        start = time.monotonic()
        checkpoint.save(state(0), checkpoint_id=folder)
        one_s = time.monotonic() - start
    last, moved = 0, 0
    for _ in range(n_kills):
        child = os.fork()
        if child == 0:
            save_forever(folder, last)
        time.sleep(random.uniform(0, 2.5 * one_s))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        found = loaded(folder)
        assert found >= last
        moved += found > last
        last = found
    assert moved > n_kills / 10, (moved, last)  # many were killed after something was saved
    names = os.listdir(folder)
    assert len(names) < 12, names
    print(f"killed {n_kills} times, saved {last} times")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
