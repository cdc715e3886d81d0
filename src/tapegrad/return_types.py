"""Named tuples that operators with several outputs return, printed as PyTorch prints them."""

import operator
from typing import Any

from tapegrad.core.missing import missing


class ReturnType(tuple):
    """A tuple whose items have names.

    >>> torch.max(torch.tensor([[1, 5]]), dim=1).indices
    tensor([1])
    """

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    def __repr__(self) -> str:
        items = ",\n".join(f"{n}={v!r}" for n, v in zip(self._fields, self, strict=True))
        return f"torch.return_types.{type(self).__name__}(\n{items})"

    def __reduce__(self) -> Any:
        return (type(self), (tuple(self),))


def return_type(name: str, *fields: str) -> Any:
    """A class of named tuples, light to make."""
    body: dict[str, Any] = {"__slots__": (), "_fields": fields, "__module__": __name__}
    for i, field in enumerate(fields):
        body[field] = property(operator.itemgetter(i))
    body["n_fields"] = body["n_sequence_fields"] = len(fields)
    return type(name, (ReturnType,), body)


max = return_type("max", "values", "indices")
min = return_type("min", "values", "indices")
median = return_type("median", "values", "indices")
nanmedian = return_type("nanmedian", "values", "indices")
mode = return_type("mode", "values", "indices")
kthvalue = return_type("kthvalue", "values", "indices")
frexp = return_type("frexp", "mantissa", "exponent")
sort = return_type("sort", "values", "indices")
topk = return_type("topk", "values", "indices")
cummax = return_type("cummax", "values", "indices")
cummin = return_type("cummin", "values", "indices")
aminmax = return_type("aminmax", "min", "max")
histogram = return_type("histogram", "hist", "bin_edges")
histogramdd = return_type("histogramdd", "hist", "bin_edges")

_LATER = {
    "_lu_with_info": "LU pivots info",
    "geqrf": "a tau",
    "linalg_cholesky_ex": "L info",
    "linalg_eig": "eigenvalues eigenvectors",
    "linalg_eigh": "eigenvalues eigenvectors",
    "linalg_inv_ex": "inverse info",
    "linalg_ldl_factor": "LD pivots",
    "linalg_ldl_factor_ex": "LD pivots info",
    "linalg_lu": "P L U",
    "linalg_lu_factor": "LU pivots",
    "linalg_lstsq": "solution residuals rank singular_values",
    "linalg_lu_factor_ex": "LU pivots info",
    "linalg_qr": "Q R",
    "linalg_slogdet": "sign logabsdet",
    "linalg_solve_ex": "result info",
    "linalg_svd": "U S Vh",
    "lu_unpack": "P L U",
    "qr": "Q R",
    "slogdet": "sign logabsdet",
    "svd": "U S V",
    "triangular_solve": "solution cloned_coefficient",
}
"""Types made on their first use, with their fields."""


def __getattr__(name: str) -> Any:
    fields = _LATER.get(name)
    if fields is None:
        raise missing(__name__, name)
    found = globals()[name] = return_type(name, *fields.split())
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
