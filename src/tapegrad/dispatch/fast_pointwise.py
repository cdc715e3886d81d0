"""The fast path of elementwise operators: tensors of one floating dtype on the CPU.

What `apply` does in general, written out for one and for two operands and worked out as far as
possible when the operator is declared. This is the hot path: it trades brevity for speed.
"""

import inspect

import numpy as np

from tapegrad.arrays.numpy import namespace as numpy_namespace
from tapegrad.arrays.numpy.blocks import LARGE
from tapegrad.arrays.numpy.memory_pool import SMALLEST, memory_for
from tapegrad.arrays.signature import signature_of
from tapegrad.autograd.mode import MODE
from tapegrad.autograd.saved import CONSTANT, GRAD, RAW
from tapegrad.autograd.view import edge_of
from tapegrad.autograd.writable import check_out
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Array, Callable, ModeLike, OperatorLike, Out
from tapegrad.core.argument_check import MISSING, given_of, respelled
from tapegrad.core.torch_function import IN_USE, operated
from tapegrad.dispatch.apply import (
    F32,
    F64,
    I64,
    NUMBERS,
    apply,
    finish,
    forward_function,
    restoration,
    wrong_argument,
)

get_mode = MODE.get
ndarray = np.ndarray
array_of = np.array
asarray = np.asarray
new = object.__new__
born = tensor_base.BORN


UNARY = inspect.signature(lambda input, *, out=None: None)
BINARY = inspect.signature(lambda input, other, *, out=None: None)


def unary(
    op: OperatorLike, get_mode: Callable = get_mode, apply: Callable = apply, method: bool = False
) -> Callable:
    """The function of an elementwise operator of one tensor, or its method.

    A mode that knows which grad mode lies below it can have a function of its own: `get_mode`
    then says that one, and `apply` runs the general way under it.
    """
    compute: Any = None
    plan: Any = None
    Tensor: Any = None
    jvp: Any = None
    alike = None
    whole = op.ufunc is not None

    def first_call() -> None:
        nonlocal compute, plan, Tensor, alike
        Tensor = tensor_base.Tensor
        forward = forward_function(op)
        alike = _keeps_dtype(forward, 1)
        plan = op.plan(GRAD, False, numpy_namespace) if op.vjps else None
        compute = forward  # last: another thread takes it for all that is above

    def call(input: Any = MISSING, *extra: Any, **options: Any) -> Any:
        try:
            signature = input._signature
        except AttributeError:
            signature = None
        mode = get_mode()
        if not signature or options or extra or (mode is not True and mode is not False):
            again = None
            try:
                if extra or options:
                    z = without_signature(input, mode, *extra, **options)
                else:
                    z = without_signature(input, mode)
            except Exception as error:
                again = as_bound(input, extra, options, error)
            if again is not None:
                return again()
            if type(z) is not ndarray:
                return z
            signature = input._signature
            if signature is not False and not signature.row_major:
                signature = None
        else:
            if compute is None:
                first_call()
            z = compute(input._array)
        tensor = new(Tensor)
        tensor._array = z
        tensor._counter = tensor._view = tensor._grad = None
        tensor._born = born[0]
        tensor._signature = signature if alike else None
        edge = input._node if input._view is None else edge_of(input)
        if edge is None or mode is False or plan is None:
            tensor._node = None
            return tensor
        tensor._node = plan.node_of_small(input, edge, tensor)
        return tensor

    def as_bound(input: Any, extra: tuple, options: dict, error: Exception) -> Callable:
        """A call that failed as PyTorch binds its arguments; raises PyTorch's error, or its own."""
        args = () if input is MISSING else (input, *extra)
        again = respelled(call, args, options, error, method=method, above=1, names_tensors=True)
        if again is not None:
            return again
        if not hasattr(input, "_array"):
            raise wrong_argument(op, (input,), input) from None
        try:
            raise error
        finally:  # the traceback knows this frame: together they would keep what it keeps
            del error

    def without_signature(input: Any, mode: ModeLike, *, out: Out = None) -> Any:
        """The array of a tensor that has no signature; the result itself, if `apply` gives it."""
        nonlocal jvp
        signature = input._signature
        if signature is None:
            signature = input._signature = signature_of(input._array)
        x = input._array
        if out is None and (mode is True or mode is False) and type(x) is ndarray:
            dtype = x.dtype
            if (dtype is F32 or dtype is F64) and x.size <= LARGE:
                if compute is None:
                    first_call()
                if signature is not False and not signature.row_major:
                    return op.order(asarray(compute(x)), (x,), {})
                if whole and alike and x.nbytes >= SMALLEST:
                    return compute(x, memory_for(x))
                return asarray(compute(x))
        if type(mode) is not bool and mode.fast_jvp and out is None:
            if jvp is None:
                jvp = _jvp_function(op)
            result = jvp(mode, input)
            if result is not None:
                return result
        if out is not None:
            check_out(out, input)
        return finish(op.name, apply(op, (input,), {}), out)

    call.direct = call  # type: ignore[attr-defined]
    call.method = call, lambda method: unary(op, method=method)  # type: ignore[attr-defined]
    call.__signature__ = UNARY  # type: ignore[attr-defined]
    return call


def binary(
    op: OperatorLike,
    leave: bool = False,
    get_mode: Callable = get_mode,
    apply: Callable = apply,
    method: bool = False,
) -> Callable:
    """The function of an elementwise operator of two operands, or its method.

    With `leave` it is the method behind a Python operator, which leaves what it does not know to
    the other operand. `get_mode` and `apply` are as in `unary`.
    """
    compute: Any = None
    Tensor: Any = None
    both: Any = None
    left: Any = None
    right: Any = None
    alone: Any = None
    jvp: Any = None
    jvp_of_number: Any = None
    alike = None
    # NumPy's own: int64 needs no more than floats, and the result may go into given memory
    whole = op.ufunc is not None and op.promote == "arith"

    def first_call() -> None:
        nonlocal compute, both, left, right, alone, Tensor, alike
        Tensor = tensor_base.Tensor
        forward = forward_function(op)
        alike = _keeps_dtype(forward, 2)
        if op.vjps:
            alone = op.plan(GRAD + RAW, False, numpy_namespace)
        if len(op.vjps) == 2:
            both = op.plan(GRAD + GRAD, False, numpy_namespace)
            left = op.plan(GRAD + CONSTANT, False, numpy_namespace)
            right = op.plan(CONSTANT + GRAD, False, numpy_namespace)
        compute = forward  # last: another thread takes it for all that is above

    def call(input: Any, other: Any) -> Any:
        kind = type(other)
        if kind is float or kind is int:
            return with_number(input, other)
        try:
            signature = input._signature
            if signature is not other._signature:
                signature = None
        except AttributeError:
            return with_number(input, other)
        mode = get_mode()
        if mode is not True and mode is not False:
            if jvp is not None and mode.fast_jvp:
                tensor = jvp(mode, input, other)
                if tensor is not None:
                    return tensor
            return under_mode(input, other, mode)
        x = input._array
        y = other._array
        if not signature:
            z = without_signature(input, other, x, y)
            if type(z) is not ndarray:
                return z
            if signature is None and input._signature is other._signature:
                signature = input._signature  # both were seen for the first time
            if signature is not False and signature is not None and not signature.row_major:
                signature = None
        else:
            if compute is None:
                first_call()
            z = compute(x, y)
        tensor = new(Tensor)
        tensor._array = z
        tensor._counter = tensor._view = tensor._grad = None
        tensor._born = born[0]
        tensor._signature = signature if alike else None
        a = input._node if input._view is None else edge_of(input)
        b = other._node if other._view is None else edge_of(other)
        if a is None:
            plan = None if b is None else right
        else:
            plan = left if b is None else both
        if plan is None or mode is False:
            tensor._node = None
            return tensor
        restore = None if signature or x.ndim == y.ndim == 0 else restoration((x, y), (a, b), z)
        tensor._node = plan.node_of_small(input, other, a, b, tensor, restore)
        return tensor

    def under_mode(input: Any, other: Any, mode: ModeLike) -> Any:
        """The result of a call that a mode takes part in."""
        nonlocal jvp
        if jvp is None and mode.fast_jvp:  # forward mode has a fast path of its own
            jvp = _jvp_function(op)
            return call(input, other)
        return mode.call(op.name, apply, (op, (input, other), {}), {})

    def without_signature(input: Any, other: Any, x: object, y: Array) -> Any:
        """The array of tensors without a common signature; the result itself, if `apply` gives it.

        The shapes differ, or a tensor is seen for the first time, has no dimension, or integers.
        """
        signature = input._signature
        if signature is None:
            signature = input._signature = signature_of(x)
        signature_2 = other._signature
        if signature_2 is None:
            signature_2 = other._signature = signature_of(y)
        if signature is signature_2 and signature and compute is not None:
            return compute(x, y)
        if type(x) is ndarray and type(y) is ndarray:
            dtype = x.dtype
            if (
                dtype is y.dtype
                and (dtype is F32 or dtype is F64 or (dtype is I64 and whole))
                and x.size <= LARGE
                and y.size <= LARGE
            ):
                if compute is None:
                    first_call()
                try:
                    # whether the order in memory matters, asked without a call
                    if (
                        (x.ndim > 1 and not x.flags.c_contiguous)
                        if signature is False
                        else not signature.row_major
                    ) or (
                        (y.ndim > 1 and not y.flags.c_contiguous)
                        if signature_2 is False
                        else not signature_2.row_major
                    ):
                        return op.order(asarray(compute(x, y)), (x, y), {})
                    if whole and alike and x.nbytes >= SMALLEST and x.shape == y.shape:
                        return compute(x, y, memory_for(x))
                    return asarray(compute(x, y))
                except ValueError:
                    raise errors.broadcast(x.shape, y.shape) from None
                except MemoryError as error:
                    raise errors.beyond_memory(error) from None
                except NotImplementedError:  # `apply` refuses it, too, but shapes come first
                    return apply(op, (input, other), {})
        return apply(op, (input, other), {})

    def with_number(input: Any, other: Any) -> Any:
        """A tensor and a Python number, and what is no tensor."""
        nonlocal jvp_of_number
        kind = type(other)
        mode = get_mode()
        if (
            (kind is float or kind is int)
            and op.numbers
            and (mode is True or mode is False)
            and isinstance(input, tensor_base.TensorBase)
        ):
            x = input._array
            signature = input._signature
            if signature is None:
                signature = input._signature = signature_of(x)
            if signature or _is_plain(x, whole and kind is int):
                if compute is None:
                    first_call()
                try:
                    # an array of the number is quicker than the number, and the same to NumPy
                    number = array_of(other, x.dtype) if whole else other
                    if not signature and (
                        (x.ndim > 1 and not x.flags.c_contiguous)
                        if signature is False
                        else not signature.row_major
                    ):
                        z = op.order(asarray(compute(x, number)), (x,), {})
                    elif whole and alike and x.nbytes >= SMALLEST:
                        z = compute(x, number, memory_for(x))
                    else:
                        z = compute(x, number)
                except OverflowError:  # an int beyond 64 bits
                    return apply(op, (input, other), {})
                tensor = new(Tensor)
                tensor._array = z if signature else asarray(z)
                tensor._counter = tensor._view = tensor._grad = None
                tensor._born = born[0]
                tensor._signature = signature if signature and alike else None
                edge = input._node if input._view is None else edge_of(input)
                if edge is None or mode is False or alone is None:
                    tensor._node = None
                    return tensor
                # a rule may make a float64 of the number, as np.log does
                restore = None if whole else ((x.shape, x.dtype), None)
                tensor._node = alone.node_of_small(input, other, edge, None, tensor, restore)
                return tensor
        if leave and (IN_USE or (kind is not float and kind is not int)):
            known = isinstance(other, (tensor_base.Tensor, *NUMBERS))
            again = operated(op.name, False, input, other, 3) if IN_USE or not known else None
            if again is not None:
                return again()
            if not known:
                return NotImplemented
        if type(mode) is not bool and mode.fast_jvp and (kind is float or kind is int):
            if jvp_of_number is None:
                jvp_of_number = _jvp_function(op, True)
            result = jvp_of_number(mode, input, other)
            if result is not None:
                return result
        if input is None or other is None:
            raise wrong_argument(op, (input, other), None)
        return apply(op, (input, other), {})

    if leave:
        return call

    def with_out(input: Any, other: Any, *, out: Out = None) -> Any:
        if out is None:
            return call(input, other)
        check_out(out, input, other)
        return finish(op.name, apply(op, (input, other), {}), out)

    def function(input: Any = MISSING, other: Any = MISSING, *extra: Any, **options: Any) -> Any:
        try:
            if options or extra:
                return with_out(input, other, *extra, **options)
            return call(input, other)
        except Exception as error:
            if input is MISSING and other is not MISSING:  # by its name
                options = options | {"other": other}
            args = given_of((input, other, *extra))
            again = respelled(function, args, options, error, method=method, names_tensors=True)
            if again is None:
                raise
        return again()

    function.direct = call  # type: ignore[attr-defined]  # without `out`: for a mode of its own
    as_method = function, lambda method: binary(op, method=method)
    function.method = as_method  # type: ignore[attr-defined]
    function.__signature__ = BINARY  # type: ignore[attr-defined]
    return function


def _jvp_function(op: OperatorLike, of_number: bool = False) -> Callable:
    from tapegrad.dispatch.fast_jvp_pointwise import jvp_function

    return jvp_function(op, of_number)


def _is_plain(x: object, integers: bool) -> bool:
    """Whether an array without a signature is one for the fast path: it has no dimension or
    element, or integers where the operator takes them as they are."""
    if type(x) is not ndarray or x.size > LARGE:
        return False
    dtype = x.dtype
    return dtype is F32 or dtype is F64 or (integers and dtype is I64)


def _keeps_dtype(compute: Callable, n: int) -> bool:
    """Whether float32 operands give a float32 result: comparisons give booleans."""
    try:
        return compute(*(np.full(1, 0.5, F32),) * n).dtype is F32
    except NotImplementedError:  # of integers alone: the call itself says of which dtype it is not
        return False


def operator(function: Callable, reverse: bool = False) -> Callable:
    """The method behind a Python operator: what it does not know it leaves to the other operand."""
    op = getattr(function, "op", None)
    if op is not None and len(op.inputs) == 2 and not op.params and not reverse:
        return binary(op, leave=True)

    def method(self: Any, other: Any) -> Any:
        known = isinstance(other, tensor_base.Tensor) or isinstance(other, NUMBERS)
        if IN_USE or not known:
            again = operated(function.__name__, reverse, self, other)
            if again is not None:
                return again()
        if known:
            return function(other, self) if reverse else function(self, other)
        return NotImplemented

    return method
