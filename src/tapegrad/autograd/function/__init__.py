"""Operators of one's own: `Function`, a class of static methods that is called by `apply`.

    forward(ctx, x)            the result, computed unrecorded; or forward(x), and setup_context
    setup_context(ctx, inputs, output)                         saves what the derivatives need
    backward(ctx, g)           from the gradient of the result to that of x
    jvp(ctx, t)                from the tangent of x to that of the result, for forward mode

What a call leaves on its `ctx` is found there by its derivatives: `ctx` is the node of the graph.
"""

import functools
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapegrad.autograd.function.call import call, in_order, with_defaults
from tapegrad.autograd.function.context import Context, FunctionCtx
from tapegrad.autograd.function.node import BackwardCFunction
from tapegrad.autograd.mode import is_grad_enabled, no_grad
from tapegrad.core import errors
from tapegrad.core.missing import refuses as _refuses
from tapegrad.core.tensor_base import TensorBase

if TYPE_CHECKING:
    from typing import ParamSpec, Protocol, TypeVar, overload

    _Given = ParamSpec("_Given")
    _Result = TypeVar("_Result", covariant=True)

    class _Computes(Protocol[_Given, _Result]):
        """A function whose `forward` saves what its derivatives need: `apply` takes the rest."""

        @staticmethod
        def forward(ctx: Any, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Result: ...

    class _ComputesAlone(Protocol[_Given, _Result]):
        """A function that saves them in `setup_context`: `apply` takes what its `forward` does."""

        @staticmethod
        def forward(*args: _Given.args, **kwargs: _Given.kwargs) -> _Result: ...
        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> Any: ...


class FunctionMeta(type):
    """Makes the class of a custom function's nodes along with it: `CubeBackward` for `Cube`."""

    _backward_cls: Any
    _context_cls: Any

    def __init__(cls, name: str, bases: tuple, attributes: dict):
        body = {"_forward_cls": cls, "__module__": "torch.autograd.function"}
        cls._context_cls = type(name + "Backward", (Context,), body)
        body = {**body, "_context_cls": cls._context_cls, "__slots__": ()}
        cls._backward_cls = type(name + "Backward", (BackwardCFunction,), body)
        super().__init__(name, bases, attributes)


class _SingleLevelFunction(FunctionCtx, metaclass=FunctionMeta):
    """What a custom function consists of, all of it to be overridden."""

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the results: `forward(ctx, *args)`, or `forward(*args)` with `setup_context`.

        Nothing is recorded while it runs. It returns a tensor or a tuple; what is no tensor has no
        gradient.
        """
        raise errors.not_implemented(
            "You must implement the forward function for custom autograd.Function.",
            "@staticmethod def forward(ctx, x): ...",
        )

    clear_saved_tensors_on_access = False  # saved tensors may be asked for once, and are then freed
    boxed_grads_call = False  # backward(ctx, gradients) gets a list, which it may empty

    if TYPE_CHECKING:  # any of them fits; and who has `setup_context` computes without a context

        @staticmethod
        def backward(ctx: Any, *grad_outputs: Any, **rest: Any) -> Any: ...
        @staticmethod
        def vjp(ctx: Any, *grad_outputs: Any, **rest: Any) -> Any: ...
        @staticmethod
        def jvp(ctx: Any, *grad_inputs: Any, **rest: Any) -> Any: ...
    else:

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple, output: Any) -> Any:
            """Save on `ctx` what the derivatives need of the arguments and results of `forward`."""
            raise NotImplementedError("setup_context is not implemented.")

        @staticmethod
        def backward(ctx: Any, *grad_outputs: Any) -> Any:
            """From the gradient of each result to that of each argument; `vjp` is another name.

            Returns:
                A tensor or a tuple, None for arguments that have no gradient.
            """
            raise errors.not_implemented(
                "You must implement either the backward or vjp method for your custom "
                "autograd.Function to use it with backward mode AD.",
                "@staticmethod def backward(ctx, g): ...",
            )

        vjp = _unwritten = backward

        @staticmethod
        def jvp(ctx: Any, *grad_inputs: Any) -> Any:
            """From the tangent of each argument to that of each result, for forward mode.

            It runs right after `forward`. The tangent of an argument that does not change is zeros;
            what is no tensor has None.
            """
            raise errors.not_implemented(
                "You must implement the jvp function for custom autograd.Function to use it with "
                "forward mode AD.",
                "@staticmethod def jvp(ctx, t): ...",
            )


class Function(_SingleLevelFunction):
    """An operator of one's own: a class of static methods, called by `apply`.

    Args to `apply` go to `forward`; a gradient may be wanted of those that are tensors.

    >>> class Cube(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(x):
    ...         return x**3
    ...
    ...     @staticmethod
    ...     def setup_context(ctx, inputs, output):
    ...         ctx.save_for_backward(*inputs)
    ...         ctx.save_for_forward(*inputs)
    ...
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x**2 * g
    ...
    ...     @staticmethod
    ...     def jvp(ctx, t):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x**2 * t
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> y = Cube.apply(x)
    >>> y
    tensor([1., 8.], grad_fn=<CubeBackward>)
    >>> y.sum().backward()
    >>> x.grad
    tensor([ 3., 12.])
    """

    generate_vmap_rule = False  # whether vmap may run forward, backward and jvp on batches

    def __init__(self, *args: object, **kwargs: object):
        warnings.warn(
            f"{self.__class__} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd "
            "function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: object, **kwargs: object) -> Any:
        raise errors.runtime_error(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)",
            f"Make its methods static and call {type(self).__name__}.apply(...).",
        )

    if TYPE_CHECKING:

        @staticmethod
        def vmap(info: Any, in_dims: tuple, *args: Any, **rest: Any) -> Any: ...
        @overload
        @classmethod
        def apply(
            cls: type[_ComputesAlone[_Given, _Result]], *args: _Given.args, **kwargs: _Given.kwargs
        ) -> _Result: ...
        @overload
        @classmethod
        def apply(
            cls: type[_Computes[_Given, _Result]], *args: _Given.args, **kwargs: _Given.kwargs
        ) -> _Result: ...
        @classmethod
        def apply(cls, *args: Any, **kwargs: Any) -> Any: ...
    else:

        @staticmethod
        def vmap(info: Any, in_dims: tuple, *args: Any) -> Any:
            """On batches: `(output, out_dims)` for `args` with batch dimensions `in_dims`.

            `info` has `batch_size` and `randomness`; `in_dims` a number or None for each argument.
            """
            raise errors.not_implemented(
                "To use autograd.Function with vmap, you must either override the vmap "
                "staticmethod or set generate_vmap_rule=True.",
                "generate_vmap_rule = True will do where the methods are made of tensor operators.",
            )

        @classmethod
        def apply(cls, *args: object, **kwargs: object) -> Any:
            """Call the function.

            Returns:
                What `forward` returned, its tensors behind a node that runs `backward`.

            Raises:
                RuntimeError: `forward` wrote where it may not, or returned what it may not.
            """
            separate = cls.setup_context is not _SingleLevelFunction.setup_context
            if separate:
                args = with_defaults(cls.forward, args, kwargs)
            elif kwargs:
                args = in_order(cls.forward, args, kwargs)
            return call(cls, args, separate)


def once_differentiable(fn: Callable) -> Callable:
    """A `backward` that cannot be differentiated itself: to try raises a RuntimeError.

    For one that works on NumPy arrays, say: nothing is recorded while it runs.

    >>> from tapegrad.autograd.function import once_differentiable
    >>> class Double(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...
    ...     @staticmethod
    ...     @once_differentiable
    ...     def backward(ctx, g):
    ...         return torch.from_numpy(g.numpy() * 2)
    >>> x = torch.ones(2, requires_grad=True)
    >>> Double.apply(x).sum().backward()
    >>> x.grad
    tensor([2., 2.])
    """

    @functools.wraps(fn)
    def wrapper(ctx: object, *args: object, **kwargs: object) -> Any:
        with no_grad():
            found = fn(ctx, *args, **kwargs)
        if not is_grad_enabled():
            return found
        if not any(isinstance(g, TensorBase) and g.requires_grad for g in args):
            return found
        from tapegrad.autograd.function.node import refusing

        gradients = refusing(found if isinstance(found, tuple) else (found,))
        return gradients if isinstance(found, tuple) else gradients[0]

    return wrapper


class InplaceFunction(Function):
    """An old name: `Function` does all it does."""

    def __init__(self, inplace: bool = False):
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Function):
    """An old base class of functions with nested arguments: `Function` takes them as they are.

    The name is there for code that asks whether something is one. To call one raises.
    """

    def forward_extended(self, *input: Any) -> Any:
        """To be overridden."""
        raise _old("forward_extended")

    def backward_extended(self, *grad_output: Any) -> Any:
        """To be overridden."""
        raise _old("backward_extended")


def _old(method: str) -> NotImplementedError:
    return errors.not_implemented(
        f"NestedIOFunction.{method}",
        "Derive from Function instead: its forward and backward take any arguments.",
    )


_BY_NAME = (FunctionMeta, _SingleLevelFunction, Function, InplaceFunction, NestedIOFunction)
for _each in _BY_NAME:
    _each.__module__ = "torch.autograd.function"

__getattr__ = _refuses(__name__)


__all__ = [
    "BackwardCFunction", "Function", "FunctionCtx", "FunctionMeta", "InplaceFunction",
    "NestedIOFunction", "once_differentiable",
]  # fmt: skip
