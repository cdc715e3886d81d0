"""The parts of compiled programs: what was fused, what each reads and writes, which lines it is."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.compiler.c_backend.parts import parts_of as parts_in_c
from tapegrad.compiler.parts import parts_of
from tests.compiler.c_programs import needs_compiler
from tests.inspect.graph_models import GPT

in_c = pytest.mark.parametrize("backend", [pytest.param("c", marks=needs_compiler()), "numpy"])


def training_step(model, optimizer, backend, x, *y):
    """A compiled training step after three calls."""

    @torch.compile(backend=backend)
    def step(x, *y):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), *y) if y else model(x)
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(3):
        step(x, *y)
    return step


def perceptron(backend):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return training_step(model, optimizer, backend, torch.randn(32, 4), torch.randn(32, 2))


def transformer():
    torch.manual_seed(0)
    model = GPT(4)
    optimizer = torch.optim.AdamW(model.parameters())
    return training_step(model, optimizer, "numpy", torch.arange(10).view(2, 5))


def assert_flows(found):
    """Whatever a part reads is an input, a constant, or was written by one before it."""
    known = {x.key for x in found.inputs.values()}
    for part in found.parts:
        for x in part.reads:
            assert x.key in known or x.is_constant, (part.name, x.name)
        known |= {x.key for x in part.writes}
    assert {x.key for x in found.outputs} <= known


@needs_compiler()
def test_a_training_step_in_c_is_products_and_loops():
    (found,) = parts_of(perceptron("c").entries[0])
    assert found.backend == "C"
    assert [(part.kind, part.name, part.shape) for part in found.parts] == [
        ("product", "matmul", (32, 64)),
        ("loop", "add, tanh, multiply", (32, 64)),  # (1 - y) * (1 + y) is one function
        ("product", "matmul", (32, 2)),
        ("loop", "add, subtract, multiply \N{MULTIPLICATION SIGN}2 and 1 more", (32, 2)),
        ("loop", "divide", ()),
        ("product", "matmul", (32, 64)),
        ("product", "matmul", (2, 64)),
        ("loop", "multiply, sum", (32, 64)),
        ("product", "matmul", (64, 4)),
        *[("loop", "multiply, subtract", s) for s in ((64, 4), (64,), (2, 64), (2,))],
    ]
    product, loop = found.parts[:2]
    assert (product.flops, product.n_bytes) == (2 * 32 * 64 * 4, 4 * (32 * 4 + 4 * 64 + 32 * 64))
    assert [x.name for x in product.reads] == ["x_", "model_0_weight"]
    # what is in between stays in registers; the bias is read for each row, and counts once
    assert [(x.name, x.n_bytes) for x in loop.reads] == [("v11", 8192), ("model_0_bias", 256)]
    assert [x.n_bytes for x in loop.writes] == [8192, 8192] and loop.flops == 3 * 32 * 64
    update = found.parts[-4]
    assert [x.name for x in update.writes] == ["model_0_weight"]


def test_a_training_step_in_numpy_is_its_instructions():
    (found,) = parts_of(perceptron("numpy").entries[0])
    assert found.backend == "NumPy source"
    assert [part.name for part in found.parts[:5]] == ["matmul", "add", "tanh", "matmul", "add"]
    assert [part.kind for part in found.parts[:3]] == ["product", "loop", "loop"]
    assert found.parts[0].lines == ["dot(x_, v10, v11)"]


@in_c
def test_the_lines_of_all_parts_are_those_of_the_source(backend):
    step = perceptron(backend)
    (found,) = parts_of(step.entries[0])
    source = {line.strip() for line in step.source.splitlines()}
    for part in found.parts:
        assert part.lines and {line.strip() for line in part.lines} <= source
        assert all(each in step.source for each in part.functions)
    called = [part for part in found.parts if part.functions]
    assert bool(called) == (backend == "c")


@needs_compiler()
def test_what_flows_between_parts_is_complete():
    entry = transformer().entries[0]
    (found,) = parts_of(entry)
    assert_flows(found)
    assert_flows(parts_in_c(entry.part, entry.outputs, entry.names))


@needs_compiler()
def test_operations_are_counted_once():
    step = transformer()
    entry = step.entries[0]
    total = step.explain().programs[0]["flops"]
    in_numpy, in_c = parts_of(entry)[0], parts_in_c(entry.part, entry.outputs, entry.names)
    assert 0.9 * total < sum(part.flops for part in in_c.parts) <= total
    # passes write a few kernels as several instructions
    assert 0.9 * total < sum(part.flops for part in in_numpy.parts) < 1.1 * total


def test_a_chain_in_blocks_is_one_part_that_leaves_its_temporaries_out():
    f = torch.compile(lambda x: ((x * 2).tanh() + 1) * x, backend="numpy")
    x = torch.rand(2**20)
    for _ in range(3):
        f(x)
    (part,) = parts_of(f.entries[0])[0].parts
    assert (part.kind, part.operators) == ("loop", ["multiply", "tanh", "add", "multiply"])
    assert part.n_bytes == 2 * 4 * 2**20
    assert part.lines[0].startswith("in_blocks(chain") and part.functions[0].startswith("def chain")


def test_checks_that_follow_one_another_are_one_part():
    @torch.compile(backend="numpy")
    def f(x):
        return x * 2 if bool(x[0] > 0) and bool(x[1] > 0) and bool(x[2] > 0) else x

    for _ in range(3):
        f(torch.ones(3))
    checks = [part for part in parts_of(f.entries[0])[0].parts if part.kind == "check"]
    assert sum(len(part.operators) for part in checks) == 3


def test_the_backward_program_has_the_names_of_the_forward_one():
    torch.manual_seed(0)
    f = torch.compile(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)), backend="numpy")
    for _ in range(3):
        f(torch.ones(2, 3)).sum().backward()
    forward, backward = parts_of(f.entries[0])
    assert "model_2_weight" in [x.name for x in forward.inputs.values()]
    assert "model_2_weight" in [x.name for x in backward.inputs.values()]
    assert f.source.count("def program(") == 2 and "v4" not in f.source.split("def program(")[2]


@in_c
def test_arrays_without_elements_have_no_bytes(backend):
    f = torch.compile(lambda x: x * 2 + 1, backend=backend)
    for _ in range(3):
        f(torch.ones(0, 3))
    (found,) = parts_of(f.entries[0])
    assert [x.shape for x in found.outputs] == [(0, 3)]
    assert sum(x.n_bytes for x in (*found.inputs.values(), *found.outputs)) == 0
