"""Optimizers and schedulers step by step beside PyTorch's, with options drawn at random.

In the middle of each run both continue from the same file, written by one of the two libraries.
Everything here is skipped where PyTorch is not installed (the extra `oracle` brings it).
"""

import io
import random
import warnings

import numpy as np
import pytest

import tapegrad
from tests.tolerance import tolerance

COMMON = {"weight_decay": [0, 0.1], "maximize": [False, True], "foreach": [None, True, False]}
ADAM = {**COMMON, "betas": [(0.9, 0.999), (0.5, 0.7)], "eps": [1e-8, 1e-2]}
OPTIONS = {
    "SGD": {**COMMON, "momentum": [0, 0.9], "dampening": [0, 0.3]},
    "Adam": {**ADAM, "amsgrad": [False, True], "decoupled_weight_decay": [False, True]},
    "AdamW": {**ADAM, "amsgrad": [False, True]},
    "NAdam": {**ADAM, "momentum_decay": [4e-3, 0.1], "decoupled_weight_decay": [False, True]},
    "RAdam": {**ADAM, "decoupled_weight_decay": [False, True]},
    "Adamax": ADAM,
    "Adagrad": {**COMMON, "lr_decay": [0, 0.1], "initial_accumulator_value": [0, 0.1]},
    "Adadelta": {**COMMON, "rho": [0.9, 0.5], "eps": [1e-6, 1e-2]},
    "RMSprop": {**COMMON, "alpha": [0.99, 0.5], "momentum": [0, 0.9], "centered": [False, True]},
    "Rprop": {"maximize": [False, True], "step_sizes": [(1e-6, 50), (1e-2, 0.2)]},
    # With foreach=True PyTorch rounds the rates of ASGD otherwise: they are kept in float32.
    "ASGD": {**COMMON, "foreach": [None, False], "lambd": [1e-4, 0.1], "t0": [1e6, 1]},
    "Adafactor": {**COMMON, "d": [1.0, 2.0], "beta2_decay": [-0.8, -0.5]},
}
SHAPES = [(), (1,), (3,), (2, 3), (3, 2, 2)]
SCHEDULERS = {
    "StepLR": {"step_size": [1, 3], "gamma": [0.1, 0.9]},
    "LinearLR": {"start_factor": [0.2, 1.0], "end_factor": [1.0, 0.5], "total_iters": [1, 4]},
    "CosineAnnealingLR": {"T_max": [1, 4, 50], "eta_min": [0, 0.01]},
    "CosineAnnealingWarmRestarts": {"T_0": [1, 3], "T_mult": [1, 2]},
    "PolynomialLR": {"total_iters": [1, 5], "power": [1, 2.0]},
    "OneCycleLR": {"max_lr": [0.3], "total_steps": [20], "three_phase": [False, True]},
}


def drawn(rng, table):
    return {name: rng.choice(values) for name, values in table.items()}


def numbers(x):
    """Tensors as arrays, inside dicts and lists."""
    if isinstance(x, dict):
        return {key: numbers(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [numbers(value) for value in x]
    return x.detach().numpy() if hasattr(x, "detach") else x


def assert_same(ours, theirs):
    assert type(ours) is type(theirs)
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        ours, theirs = list(ours.values()), list(theirs.values())
    if isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert_same(a, b)
    elif isinstance(theirs, np.ndarray):
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        relative, absolute = tolerance(theirs.dtype, 10)
        np.testing.assert_allclose(ours, theirs, rtol=relative, atol=absolute)
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-15)
    else:
        assert ours == theirs


class Run:
    """One library's side of a run."""

    def __init__(self, torch, method, options, schedule, values):
        self.torch = torch
        self.params = [torch.tensor(x, requires_grad=True) for x in values]
        rest = self.params[1:]
        groups = [{"params": self.params[:1]}, {"params": rest, "lr": 0.2}] if rest else self.params
        self.optimizer = getattr(torch.optim, method)(groups, lr=0.1, **options)
        name, arguments = schedule
        self.scheduler = getattr(torch.optim.lr_scheduler, name)(self.optimizer, **arguments)

    def step(self, grads):
        for param, grad in zip(self.params, grads, strict=True):
            param.grad = None if grad is None else self.torch.tensor(grad)
        self.optimizer.step()
        self.scheduler.step()

    def state(self):
        """Everything that a checkpoint has."""
        return [self.optimizer.state_dict(), self.scheduler.state_dict()]

    def saved(self):
        file = io.BytesIO()
        self.torch.save(self.state(), file)
        return file.getvalue()

    def load(self, file):
        optimizer, scheduler = self.torch.load(io.BytesIO(file))
        self.optimizer.load_state_dict(optimizer)
        self.scheduler.load_state_dict(scheduler)


@pytest.mark.parametrize("method", OPTIONS)
@pytest.mark.parametrize("seed", range(12))
def test_every_step_is_pytorchs_and_files_go_both_ways(pytorch, method, seed):
    rng, normal = random.Random(f"{method}{seed}"), np.random.default_rng(seed).normal
    shapes = [rng.choice(SHAPES) for _ in range(rng.randint(1, 4))]
    dtype = rng.choice(["f8", "f8", "f4"])
    values = [np.asarray(normal(size=shape), dtype) for shape in shapes]
    options = drawn(rng, OPTIONS[method])
    name = rng.choice(sorted(SCHEDULERS))
    arguments = drawn(rng, SCHEDULERS[name])
    if name == "OneCycleLR":
        arguments["cycle_momentum"] = method == "Adam"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sides = [
            Run(torch, method, options, (name, arguments), values) for torch in (tapegrad, pytorch)
        ]
        assert repr(sides[0].optimizer) == repr(sides[1].optimizer)
        for i in range(6):
            grads = [
                None if rng.random() < 0.2 else np.asarray(normal(size=shape), dtype)
                for shape in shapes
            ]
            for side in sides:
                side.step(grads)
            ours, theirs = (numbers([side.params, side.state()]) for side in sides)
            assert_same(ours, theirs)
            if i == 2:
                file = rng.choice(sides).saved()
                for side in sides:
                    side.load(file)
