"""A line search: how far to go along a direction so that the strong Wolfe conditions hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

DECREASE = 1e-4  # Nocedal and Wright's c1: how much of the promised descent is asked for
CURVATURE = 0.9  # their c2: how much of the slope may be left


class Trial:
    """A point on the line: where, the loss, the gradient, the slope along the line."""

    __slots__ = ("f", "g", "slope", "t")

    def __init__(self, t: Any, f: float, g: Any, slope: Any) -> None:
        self.t, self.f, self.g, self.slope = t, f, g, slope


def strong_wolfe(
    evaluate: Callable[[Any], Trial], start: Trial, t: Any, length: Any, tolerance: float, most: int
) -> tuple[Trial, int]:
    """A trial with enough descent and little slope, and how many trials were made.

    Args:
        evaluate: the trial at a distance
        start: the one at 0
        t: the first distance to try
        length: the largest element of the direction
        tolerance: stop when the bracket is shorter than this
        most: how many trials may follow the first one

    Source: Nocedal and Wright, Numerical optimization, 2006, algorithms 3.5 and 3.6, with cubic
    interpolation (equation 3.59) that is kept away from the ends of the bracket.
    """
    trial, last = evaluate(t), start
    n = 0
    bracket = None
    while n < most:
        if not _descends(start, trial) or (n > 1 and trial.f >= last.f):
            bracket = [last, trial]
            break
        if _is_flat(start, trial):
            return trial, n + 1
        if trial.slope >= 0:
            bracket = [last, trial]
            break
        bounds = trial.t + 0.01 * (trial.t - last.t), trial.t * 10
        t = _cubic_minimum(last, trial, *bounds)
        last, trial = trial, evaluate(t)
        n += 1
    if bracket is None:
        bracket = [start, trial]
    return _zoom(evaluate, start, bracket, length, tolerance, n, most)


def _zoom(
    evaluate: Callable[[Any], Trial],
    start: Trial,
    bracket: list[Trial],
    length: Any,
    tolerance: float,
    n: int,
    most: int,
) -> tuple[Trial, int]:
    """Shrink a bracket that holds a minimum."""
    low, high = _order(bracket)
    was_close = False
    while n < most:
        left, right = sorted((bracket[0].t, bracket[1].t))
        if (right - left) * length < tolerance:
            break
        t = _cubic_minimum(bracket[0], bracket[1], left, right)
        margin = 0.1 * (right - left)
        is_close = min(right - t, t - left) < margin
        if is_close and (was_close or t >= right or t <= left):
            t = right - margin if abs(t - right) < abs(t - left) else left + margin
            is_close = False
        was_close = is_close
        trial = evaluate(t)
        n += 1
        if not _descends(start, trial) or trial.f >= bracket[low].f:
            bracket[high] = trial
            low, high = _order(bracket)
            continue
        done = _is_flat(start, trial)
        if not done and trial.slope * (bracket[high].t - bracket[low].t) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = trial
        if done:
            break
    return bracket[low], n + 1


def _descends(start: Trial, trial: Trial) -> bool:
    return not trial.f > start.f + DECREASE * trial.t * start.slope


def _is_flat(start: Trial, trial: Trial) -> bool:
    return abs(trial.slope) <= -CURVATURE * start.slope


def _order(bracket: list[Trial]) -> tuple[int, int]:
    """The numbers of the lower and the higher end."""
    return (0, 1) if bracket[0].f <= bracket[1].f else (1, 0)


def _cubic_minimum(a: Trial, b: Trial, lowest: Any, highest: Any) -> Any:
    """Where the cubic through two trials is least, within bounds; their middle if it has none."""
    if a.t > b.t:
        a, b = b, a
    d1 = a.slope + b.slope - 3 * (a.f - b.f) / (a.t - b.t)
    square = d1**2 - a.slope * b.slope
    if not square >= 0:
        return (lowest + highest) / 2.0
    d2 = square**0.5
    t = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    return min(max(t, lowest), highest)
