"""Functions that leave zero zero: of each value, with the same indices."""

from typing import Any

from tapegrad.core.registration import FRONT_DOOR
from tapegrad.sparse.coalesce import coalesce
from tapegrad.sparse.table import TABLE, serves
from tapegrad.sparse.tensor import with_values

LINEAR = "neg negative positive conj conj_physical"
"""Functions of sums that are sums of functions: elements need not be coalesced first."""

OTHERS = """
abs absolute asin arcsin asinh arcsinh atan arctan atanh arctanh ceil deg2rad erf erfinv expm1
floor frac log1p rad2deg relu round sgn sign signbit sin sinh sqrt square tan tanh trunc fix
isnan isinf isposinf isneginf nan_to_num
"""


def _put(name: str, linear: bool) -> None:
    def function(input: Any, *args: Any, **kwargs: Any) -> Any:
        """The function of each value."""
        if kwargs.pop("inplace", False):
            return TABLE[f"{name}_"](input, *args, **kwargs)
        out = kwargs.pop("out", None)
        found = input if linear else coalesce(input)
        of_values = getattr(FRONT_DOOR(), name)
        result = with_values(found, of_values(found._data, *args, **kwargs))
        return result if out is None else TABLE["copy_"](out, result)

    function.__name__ = name
    serves(name)(function)
    operator = {"neg": "__neg__", "abs": "__abs__", "positive": "__pos__"}.get(name)
    if operator:
        serves(operator)(function)


for _name in LINEAR.split():
    _put(_name, True)
for _name in OTHERS.split():
    _put(_name, False)


@serves("dropout", "feature_dropout", "alpha_dropout")
def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Dropout of the values; the tensor itself where it does not train."""
    if not training or p == 0:
        return input
    functional = FRONT_DOOR().nn.functional
    found = coalesce(input)
    return with_values(found, functional.dropout(found._data, p, True))
