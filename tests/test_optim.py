"""All methods: their options, their states, and where five steps lead, as in PyTorch."""

import copy
import pickle

import pytest

import tapegrad as torch
from tapegrad import optim
from tests import needs
from tests.messages import raises
from tests.optim.trajectories import ELEMENTWISE, TRAJECTORIES


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


def start(dtype=None):
    a = torch.tensor([[1.5, -0.5], [0.25, 2.0]], dtype=dtype or torch.float64, requires_grad=True)
    b = torch.tensor([0.75, -1.25], dtype=dtype or torch.float64, requires_grad=True)
    return [a, b]


def walk(optimizer, params, steps=5):
    for _ in range(steps):
        for p in params:
            p.grad = p.detach() ** 2 - 1
        optimizer.step()


def values(params):
    return [x for p in params for x in p.detach().flatten().tolist()]


@pytest.mark.parametrize(("method", "options", "expected"), TRAJECTORIES)
def test_five_steps_lead_where_they_lead_in_pytorch(method, options, expected):
    params = start()
    walk(getattr(torch.optim, method)(params, **options), params)
    assert values(params) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("method", "options", "expected"), TRAJECTORIES)
def test_foreach_and_fused_change_nothing(method, options, expected):
    fusible = method in ("SGD", "Adam", "AdamW", "Adagrad")
    for choice in [{"foreach": True}, {"fused": True}][: 1 + fusible]:
        params = start()
        walk(getattr(torch.optim, method)(params, **options, **choice), params)
        assert values(params) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("method", "options", "expected"), ELEMENTWISE)
def test_a_recorded_step_leads_to_the_same_place(method, options, expected):
    params = [x * 1 for x in start()]
    for p in params:
        p.retain_grad()
    optimizer = getattr(torch.optim, method)(params, **options, differentiable=True)
    walk(optimizer, params)
    assert values(params) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    ("method", "options", "expected"),
    [
        ("SGD", {"lr": 0.1, "weight_decay": 0.3}, [0.97**3, 0.97**3]),
        ("SGD", {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.3}, [0.9139, 0.9139]),
        ("Adam", {"lr": 0.1, "weight_decay": 0.3}, [0.9987, 1.0001]),
        ("RAdam", {"lr": 0.1, "weight_decay": 0.3}, [0.91143154, 0.91143154]),
        ("RMSprop", {"lr": 0.1, "weight_decay": 0.3}, [0.66203008, 0.60332198]),
        ("Adadelta", {"lr": 10.0, "weight_decay": 0.3}, [0.99937714, 1.00037431]),
    ],
)
def test_gradients_pass_through_recorded_steps(method, options, expected):
    start = torch.tensor([1.5, -0.5], dtype=torch.float64, requires_grad=True)
    p = start * 1
    p.retain_grad()
    walk(getattr(torch.optim, method)([p], **options, differentiable=True), [p], steps=3)
    p.sum().backward()
    assert start.grad.tolist() == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(("method", "options", "expected"), ELEMENTWISE)
def test_large_parameters_go_the_way_of_small_ones(method, options, expected):
    n = 140_001  # three blocks
    small = torch.linspace(-1.0, 1.0, n)[:100].clone().requires_grad_()
    other = torch.ones(3, requires_grad=True)
    large = torch.linspace(-1.0, 1.0, n).requires_grad_()
    params = [small, other, large]
    walk(getattr(torch.optim, method)(params, **options), params, steps=3)
    assert torch.equal(small, large[:100])


@pytest.mark.parametrize(("method", "options", "expected"), TRAJECTORIES)
def test_the_order_of_elements_in_memory_does_not_matter(method, options, expected):
    a = torch.tensor([[1.5, 0.25], [-0.5, 2.0]], dtype=torch.float64).t().requires_grad_()
    walk(getattr(torch.optim, method)([a], **options), [a])
    assert values([a]) == pytest.approx(expected[:4], rel=1e-10)


@pytest.mark.parametrize(("method", "options", "expected"), TRAJECTORIES)
def test_a_walk_continues_after_saving_and_loading(method, options, expected):
    params = start()
    optimizer = getattr(torch.optim, method)(params, **options)
    walk(optimizer, params, steps=2)
    again = [p.detach().clone().requires_grad_() for p in params]
    other = getattr(torch.optim, method)(again, **options)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    walk(other, again, steps=3)
    rounded = method in ("NAdam", "ASGD")  # numbers of float32 gain digits, as in PyTorch
    assert values(again) == pytest.approx(expected, rel=1e-7 if rounded else 1e-10)


@pytest.mark.parametrize("method", sorted({method for method, _, _ in TRAJECTORIES}))
def test_an_optimizer_survives_deepcopy_and_pickle(method):
    for duplicate in (copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))):
        params = start()
        optimizer = getattr(torch.optim, method)(params, lr=0.1)
        walk(optimizer, params, steps=2)
        other = duplicate(optimizer)
        copies = other.param_groups[0]["params"]
        assert copies[0] is not params[0]
        walk(optimizer, params, steps=2)
        walk(other, copies, steps=2)
        assert values(copies) == values(params)


def test_a_parameter_without_gradient_stays():
    a, b = start()
    optimizer = torch.optim.Adam([a, b], lr=0.1)
    b.grad = torch.ones(2, dtype=torch.float64)
    optimizer.step()
    assert values([a]) == [1.5, -0.5, 0.25, 2.0]
    assert list(optimizer.state) == [b]


def test_parameters_that_join_late_count_their_own_steps():
    a, b = start()
    optimizer = torch.optim.Adam([a, b], lr=0.1)
    walk(optimizer, [a], steps=2)
    walk(optimizer, [a, b], steps=3)
    assert [float(optimizer.state[p]["step"]) for p in (a, b)] == [5.0, 3.0]
    alone = start()[1]
    walk(torch.optim.Adam([alone], lr=0.1), [alone], steps=3)
    assert values([b]) == values([alone])


def test_the_state_of_adam_has_the_names_and_values_of_pytorch():
    params = start()
    optimizer = torch.optim.Adam(params, lr=0.1, amsgrad=True)
    walk(optimizer, params, steps=1)
    state = optimizer.state_dict()["state"]
    assert list(state) == [0, 1]
    assert list(state[0]) == ["step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"]
    assert repr(state[0]["step"]) == "tensor(1.)"
    assert values([state[0]["exp_avg"]]) == pytest.approx([0.125, -0.075, -0.09375, 0.3])
    assert values([state[1]["exp_avg_sq"]]) == pytest.approx([0.00019140625, 0.00031640625])


def test_plain_sgd_has_no_state():
    params = start()
    optimizer = torch.optim.SGD(params, lr=0.1)
    walk(optimizer, params)
    assert optimizer.state_dict()["state"] == {}


def test_state_changed_by_hand_counts():
    params = start()
    optimizer = torch.optim.SGD(params, lr=0.1, momentum=0.5)
    walk(optimizer, params, steps=1)
    before = values(params)
    for p in params:
        optimizer.state[p]["momentum_buffer"] = torch.zeros_like(p)
        p.grad = torch.ones_like(p)
    optimizer.step()
    assert values(params) == pytest.approx([x - 0.1 for x in before])
    optimizer.state[params[1]]["momentum_buffer"].zero_()
    optimizer.step()
    assert values(params[1:]) == pytest.approx([x - 0.2 for x in before[4:]])


def test_momentum_may_be_switched_on_later():
    (a, _) = start()
    optimizer = torch.optim.SGD([a], lr=0.1)
    walk(optimizer, [a], steps=1)
    optimizer.param_groups[0]["momentum"] = 0.9
    walk(optimizer, [a], steps=1)
    assert list(optimizer.state[a]) == ["momentum_buffer"]


def test_options_of_a_group_may_be_changed_and_be_tensors():
    (a, b) = start()
    optimizer = torch.optim.SGD([{"params": [a]}, {"params": [b], "lr": torch.tensor(0.5)}], lr=0.1)
    for p in (a, b):
        p.grad = torch.ones_like(p)
    optimizer.step()
    optimizer.param_groups[0]["lr"] = 1.0
    optimizer.step()
    assert values([a]) == pytest.approx([0.4, -1.6, -0.85, 0.9])
    assert values([b]) == pytest.approx([-0.25, -2.25])


def test_complex_parameters_are_pairs_of_real_ones():
    z = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    optimizer = torch.optim.Adam([z])
    z.grad = torch.full((2,), 1 + 2j)
    optimizer.step()
    state = optimizer.state[z]
    assert repr(state["exp_avg"]) == "tensor([0.1000+0.2000j, 0.1000+0.2000j])"
    assert repr(state["exp_avg_sq"]) == "tensor([0.0010+0.0040j, 0.0010+0.0040j])"
    assert repr(z.detach()) == "tensor([0.9990-0.0010j, 0.9990-0.0010j])"


@pytest.mark.parametrize(("dtype", "expected"), [("float16", 0.7998046875), ("bfloat16", 0.796875)])
def test_short_floats_keep_their_dtype(dtype, expected):
    if dtype == "bfloat16":
        needs.package("ml_dtypes", "has bfloat16", extra="test")
    kind = getattr(torch, dtype)
    w = torch.ones(3, dtype=kind, requires_grad=True)
    optimizer = torch.optim.Adam([w], lr=0.1)
    w.grad = torch.full((3,), 0.3, dtype=kind)
    optimizer.step()
    optimizer.step()
    assert w.dtype == optimizer.state[w]["exp_avg"].dtype == kind
    assert values([w]) == pytest.approx([expected] * 3, rel=1e-2)


def test_a_step_is_a_write_that_a_graph_notices():
    w = torch.ones(2, requires_grad=True)
    loss = (w * w).sum()
    loss.backward(retain_graph=True)
    torch.optim.SGD([w], lr=0.1).step()
    assert w._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as error:
        loss.backward()
    assert "SGD.step" in error.value.__notes__[0]


def test_a_model_may_be_converted_between_steps():
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.ones(3, 2, dtype=model.weight.dtype)).sum().backward()
        optimizer.step()
        model.double()
    assert model.weight.dtype is torch.float64
    optimizer.zero_grad()
    model(torch.full((3, 2), 1e-9, dtype=torch.float64)).sum().backward()
    optimizer.step()
    state = optimizer.state[model.weight]
    assert state["exp_avg"].dtype is torch.float64
    assert state["step"].item() == 3.0
