"""What is particular to a method: its options, its state, where it leads. Values are PyTorch's."""

import copy

import pytest

import tapegrad as torch
from tapegrad import optim
from tests.messages import raises


def leaf(*values, dtype=None):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


REFUSED = [
    ("NAdam", {"lr": -1}, "Invalid learning rate: -1"),
    ("NAdam", {"momentum_decay": -1}, "Invalid momentum_decay value: -1"),
    ("RAdam", {"betas": (1.0, 0.9)}, "Invalid beta parameter at index 0: 1.0"),
    ("Adamax", {"eps": -1}, "Invalid epsilon value: -1"),
    ("Adagrad", {"lr_decay": -1}, "Invalid lr_decay value: -1"),
    ("Adagrad", {"initial_accumulator_value": -1}, "Invalid initial_accumulator_value value: -1"),
    ("Adadelta", {"rho": 1.1}, "Invalid rho value: 1.1"),
    ("RMSprop", {"momentum": -1}, "Invalid momentum value: -1"),
    ("RMSprop", {"alpha": -1}, "Invalid alpha value: -1"),
    ("Rprop", {"etas": (0.5, 0.9)}, "Invalid eta values: 0.5, 0.9"),
    ("ASGD", {"weight_decay": -1}, "Invalid weight_decay value: -1"),
    ("LBFGS", {"lr": -1}, "Invalid learning rate: -1"),
    ("Adafactor", {"lr": -1}, "Learning rate should be >= 0 but is: -1"),
    ("Adafactor", {"beta2_decay": 1.0}, "beta2_decay should be <= 0 but is: 1.0"),
    ("Adafactor", {"eps": (-1, 0.1)}, "epsilon1 should be >= 0 but is: -1"),
    ("Adafactor", {"d": 0.5}, "Clipping threshold d should be >= 1 but is: 0.5"),
    ("Muon", {"weight_decay": -1}, "weight decay should be >= 0 but is: -1"),
    ("Muon", {"adjust_lr_fn": "x"}, "Adjust learning rate function x is not supported"),
]


@pytest.mark.parametrize(("method", "options", "message"), REFUSED)
def test_wrong_options_are_refused_as_in_pytorch(method, options, message):
    with raises(ValueError, message):
        getattr(optim, method)([leaf([1.0, 2.0])], **options)


CAPTURED = {
    "NAdam": "params, mu_products and state_steps",
    "RMSprop": "params and state_steps",
    "ASGD": "params, mus, etas, and state_steps",
}


@pytest.mark.parametrize("method", CAPTURED)
def test_capturable_is_refused_before_anything_has_changed(method):
    w = leaf(1.0)
    optimizer = getattr(optim, method)([w], capturable=True)
    w.grad = torch.ones(1)
    message = (
        f"If capturable=True, {CAPTURED[method]} must be on supported devices: "
        "['cuda', 'xpu', 'hpu', 'privateuseone', 'xla']."
    )
    with raises(AssertionError, message):
        optimizer.step()
    assert w.tolist() == [1.0]
    assert not optimizer.state


def test_foreach_cannot_be_recorded():
    w = leaf(1.0)
    optimizer = optim.RMSprop([w], foreach=True, differentiable=True)
    w.grad = torch.ones(1)
    with raises(AssertionError, "_foreach ops don't support autograd"):
        optimizer.step()


STATES = {
    "NAdam": ["step", "mu_product", "exp_avg", "exp_avg_sq"],
    "RAdam": ["step", "exp_avg", "exp_avg_sq"],
    "Adamax": ["step", "exp_avg", "exp_inf"],
    "Adagrad": ["step", "sum"],
    "Adadelta": ["step", "square_avg", "acc_delta"],
    "RMSprop": ["step", "square_avg"],
    "Rprop": ["step", "prev", "step_size"],
    "ASGD": ["step", "eta", "mu", "ax"],
    "Adafactor": ["step", "row_var", "col_var"],
    "Muon": ["momentum_buffer"],
}


@pytest.mark.parametrize("method", STATES)
def test_the_state_has_the_names_of_pytorch(method):
    w = leaf([1.0, 2.0])
    optimizer = getattr(optim, method)([w])
    w.grad = torch.ones(1, 2)
    optimizer.step()
    assert list(optimizer.state_dict()["state"][0]) == STATES[method]


def test_adagrad_has_its_state_from_the_start():
    z = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    optimizer = optim.Adagrad([z], initial_accumulator_value=0.5)
    assert repr(optimizer.state_dict()["state"]) == (
        "{0: {'step': tensor(0.), 'sum': tensor([0.5000+0.5000j, 0.5000+0.5000j])}}"
    )


def test_adagrad_starts_a_late_group_at_its_first_step_from_the_common_value():
    late = leaf(1.0)
    optimizer = optim.Adagrad([leaf(1.0)], initial_accumulator_value=0.5)
    optimizer.add_param_group({"params": [late], "initial_accumulator_value": 2.0})
    assert list(optimizer.state_dict()["state"]) == [0]
    late.grad = torch.ones(1)
    optimizer.step()
    assert (
        repr(optimizer.state_dict()["state"][1]) == "{'step': tensor(1.), 'sum': tensor([1.5000])}"
    )


@pytest.mark.parametrize(
    "method, moved, gradient",
    [
        ("Adagrad", 0.9142857193946838 + 2.066666603088379j, -0.00746355 - 0.09185184j),
        ("Adam", 0.914286196231842 + 2.0666663646698j, -0.00746348 - 0.09185104j),
        ("RMSprop", 0.625 + 2.1666667461395264j, -0.09765625 - 0.60185182j),
    ],
)
def test_recorded_steps_take_complex_numbers_as_pairs(method, moved, gradient):
    grad = torch.tensor([3 - 1j], requires_grad=True)
    w = torch.tensor([1 + 2j], requires_grad=True) * 1
    w.retain_grad()
    optimizer = getattr(optim, method)([w], lr=0.1, eps=0.5, differentiable=True)
    w.grad = grad * 1
    optimizer.step()
    assert w.item() == pytest.approx(moved, rel=1e-6)
    found = torch.autograd.grad((w.abs() ** 2).sum(), grad)[0]
    assert found.item() == pytest.approx(gradient, rel=1e-5)


def test_numbers_kept_for_each_parameter_are_kept_for_late_ones_too():
    a, b = leaf(1.0), leaf(1.0)
    optimizer = optim.NAdam([a, b])
    for params in ([a], [a, b], [a, b]):
        optimizer.zero_grad()
        for p in params:
            p.grad = torch.ones(1)
        optimizer.step()
    products = [optimizer.state[p]["mu_product"].item() for p in (a, b)]
    assert products == pytest.approx([0.09121428430080414, 0.2025991976261139], rel=1e-6)


def test_asgd_keeps_its_rate_and_averages():
    w = leaf(1.0)
    optimizer = optim.ASGD([w], lr=0.1, lambd=0.1, alpha=0.5, t0=2)
    for _ in range(4):
        w.grad = torch.ones(1)
        optimizer.step()
    state = optimizer.state[w]
    assert state["eta"].item() == pytest.approx(0.09805807, rel=1e-6)
    assert state["mu"].item() == 0.5
    assert state["ax"].item() == pytest.approx(0.5697035193443298, rel=1e-6)
    assert w.item() == pytest.approx(0.5697035193443298, rel=1e-6)


def test_adafactor_takes_tensors_of_any_rank_and_no_complex_ones():
    w = torch.arange(12.0).reshape(2, 2, 3).requires_grad_()
    optimizer = optim.Adafactor([w])
    w.grad = torch.ones(2, 2, 3)
    optimizer.step()
    state = optimizer.state[w]
    assert state["row_var"].shape == (2, 2, 1)
    assert state["col_var"].shape == (2, 1, 3)
    z = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    optimizer = optim.Adafactor([z])
    z.grad = torch.ones_like(z)
    with raises(RuntimeError, "Adafactor does not support complex parameters"):
        optimizer.step()


MUON = [
    ({"lr": 0.1}, [0.994581, -0.509606, 0.232534, 1.466891, 0.862206, -1.227277]),
    (
        {"lr": 0.1, "nesterov": False, "weight_decay": 0.3, "adjust_lr_fn": "match_rms_adamw"},
        [1.175688, -0.435180, 0.214517, 1.597237, 0.690462, -1.077381],
    ),
]


@pytest.mark.parametrize(("options", "expected"), MUON)
def test_muon_goes_where_pytorch_goes(options, expected):
    w = torch.tensor([[1.5, -0.5], [0.25, 2.0], [0.75, -1.25]], requires_grad=True)
    optimizer = optim.Muon([w], **options)
    for _ in range(5):
        w.grad = w.detach() ** 2 - 1
        optimizer.step()
    assert w.flatten().tolist() == pytest.approx(expected, abs=2e-3)  # it rounds to bfloat16


def test_muon_is_for_matrices():
    message = "Muon only supports 2D parameters whereas we found a parameter with size: "
    with raises(ValueError, message + "torch.Size([3])"):
        optim.Muon([leaf(1.0, 2.0, 3.0)])


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
