"""Adam for gradients that are sparse: only the elements that have one are moved."""

from math import sqrt

from tapegrad.core.annotations import Any, Namespace, Tensor
from tapegrad.core.errors import runtime_error, value_error
from tapegrad.optim.optimizer import Optimizer, check_betas, check_number, given


class SparseAdam(Optimizer):
    """Adam, its means changed only where the gradient has elements.

        m[i] = beta1 * m[i] + (1 - beta1) * grad[i]
        v[i] = beta2 * v[i] + (1 - beta2) * grad[i]**2
        param[i] = param[i] - lr * sqrt(1 - beta2**t) / (1 - beta1**t) * m[i] / (sqrt(v[i]) + eps)

    Args:
        params: dense tensors, groups, or pairs of name and tensor
        lr: learning rate
        betas: decay rates of the two means
        eps: keeps the denominator from 0
        maximize: climb instead of descend

    Source: Kingma and Ba, Adam, 2014, algorithm 1, on the elements of the gradient.

    >>> table = torch.nn.Embedding.from_pretrained(torch.ones(3, 1), freeze=False, sparse=True)
    >>> optimizer = torch.optim.SparseAdam(table.parameters(), lr=0.1)
    >>> table(torch.tensor([1])).sum().backward()
    >>> optimizer.step()
    >>> table.weight.T
    tensor([[1.0000, 0.9000, 1.0000]], grad_fn=<PermuteBackward0>)
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: Any = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        check_number("lr", lr)
        if not 0 < lr:
            raise value_error(f"Invalid learning rate: {lr}", "It is greater than 0.")
        if not 0 < eps:
            raise value_error(f"Invalid epsilon value: {eps}", "It is greater than 0.")
        check_betas(betas)
        super().__init__(params, given(locals(), "lr betas eps maximize"))
        for is_refused, text, hint in (
            (
                lambda p: p.is_sparse,
                "Sparse params at indices {}: SparseAdam requires dense parameter tensors",
                "Their gradients are sparse, not they.",
            ),
            (
                lambda p: p.is_complex(),
                "Complex params at indices {}: SparseAdam does not support complex parameters",
                "Optimize torch.view_as_real(param), whose elements are real.",
            ),
        ):
            found = [
                [i, j]
                for i, group in enumerate(self.param_groups)
                for j, param in enumerate(group["params"])
                if is_refused(param)
            ]
            if found:
                raise value_error(text.format(found), hint)

    def init(self, xp: Namespace, param: Tensor, **_: object) -> dict[str, Any]:
        raise runtime_error(
            "SparseAdam does not support dense gradients, please consider Adam instead",
            "Embedding(sparse=True) gives sparse gradients.",
        )

    def update_sparse(
        self,
        param: Tensor,
        grad: Tensor,
        *,
        lr: float,
        betas: Any,
        eps: float,
        maximize: bool,
        **_: Any,
    ) -> None:
        from tapegrad.sparse.creation import sparse_coo_tensor

        grad = (-grad if maximize else grad).coalesce()
        state = self.state[param]
        if not state:
            state["step"] = 0
            state["exp_avg"] = param.detach().new_zeros(param.shape)
            state["exp_avg_sq"] = param.detach().new_zeros(param.shape)
        state["step"] += 1
        if not grad._nnz():
            return
        indices, values = grad._indices(), grad._values()
        means = []
        pairs = ("exp_avg", betas[0], values), ("exp_avg_sq", betas[1], values.pow(2))
        for name, beta, new in pairs:
            old = state[name].sparse_mask(grad)._values()
            change = (new - old) * (1 - beta)
            state[name].add_(sparse_coo_tensor(indices, change, grad.shape, check_invariants=False))
            means.append(change + old)
        size = lr * sqrt(1 - betas[1] ** state["step"]) / (1 - betas[0] ** state["step"])
        step = -size * means[0] / means[1].sqrt().add_(eps)
        param.add_(sparse_coo_tensor(indices, step, grad.shape, check_invariants=False))
