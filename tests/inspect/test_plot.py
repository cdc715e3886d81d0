"""`inspect.plot`: each function returns the axes it has drawn on."""

import math

import numpy as np
import pytest

import tapegrad as torch
from tests import needs

matplotlib = needs.package("matplotlib", "draws")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

from tapegrad.inspect import plot  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def test_losses_are_drawn_over_the_steps_and_smoothed():
    ax = plot.losses([torch.tensor(4.0), 2.0, 0.0], smooth=2)
    pale, mean = ax.lines
    assert pale.get_ydata().tolist() == [4, 2, 0]
    assert mean.get_xdata().tolist() == [2, 3] and mean.get_ydata().tolist() == [3, 1]
    assert plot.losses([1.0, 0.1], log=True, ax=ax) is ax and ax.get_yscale() == "log"


def test_losses_may_be_those_that_backward_was_called_on():
    w = torch.ones(2, requires_grad=True)
    (line,) = plot.losses([(w * n).sum() for n in (3, 2)]).lines  # no warning, which is an error
    assert line.get_ydata().tolist() == [6, 4] and line.get_marker() == "."


def test_of_many_layers_some_are_named_and_colours_tell_the_depth():
    ax = plot.gradients([{f"{i}.weight": 1.0 for i in range(30)}])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "0", "4", "8", "12", "16", "20", "24", "28", "29",
    ]  # fmt: skip
    brightness = [sum(line.get_color()[:3]) for line in ax.lines]
    assert len(ax.lines) == 30 and brightness == sorted(brightness)


def test_a_pole_does_not_flatten_the_curves():
    low, high = plot.function(torch.tan, -3, 3, derivatives=1).get_ylim()
    assert -200 < low < -1 and 10 < high < 200
    assert plot.function(torch.sin, 0, 6).get_ylim() == pytest.approx((-1.1, 1.1), abs=1e-3)
    for line in plot.function(lambda x: torch.log(-1 - x), 0, 1).lines:
        assert np.isnan(line.get_ydata()).all()  # of the derivatives too: it is nowhere defined


def test_gradients_are_drawn_by_layer_over_steps():
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1))
    norms = plot.GradientNorms(model)
    for _ in range(3):
        model.zero_grad()
        model(torch.ones(1, 2)).sum().backward()
        norms()
    ax = plot.gradients(norms)
    assert [line.get_label() for line in ax.lines] == ["0", "2"]
    last = model[2]
    expected = math.hypot(float(last.weight.grad.norm()), float(last.bias.grad.norm()))
    np.testing.assert_allclose(ax.lines[1].get_ydata(), [expected] * 3, rtol=1e-6)
    model[0].requires_grad_(False)
    model.zero_grad()
    model(torch.ones(1, 2)).sum().backward()
    norms()
    assert math.isnan(plot.gradients(norms).lines[0].get_ydata()[-1])


def test_a_function_is_drawn_with_its_derivatives():
    ax = plot.function(lambda x: x**3, -1, 1, derivatives=3)
    x = ax.lines[0].get_xdata()
    for line, expected in zip(ax.lines, [x**3, 3 * x**2, 6 * x, 6 + 0 * x], strict=True):
        np.testing.assert_allclose(line.get_ydata(), expected, atol=1e-12)
    ax = plot.function(lambda x: torch.full_like(x, 2.0), 0, 1)
    assert [set(line.get_ydata()) for line in ax.lines] == [{2.0}, {0.0}, {0.0}]
    with pytest.raises(RuntimeError, match=r"f gave a tensor of shape \[\] for one of shape"):
        plot.function(torch.sum, 0, 1)


def test_saliency_is_the_size_of_the_gradient():
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(8, 2, bias=False))
    image = torch.zeros(2, 2, 2)
    ax = plot.saliency(model, image, target=1)
    expected = model[1].weight[1].detach().numpy().reshape(2, 2, 2)
    np.testing.assert_allclose(ax.images[0].get_array(), abs(expected).max(axis=0))
    assert not image.requires_grad and model[1].weight.grad is None
    bars = plot.saliency(torch.nn.Linear(3, 2), torch.ones(3)).patches
    assert len(bars) == 3
    with pytest.raises(RuntimeError, match="was given 4"):
        plot.saliency(model, torch.zeros(4, 2, 2, 2))
