"""The graphs that the pages of the course show, drawn anew.

python -m tools.course_pictures
"""

import sys
from collections.abc import Callable
from pathlib import Path

import tapegrad as torch
from tapegrad.inspect import graph

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"


def squares() -> torch.Tensor:
    """The sum that pages 2 to 4 are about."""
    x = torch.tensor([0.5, 1.0], requires_grad=True)
    return (x * x).tanh().sum()


def written_slice() -> torch.Tensor:
    """A write through a view, of page 6."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    y[:2] *= 10
    return y.sum()


def slope() -> torch.Tensor:
    """A gradient with a graph of its own, of page 8."""
    x = torch.tensor(2.0, requires_grad=True)
    return torch.autograd.grad(x.sin() * x, x, create_graph=True)[0]


GRAPHS: dict[str, Callable[[], torch.Tensor]] = {
    "course-squares.svg": squares,
    "course-slice.svg": written_slice,
    "course-slope.svg": slope,
}


def main() -> int:
    """Write the pictures."""
    for name, result in GRAPHS.items():
        graph(result()).save(FOLDER / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
