"""Adafactor: Adam's second mean from its row and column sums alone."""

from tapegrad.arrays.traced.number import larger, smaller
from tapegrad.core.annotations import Any, Array, Namespace, Tensor
from tapegrad.core.errors import runtime_error, value_error
from tapegrad.optim.optimizer import Optimizer, check_at_least, check_number, given


class Adafactor(Optimizer):
    """Steps divided by a root mean square of the gradient that is kept as a row and a column.

        decay = t**beta2_decay,    rho = min(lr, 1 / sqrt(t))
        row = (1 - decay) * row + decay * mean of grad**2 over the columns
        column = (1 - decay) * column + decay * mean of grad**2 over the rows
        v = row * column / max(mean of row, eps1)
        step = grad / sqrt(max(v, eps1**2))
        step = step / max(1, rms(step) / d)
        param = param - max(eps2, rms(param)) * rho * step

    Tensors of fewer than two dimensions keep `v` itself.

    Args:
        params: tensors, groups, or pairs of name and tensor
        lr: the largest learning rate, relative to the size of the parameter
        beta2_decay: how fast the weight of a new gradient falls
        eps: keeps `v` from 0 (None: the precision of the dtype), and the size of the parameter
        d: above which root mean square a step is cut
        weight_decay: how much a step shrinks the parameter, times `lr`
        foreach: accepted; the arithmetic is the same
        maximize: climb instead of descend

    Source: Shazeer and Stern, Adafactor, 2018, algorithms 4 and 5; `lr` bounds the relative step,
    as in PyTorch.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = torch.optim.Adafactor([w], lr=0.1)
    >>> (w**2).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.8419, 1.8419], requires_grad=True)
    """

    counts_steps = True
    elementwise = False

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_number("lr", lr)
        check_at_least("Learning rate", 0, lr)
        if not beta2_decay <= 0:
            raise value_error(
                f"beta2_decay should be <= 0 but is: {beta2_decay}", "The paper's is -0.8."
            )
        if eps[0] is not None:
            check_at_least("epsilon1", 0, eps[0])
        check_at_least("epsilon2", 0, eps[1])
        check_at_least("Clipping threshold d", 1, d)
        check_at_least("weight_decay", 0, weight_decay)
        options = "lr beta2_decay eps d weight_decay foreach maximize"
        super().__init__(params, given(locals(), options))

    def init(self, xp: Namespace, param: Tensor, **_: object) -> dict[str, Any]:
        if xp.isdtype(param.dtype, "complex floating"):
            raise runtime_error("Adafactor does not support complex parameters", "Adam takes them.")
        if param.ndim < 2:
            return {"variance": xp.zeros_like(param)}
        *batch, n, m = param.shape
        return {
            "row_var": xp.zeros((*batch, n, 1), dtype=param.dtype),
            "col_var": xp.zeros((*batch, 1, m), dtype=param.dtype),
        }

    def update(
        self,
        xp: Namespace,
        param: Tensor,
        grad: Array,
        state: dict[str, Any],
        *,
        lr: float,
        beta2_decay: float,
        eps: tuple[float | None, float],
        d: float,
        weight_decay: float,
        maximize: bool,
        **_: object,
    ) -> None:
        if maximize:
            grad = -grad
        eps1 = float(xp.finfo(param.dtype).eps) if eps[0] is None else eps[0]
        t = state["step"].item()
        decay = t**beta2_decay
        size = larger(_rms(param), eps[1]) * smaller(lr, t**-0.5)
        if weight_decay:
            param *= 1 - lr * weight_decay
        square = grad * grad
        if param.ndim < 2:
            v = state["variance"]
            v += decay * (square - v)
        else:
            row, column = state["row_var"], state["col_var"]
            row += decay * (xp.mean(square, axis=-1, keepdims=True) - row)
            column += decay * (xp.mean(square, axis=-2, keepdims=True) - column)
            total = xp.maximum(xp.mean(row, axis=-2, keepdims=True), xp.asarray(eps1, row.dtype))
            v = row * column / total
        step = grad / xp.sqrt(xp.maximum(v, xp.asarray(eps1 * eps1, dtype=v.dtype)))
        param -= size / larger(_rms(step) / d, 1.0) * step


def _rms(x: Any) -> float:
    """The root mean square."""
    return (x * x).sum().item() ** 0.5 / x.size**0.5 if x.size else 0.0
