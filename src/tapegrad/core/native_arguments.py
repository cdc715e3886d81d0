"""How PyTorch's native functions bind their arguments: several forms, NumPy's names, old orders.

A call that Python binds never comes here. Where one fails, the forms in `native_forms.bz2` are
tried in turn: either one of them takes the arguments, perhaps under NumPy's names (`axis` for
`dim`), and says how the function calls them; or the error says which argument is wrong, as PyTorch
does. `python -m tools.record_forms` asks PyTorch for the forms.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from tapegrad.core import errors, tensor_base
from tapegrad.core.device import device
from tapegrad.core.dtype import dtype
from tapegrad.core.generator import Generator
from tapegrad.core.memory_format import layout, memory_format
from tapegrad.core.registration import FRONT_DOOR, WRITE_OUT
from tapegrad.core.warn_once import warn_once

NUMPY_NAMES = {
    "dim": ("axis",),
    "keepdim": ("keepdims",),
    "input": ("x", "a", "x1"),
    "other": ("x2",),
}
"""Other names of arguments, which NumPy's functions have for them."""

_NUMBERS_AS_TENSORS = frozenset(
    "add sub subtract mul multiply div divide true_divide floor_divide".split()
)


class Parameter(NamedTuple):
    """One argument of a form."""

    kind: str  # as in PyTorch's errors: Tensor, int, tuple of ints
    name: str
    optional: bool  # it may be left out
    nullable: bool  # it may be None
    length: int  # of a list that one number stands for, else 0
    named: bool  # by keyword only


class Form:
    """One way to call a function: `Form("(Tensor input, int dim, *, Tensor out = None)")`."""

    def __init__(self, text: str, deprecated: bool = False):
        self.declared = text
        self.text = re.sub(r"\[\d+\]|\?", "", text)
        self.deprecated = deprecated
        self.parameters = tuple(_parameters(text[1:-1]))
        self.n_positional = sum(not p.named for p in self.parameters)
        self.fewest = sum(not p.optional for p in self.parameters)
        first = self.parameters[0].kind if self.parameters else ""
        self.takes_sizes = self.n_positional == 1 and first == "tuple of ints"

    def bind(self, function: str, args: tuple, kwargs: dict) -> dict[str, Any]:
        """The arguments by their names; raises PyTorch's TypeError where the form has no place."""
        if len(args) > self.n_positional and not self.takes_sizes:
            raise TypeError(self._too_many(function, len(args)))
        found: dict[str, Any] = {}
        used = set()
        position = 0
        for parameter in self.parameters:
            if position < len(args) and not parameter.named:
                x, place = args[position], f" (position {position + 1})"
                position += 1
            else:
                key = _given_name(parameter.name, kwargs)
                if key is None:
                    if parameter.optional:
                        continue
                    raise TypeError(self._missing(function, parameter, found))
                x, place = kwargs[key], ""
                used.add(key)
            if x is None and parameter.nullable:
                found[parameter.name] = x
                continue
            if self.takes_sizes and place and _is_int(x):
                x, position = args, len(args)
            wrong = mistake(parameter, x, function)
            if wrong is not None:
                raise TypeError(f"{function}(): argument '{parameter.name}'{place} {wrong}")
            found[parameter.name] = x
        if position < len(args):
            raise TypeError(self._too_many(function, len(args)))
        for key in kwargs:
            if key not in used:
                raise TypeError(self._unexpected(function, key, len(args)))
        return found

    def _too_many(self, function: str, given: int) -> str:
        most = self.n_positional
        fewest = sum(not p.optional for p in self.parameters if not p.named)
        plural = "" if fewest == most == 1 else "s"
        takes = f"from {fewest} to {most}" if fewest != most else str(most)
        return f"{function}() takes {takes} positional argument{plural} but {given} were given"

    def _missing(self, function: str, first: Parameter, found: dict) -> str:
        start = self.parameters.index(first)
        names = [p.name for p in self.parameters[start:] if not p.optional]
        plural = "s" if len(names) == 1 else ""  # as PyTorch has it
        listed = ", ".join(f'"{name}"' for name in names)
        return f"{function}() missing {len(names)} required positional argument{plural}: {listed}"

    def _unexpected(self, function: str, key: str, given: int) -> str:
        names = [p.name for p in self.parameters]
        if key in names and names.index(key) < given:
            return f"{function}() got multiple values for argument '{key}'"
        return f"{function}() got an unexpected keyword argument '{key}'"


def _parameters(text: str) -> Iterator[Parameter]:
    named = False
    for part in re.split(r", (?![^\[]*\])", text) if text else ():
        if part == "*":
            named = True
            continue
        declared, _, default = part.partition(" = ")
        kind, _, name = declared.rpartition(" ")
        length = re.search(r"\[(\d+)\]", kind)
        nullable = kind[-1] == "?" or default in ("None", "[]") or kind.endswith("Generator")
        nullable = nullable or name == "pin_memory"
        kind = re.sub(r"\[\d+\]|\?", "", kind)
        optional = bool(default)
        yield Parameter(kind, name, optional, nullable, int(length[1]) if length else 0, named)


def _given_name(name: str, kwargs: dict) -> str | None:
    """The name under which a keyword was given."""
    for each in (name, *NUMPY_NAMES.get(name, ())):
        if each in kwargs:
            return each
    return None


def _is_tensor(x: object) -> bool:
    return isinstance(x, tensor_base.TensorBase)


def _is_number(x: object) -> bool:
    return isinstance(x, (int, float, complex, np.number, np.bool_)) or _is_element(x, "biufcV")


def _is_element(x: Any, kinds: str) -> bool:
    """Whether `x` is a tensor that may stand for a number."""
    if not _is_tensor(x) or x._array.ndim or x.requires_grad:
        return False
    return getattr(x._array.dtype, "kind", "f") in kinds


def _is_int(x: object) -> bool:
    if type(x) is bool:
        return False
    return isinstance(x, (int, np.integer)) or _is_element(x, "iu")


def _is_float(x: object) -> bool:
    return isinstance(x, (int, float, np.floating, np.integer)) or _is_element(x, "biufV")


_CHECKS: dict[str, Callable[[object], bool]] = {
    "Tensor": _is_tensor,
    "Number": _is_number,
    "int": _is_int,
    "float": _is_float,
    "bool": lambda x: isinstance(x, (bool, np.bool_)),
    "str": lambda x: isinstance(x, str),
    "torch.dtype": lambda x: isinstance(x, dtype),
    "torch.device": lambda x: isinstance(x, (device, str)) or _is_int(x),
    "torch.layout": lambda x: isinstance(x, layout),
    "torch.memory_format": lambda x: isinstance(x, memory_format),
    "torch.Generator": lambda x: isinstance(x, Generator),
}
_NUMBERS: dict[str, Callable] = {"Number": lambda x: x, "int": int, "float": float}
_ELEMENTS: dict[str, Callable[[object], bool]] = {
    "tuple of Tensors": _is_tensor,
    "tuple of ints": _is_int,
    "tuple of floats": _is_float,
    "tuple of Scalars": _is_number,
    "tuple of bools": lambda x: isinstance(x, bool),
}


def mistake(parameter: Parameter, x: object, function: str = "") -> str | None:
    """What is wrong with `x` as an argument, or None."""
    kind = parameter.kind
    check = _CHECKS.get(kind)
    if check is not None:
        if check(x):
            return None
        if kind == "Tensor" and function.rstrip("_") in _NUMBERS_AS_TENSORS and _is_number(x):
            return None
        return f"must be {kind}, not {errors.type_name(x)}"
    element = _ELEMENTS.get(kind)
    if element is None:
        return None
    if not isinstance(x, (tuple, list)):
        if parameter.length and element(x) and x is not None:
            return None
        return f"must be {kind}, not {errors.type_name(x)}"
    if kind == "tuple of ints" and x and not element(x[0]):
        return f"must be {kind}, but found element of type {errors.type_name(x[0])} at pos 0"
    return None


def _check_elements(function: str, form: Form, values: dict[str, Any]) -> None:
    """Raise for an element of a list that only its unpacking shows to be wrong."""
    for place, (kind, name, *_) in enumerate(form.parameters):
        element = _ELEMENTS.get(kind)
        given = values.get(name)
        if element is None or not isinstance(given, (tuple, list)):
            continue
        for i, x in enumerate(given):
            if element(x) or (x is None and name == "indices"):
                continue
            if i and type(x) is bool and kind == "tuple of ints":  # the first alone is looked at
                continue
            if kind == "tuple of Tensors":
                text = f"expected Tensor as element {i} in argument {place}, but got "
                raise TypeError(text + errors.type_name(x))
            raise TypeError(
                f"{function}(): argument '{name}' failed to unpack the object at pos {i + 1} with "
                f'error "type must be {kind},but got {errors.type_name(x)}"'
            )


_WITH_OUT: dict[str, str] = {}
"""Functions that, given `out=`, look first whether a tensor has a graph, with their names then."""


@cache
def _table() -> dict[str, list[Form]]:
    import bz2

    found: dict[str, list[Form]] = {}
    packed = files("tapegrad.core").joinpath("native_forms.bz2").read_bytes()
    names: list[str] = []
    for line in bz2.decompress(packed).decode().splitlines():
        first, *others = line.split()
        if first == "out=":
            pairs = (each.partition("=") for each in others)
            _WITH_OUT.update({name: its_name or name for name, _, its_name in pairs})
        elif "(" in line:
            form = line.removeprefix("deprecated ")
            for name in names:
                found[name].append(Form(form, form != line))
        else:
            names = [first, *others]
            found |= {name: [] for name in names}  # a method that PyTorch has in Python has no form
    return found


def without_tensor(form: str) -> str:
    """The form of a method from that of its function: without `input` and `out`."""
    form = re.sub(r"(?:, )?(?:\*, )?\w+(?: of Tensors)? out = None(?=\))", "", form)
    form = re.sub(r"(\*, )?\w+(?: of Tensors)? out = None, ", r"\1", form)
    return re.sub(r"Tensor input(?:, )?", "", form, count=1).replace(", )", ")")


@cache
def _forms_of_method(name: str) -> list[Form]:
    """The forms of a method: its own in the table, else those of the function."""
    own = _table().get("Tensor." + name)
    if own is not None:
        return own
    return [Form(without_tensor(form.declared), form.deprecated) for form in _table().get(name, ())]


def forms_of(function: Callable, method: bool = False) -> tuple[str, list[Form]]:
    """PyTorch's name of a public function, and its forms: none where it is not native."""
    name = function.__name__
    if method:
        return name, _forms_of_method(name)
    public = FRONT_DOOR()
    spaces = {"": public, "linalg_": "linalg", "fft_": "fft", "special_": "special"}
    for prefix, space in spaces.items():
        within = getattr(public, space) if prefix else public
        own = name.removeprefix(prefix)
        if getattr(within, own, None) is function:  # which may be loaded on its first use
            full = prefix + own
            return full, _table().get(full, [])
    if public.nn.functional.__dict__.get(name) is function:
        return name, _table().get("nn_" + name, [])
    return name, []


_POOLING = frozenset("max_pool1d max_pool2d max_pool3d".split())
"""Functions that `nn.functional` has under the name of a native one, with an argument more."""


def call_of(
    function: Callable, args: tuple, kwargs: dict, error: Exception, method: bool = False
) -> Callable | None:
    """A call that failed with `error` once more, if it takes its arguments spelled otherwise.

    Raises PyTorch's TypeError if the native function refuses the arguments.
    """
    name, forms = forms_of(function, method)
    if not forms or (name in _POOLING and "return_indices" in kwargs):
        return None
    given = args[1:] if method else args
    if method and args and not _is_tensor(args[0]):
        return None
    if method and not forms[0].parameters and len(forms) == 1:
        _refuse_all(name, given, kwargs)
    try:
        form, values = bind(name, forms, given, kwargs)
    except TypeError as refusal:
        if getattr(refusal, "__notes__", None):
            raise
        raise errors.advised(refusal, _advice(refusal, forms)) from None
    if values.get("out_dtype") is not None:
        raise _no_out_dtype(name, values.get("out") is not None)
    if values.get("out") is not None:
        _check_graph(name, values)
        if _failed_in_kernel(error):
            _check_out(name, values)
    changed = _as_numbers(form, values)
    if not changed and not isinstance(error, TypeError):
        return None
    if form.deprecated:
        form = _warn_of(name, form, values, forms)
    out = values.get("out")
    if out is not None and "out" not in _taken(function):
        del values["out"]
        args, kwargs = _spelled(function, form, values, ())
        inputs = (*args, *kwargs.values()) if ".pointwise." in function.__module__ else ()

        def put() -> Any:
            try:
                result = function(*args, **kwargs)
            except NotImplementedError as failure:
                if _failed_in_kernel(failure):
                    _check_out(name, values | {"out": out})
                raise
            return WRITE_OUT().write_out(name, result, out, *inputs)

        return put
    again, named = _spelled(function, form, values, args[:1] if method else ())
    if not changed and len(again) == len(args) and named.keys() == kwargs.keys():
        return None
    return lambda: function(*again, **named)


def _as_numbers(form: Form, values: dict[str, Any]) -> bool:
    """Replace tensors that were given for numbers by their elements; whether there were any."""
    found = [p for p in form.parameters if p.kind in _NUMBERS and _is_tensor(values.get(p.name))]
    for parameter in found:
        values[parameter.name] = _NUMBERS[parameter.kind](values[parameter.name].item())
    return bool(found)


def _refuse_all(name: str, args: tuple, kwargs: dict) -> None:
    """Raise where a method that takes no arguments is given some."""
    if kwargs:
        text = f"TensorBase.{name}() takes no keyword arguments"
        raise errors.type_error(text, f"torch.{name}(x, ...) may take some.")
    if args:
        text = f"TensorBase.{name}() takes no arguments ({len(args)} given)"
        raise errors.type_error(text, f"torch.{name}(x, ...) may take some.")


def _advice(refusal: TypeError, forms: list[Form]) -> str:
    """What to do about an argument that no form takes."""
    if "must be Tensor" in str(refusal):
        return "Make a tensor of it first: torch.tensor(...)."
    return "It takes " + " or ".join(form.text for form in forms if not form.deprecated) + "."


def _spelled(
    function: Callable, form: Form, values: dict[str, Any], first: tuple
) -> tuple[tuple, dict[str, Any]]:
    """The arguments of a form as `function` takes them, after `first`."""
    by_keyword = _by_keyword(function)
    args, kwargs, in_row = list(first), {}, True
    for parameter in form.parameters:
        name = parameter.name
        if name not in values:
            in_row = False
        elif in_row and not parameter.named and name not in by_keyword:
            args.append(values[name])
        else:
            in_row = False
            kwargs[name] = values[name]
    return tuple(args), kwargs


def _check_graph(name: str, values: dict[str, Any]) -> None:
    """Raise for tensors with a graph and `out=`: PyTorch looks at that before anything else."""
    theirs = _WITH_OUT.get(name)
    if theirs is None:
        return
    if name in ("max", "min"):
        theirs = f"{name}imum" if "other" in values else name
    found = [x for v in values.values() for x in (v if isinstance(v, (tuple, list)) else (v,))]
    if WRITE_OUT().is_grad_enabled() and any(_is_tensor(x) and x.requires_grad for x in found):
        raise errors.out_in_graph(theirs)


_BEFORE_OUT = ('"softshrink_check"', '"polygamma"')
"""Kernels whose dtypes are looked at before anything is said of `out`."""


def _failed_in_kernel(error: Exception) -> bool:
    """Whether a kernel lacks a dtype, or could not compute: the arguments had been looked at."""
    if isinstance(error, NotImplementedError):
        text = str(error)
        return text.startswith('"') and not text.startswith(_BEFORE_OUT)
    return isinstance(error, errors.LinAlgError)


def _check_out(name: str, values: dict[str, Any]) -> None:
    """Raise for an `out` that PyTorch refuses before it calls the kernel, which failed here."""
    inputs = tuple([x for key, x in values.items() if key != "out"])
    WRITE_OUT().check_before_kernel(name, inputs, values["out"])


def _no_out_dtype(name: str, with_out: bool) -> NotImplementedError:
    operator = f"aten::{name}.dtype{'_out' if with_out else ''}"
    return errors.not_implemented(
        f"Could not run '{operator}' with arguments from the 'CPU' backend. This could be because "
        "the operator doesn't exist for this backend, or was omitted during the selective/custom "
        "build process (if using custom build). If you are a Facebook employee using PyTorch on "
        "mobile, please visit https://fburl.com/ptmfixes for possible resolutions. "
        f"'{operator}' is only available for GPUs.",
        "Convert the result: .to(out_dtype).",
    )


def _taken(function: Callable) -> set[str]:
    """The names of arguments that a function takes."""
    return set(inspect.signature(function).parameters)


def _by_keyword(function: Callable) -> set[str]:
    """The names that a function takes by keyword only."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}


def _warn_of(name: str, form: Form, values: dict, forms: list[Form]) -> Form:
    """Warn of a deprecated form; the one that takes the same arguments in its place."""
    current = [each for each in forms if not each.deprecated]
    listed = "\n\t".join(name + each.text for each in current)
    warn_once(
        f"This overload of {name} is deprecated:\n\t{name}{form.text}\n"
        f"Consider using one of the following signatures instead:\n\t{listed}",
        together="This overload",
    )
    return next(f for f in current if values.keys() <= {p.name for p in f.parameters})


def bind(name: str, forms: list[Form], args: tuple, kwargs: dict) -> tuple[Form, dict[str, Any]]:
    """The form that takes the arguments, and they by its names; a TypeError where none does."""
    form, values = _bind(name, forms, args, kwargs)
    try:
        _check_elements(name, form, values)
    except TypeError:
        later = [each for each in forms[forms.index(form) + 1 :] if "tuple of Tensors" in each.text]
        for other in later:  # the same list, of tensors
            try:
                values = other.bind(name, args, kwargs)
                _check_elements(name, other, values)
            except TypeError:
                continue
            return other, values
        raise
    return form, values


def _bind(name: str, forms: list[Form], args: tuple, kwargs: dict) -> tuple[Form, dict[str, Any]]:
    if len(forms) == 1:
        return forms[0], forms[0].bind(name, args, kwargs)
    current = [form for form in forms if not form.deprecated]
    for form in (*current, *(form for form in forms if form.deprecated)):
        try:
            return form, form.bind(name, args, kwargs)
        except TypeError:
            continue
    given = len(args) + len(kwargs)
    plausible = [form for form in current if form.fewest <= given <= len(form.parameters)]
    if len(plausible) == 1:
        plausible[0].bind(name, args, kwargs)
    texts = tuple(form.text[1:-1] for form in current)
    raise errors.invalid_combination(name, args, kwargs, texts)
