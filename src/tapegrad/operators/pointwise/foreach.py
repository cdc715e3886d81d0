"""Functions of lists of tensors: `torch._foreach_add(xs, ys)` adds each pair.

A function gives a tuple; its form with `_` at the end writes into the tensors of the list.
"""

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any

from tapegrad.autograd.writable import cannot_cast
from tapegrad.core import errors, torch_function
from tapegrad.core.promote_types import can_cast
from tapegrad.core.registration import FRONT_DOOR
from tapegrad.core.tensor_base import TensorBase

__torch__ = (
    "_foreach_abs _foreach_abs_ _foreach_acos _foreach_acos_ _foreach_add _foreach_add_ "
    "_foreach_addcdiv _foreach_addcdiv_ _foreach_addcmul _foreach_addcmul_ _foreach_asin "
    "_foreach_asin_ _foreach_atan _foreach_atan_ _foreach_ceil _foreach_ceil_ _foreach_clamp_max "
    "_foreach_clamp_max_ _foreach_clamp_min _foreach_clamp_min_ _foreach_clone _foreach_copy_ "
    "_foreach_cos _foreach_cos_ _foreach_cosh _foreach_cosh_ _foreach_div _foreach_div_ "
    "_foreach_erf _foreach_erf_ _foreach_erfc _foreach_erfc_ _foreach_exp _foreach_exp_ "
    "_foreach_expm1 _foreach_expm1_ _foreach_floor _foreach_floor_ _foreach_frac _foreach_frac_ "
    "_foreach_lerp _foreach_lerp_ _foreach_lgamma _foreach_lgamma_ _foreach_log _foreach_log10 "
    "_foreach_log10_ _foreach_log1p _foreach_log1p_ _foreach_log2 _foreach_log2_ _foreach_log_ "
    "_foreach_max _foreach_maximum _foreach_maximum_ _foreach_minimum _foreach_minimum_ "
    "_foreach_mm _foreach_mul _foreach_mul_ _foreach_neg _foreach_neg_ _foreach_norm _foreach_pow "
    "_foreach_pow_ _foreach_powsum _foreach_reciprocal _foreach_reciprocal_ _foreach_round "
    "_foreach_round_ _foreach_rsqrt _foreach_rsqrt_ _foreach_sigmoid _foreach_sigmoid_ "
    "_foreach_sign _foreach_sign_ _foreach_sin _foreach_sin_ _foreach_sinh _foreach_sinh_ "
    "_foreach_sqrt _foreach_sqrt_ _foreach_sub _foreach_sub_ _foreach_tan _foreach_tan_ "
    "_foreach_tanh _foreach_tanh_ _foreach_trunc _foreach_trunc_ _foreach_zero_"
)

_Tensors = Sequence[Any]
_ADVICE = "Pass a list or tuple of tensors."
_FORMS = (
    "tuple of Tensors self, tuple of Tensors other, *, Number alpha = 1",
    "tuple of Tensors self, Number scalar",
    "tuple of Tensors self, tuple of Scalars scalars",
)


def _check(name: str, tensors: Any, given: tuple = (), kwargs: dict | None = None) -> None:
    """Raise unless `tensors` is a list of tensors, and not empty."""
    if not isinstance(tensors, (list, tuple)):
        raise errors.invalid_combination(name, (tensors, *given), kwargs or {}, _FORMS)
    for i, each in enumerate(tensors):
        if not isinstance(each, TensorBase):
            raise errors.type_error(
                f"expected Tensor as element {i} in argument 0, but got {errors.type_name(each)}",
                _ADVICE,
            )
    if not tensors:
        raise errors.runtime_error("Tensor list must have at least one tensor.", _ADVICE)


def _check_lengths(tensors: _Tensors, others: _Tensors) -> None:
    if len(tensors) != len(others):
        raise errors.runtime_error(
            "Tensor lists must have the same number of tensors, got "
            f"{len(tensors)} and {len(others)}",
            "Each tensor has its partner at the same place of the other list.",
        )


def _partners(name: str, tensors: _Tensors, other: Any, takes_tensor: bool) -> list[Any]:
    """What stands beside each tensor: one number for all, or a list's element for each."""
    if isinstance(other, (list, tuple)):
        if any(isinstance(each, TensorBase) for each in other):
            _check_lengths(tensors, other)
        elif len(other) != len(tensors):
            raise errors.runtime_error(
                "Tensor list must have same number of elements as scalar list.",
                f"There are {len(tensors)} tensors and {len(other)} numbers.",
            )
        return list(other)
    if isinstance(other, TensorBase) and takes_tensor:
        if other.ndim:
            raise errors.runtime_error(
                f"scalar tensor expected to be 0 dim but it has {other.ndim} dimensions and "
                f"{other.numel()} elements.",
                "Pass a number, a tensor without dimensions, or a list of tensors.",
            )
    else:
        other = _as_number(other)
        if not isinstance(other, _NUMBERS):
            raise errors.invalid_combination(name, (tensors, other), {}, _FORMS)
    return [other] * len(tensors)


_NUMBERS = (bool, int, float, complex)


def _as_number(x: Any) -> Any:
    """A tensor without dimensions, and without gradient, as the number that is in it."""
    is_number = isinstance(x, TensorBase) and not x.ndim and not x.requires_grad
    return x.item() if is_number else x


def _one_of(name: str, tensors: Any, given: tuple, named: dict) -> Any:
    """The second argument: PyTorch calls it by what it is."""
    values = [*given, *named.values()]
    known = {"other", "scalar", "scalars", "exponent", "tensor", "weight"}
    if len(values) != 1 or not named.keys() <= known:
        raise errors.invalid_combination(name, (tensors, *given), named, _FORMS)
    return values[0]


def _of_lists(function: Callable) -> Any:
    """A function that hands its call over where somebody overrides it, before any tensor changes.

    What it calls for each tensor may be overridden, too: so it computes with DTensors.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        again = torch_function.overridden(call, args, kwargs) if torch_function.IN_USE else None
        return function(*args, **kwargs) if again is None else again()

    return update_wrapper(call, function)


def _named(function: Callable, name: str, doc: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return _of_lists(function)


def _unary(name: str) -> tuple[Any, Any]:
    """The functions that do `torch.<name>` with each tensor, out of place and in place."""
    plain, in_place = f"_foreach_{name}", f"_foreach_{name}_"

    def out_of_place(self: _Tensors) -> tuple:
        _check(plain, self)
        function = getattr(FRONT_DOOR(), name)
        return tuple(function(x) for x in self)

    def into_each(self: _Tensors) -> _Tensors:
        _check(in_place, self)
        for x in self:
            getattr(x, f"{name}_")()
        return self

    return (
        _named(out_of_place, plain, f"`torch.{name}` of each tensor."),
        _named(into_each, in_place, f"`torch.{name}` of each tensor, written into it."),
    )


_WITHOUT_IN_PLACE = frozenset(("maximum", "minimum"))
_TAKE_TENSOR = frozenset(("add", "sub", "mul", "div"))


def _binary(name: str) -> tuple[Any, Any]:
    """The functions of two: `other` is a list of tensors or of numbers, or one number for all."""
    plain, in_place = f"_foreach_{name}", f"_foreach_{name}_"

    def operands(title: str, tensors: _Tensors, given: tuple, named: dict) -> Any:
        options = {"alpha": named.pop("alpha")} if "alpha" in named else {}
        _check(title, tensors, given, named)
        other = _one_of(title, tensors, given, named)
        is_list = isinstance(other, (list, tuple)) and all(isinstance(x, TensorBase) for x in other)
        has_alpha = is_list or (name == "add" and isinstance(other, TensorBase))
        if options and (name not in ("add", "sub") or not has_alpha):
            raise errors.invalid_combination(title, (tensors, other), options, _FORMS)
        others = _partners(title, tensors, other, name in _TAKE_TENSOR)
        if name in _WITHOUT_IN_PLACE:  # torch.maximum takes tensors alone
            kind = FRONT_DOOR().result_type
            others = [
                y if isinstance(y, TensorBase) else x.new_full((), y, dtype=kind(x, y))
                for x, y in zip(tensors, others, strict=True)
            ]
        return others, options

    def out_of_place(self: _Tensors, *other: Any, **named: Any) -> tuple:
        others, options = operands(plain, self, other, named)
        function = getattr(FRONT_DOOR(), name)
        return tuple(function(x, y, **options) for x, y in zip(self, others, strict=True))

    def into_each(self: _Tensors, *other: Any, **named: Any) -> _Tensors:
        others, options = operands(in_place, self, other, named)
        if name in _WITHOUT_IN_PLACE:
            function = getattr(FRONT_DOOR(), name)
            for x, y in zip(self, others, strict=True):
                found = function(x, y)
                if not can_cast(found.dtype, x.dtype):
                    advice = "Convert the tensors first."
                    raise cannot_cast(found.dtype, x.dtype, advice, "clamp_number")
                x.copy_(found)
        else:
            for x, y in zip(self, others, strict=True):
                getattr(x, f"{name}_")(y, **options)
        return self

    return (
        _named(out_of_place, plain, f"`torch.{name}` of each tensor and its partner."),
        _named(into_each, in_place, f"`torch.{name}` of each pair, written into the first."),
    )


def _ternary(name: str) -> tuple[Any, Any]:
    """`addcmul` and `addcdiv`: three lists, and a factor for all or for each."""
    plain, in_place = f"_foreach_{name}", f"_foreach_{name}_"

    def factors(title: str, self: _Tensors, first: Any, second: Any, value: Any) -> list:
        for each in (self, first, second):
            _check(title, each)
        _check_lengths(self, first)
        _check_lengths(self, second)
        if isinstance(value, TensorBase):
            if value.ndim != 1 or len(value) != len(self):
                raise errors.runtime_error(
                    f"Expected length of scalars to match input of length {len(self)} but got "
                    f"{value.numel()} instead.",
                    "Pass a number for each tensor.",
                )
            value = value.tolist()
        return _partners(title, self, value, False)

    def out_of_place(
        self: _Tensors, tensor1: _Tensors, tensor2: _Tensors, *given: Any, **named: Any
    ) -> tuple:
        value = _factor(plain, given, named)
        found = factors(plain, self, tensor1, tensor2, value)
        function = getattr(FRONT_DOOR(), name)
        rows = zip(self, tensor1, tensor2, found, strict=True)
        return tuple(function(x, a, b, value=v) for x, a, b, v in rows)

    def into_each(
        self: _Tensors, tensor1: _Tensors, tensor2: _Tensors, *given: Any, **named: Any
    ) -> _Tensors:
        value = _factor(in_place, given, named)
        found = factors(in_place, self, tensor1, tensor2, value)
        for x, a, b, v in zip(self, tensor1, tensor2, found, strict=True):
            getattr(x, f"{name}_")(a, b, value=v)
        return self

    return (
        _named(out_of_place, plain, f"`torch.{name}` of each three tensors."),
        _named(into_each, in_place, f"`torch.{name}` of each three, written into the first."),
    )


def _factor(name: str, given: tuple, named: dict) -> Any:
    values = [*given, *named.values()]
    if len(values) > 1 or not named.keys() <= {"value", "scalars"}:
        raise errors.invalid_combination(name, given, named, _FORMS)
    return values[0] if values else 1


_foreach_abs, _foreach_abs_ = _unary("abs")
_foreach_acos, _foreach_acos_ = _unary("acos")
_foreach_asin, _foreach_asin_ = _unary("asin")
_foreach_atan, _foreach_atan_ = _unary("atan")
_foreach_ceil, _foreach_ceil_ = _unary("ceil")
_foreach_cos, _foreach_cos_ = _unary("cos")
_foreach_cosh, _foreach_cosh_ = _unary("cosh")
_foreach_erf, _foreach_erf_ = _unary("erf")
_foreach_erfc, _foreach_erfc_ = _unary("erfc")
_foreach_exp, _foreach_exp_ = _unary("exp")
_foreach_expm1, _foreach_expm1_ = _unary("expm1")
_foreach_floor, _foreach_floor_ = _unary("floor")
_foreach_frac, _foreach_frac_ = _unary("frac")
_foreach_lgamma, _foreach_lgamma_ = _unary("lgamma")
_foreach_log, _foreach_log_ = _unary("log")
_foreach_log10, _foreach_log10_ = _unary("log10")
_foreach_log1p, _foreach_log1p_ = _unary("log1p")
_foreach_log2, _foreach_log2_ = _unary("log2")
_foreach_neg, _foreach_neg_ = _unary("neg")
_foreach_reciprocal, _foreach_reciprocal_ = _unary("reciprocal")
_foreach_round, _foreach_round_ = _unary("round")
_foreach_rsqrt, _foreach_rsqrt_ = _unary("rsqrt")
_foreach_sigmoid, _foreach_sigmoid_ = _unary("sigmoid")
_foreach_sign, _foreach_sign_ = _unary("sign")
_foreach_sin, _foreach_sin_ = _unary("sin")
_foreach_sinh, _foreach_sinh_ = _unary("sinh")
_foreach_sqrt, _foreach_sqrt_ = _unary("sqrt")
_foreach_tan, _foreach_tan_ = _unary("tan")
_foreach_tanh, _foreach_tanh_ = _unary("tanh")
_foreach_trunc, _foreach_trunc_ = _unary("trunc")

_foreach_add, _foreach_add_ = _binary("add")
_foreach_clamp_max, _foreach_clamp_max_ = _binary("clamp_max")
_foreach_clamp_min, _foreach_clamp_min_ = _binary("clamp_min")
_foreach_div, _foreach_div_ = _binary("div")
_foreach_maximum, _foreach_maximum_ = _binary("maximum")
_foreach_minimum, _foreach_minimum_ = _binary("minimum")
_foreach_mul, _foreach_mul_ = _binary("mul")
_of_powers, _foreach_pow_ = _binary("pow")
_foreach_sub, _foreach_sub_ = _binary("sub")

_foreach_addcdiv, _foreach_addcdiv_ = _ternary("addcdiv")
_foreach_addcmul, _foreach_addcmul_ = _ternary("addcmul")


@_of_lists
def _foreach_pow(self: Any, *exponent: Any, **named: Any) -> tuple:
    """`torch.pow` of each tensor and its exponent; the base may be one number."""
    self = _as_number(self)
    if isinstance(self, _NUMBERS):
        exponents = _one_of("_foreach_pow", self, exponent, named)
        _check("_foreach_pow", exponents)
        return tuple(FRONT_DOOR().pow(self, y) for y in exponents)
    return _of_powers(self, *exponent, **named)


@_of_lists
def _foreach_lerp(self: _Tensors, tensors1: _Tensors, weight: Any) -> tuple:
    """`torch.lerp` of each pair with a weight for all, or a tensor or number for each."""
    _check("_foreach_lerp", self)
    _check("_foreach_lerp", tensors1)
    _check_lengths(self, tensors1)
    weights = _partners("_foreach_lerp", self, weight, False)
    rows = zip(self, tensors1, weights, strict=True)
    return tuple(FRONT_DOOR().lerp(x, y, w) for x, y, w in rows)


@_of_lists
def _foreach_lerp_(self: _Tensors, tensors1: _Tensors, weight: Any) -> _Tensors:
    """The same, written into the first of each pair."""
    _check("_foreach_lerp_", self)
    _check("_foreach_lerp_", tensors1)
    _check_lengths(self, tensors1)
    weights = _partners("_foreach_lerp_", self, weight, False)
    for x, y, w in zip(self, tensors1, weights, strict=True):
        x.lerp_(y, w)
    return self


@_of_lists
def _foreach_norm(self: _Tensors, ord: Any = 2, dtype: Any = None) -> tuple:
    """`torch.linalg.vector_norm` of each tensor."""
    _check("_foreach_norm", self)
    return tuple(FRONT_DOOR().linalg.vector_norm(x, ord, dtype=dtype) for x in self)


@_of_lists
def _foreach_powsum(self: _Tensors, ord: Any = 2, dtype: Any = None) -> tuple:
    """The sum of the powers of the magnitudes of each tensor: its norm before the root."""
    _check("_foreach_powsum", self)
    return tuple((x.abs() ** ord).sum(dtype=dtype) for x in self)


@_of_lists
def _foreach_max(self: _Tensors) -> tuple:
    """The largest element of each tensor."""
    _check("_foreach_max", self)
    for x in self:
        if not x.numel():
            raise errors.runtime_error(
                "_foreach_max cannot compute the maximum of an empty tensor; max over zero "
                "elements is undefined.",
                "Leave empty tensors out of the list.",
            )
    return tuple(x.max() for x in self)


@_of_lists
def _foreach_mm(self: _Tensors, mat2: _Tensors) -> tuple:
    """The product of each pair of matrices."""
    _check("_foreach_mm", self)
    _check("_foreach_mm", mat2)
    _check_lengths(self, mat2)
    return tuple(x.mm(y) for x, y in zip(self, mat2, strict=True))


@_of_lists
def _foreach_clone(self: _Tensors, memory_format: Any = None) -> tuple:
    """A copy of each tensor."""
    _check("_foreach_clone", self)
    options = {} if memory_format is None else {"memory_format": memory_format}
    return tuple(x.clone(**options) for x in self)


@_of_lists
def _foreach_copy_(self: _Tensors, src: _Tensors, non_blocking: bool = False) -> _Tensors:
    """Write each tensor of `src` into the one at its place."""
    _check("_foreach_copy_", self)
    _check("_foreach_copy_", src)
    _check_lengths(self, src)
    for x, y in zip(self, src, strict=True):
        x.copy_(y)
    return self


@_of_lists
def _foreach_zero_(self: _Tensors) -> _Tensors:
    """Fill each tensor with zeros."""
    _check("_foreach_zero_", self)
    for x in self:
        x.zero_()
    return self
