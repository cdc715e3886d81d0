"""What a program asks of numbers, asked before its last results are let go of."""

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.arrays.traced.program import Changed, Program
from tapegrad.compiler.c_backend import build
from tests.compiler.c_programs import needs_compiler

pytestmark = needs_compiler()


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("TAPEGRAD_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "c-cache"))


def program_of(n):
    with Program() as program:
        x, y = program.input(np.ones(3)), program.input(np.ones(n))
        bool((x > 0).all())
        y = y * 2.0
    return build(program, [y.place])


def test_large_programs_can_be_asked_alone():
    runner = program_of(2**18)
    y = np.ones(2**18)
    assert runner.check(np.array([1.0, 2.0, 3.0]), y) == ()
    with pytest.raises(Changed):
        runner.check(np.array([1.0, -2.0, 3.0]), y)
    assert y[0] == 1
    assert program_of(100).check is None


@pytest.mark.parametrize("backend", ["c", "numpy"])
def test_memory_of_gradients_is_used_again_and_kept_where_the_program_does_not_hold(backend):
    weight = torch.randn(20_000, 16, requires_grad=True)

    @torch.compile(backend=backend)
    def step(indices):
        weight.grad = None
        torch.nn.functional.embedding(indices, weight).sum().backward()

    def run(first):
        indices = torch.arange(first, first + 50)
        step(indices)
        want = torch.zeros(20_000, 16)
        want[indices] = 1.0
        assert torch.equal(weight.grad, want)
        return weight.grad.data_ptr()

    places = [run(i) for i in (0, 0, 30, 60, 500)]
    assert len(set(places[2:])) == 1
    kept = weight.grad
    assert run(70) != places[-1]
    assert kept[500, 0] == 1 and kept[70, 0] == 0
    before = weight.grad
    with pytest.raises(IndexError):
        step(torch.tensor([20_000] * 50))
    assert weight.grad is None or weight.grad is before
    run(100)
