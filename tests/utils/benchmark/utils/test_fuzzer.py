"""Random inputs: PyTorch's sizes, orders in memory and numbers for a seed."""

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.utils.benchmark import FuzzedParameter, FuzzedTensor, Fuzzer, ParameterAlias
from tests.messages import raises


def test_the_same_tensors_are_drawn_as_by_pytorch():
    bounds = {"minval": 1, "maxval": 10_000, "distribution": "loguniform"}
    fuzzer = Fuzzer(
        parameters=[FuzzedParameter("k0", **bounds), FuzzedParameter("k1", **bounds)],
        tensors=[
            FuzzedTensor(
                "x",
                size=("k0", "k1"),
                min_elements=128,
                max_elements=10_000_000,
                probability_contiguous=0.6,
            )
        ],
        seed=0,
    )
    drawn = list(fuzzer.take(5))
    assert [(params["k0"], params["k1"]) for _, _, params in drawn] == [
        (725, 257),
        (49, 383),
        (34, 1468),
        (187, 5039),
        (2140, 1296),
    ]
    orders = [properties["x"]["order"].tolist() for _, properties, _ in drawn]
    assert orders == [[0, 1]] * 4 + [[1, 0]]
    assert drawn[4][0]["x"].stride() == (1, 2140)
    assert drawn[0][0]["x"][0, :2].tolist() == pytest.approx([0.7821, 0.0536], abs=1e-4)
    assert fuzzer.rejection_rate == pytest.approx(2 / 7)


def test_sizes_steps_and_aliases_are_parameters():
    fuzzer = Fuzzer(
        parameters=[
            FuzzedParameter("d", distribution={2: 0.5, 3: 0.5}),
            [FuzzedParameter(f"k{i}", 2, 9, "uniform") for i in range(3)],
            FuzzedParameter("step", distribution={ParameterAlias("d"): 1.0}),
        ],
        tensors=[
            FuzzedTensor(
                "y",
                size=("k0", "k1", "k2"),
                steps=("step", 1, 1),
                dim_parameter="d",
                dtype=torch.int64,
            )
        ],
        constraints=[lambda params: params["k0"] > 3],
        seed=3,
    )
    for tensors, properties, params in fuzzer.take(6):
        y, known = tensors["y"], properties["y"]
        assert y.shape == tuple(params[f"k{i}"] for i in range(params["d"]))
        assert params["step"] == params["d"] and known["steps"][0] == params["d"]
        assert params["k0"] > 3 and known["numel"] == y.numel()
        assert y.dtype == torch.int64 and 1 <= y.min() and y.max() < 127


def test_what_cannot_be_drawn_is_refused():
    with raises(AssertionError, "Unknown distribution: bogus"):
        FuzzedParameter("k", 1, 2, "bogus")
    with raises(AssertionError, "Distribution is not normalized"):
        FuzzedParameter("k", distribution={1: 0.5, 2: 0.2})
    n = FuzzedParameter("n", 1, 2, "uniform")
    with raises(ValueError, "Duplicate names in parameters and tensors: {'n'}"):
        Fuzzer([n], [FuzzedTensor("n", size=(1,))])
    never = Fuzzer([n], [], constraints=[lambda params: False], seed=0)
    with raises(ValueError, "Failed to generate a set of valid parameters."):
        next(never.take(1))
    assert {n.sample(np.random.RandomState(i)) for i in range(9)} == {1, 2}
