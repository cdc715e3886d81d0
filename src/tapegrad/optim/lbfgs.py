"""LBFGS: Newton's method with the curvature guessed from the last steps."""

from typing import TypeVar

import numpy as np

from tapegrad.arrays.namespaces import is_recorded
from tapegrad.autograd.mode import enable_grad
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.errors import runtime_error, value_error
from tapegrad.core.tensor_base import wrap
from tapegrad.optim.batch import count_writes, vector
from tapegrad.optim.optimizer import Optimizer, check_not_negative, check_number, given
from tapegrad.tensors.tensor import Tensor

_Loss = TypeVar("_Loss")

DECREASE = 1e-4  # Nocedal and Wright's c1: how much of the promised descent is asked for
CURVATURE = 0.9  # their c2: how much of the slope may be left


class Trial:
    """A point on the line: where, the loss, the gradient, the slope along the line."""

    __slots__ = ("f", "g", "slope", "t")

    def __init__(self, t: Any, f: float, g: Tensor, slope: Any) -> None:
        self.t, self.f, self.g, self.slope = t, f, g, slope


def strong_wolfe(
    evaluate: Callable[[Any], Trial],
    start: Trial,
    t: Tensor,
    length: Any,
    tolerance: float,
    most: int,
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


def _dense(grad: Tensor) -> Tensor:
    return grad.to_dense() if grad.is_sparse else grad


class LBFGS(Optimizer):
    """Steps along `-H grad`, where H guesses the inverse of the Hessian from the last steps.

    A step of the optimizer is up to `max_iter` steps along the line that `-H grad` gives, and calls
    the closure, which computes the loss and its gradients, many times.

    Args:
        params: tensors, or pairs of name and tensor; one group
        lr: the length of a step, or the first one that the line search tries
        max_iter: how many steps along a line
        max_eval: how many calls of the closure, about; None: `max_iter * 5 // 4`
        tolerance_grad: stop when no element of the gradient is larger
        tolerance_change: stop when step or change of the loss are smaller
        history_size: how many steps are remembered
        line_search_fn: `"strong_wolfe"`, or None: all steps have length `lr`

    Source: Liu and Nocedal, On the limited memory BFGS method for large scale optimization, 1989;
    Nocedal and Wright, Numerical optimization, 2006, algorithm 7.4.

    >>> w = torch.tensor([3.0, -2.0], requires_grad=True)
    >>> optimizer = torch.optim.LBFGS([w], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((w - torch.tensor([1.0, 2.0])) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> optimizer.step(closure)
    tensor(20., grad_fn=<SumBackward0>)
    >>> torch.allclose(w, torch.tensor([1.0, 2.0]))
    True
    """

    elementwise = False

    def __init__(
        self,
        params: Any,
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_number("lr", lr)
        check_not_negative("learning rate", lr)
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        options = "lr max_iter max_eval tolerance_grad tolerance_change history_size line_search_fn"
        super().__init__(params, given(locals(), options))
        if len(self.param_groups) != 1:
            raise value_error(
                "LBFGS doesn't support per-parameter options (parameter groups)",
                "Pass the parameters as one list.",
            )

    def step(self, closure: Callable[[], _Loss]) -> _Loss:
        """Take up to `max_iter` steps; returns the loss at the start, as `closure` gives it."""
        group = self.param_groups[0]
        lr = group["lr"].item() if isinstance(group["lr"], Tensor) else group["lr"]
        tolerance = group["tolerance_change"]
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise runtime_error(
                "only 'strong_wolfe' is supported", 'Pass line_search_fn="strong_wolfe", or None.'
            )
        line = _Line(group["params"], closure)
        entry = self.state[group["params"][0]]
        entry.setdefault("func_evals", 0)
        entry.setdefault("n_iter", 0)
        first_loss = line.call()
        loss, grad = _number(first_loss), line.gradient()
        n_evaluations = 1
        entry["func_evals"] += 1
        if _largest(grad) <= group["tolerance_grad"]:
            return first_loss
        memory = _Memory(entry, group["history_size"])
        n = 0
        while n < group["max_iter"]:
            n += 1
            entry["n_iter"] += 1
            fresh = entry["n_iter"] == 1
            d = memory.direction(grad, fresh)
            memory.last_grad, memory.last_loss = grad, loss
            memory.t = min(1.0, 1.0 / np.abs(grad).sum()) * lr if fresh else lr
            slope = grad.dot(d)
            if slope > -tolerance:
                break
            evaluations = 0
            if group["line_search_fn"]:
                start = Trial(0, loss, grad, slope)
                line.take(d)
                left = group["max_eval"] - n_evaluations
                trial, evaluations = strong_wolfe(
                    line.evaluate, start, memory.t, _largest(d), tolerance, left
                )
                memory.t, loss, grad = trial.t, trial.f, trial.g
                line.move(memory.t, d)
            else:
                line.move(memory.t, d)
                if n != group["max_iter"]:
                    loss, grad = _number(line.call()), line.gradient()
                    evaluations = 1
            n_evaluations += evaluations
            entry["func_evals"] += evaluations
            if (
                n == group["max_iter"]
                or n_evaluations >= group["max_eval"]
                or _largest(grad) <= group["tolerance_grad"]
                or _largest(d * memory.t) <= tolerance
                or abs(loss - memory.last_loss) < tolerance
            ):
                break
        memory.save(entry)
        return first_loss


class _Line:
    """All parameters as one point that moves along a line."""

    def __init__(self, params: list[Tensor], closure: Callable[[], Any]) -> None:
        self.params, self.closure = params, closure
        self.origin: list[Any] = []
        self.d: Any = None

    def call(self) -> Any:
        with enable_grad():
            return self.closure()

    def gradient(self) -> Any:
        parts = [
            np.zeros_like(vector(p._array)) if p._grad is None else vector(_dense(p._grad)._array)
            for p in self.params
        ]
        return np.concatenate(parts)

    def move(self, t: Tensor, d: Any) -> None:
        """Add `t * d`."""
        step, i = t * d, 0
        for param in self.params:
            array = param._array
            n = vector(array).size
            array += step[i : i + n].view(array.dtype).reshape(array.shape)
            i += n
        count_writes(self.params, "LBFGS.step")

    def take(self, d: Any) -> None:
        """Let `evaluate` look along `d` from here."""
        self.origin, self.d = [p._array.copy() for p in self.params], d

    def evaluate(self, t: Tensor) -> Trial:
        """Loss, gradient and slope at a distance; the parameters are back afterwards."""
        self.move(t, self.d)
        try:
            loss = _number(self.call())
        finally:
            for param, origin in zip(self.params, self.origin, strict=True):
                param._array[...] = origin
        grad = self.gradient()
        return Trial(t, loss, grad, grad.dot(self.d))


class _Memory:
    """The last steps and what they tell of the curvature; PyTorch's names in the saved state."""

    def __init__(self, entry: dict[str, Any], size: int) -> None:
        self.size = size
        self.d, self.t = _array(entry.get("d")), _array(entry.get("t"))
        self.changes = [_array(y) for y in entry.get("old_dirs") or ()]  # of the gradient
        self.steps = [_array(s) for s in entry.get("old_stps") or ()]
        self.ro = [_array(r) for r in entry.get("ro") or ()]
        self.scale = _array(entry.get("H_diag"))
        self.last_grad = _array(entry.get("prev_flat_grad"))
        self.last_loss: Any = entry.get("prev_loss")
        self.weights = [_array(a) for a in entry.get("al") or ()]

    def direction(self, grad: Tensor, fresh: bool) -> Any:
        """`-H grad`, by two loops over the memory."""
        if fresh:
            self.d, self.scale = -grad, 1
            self.changes, self.steps, self.ro = [], [], []
            return self.d
        y, s = grad - self.last_grad, self.d * self.t
        ys = y.dot(s)
        if ys > 1e-10:
            if len(self.changes) == self.size:
                for old in (self.changes, self.steps, self.ro):
                    old.pop(0)
            self.changes.append(y)
            self.steps.append(s)
            self.ro.append(1.0 / ys)
            self.scale = ys / y.dot(y)
        if not self.weights:
            self.weights = [None] * self.size
        q = -grad
        n = len(self.changes)
        for i in range(n - 1, -1, -1):
            self.weights[i] = self.steps[i].dot(q) * self.ro[i]
            q -= self.weights[i] * self.changes[i]
        r = q * self.scale
        for i in range(n):
            r += self.steps[i] * (self.weights[i] - self.changes[i].dot(r) * self.ro[i])
        self.d = r
        return r

    def save(self, entry: dict[str, Any]) -> None:
        if self.weights:
            entry["al"] = [_tensor(a) for a in self.weights]
        entry["d"] = _tensor(self.d)
        entry["t"] = _tensor(self.t)
        entry["old_dirs"] = [_tensor(y) for y in self.changes]
        entry["old_stps"] = [_tensor(s) for s in self.steps]
        entry["ro"] = [_tensor(r) for r in self.ro]
        entry["H_diag"] = _tensor(self.scale)
        entry["prev_flat_grad"] = _tensor(self.last_grad)
        entry["prev_loss"] = self.last_loss


def _largest(x: Tensor) -> Any:
    return np.abs(x).max()


def _number(loss: Any) -> float:
    return float(loss.item()) if isinstance(loss, Tensor) else float(loss)


def _array(value: Any) -> Any:
    """The array behind a tensor; numbers as they are."""
    return value._array[()] if isinstance(value, Tensor) else value


def _tensor(value: Any) -> Any:
    """A tensor for what was computed from arrays; plain numbers as they are."""
    return (
        wrap(value) if isinstance(value, (np.ndarray, np.generic)) or is_recorded(value) else value
    )
