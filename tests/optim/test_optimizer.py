"""The base class: groups, what they may hold, saving, hooks, printing. Messages are PyTorch's."""

import copy

import pytest

import tapegrad as torch
from tapegrad import nn, optim
from tests.messages import raises


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


# --- hooks of all optimizers ---------------------------------------------------------------------


def test_hooks_of_all_optimizers_lie_outside_of_those_of_one():
    seen = []
    optimizer = optim.SGD([leaf(1.0)])
    optimizer.register_step_pre_hook(lambda *_: seen.append("before"))
    optimizer.register_step_post_hook(lambda *_: seen.append("after"))
    first = optim.optimizer.register_optimizer_step_pre_hook(lambda *_: seen.append("first"))
    last = optim.optimizer.register_optimizer_step_post_hook(lambda *_: seen.append("last"))
    optimizer.step()
    first.remove()
    last.remove()
    optimizer.step()
    assert seen == ["first", "before", "after", "last", "before", "after"]


# --- what it may be made of ----------------------------------------------------------------------


def test_an_empty_list_is_refused():
    with raises(ValueError, "optimizer got an empty parameter list"):
        optim.SGD([])


def test_a_single_tensor_is_refused():
    message = (
        "params argument given to the optimizer should be an iterable of Tensors or dicts, "
        "but got torch.FloatTensor"
    )
    with raises(TypeError, message):
        optim.SGD(leaf(1.0))


def test_what_is_no_tensor_is_refused():
    message = "optimizer can only optimize Tensors, but one of the params is int"
    with raises(TypeError, message):
        optim.SGD([3])


def test_a_computed_tensor_is_refused():
    with raises(ValueError, "can't optimize a non-leaf Tensor"):
        optim.SGD([leaf(1.0) * 2])


def test_a_set_in_a_group_is_refused():
    message = (
        "optimizer parameters need to be organized in ordered collections, but the ordering of "
        "tensors in sets will change between runs. Please use a list instead."
    )
    with raises(TypeError, message):
        optim.SGD([{"params": {leaf(1.0)}}])


def test_a_group_without_params_is_refused():
    with pytest.raises(KeyError, match="params"):
        optim.SGD([{"x": 3}])


def test_a_parameter_in_two_groups_is_refused():
    p = leaf(1.0)
    message = "some parameters appear in more than one parameter group"
    with raises(ValueError, message):
        optim.SGD([{"params": [p]}, {"params": [p]}])
    optimizer = optim.SGD([p])
    with raises(ValueError, message):
        optimizer.add_param_group({"params": [p]})
    assert len(optimizer.param_groups) == 1


def test_a_parameter_twice_in_a_group_warns():
    p = leaf(1.0)
    with pytest.warns(UserWarning, match="contains a parameter group with duplicate parameters"):
        optim.SGD([p, p])


@pytest.mark.filterwarnings("ignore:optimizer contains a parameter group with duplicate")
def test_a_parameter_twice_in_a_group_is_stepped_twice():
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.tensor([3.0], requires_grad=True)
    optimizer = optim.Adam([a, b, a], lr=0.1)
    for _ in range(2):
        a.grad, b.grad = torch.ones(2), torch.ones(1)
        optimizer.step()
    assert torch.allclose(a, torch.tensor([0.6, 1.6]))
    assert torch.allclose(b, torch.tensor([2.8]))
    saved = optimizer.state_dict()
    assert saved["param_groups"][0]["params"] == [2, 1, 2]
    assert {number: entry["step"].item() for number, entry in saved["state"].items()} == {
        2: 4,
        1: 2,
    }


def test_parameters_that_share_memory_are_stepped_in_turn():
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for parameter in model.parameters():
        parameter.grad = torch.zeros(2, 2)
    optimizer.step()
    model[1].weight.data = model[0].weight.data  # tied, though two parameters
    before = model[0].weight.detach().clone()
    for _ in range(2):
        for parameter in model.parameters():
            parameter.grad = torch.ones(2, 2)
        optimizer.step()
    assert torch.allclose(model[0].weight, before - 0.4)
    assert torch.equal(model[0].weight, model[1].weight)


def test_neighbours_in_one_memory_are_stepped_together():
    memory = torch.arange(6.0)
    params = [part.requires_grad_() for part in memory.split(2)]
    optimizer = optim.SGD(params, lr=1.0, momentum=0.9)
    for parameter in params:
        parameter.grad = torch.ones(2)
    optimizer.step()
    optimizer.step()
    assert torch.allclose(memory, torch.arange(6.0) - 2.9)


def test_a_group_must_be_a_dict():
    with raises(TypeError, "param_group must be a dict, but got <class 'int'>"):
        optim.SGD([leaf(1.0)]).add_param_group(3)


@pytest.mark.parametrize(
    ("method", "options", "error", "message"),
    [
        ("SGD", {"lr": -1}, ValueError, "Invalid learning rate: -1"),
        ("SGD", {"momentum": -1}, ValueError, "Invalid momentum value: -1"),
        ("SGD", {"weight_decay": -1}, ValueError, "Invalid weight_decay value: -1"),
        (
            "SGD",
            {"nesterov": True},
            ValueError,
            "Nesterov momentum requires a momentum and zero dampening",
        ),
        (
            "SGD",
            {"nesterov": True, "momentum": 0.9, "dampening": 1},
            ValueError,
            "Nesterov momentum requires a momentum and zero dampening",
        ),
        (
            "SGD",
            {"fused": True, "foreach": True},
            RuntimeError,
            "`fused` and `foreach` cannot be `True` together.",
        ),
        (
            "SGD",
            {"fused": True, "differentiable": True},
            RuntimeError,
            "`fused` does not support `differentiable`",
        ),
        (
            "SGD",
            {"bogus": 3},
            TypeError,
            "SGD.__init__() got an unexpected keyword argument 'bogus'",
        ),
        ("Adam", {"lr": -1}, ValueError, "Invalid learning rate: -1"),
        ("Adam", {"eps": -1}, ValueError, "Invalid epsilon value: -1"),
        ("Adam", {"betas": (1.0, 0.9)}, ValueError, "Invalid beta parameter at index 0: 1.0"),
        ("Adam", {"betas": (0.9, 1.0)}, ValueError, "Invalid beta parameter at index 1: 1.0"),
        ("Adam", {"betas": (-0.1, 0.9)}, ValueError, "Invalid beta parameter at index 0: -0.1"),
        ("Adam", {"betas": 0.9}, TypeError, "'float' object is not subscriptable"),
        ("AdamW", {"weight_decay": -1}, ValueError, "Invalid weight_decay value: -1"),
        (
            "AdamW",
            {"decoupled_weight_decay": True},
            TypeError,
            "AdamW.__init__() got an unexpected keyword argument 'decoupled_weight_decay'",
        ),
    ],
)
def test_arguments_out_of_range_are_refused(method, options, error, message):
    with raises(error, message):
        getattr(optim, method)([leaf(1.0)], **options)


def test_a_learning_rate_may_be_a_tensor_of_one_element():
    with raises(ValueError, "Tensor lr must be 1-element"):
        optim.SGD([leaf(1.0)], lr=torch.tensor([0.1, 0.2]))
    message = "lr as a Tensor is not supported for capturable=False and foreach=True"
    with raises(ValueError, message):
        optim.Adam([leaf(1.0)], lr=torch.tensor(0.1), foreach=True)
    p = leaf(1.0)
    p.grad = torch.ones(1)
    optim.SGD([p], lr=torch.tensor(0.5)).step()
    assert p.tolist() == [0.5]


def test_betas_are_both_numbers_or_both_tensors():
    with raises(ValueError, "betas must be either both floats or both Tensors"):
        optim.Adam([leaf(1.0)], betas=(torch.tensor(0.9), 0.99))


def test_capturable_is_for_gpus():
    p = leaf(1.0)
    optimizer = optim.Adam([p], capturable=True)
    p.grad = torch.ones(1)
    with pytest.raises(
        AssertionError, match=r"^If capturable=True, params and state_steps must be"
    ):
        optimizer.step()
    assert p.tolist() == [1.0]


# --- groups and names ----------------------------------------------------------------------------


def test_options_of_a_group_win_over_the_defaults():
    a, b = leaf(1.0), leaf(2.0)
    optimizer = optim.SGD([{"params": a, "lr": 0.3}, {"params": [b], "momentum": 0.9}], lr=0.1)
    assert [g["lr"] for g in optimizer.param_groups] == [0.3, 0.1]
    assert [g["momentum"] for g in optimizer.param_groups] == [0, 0.9]


def test_names_are_kept_where_pairs_are_given():
    layer = nn.Linear(2, 1)
    optimizer = optim.SGD(layer.named_parameters())
    group = optimizer.param_groups[0]
    assert list(group)[:3] == ["params", "param_names", "lr"]
    assert group["param_names"] == ["weight", "bias"]
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]


def test_names_are_given_for_all_or_for_none():
    a, b = leaf(1.0), leaf(2.0)
    message = "all optimizer params should be with/without names. Some param names are missing"
    with raises(ValueError, message):
        optim.SGD([("a", a), b])
    message = (
        "all optimizer param groups should be with/without names. cannot add param group without "
        "names to the optimizer"
    )
    with raises(ValueError, message):
        optim.SGD([("a", a)]).add_param_group({"params": [b]})


def test_it_prints_as_in_pytorch():
    optimizer = optim.SGD([{"params": leaf(1.0)}, {"params": leaf(2.0), "lr": torch.tensor(0.5)}])
    assert repr(optimizer) == (
        "SGD (\n"
        "Parameter Group 0\n"
        "    dampening: 0\n"
        "    differentiable: False\n"
        "    foreach: None\n"
        "    fused: None\n"
        "    lr: 0.001\n"
        "    maximize: False\n"
        "    momentum: 0\n"
        "    nesterov: False\n"
        "    weight_decay: 0\n"
        "\n"
        "Parameter Group 1\n"
        "    dampening: 0\n"
        "    differentiable: False\n"
        "    foreach: None\n"
        "    fused: None\n"
        "    lr: 0.5\n"
        "    maximize: False\n"
        "    momentum: 0\n"
        "    nesterov: False\n"
        "    weight_decay: 0\n"
        ")"
    )


# --- stepping ------------------------------------------------------------------------------------


def test_a_closure_is_called_with_grad_enabled_and_its_value_returned():
    w = leaf(1.0)
    optimizer = optim.SGD([w], lr=0.5)

    def closure():
        optimizer.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        assert optimizer.step(closure).item() == 1.0
    assert w.tolist() == [0.0]
    assert optimizer.step() is None


def test_zero_grad_forgets_gradients_or_fills_them_with_zeros():
    w = leaf(1.0, 2.0)
    optimizer = optim.SGD([w])
    w.sum().backward()
    grad = w.grad
    optimizer.zero_grad(set_to_none=False)
    assert w.grad is grad
    assert grad.tolist() == [0.0, 0.0]
    optimizer.zero_grad()
    assert w.grad is None


def test_a_method_of_ones_own_is_one_function():
    class Sign(optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        def update(self, xp, param, grad, state, *, lr, **_):
            param -= lr * xp.sign(grad)

    w = leaf(1.0, 2.0)
    w.grad = torch.tensor([3.0, -4.0])
    Sign([w], lr=0.5).step()
    assert w.tolist() == [0.5, 2.5]


def test_a_method_may_write_its_step_itself():
    class Halve(optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {})

        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p.mul_(0.5)

    w = leaf(1.0, 2.0)
    optimizer = Halve([w])
    seen = []
    optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append(args))
    optimizer.step()
    assert w.tolist() == [0.5, 1.0]
    assert seen == [(optimizer,)]


def test_the_base_class_alone_cannot_step():
    w = leaf(1.0)
    w.grad = torch.ones(1)
    with pytest.raises(NotImplementedError):
        optim.Optimizer([w], {}).step()


# --- hooks ---------------------------------------------------------------------------------------


def test_step_hooks_see_the_arguments_and_may_change_them():
    w = leaf(1.0)
    optimizer = optim.SGD([w])
    seen = []
    optimizer.register_step_pre_hook(lambda o, args, kwargs: ((o, lambda: 7), {}))
    handle = optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append(len(args)))
    assert optimizer.step() == 7
    assert seen == [2]
    handle.remove()
    optimizer.step()
    assert seen == [2]


def test_a_step_hook_that_returns_nonsense_is_refused():
    optimizer = optim.SGD([leaf(1.0)])
    optimizer.register_step_pre_hook(lambda o, args, kwargs: 3)
    with pytest.raises(RuntimeError, match=r"must return None or a tuple of \(new_args, new_kwarg"):
        optimizer.step()


def test_hooks_around_saving_and_loading_run_in_order():
    optimizer = optim.SGD([leaf(1.0)])
    seen = []
    optimizer.register_state_dict_pre_hook(lambda o: seen.append("save"))
    optimizer.register_state_dict_post_hook(lambda o, state: seen.append("saved"))
    optimizer.register_load_state_dict_pre_hook(lambda o, state: seen.append("load"))
    optimizer.register_load_state_dict_post_hook(lambda o: seen.append("loaded"))
    optimizer.load_state_dict(optimizer.state_dict())
    assert seen == ["save", "saved", "load", "loaded"]


# --- saving --------------------------------------------------------------------------------------


def test_a_state_must_have_the_same_groups():
    a, b = leaf(1.0), leaf(2.0)
    optimizer = optim.SGD([{"params": [a]}, {"params": [b]}])
    before = copy.deepcopy(optimizer.param_groups)
    with raises(ValueError, "loaded state dict has a different number of parameter groups"):
        optimizer.load_state_dict(optim.SGD([a]).state_dict())
    other = optim.SGD([{"params": [a, leaf(3.0)]}, {"params": [b]}], lr=0.7)
    message = (
        "loaded state dict contains a parameter group that doesn't match the size of optimizer's "
        "group"
    )
    with raises(ValueError, message):
        optimizer.load_state_dict(other.state_dict())
    assert [g["lr"] for g in optimizer.param_groups] == [g["lr"] for g in before]


def test_loaded_state_takes_the_dtype_of_its_parameter_but_counts_stay():
    single = leaf(1.0)
    single.grad = torch.ones(1)
    optimizer = optim.Adam([single])
    optimizer.step()
    double = torch.ones(1, dtype=torch.float64, requires_grad=True)
    other = optim.Adam([double], lr=0.5)
    other.load_state_dict(optimizer.state_dict())
    state = other.state[double]
    assert state["exp_avg"].dtype is torch.float64
    assert state["step"].dtype is torch.float32
    assert other.param_groups[0]["lr"] == 0.001


def test_a_count_saved_as_a_number_is_understood():
    w = leaf(1.0)
    w.grad = torch.ones(1)
    optimizer = optim.Adam([w])
    saved = {
        "state": {0: {"step": 3, "exp_avg": torch.ones(1), "exp_avg_sq": torch.ones(1)}},
        "param_groups": optimizer.state_dict()["param_groups"],
    }
    optimizer.load_state_dict(saved)
    assert repr(optimizer.state[w]["step"]) == "tensor(3.)"
    optimizer.step()
    assert repr(optimizer.state[w]["step"]) == "tensor(4.)"


def test_the_dict_is_apart_from_the_groups():
    optimizer = optim.SGD([leaf(1.0)])
    optimizer.state_dict()["param_groups"][0]["lr"] = 77
    assert optimizer.param_groups[0]["lr"] == 0.001


class Bare(torch.optim.Optimizer):
    """An optimizer that makes its groups itself."""

    def __init__(self, params):
        self.param_groups, self.state, self.defaults = [{"params": list(params)}], {}, {}

    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.data.add_(p.grad, alpha=-0.1)
        return "stepped"


def test_an_optimizer_without_the_constructor_of_its_base_steps():
    w = torch.ones(2, requires_grad=True)
    optimizer = Bare([w])
    (w * 2).sum().backward()
    assert optimizer.step() == "stepped"
    assert w.tolist() == pytest.approx([0.8, 0.8])
    optimizer.zero_grad()
    assert w.grad is None


def test_a_class_that_does_without_the_constructor_still_steps():
    class Own(torch.optim.SGD):
        def __init__(self, params):
            options = dict.fromkeys(("foreach", "fused"))
            options |= dict.fromkeys(("nesterov", "maximize", "differentiable"), False)
            options |= {"lr": 0.5, "momentum": 0, "dampening": 0, "weight_decay": 0}
            self.param_groups = [{"params": list(params), **options}]
            self.state, self.defaults = {}, {}

    p = torch.nn.Parameter(torch.ones(2))
    p.grad = torch.ones(2)
    optimizer = Own([p])
    optimizer.step()
    assert p.tolist() == [0.5, 0.5] and not hasattr(optimizer, "nothing")


# --- fused steps ---------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [optim.SGD, optim.Adam, optim.AdamW, optim.Adagrad])
def test_fused_steps_are_refused_for_complex_parameters_with_a_gradient(make):
    real, z = torch.zeros(2, requires_grad=True), torch.zeros(2, dtype=torch.complex64)
    optimizer = make([z, real], lr=0.1, fused=True)
    real.grad = torch.ones(2)
    optimizer.step()
    before = real.tolist()
    z.grad = torch.ones(2, dtype=torch.complex64)
    message = "`fused=True` requires all the params to be floating point Tensors of supported"
    with pytest.raises(RuntimeError, match=message):
        optimizer.step()
    assert real.tolist() == before and z.tolist() == [0, 0]
