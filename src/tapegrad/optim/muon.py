"""Muon: momentum made orthogonal, for the matrices inside a network."""

import numpy as np

from tapegrad.core.annotations import Any, Array, Namespace, Tensor
from tapegrad.core.errors import runtime_error, value_error
from tapegrad.optim.optimizer import Optimizer, check_at_least, check_number, given


class Muon(Optimizer):
    """Steps along the orthogonal matrix nearest to the momentum.

        buffer = momentum * buffer + (1 - momentum) * grad
        step = orthogonal(buffer)       (Nesterov: of (1 - momentum) * grad + momentum * buffer)
        param = (1 - lr * weight_decay) * param - lr * scale * step

    `orthogonal` sets all singular values to about 1, by a few steps of Newton and Schulz's
    iteration in bfloat16: X = a X + (b X X' + c (X X')**2) X.

    Args:
        params: matrices, groups, or pairs of name and matrix
        lr: learning rate
        weight_decay: how much a step shrinks the parameter, times `lr`
        momentum: how much of the buffer is kept
        nesterov: look ahead along the momentum
        ns_coefficients: a, b and c
        eps: keeps the norm of the momentum from 0
        ns_steps: how many iterations
        adjust_lr_fn: `scale` for a matrix of n rows and m columns: `"original"` (or None),
            sqrt(max(1, n / m)); `"match_rms_adamw"`, 0.2 * sqrt(max(n, m))

    Source: Jordan et al., Muon: an optimizer for hidden layers in neural networks, 2024; Liu et
    al., Muon is scalable for LLM training, 2025, for `"match_rms_adamw"`.

    >>> w = torch.tensor([[1.0, 2.0]], requires_grad=True)
    >>> optimizer = torch.optim.Muon([w], lr=0.1)
    >>> (w**2).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([[0.9593, 1.9187]], requires_grad=True)
    """

    elementwise = False

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_number("lr", lr)
        check_at_least("Learning rate", 0, lr)
        check_at_least("momentum", 0, momentum)
        check_at_least("weight decay", 0, weight_decay)
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise value_error(
                f"Adjust learning rate function {adjust_lr_fn} is not supported",
                'Pass "original" or "match_rms_adamw".',
            )
        options = "lr weight_decay momentum nesterov ns_coefficients eps ns_steps adjust_lr_fn"
        super().__init__(params, given(locals(), options))
        for group in self.param_groups:
            for param in group["params"]:
                if param.ndim != 2:
                    raise value_error(
                        "Muon only supports 2D parameters whereas we found a parameter with "
                        f"size: {param.shape}",
                        "Give the others to AdamW.",
                    )

    def init(self, xp: Namespace, param: Tensor, **_: object) -> dict[str, Any]:
        return {"momentum_buffer": xp.zeros_like(param)}

    def update(
        self,
        xp: Namespace,
        param: Tensor,
        grad: Array,
        state: dict[str, Any],
        *,
        lr: float,
        weight_decay: float,
        momentum: float,
        nesterov: bool,
        ns_coefficients: tuple[float, float, float],
        eps: float,
        ns_steps: int,
        adjust_lr_fn: str | None,
        **_: object,
    ) -> None:
        if param.dtype.kind == "c":
            raise runtime_error("Muon does not support complex parameters", "Adam takes them.")
        buffer = state["momentum_buffer"]
        buffer += (1 - momentum) * (grad - buffer)
        if nesterov:
            grad = grad + momentum * (buffer - grad)
        else:
            grad = buffer
        step = _orthogonal(grad, ns_coefficients, ns_steps, eps)
        n, m = param.shape
        if adjust_lr_fn == "match_rms_adamw":
            scale = 0.2 * max(n, m) ** 0.5
        else:
            scale = max(1.0, n / m) ** 0.5
        param *= 1 - lr * weight_decay
        param -= (lr * scale * step).astype(param.dtype)


def _orthogonal(x: Tensor, coefficients: tuple, steps: int, eps: float) -> Any:
    """A matrix with the singular vectors of `x` and singular values of about 1."""
    if steps >= 100:
        raise value_error(
            "Number of steps must be less than 100 for computational efficiency", "Five are usual."
        )
    if len(coefficients) != 3:
        raise value_error(
            "Coefficients must be a tuple of exactly 3 values",
            "The usual ones are (3.4445, -4.775, 2.0315).",
        )
    a, b, c = coefficients
    tall = x.shape[0] > x.shape[1]
    x = _shorten(x.T if tall else x)
    norm = _shorten(np.sqrt((x * x).sum()))
    x = _shorten(x / np.maximum(norm, np.float32(eps)))
    for _ in range(steps):
        gram = _shorten(x @ x.T)
        polynomial = _shorten(b * gram + c * (gram @ gram))
        x = _shorten(a * x + polynomial @ x)
    return x.T if tall else x


def _shorten(x: Tensor) -> Any:
    """`x` with the 8 leading bits that bfloat16 has, to nearest even, as float32."""
    bits = x.astype(np.float32, copy=False).view(np.uint32)
    rounded = (bits + (0x7FFF + ((bits >> 16) & 1))) & 0xFFFF0000
    return rounded.astype(np.uint32).view(np.float32)
