"""Plots of training and of functions, on matplotlib's axes (`pip install tapegrad[plot]`).

Each function draws on `ax`, or on new axes, and returns the axes.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

import tapegrad as torch
from tapegrad.core.annotations import Any, ModuleLike, Tensor
from tapegrad.core.errors import advised, runtime_error

_MOST_NAMED = 8  # layers in a legend

__all__ = ["GradientNorms", "function", "gradients", "losses", "saliency"]


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise advised(
            ImportError("tapegrad.inspect.plot needs matplotlib"), "pip install tapegrad[plot]"
        ) from error
    return pyplot.subplots(figsize=(6, 3.5), layout="constrained")[1]


def _over_steps(ax: Any, n: int) -> str:
    """Axes of which one counts steps; the mark of a point where there are few."""
    ax.set_xlabel("step")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.grid(alpha=0.25)
    return "." if n < 50 else ""


def losses(
    values: Sequence[Any] | Mapping[str, Sequence[Any]],
    *,
    smooth: int = 1,
    log: bool = False,
    ax: Any = None,
) -> Any:
    """Losses over the steps of training.

    Args:
        values: numbers or tensors of one element, in order; or several such by name.
        smooth: each point of the line is the mean of so many steps; the steps themselves then
            stand behind it, pale.
        log: a logarithmic scale.
        ax: axes to draw on.

    >>> ax = tapegrad.inspect.plot.losses({"train": [2.0, 1.0, 0.5], "test": [2.1, 1.3, 1.0]})
    >>> [line.get_label() for line in ax.lines]
    ['train', 'test']
    """
    ax = _axes(ax)
    named = values if isinstance(values, Mapping) else {"loss": values}
    for name, series in named.items():
        numbers = np.array([_number(value) for value in series])
        mark = _over_steps(ax, len(numbers))
        steps = np.arange(1, len(numbers) + 1)
        if smooth > 1 and len(numbers) >= smooth:
            (pale,) = ax.plot(steps, numbers, alpha=0.3, linewidth=1)
            mean = np.convolve(numbers, np.full(smooth, 1 / smooth), "valid")
            ax.plot(steps[smooth - 1 :], mean, color=pale.get_color(), label=name)
        else:
            ax.plot(steps, numbers, label=name, marker=mark)
    if log:
        ax.set_yscale("log")
    if isinstance(values, Mapping):
        ax.legend()
    ax.set_ylabel("loss")
    return ax


def _number(value: Any) -> float:
    return float(value.detach() if hasattr(value, "detach") else value)


class GradientNorms:
    """The norms of a model's gradients, step by step: call it after each `backward`.

    Attributes:
        steps: for each call, the norm of each parameter's gradient by the parameter's name; those
            that have none are left out.

    >>> model = torch.nn.Linear(2, 1)
    >>> norms = tapegrad.inspect.plot.GradientNorms(model)
    >>> model(torch.ones(1, 2)).sum().backward()
    >>> norms()
    >>> norms.steps[0]["bias"]
    1.0
    """

    def __init__(self, model: ModuleLike):
        self.model = model
        self.steps: list[dict[str, float]] = []

    def __call__(self) -> None:
        self.steps.append(
            {
                name: float(param.grad.detach().norm())
                for name, param in self.model.named_parameters()
                if param.grad is not None
            }
        )


def gradients(norms: GradientNorms | Sequence[Mapping[str, float]], *, ax: Any = None) -> Any:
    """The norms of gradients by layer over steps, on a logarithmic scale.

    A layer's norm is that of all its own parameters together; the first layers are dark, the last
    ones light, and of many only some are named. Lines that part over the steps are layers whose
    gradients vanish or explode.

    Args:
        norms: a `GradientNorms`, or its `steps`.
        ax: axes to draw on.

    >>> ax = tapegrad.inspect.plot.gradients([{"0.weight": 3.0, "0.bias": 4.0, "2.weight": 1.0}])
    >>> [(line.get_label(), float(line.get_ydata()[0])) for line in ax.lines]
    [('0', 5.0), ('2', 1.0)]
    """
    ax = _axes(ax)
    from matplotlib import colormaps

    steps = norms.steps if isinstance(norms, GradientNorms) else norms
    names: dict[str, list[str]] = {}  # by layer
    for step in steps:
        for name in step:
            parts = names.setdefault(name.rpartition(".")[0] or "model", [])
            if name not in parts:
                parts.append(name)
    mark = _over_steps(ax, len(steps))
    for i, (layer, parts) in enumerate(names.items()):
        squares = [[step[part] ** 2 for part in parts if part in step] for step in steps]
        line = [sum(each) ** 0.5 if each else float("nan") for each in squares]
        colour = colormaps["viridis"](0.85 * i / max(len(names) - 1, 1))  # from dark to light
        ax.plot(range(1, len(steps) + 1), line, label=layer, marker=mark, color=colour)
    ax.set_yscale("log")
    ax.set_ylabel("norm of the gradient")
    if names:
        every = -(-len(names) // _MOST_NAMED)
        lines = [line for i, line in enumerate(ax.lines) if not i % every or i == len(names) - 1]
        ax.legend(handles=lines, fontsize="small", title="layer")
    return ax


def function(
    f: Callable, lo: float, hi: float, *, derivatives: int = 2, n: int = 400, ax: Any = None
) -> Any:
    """A function of one number between `lo` and `hi`, and its derivatives by autograd.

    Args:
        f: takes a tensor (n,) and gives one, element by element.
        lo, hi: the ends.
        derivatives: how many of them.
        n: points in between.
        ax: axes to draw on.

    Raises:
        RuntimeError: the result is not of the shape of the input.

    >>> ax = tapegrad.inspect.plot.function(torch.sin, 0, 6)
    >>> [line.get_label() for line in ax.lines]
    ['f', "f'", "f''"]
    """
    ax = _axes(ax)
    x = torch.linspace(lo, hi, n, dtype=torch.float64, requires_grad=True)
    with torch.enable_grad():
        y = f(x)
        if tuple(y.shape) != (n,):
            raise runtime_error(
                f"f gave a tensor of shape {list(y.shape)} for one of shape [{n}]",
                "Give a function that is computed element by element.",
            )
        nowhere = y.detach().isnan().numpy()  # the rules may give numbers there
        for order in range(derivatives + 1):
            drawn = np.where(nowhere, np.nan, y.detach().numpy())
            ax.plot(x.detach().numpy(), drawn, label="f" + "'" * order)
            if order < derivatives:
                if not y.requires_grad:  # a constant
                    y = torch.zeros_like(x)
                    continue
                (g,) = torch.autograd.grad(y.sum(), x, create_graph=True, allow_unused=True)
                y = torch.zeros_like(x) if g is None else g
    ax.set_xlabel("x")
    ax.grid(alpha=0.25)
    ax.legend()
    _without_poles(ax)
    return ax


def _without_poles(ax: Any) -> None:
    """Show what most of the curves' points need, where a few go far beyond that."""
    y = np.concatenate([line.get_ydata() for line in ax.lines])
    y = y[np.isfinite(y)]
    if not y.size:
        return
    low, high = np.percentile(y, [5, 95])
    room = high - low
    bottom, top = max(y.min(), low - room), min(y.max(), high + room)
    if room and (bottom > y.min() or top < y.max()):
        margin = 0.05 * (top - bottom)
        ax.set_ylim(bottom - margin, top + margin)


def saliency(model: Callable, input: Tensor, target: int | None = None, *, ax: Any = None) -> Any:
    """Which parts of an input an output depends on: the size of its gradient.

    Args:
        model: takes a batch of one and gives scores (1, classes).
        input: one image (H, W) or (C, H, W), or one row of features (F,); or a batch of one of
            these, (1, C, H, W). Of several channels the largest counts.
        target: the number of the score; None takes the largest.
        ax: axes to draw on.

    Source: Simonyan, Vedaldi, Zisserman (2014), Deep Inside Convolutional Networks, section 3.

    >>> model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(9, 2))
    >>> ax = tapegrad.inspect.plot.saliency(model, torch.ones(1, 3, 3))
    >>> ax.images[0].get_array().shape
    (3, 3)
    """
    ax = _axes(ax)
    x = input.detach().clone()
    if x.dim() < 4:
        x = x[None]
    if x.shape[0] != 1:
        raise runtime_error(
            f"saliency looks at one input, and was given {x.shape[0]}",
            "Give one of them: saliency(model, batch[i]).",
        )
    x.requires_grad_()
    with torch.enable_grad():
        scores = model(x)[0]
        chosen = int(scores.argmax()) if target is None else target
        (g,) = torch.autograd.grad(scores[chosen], x)
    size = g[0].abs().numpy()
    if size.ndim == 1:
        ax.bar(range(len(size)), size)
        ax.set_xlabel("feature")
        ax.set_ylabel("size of the gradient")
    else:
        ax.imshow(size.max(axis=0) if size.ndim == 3 else size, cmap="magma")
        ax.set_axis_off()
    ax.set_title(f"what score {chosen} depends on", fontsize="medium")
    return ax
