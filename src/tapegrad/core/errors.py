"""Errors: PyTorch's class and text, and a note that says what to do.

`str(error)` is what PyTorch says, so that code which prints or matches it sees no difference. The
advice is a note (PEP 678): a traceback shows it on the line below.
"""

import warnings
from math import prod
from typing import Any, TypeVar

from tapegrad.core.annotations import DTypeLike

E = TypeVar("E", bound=BaseException)


def advised(error: E, advice: str) -> E:
    """`error` with a note that says what to do.

    >>> error = tapegrad.core.errors.advised(ValueError("no"), "Say yes.")
    >>> error.__notes__
    ['Say yes.']
    """
    error.add_note(advice)
    return error


def runtime_error(message: str, advice: str) -> RuntimeError:
    """A RuntimeError in PyTorch's words, with a note that says what to do.

    >>> raise tapegrad.core.errors.runtime_error("No gradient.", "Call backward() first.")
    Traceback (most recent call last):
    RuntimeError: No gradient.
    Call backward() first.
    """
    return advised(RuntimeError(message), advice)


def value_error(message: str, advice: str) -> ValueError:
    """The same for a value that is not accepted."""
    return advised(ValueError(message), advice)


def type_error(message: str, advice: str) -> TypeError:
    """The same for an argument of the wrong type."""
    return advised(TypeError(message), advice)


def index_error(message: str, advice: str) -> IndexError:
    """The same for an index or a dimension that is out of range."""
    return advised(IndexError(message), advice)


def not_implemented(message: str, advice: str) -> NotImplementedError:
    """The same for what PyTorch refuses as not implemented."""
    return advised(NotImplementedError(message), advice)


def assertion_error(message: str, advice: str) -> AssertionError:
    """The same for PyTorch's assertions about arguments."""
    return advised(AssertionError(message), advice)


def warn(message: str, level: int = 2) -> None:
    """A warning in PyTorch's words that points `level` calls up, as `stacklevel` counts them."""
    warnings.warn(message, UserWarning, stacklevel=level + 1)


def deprecated(message: str, level: int = 2) -> None:
    """The same as a FutureWarning: of what will not be there for ever."""
    warnings.warn(message, FutureWarning, stacklevel=level + 1)


class LinAlgError(RuntimeError):
    """Numbers for which a problem of linear algebra has no solution: a singular matrix, say."""


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"
LinAlgError.__module__ = "torch._C"


def linalg_error(message: str, advice: str) -> LinAlgError:
    """A LinAlgError in PyTorch's words, with a note that says what to do."""
    return advised(LinAlgError(message), advice)


_BEYOND = (  # how NumPy says that an array has more bytes than there are addresses
    "array is too big",
    "Maximum allowed dimension exceeded",
    "Maximum allowed size exceeded",
    "Python int too large to convert to C",
    "negative dimensions are not allowed",
    "cannot reshape array of size 0 into shape",
)


_TOO_LARGE = (
    "No memory is large enough; NumPy has no such arrays without elements or with strides of zero, "
    "either."
)


def overflow(sizes: Any = None, strides: Any = None, advice: str = _TOO_LARGE) -> RuntimeError:
    """A tensor whose bytes, or steps between them, 64 bits do not count."""
    text = "Storage size calculation overflowed"
    if sizes is not None:
        text += f" with sizes={list(sizes)}"
        text += "" if strides is None else f" and strides={list(strides)}"
    return runtime_error(text, advice)


def unmet(condition: str, advice: str) -> RuntimeError:
    """A condition that does not hold and for which PyTorch has no words."""
    return runtime_error(
        f"Expected {condition} to be true, but got false.  (Could this error message be improved?  "
        "If so, please report an enhancement request to PyTorch.)",
        advice,
    )


def out_in_graph(function: str) -> RuntimeError:
    """A result written to `out=` that would be part of a graph."""
    return runtime_error(
        f"{function}(): functions with out=... arguments don't support automatic differentiation, "
        "but one of the arguments requires grad.",
        "Leave out= away, or compute inside `with torch.no_grad():`.",
    )


def beyond_memory(error: Exception) -> Exception:
    """PyTorch's error for what NumPy says of an array too large; any other error as it is.

    >>> tapegrad.core.errors.beyond_memory(ValueError("array is too big; it is"))
    RuntimeError('Storage size calculation overflowed')
    """
    if isinstance(error, MemoryError):
        return _out_of_memory(error)
    return overflow() if str(error).startswith(_BEYOND) else error


def _out_of_memory(error: MemoryError) -> RuntimeError:
    shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
    if shape is None or dtype is None:
        return runtime_error("std::bad_alloc", "There is not enough memory.")
    n_bytes = prod(shape) * dtype.itemsize
    return runtime_error(
        "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate "
        f"memory: you tried to allocate {n_bytes} bytes. Error code 12 (Cannot allocate memory)",
        f"The shape is {list(shape)}.",
    )


def leaf_in_place(is_view: bool = False) -> RuntimeError:
    """A write to a leaf that requires grad, or to a view of one."""
    what = "a view of a leaf" if is_view else "a leaf"
    return advised(
        RuntimeError(f"{what} Variable that requires grad is being used in an in-place operation."),
        "Write inside `with torch.no_grad():`, or make a new tensor instead (y = x + 1).",
    )


def inside_transform(method: str) -> RuntimeError:
    """A method that asks for gradients inside a function that `torch.func` transforms."""
    also = " (or perhaps using torch.autograd.functional.* APIs)" if method[-1] == "_" else ""
    return advised(
        RuntimeError(
            f"You are attempting to call Tensor.{method}(){also} inside of a function being "
            "transformed by a functorch transform. This is unsupported, please attempt to use the "
            "functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call "
            f"{method}() outside of a function being transformed instead."
        ),
        "torch.func.grad(f)(x) gives the gradient as a value.",
    )


def inference_saved() -> RuntimeError:
    """An inference tensor that a graph would have to keep."""
    return advised(
        RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
            "inference mode in computation tracked by autograd. To work around this, you can make "
            "a clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` "
            "instead of `torch.inference_mode()`."
        ),
        "clone() the tensor outside inference mode first.",
    )


def tensor_type(dtype: Any) -> str:
    """What PyTorch's messages call the type of a tensor: some have no legacy name."""
    name = dtype.scalar_name
    unnamed = dtype.is_complex or name in ("Bool", "BFloat16")
    return f"CPU{name}Type" if unnamed else f"torch.{name}Tensor"


def tangent_size(tensor: Any, tangent: Any) -> RuntimeError:
    """A tangent of another shape than its tensor."""
    return advised(
        RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {list(tensor.shape)} while the "
            f"given forward gradient is of size {list(tangent.shape)}."
        ),
        "A tangent has the shape of its tensor: expand() it.",
    )


def broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> RuntimeError:
    """Two shapes that do not broadcast."""
    for i in range(1, min(len(a), len(b)) + 1):
        if a[-i] != b[-i] and a[-i] != 1 and b[-i] != 1:
            return advised(
                RuntimeError(
                    f"The size of tensor a ({a[-i]}) must match the size of tensor b ({b[-i]}) at "
                    f"non-singleton dimension {max(len(a), len(b)) - i}"
                ),
                f"Shapes {list(a)} and {list(b)} do not broadcast: counted from the last, "
                "dimensions must be equal or 1.",
            )
    raise AssertionError(f"shapes {a} and {b} broadcast")


def wrong_dtype(wanted: Any, found: Any, advice: str) -> RuntimeError:
    """A tensor of another dtype than the one it is combined with."""
    text = f"expected scalar type {wanted.scalar_name} but found {found.scalar_name}"
    return runtime_error(text, advice)


def negative_size(n: Any, sizes: Any, advice: str = "Sizes are not negative.") -> RuntimeError:
    """A size below zero, among those of a tensor to be made."""
    return runtime_error(f"Trying to create tensor with negative dimension {n}: {sizes}", advice)


def check_expand(have: tuple, sizes: tuple, advice: str, dtype: Any) -> None:
    """Raise unless a shape can be repeated to `sizes`, where -1 keeps one of its own."""
    if len(have) > len(sizes):
        raise runtime_error(
            f"expand({tensor_type(dtype)}{{{list(have)}}}, size={list(sizes)}): the number of "
            f"sizes provided ({len(sizes)}) must be greater or equal to the number of dimensions "
            f"in the tensor ({len(have)})",
            advice,
        )
    for i in range(len(sizes) - 1, len(sizes) - len(have) - 1, -1):
        n, own = sizes[i], have[i - len(sizes)]
        if n != -1 and (own not in (1, n) or n < 0):
            raise runtime_error(
                f"The expanded size of the tensor ({n}) must match the existing size ({own}) at "
                f"non-singleton dimension {i}.  Target sizes: {list(sizes)}.  Tensor sizes: "
                f"{list(have)}",
                advice,
            )


def float_required(dtype: DTypeLike) -> RuntimeError:
    """A new tensor of integers or booleans that was to require grad."""
    return advised(
        RuntimeError("Only Tensors of floating point and complex dtype can require gradients"),
        f"This one is {dtype}: pass requires_grad=False, or dtype=torch.float32.",
    )


def cannot_require_grad(dtype: DTypeLike, kinds: str = "floating point") -> RuntimeError:
    """A tensor of integers or booleans that is there already."""
    return runtime_error(
        f"only Tensors of {kinds} dtype can require gradients",
        f"This one is {dtype}: convert it first, for example with .float().",
    )


_BY_CLASS_STATEMENT = 1 << 9  # a flag that types written in C lack


_TORCH_TYPES = ("dtype", "device", "layout", "memory_format", "Size")


def type_name(x: object) -> str:
    """What PyTorch's messages call the type of `x`: types written in C carry their module.

    >>> import numpy as np
    >>> [tapegrad.core.errors.type_name(x) for x in (1, np.ones(2), torch.ones(2), torch.float32)]
    ['int', 'numpy.ndarray', 'Tensor', 'torch.dtype']
    """
    kind = type(x)
    name = kind.__name__
    if kind.__module__.split(".")[0] in ("tapegrad", "torch") and name in _TORCH_TYPES:
        return f"torch.{name}"
    if kind.__flags__ & _BY_CLASS_STATEMENT or kind.__module__ == "builtins":
        return name
    return f"{kind.__module__}.{name}"


def must_be(
    function: str, argument: str, position: int, wanted: str, x: object, advice: str = ""
) -> TypeError:
    """An argument of a type that a function does not take."""
    place = f" (position {position})" if position else ""
    error: Any = TypeError(
        f"{function}(): argument '{argument}'{place} must be {wanted}, not {type_name(x)}"
    )
    if wanted == "Tensor":
        return no_tensor(error, x)
    return advised(error, advice or f"Pass {'an' if wanted[0] in 'aeiou' else 'a'} {wanted}.")


def no_tensor(error: Any, x: object) -> TypeError:
    """The `error` of an argument `x` that is no tensor.

    It says so in the way of an AttributeError, for functions that name the argument otherwise.
    """
    error.obj, error.name = x, "_array"
    return advised(error, "Make a tensor of it first: torch.tensor(...).")


def need_tensor(function: str, argument: str, position: int, x: object) -> None:
    """Raise unless an argument is a tensor."""
    if not hasattr(x, "_array"):
        raise must_be(function, argument, position, "Tensor", x)


def need_tensors(function: str, **arguments: Any) -> None:
    """Raise unless every argument, in their order, is a tensor.

    >>> tapegrad.core.errors.need_tensors("sort", input=[1, 2])
    Traceback (most recent call last):
    TypeError: sort(): argument 'input' (position 1) must be Tensor, not list
    Make a tensor of it first: torch.tensor(...).
    """
    for x in arguments.values():
        if not hasattr(x, "_array"):
            break
    else:
        return
    for position, (name, x) in enumerate(arguments.items(), start=1):
        need_tensor(function, name, position, x)


def need_sequence(tensors: Any, advice: str) -> None:
    """Raise unless everything in a list is a tensor."""
    for i, x in enumerate(tensors):
        if not hasattr(x, "_array"):
            raise type_error(
                f"expected Tensor as element {i} in argument 0, but got {type_name(x)}", advice
            )


def invalid_combination(function: str, args: tuple, kwargs: dict, forms: tuple) -> TypeError:
    """Arguments that none of the `forms` of a function takes."""
    given = [type_name(x) for x in args]
    given += [f"{name}={type_name(x)}" for name, x in reversed(list(kwargs.items()))]
    text = ", ".join(given) + (", " if kwargs and not args else "")
    unknown = _unrecognized(kwargs, forms[0]) if len(forms) == 1 else ""
    if unknown:
        return type_error(
            f"{function}() received an invalid combination of arguments - got unrecognized keyword "
            f"arguments: {unknown}",
            f"It takes ({forms[0]}).",
        )
    lines = "".join(f" * ({form})\n" for form in forms)
    expected = f"one of:\n{lines}" if len(forms) > 1 else f"({forms[0]})"
    return advised(
        TypeError(
            f"{function}() received an invalid combination of arguments - got ({text}), "
            f"but expected {expected}"
        ),
        "Compare what was given with the forms above.",
    )


def _unrecognized(kwargs: dict, form: str) -> str:
    """The keywords that PyTorch does not find in a form without `out`: those with defaults, too."""
    if " out = None" in form:
        return ""
    parts = form.split(", ")
    known = [part.rpartition(" ")[2] for part in parts[max(len(parts) - len(kwargs), 0) :]]
    return ", ".join(name for name in reversed(kwargs) if name not in known)


_C_NAMES = {
    "bool": "bool", "uint8": "unsigned char", "int8": "signed char", "int16": "short int",
    "uint16": "short unsigned int", "int32": "int", "uint32": "unsigned int", "int64": "long int",
    "uint64": "long unsigned int", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
    "float32": "float", "float64": "double", "complex32": "c10::complex<c10::Half>",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip


def c_name(dtype: Any) -> str:
    """What C++ calls a dtype, and with it some of PyTorch's messages.

    >>> tapegrad.core.errors.c_name(torch.int64)
    'long int'
    """
    return _C_NAMES.get(dtype.name, dtype.name)
