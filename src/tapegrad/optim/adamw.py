"""AdamW: Adam whose weight decay is decoupled from the gradient."""

from tapegrad.core.annotations import Any
from tapegrad.optim.adam import Adam
from tapegrad.optim.optimizer import given


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameter directly: `param = (1 - lr * wd) * param`.

    Args: those of `Adam`.

    Source: Loshchilov and Hutter, Decoupled weight decay regularization, 2017, algorithm 2.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = torch.optim.AdamW([w], lr=0.1)
    >>> (w**2).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.8990, 1.8980], requires_grad=True)
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: Any = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        options = (
            "lr betas eps weight_decay amsgrad foreach maximize capturable differentiable fused"
        )
        super().__init__(params, **given(locals(), options), decoupled_weight_decay=True)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
