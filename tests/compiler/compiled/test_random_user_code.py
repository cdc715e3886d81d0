"""Modules, functions and steps as users write them, at random: compiled, all is eager's."""

import random

import pytest

import tapegrad as torch
from tapegrad.utils._pytree.tree import tree_leaves
from tests.compiler.compiled.user_code import Writer
from tests.compiler.side_by_side import compare
from tests.tiers import rounds


def written(seed):
    """The scenario of a program."""
    text = Writer(seed).text

    def scenario(run):
        def backward(y):
            found = [x for x in tree_leaves(y) if isinstance(x, torch.Tensor) and x.requires_grad]
            if found:
                run.call(lambda: sum(x.sum() for x in found).backward())

        space = {"__name__": __name__, "run": run, "backward": backward}
        exec(compile(text, f"<user code {seed}>", "exec"), space)

    return scenario


@pytest.mark.parametrize("block", range(rounds(4, 100)))
def test_programs(block):
    first = 4 * block if block < 4 else random.randrange(1 << 30)
    for seed in range(first, first + 4):
        compare(written(seed), programs=None)
