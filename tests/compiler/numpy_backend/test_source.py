"""The source of a program is to be read: names, constants, the lines of Python it comes from."""

import numpy as np

import tapegrad as torch
from tests.compiler.numpy_backend.recorded import compiled, lines
from tests.compiler.side_by_side import side_by_side


def test_values_have_the_names_that_are_given():
    run = compiled(
        lambda x, w: np.tanh(x @ w) + 1.0,
        np.ones((2, 2)),
        np.ones((2, 2)),
        names={0: "x", 1: "layer.weight", 2: "product", 3: "x"},
    )
    assert "def program(x, layer_weight):" in run.source
    assert lines(run)[-5:-1] == [
        "matmul(x, layer_weight, product)",
        "tanh(product, x_2)",
        "add(x_2, c0, v4)",
        "return (v4,)",
    ]


def test_each_part_says_which_line_it_comes_from():
    def step(x):
        y = x * 3.0
        return y + 1.0

    source = compiled(step, np.ones(2)).source
    assert "test_source.py:" in source
    assert "  y = x * 3.0\n" in source
    assert "  return y + 1.0\n" in source


def test_constants_say_what_they_are():
    assert "# c0 = array(3.)" in compiled(lambda x: x * 3.0, np.ones(2)).source


def test_numbers_of_python_are_arrays_where_loops_read_them():
    run = compiled(lambda x, lr: x * lr, np.ones(2, np.float32), 0.1)
    assert "s1_f32[()] = s1" in run.source
    assert run(np.ones(2, np.float32), 0.5)[0].tolist() == [0.5, 0.5]


def test_an_element_is_computed_with_numbers():
    def step(x):
        return ((x[0] * 2.0 - 1.0) / x[1]) * x

    run = compiled(step, np.array([1.0, 2.0]))
    assert run(np.array([3.0, 5.0]))[0].tolist() == [3.0, 5.0]
    assert sum("multiply" in line for line in lines(run)) == 1


@side_by_side("numpy", "c")
def test_functions_of_numbers_alone_keep_their_dtype(run):
    def scaled(x):
        return x / torch.sqrt(torch.tensor(8, dtype=torch.float32))

    f, alone = run.compile(scaled), run.compile(lambda: torch.sqrt(torch.tensor(8.0)))
    x = torch.randn(7, 5, requires_grad=True)
    for _ in range(4):
        x.grad = None
        f(x).backward(torch.randn(7, 5))
        run.look(x, alone())


@side_by_side("numpy", "c")
def test_operators_of_numbers_alone_are_constants(run):
    f = run.compile(lambda x: x * (torch.div(len(x), 2, rounding_mode="trunc") - 1))
    for n in (6, 6, 6, 8, 6):
        run.look(f(torch.ones(n)))
