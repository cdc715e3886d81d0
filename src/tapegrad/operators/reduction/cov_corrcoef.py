"""Covariance and correlation of variables: cov, corrcoef."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.argument_check import require_tensors, users_level
from tapegrad.operators.creation.tensor import tensor
from tapegrad.operators.linalg.matrix_check import check_tensors
from tapegrad.operators.pointwise.real_imag_conj_angle import real

__torch__ = "corrcoef cov"


def _refused(problem: str, advice: str) -> RuntimeError:
    return errors.runtime_error(f"cov(): {problem}", advice)


def _check_weights(name: str, weights: Tensor, n: int, integers: bool) -> None:
    dtype = weights.dtype
    if weights._array.ndim > 1:
        raise _refused(
            f"expected {name} to have one or fewer dimensions but got {name} with "
            f"{weights._array.ndim} dimensions",
            "One weight for each observation.",
        )
    if dtype.category != (1 if integers else 2):
        wanted = "integral" if integers else "floating point"
        raise _refused(
            f"expected {name} to have {wanted} dtype but got {name} with {dtype.scalar_name} dtype",
            "fweights counts observations, aweights says how much they matter.",
        )
    if weights._array.size != n:
        raise _refused(
            f"expected {name} to have the same numel as there are observations in the input but "
            f"got {weights._array.size} != {n}",
            "One weight for each observation.",
        )
    if n and weights._array.min() < 0:
        raise _refused(f"{name} cannot be negative", "Leave observations away with a weight of 0.")


@require_tensors
def cov(input: Tensor, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """The covariances of variables, the rows of `input`, over observations, its columns.

    `C = (x - mean) (x - mean)^H / (n - correction)`; with weights each observation counts as often
    as `fweights` says and as much as `aweights` says.

    Shapes: (variables, n) to (variables, variables), or (n,) to (); weights (n,).
    Raises: RuntimeError for more than two dimensions, truth values, or weights that do not fit.

    >>> torch.cov(torch.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    check_tensors("cov", input=input)
    if input._array.ndim > 2:
        raise _refused(
            "expected input to have two or fewer dimensions but got an input with "
            f"{input._array.ndim} dimensions",
            "Rows are variables, columns are observations.",
        )
    if input.dtype.category == 0:
        raise _refused("bool dtype is not supported for input", "Convert it: x.float().")
    x = input if input._array.ndim == 2 else input.reshape(1, -1)
    n = x._array.shape[1]
    w = None
    for name, weights in (("fweights", fweights), ("aweights", aweights)):
        if weights is not None:
            _check_weights(name, weights, n, integers=name == "fweights")
            w = weights if w is None else w * weights
    total = tensor(n) if w is None else w.sum()
    if w is not None and not total._array:
        raise _refused("weights sum to zero, can't be normalized", "Some weight must be positive.")
    weighed = x if w is None else x * w
    average = weighed.sum(1) / total
    free = total - correction
    if w is not None and aweights is not None and correction:
        free = total - correction * (w * aweights).sum() / total
    if free._array <= 0:
        errors.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number "
            "of observations.",
            users_level(),
        )
        free = free.new_zeros(())
    x = x - average.unsqueeze(1)
    return (x @ (x if w is None else x * w).t().conj() / free).squeeze()


@require_tensors
def corrcoef(input: Tensor) -> Any:
    """The correlations of variables, the rows of `input`: covariances over standard deviations.

    Shape: (variables, observations) to (variables, variables); (n,) to ().
    Raises: RuntimeError for more than two dimensions.

    >>> torch.corrcoef(torch.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    check_tensors("corrcoef", input=input)
    if input._array.ndim > 2:
        raise errors.runtime_error(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{input._array.ndim} dimensions",
            "Rows are variables, columns are observations.",
        )
    c = cov(input)
    if not c._array.ndim:
        return c / c
    d = c.diag()
    deviation = real(d).sqrt()
    c = c / deviation.reshape(-1, 1) / deviation.reshape(1, -1)
    if not c.dtype.is_complex:
        return c.clip(-1, 1)
    from tapegrad.operators.pointwise.complex_polar import complex as from_parts

    return from_parts(c.real.clip(-1, 1), c.imag.clip(-1, 1))
