"""L-BFGS and its line search: where they lead, as in PyTorch, and what is left after an error."""

import copy

import pytest

import tapegrad as torch
from tapegrad import optim
from tests.messages import raises


def leaf(*values, dtype=None):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


# --- LBFGS ---------------------------------------------------------------------------------------


def rosenbrock(**options):
    w = leaf(-1.2, 1.0, dtype=torch.float64)
    optimizer = optim.LBFGS([w], **options)

    def closure():
        optimizer.zero_grad()
        loss = (1 - w[0]) ** 2 + 100 * (w[1] - w[0] ** 2) ** 2
        loss.backward()
        return loss

    return w, optimizer, closure


LBFGS = [
    (
        {"lr": 1e-3},
        [
            ([-1.1988724606313343, 1.0004946025355945], 4, 4),
            ([-1.198339974698864, 1.0008349790670057], 8, 8),
            ([-1.19783465913053, 1.001249758039545], 12, 12),
        ],
    ),
    (
        {"line_search_fn": "strong_wolfe"},
        [
            ([-1.0288795348319695, 1.0655029516848564], 5, 3),
            ([-0.9349818277934958, 0.836452117556499], 10, 7),
            ([-0.5378302256216367, 0.2961099017321947], 16, 11),
        ],
    ),
]


@pytest.mark.parametrize(("options", "path"), LBFGS)
def test_lbfgs_goes_where_pytorch_goes(options, path):
    w, optimizer, closure = rosenbrock(max_iter=4, history_size=3, **options)
    for point, evaluations, iterations in path:
        optimizer.step(closure)
        state = optimizer.state[w]
        assert w.tolist() == pytest.approx(point, rel=1e-9)
        assert (state["func_evals"], state["n_iter"]) == (evaluations, iterations)
    names = ["func_evals", "n_iter", "al", "d", "t", "old_dirs", "old_stps", "ro"]
    assert list(state) == [*names, "H_diag", "prev_flat_grad", "prev_loss"]


def test_lbfgs_finds_the_minimum():
    w, optimizer, closure = rosenbrock(max_iter=100, line_search_fn="strong_wolfe")
    assert optimizer.step(closure).item() == pytest.approx(24.2)
    assert w.tolist() == pytest.approx([1.0, 1.0], abs=1e-4)


def test_lbfgs_continues_after_saving_and_loading():
    options = {"max_iter": 4, "history_size": 3, "line_search_fn": "strong_wolfe"}
    w, optimizer, closure = rosenbrock(**options)
    optimizer.step(closure)
    other, again, other_closure = rosenbrock(**options)
    other.data.copy_(w.detach())
    again.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    optimizer.step(closure)
    again.step(other_closure)
    assert other.tolist() == w.tolist()


@pytest.mark.parametrize(
    "options, calls",
    [
        ({"max_iter": 1}, [2, 4, 6]),
        ({"max_eval": 3}, [3, 6, 9]),
        ({"max_iter": 5, "lr": 50.0}, [7, 13, 20]),
    ],
)
def test_the_line_search_keeps_to_the_calls_that_are_left(options, calls):
    x = torch.tensor([-1.5, 2.0, 0.7], dtype=torch.float64, requires_grad=True)
    optimizer = optim.LBFGS([x], line_search_fn="strong_wolfe", **options)
    n = 0

    def closure():
        nonlocal n
        n += 1
        optimizer.zero_grad()
        loss = ((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2).sum()
        loss.backward()
        return loss

    found = []
    for _ in calls:
        optimizer.step(closure)
        found.append(n)
    assert found == calls


def test_lbfgs_has_one_group():
    message = "LBFGS doesn't support per-parameter options (parameter groups)"
    with raises(ValueError, message):
        optim.LBFGS([{"params": [leaf(1.0)]}, {"params": [leaf(1.0)]}])


def test_the_line_search_leaves_the_parameters_when_the_closure_raises():
    w, optimizer, closure = rosenbrock(line_search_fn="strong_wolfe")
    calls = []

    def failing():
        calls.append(1)
        if len(calls) == 2:
            raise KeyError("no data")
        return closure()

    with pytest.raises(KeyError):
        optimizer.step(failing)
    assert w.tolist() == [-1.2, 1.0]
