"""The context of a custom function: the methods of `ctx`."""

import weakref

from tapegrad.autograd.errors import freed
from tapegrad.core import errors
from tapegrad.core.annotations import Any, NodeLike, Tensor
from tapegrad.core.errors import deprecated
from tapegrad.core.tensor_base import TensorBase


class FunctionCtx:
    """The first argument of a custom function's `forward`, `backward` and `jvp`.

    Anything else may be stored on it as an attribute, but for tensors that go in or come out: those
    are saved with `save_for_backward` and `save_for_forward`, which keeps the graph free of cycles
    and finds out if one was written in between.
    """

    needs_input_grad: tuple[bool, ...] = ()  # of each argument, whether a gradient is wanted for it
    materialize_grads = True
    _materialize_non_diff_grads = True  # the same of results without a gradient
    to_save: Any = None
    saved_for_forward: Any = None
    dirty_tensors: Any = None
    non_differentiable: Any = None

    def save_for_backward(self, *tensors: Tensor) -> None:
        """Keep tensors (or None) for `backward`, which finds them in `ctx.saved_tensors`.

        To be called once, in `forward` or `setup_context`; what a second call saves takes the place
        of the first.

        >>> from tapegrad.autograd import Function
        >>> class Exp(Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         y = x.exp()
        ...         ctx.save_for_backward(y)
        ...         return y
        ...
        ...     @staticmethod
        ...     def backward(ctx, g):
        ...         (y,) = ctx.saved_tensors
        ...         return g * y
        >>> x = torch.zeros(2, requires_grad=True)
        >>> Exp.apply(x).sum().backward()
        >>> x.grad
        tensor([1., 1.])
        """
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor) -> None:
        """Keep tensors (or None) for `jvp`, which finds them in `ctx.saved_tensors`.

        >>> import tapegrad.autograd.forward_ad as fwAD
        >>> class Square(torch.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_forward(x)
        ...         return x * x
        ...
        ...     @staticmethod
        ...     def jvp(ctx, t):
        ...         (x,) = ctx.saved_tensors
        ...         return 2 * x * t
        >>> with fwAD.dual_level():
        ...     y = Square.apply(fwAD.make_dual(torch.tensor(3.0), torch.tensor(1.0)))
        ...     fwAD.unpack_dual(y).tangent
        tensor(6.)
        """
        for x in tensors:
            if not (x is None or isinstance(x, TensorBase)):
                raise errors.assertion_error(
                    "save_for_forward expects all arguments to be tensors; you should save "
                    "non-tensors as attributes on ctx.",
                    f"This one is of type {type(x).__name__}.",
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: object) -> None:
        """Say which arguments were written in place; `forward` has to return them.

        >>> class Add1(torch.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         x.add_(1)
        ...         ctx.mark_dirty(x)
        ...         return x
        ...
        ...     @staticmethod
        ...     def backward(ctx, g):
        ...         return g
        >>> x = torch.ones(2, requires_grad=True).clone()
        >>> Add1.apply(x) is x
        True
        """
        self.dirty_tensors = args

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Does nothing, as in PyTorch: which tensors share memory is known."""

        deprecated(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically "
            "tracked. Note that calls to `set_()` are not tracked"
        )

    def mark_non_differentiable(self, *args: object) -> None:
        """Say which results have no gradient: they then do not require grad.

        `backward` gets an argument for them all the same: zeros.

        >>> class Sort(torch.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         values, places = x.sort()
        ...         ctx.mark_non_differentiable(places)
        ...         ctx.save_for_backward(places)
        ...         return values, places
        ...
        ...     @staticmethod
        ...     def backward(ctx, g, _):
        ...         (places,) = ctx.saved_tensors
        ...         return torch.zeros_like(g).index_add_(0, places, g)
        >>> x = torch.tensor([3.0, 1.0], requires_grad=True)
        >>> values, places = Sort.apply(x)
        >>> values.requires_grad, places.requires_grad
        (True, False)
        """
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Say whether gradients and tangents that do not exist are given as zeros (the default).

        With False they are given as None: `backward` may leave out what would come to nothing.

        >>> class Twice(torch.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.set_materialize_grads(False)
        ...         return x * 2, x * 3
        ...
        ...     @staticmethod
        ...     def backward(ctx, g, h):
        ...         return g * 2 if h is None else g * 2 + h * 3
        >>> x = torch.ones(1, requires_grad=True)
        >>> torch.autograd.grad(Twice.apply(x)[0], x)
        (tensor([2.]),)
        """
        if type(value) is not bool:
            raise errors.type_error(
                "set_materialize_grads received an invalid combination of arguments - got (), "
                "but expected (bool)",
                "Pass True or False.",
            )
        self.materialize_grads = value


class Context(FunctionCtx):
    """The `ctx` of one call: of a class of its own for each custom function.

    Its own names are few, since users give it others: what it knows of the graph it asks its node.
    """

    _forward_cls: Any

    def __init__(self, node: NodeLike):
        self._node = weakref.ref(node)

    @property
    def saved_tensors(self) -> tuple:
        """What `save_for_backward` was given; in `jvp` what `save_for_forward` was given.

        Raises:
            RuntimeError: it was freed by a backward pass, or one of it was written since.
        """
        if self.saved_for_forward is not None:
            return self.saved_for_forward
        node = self._node()
        if node is None:
            raise freed()
        return node._unpacked()

    @saved_tensors.setter
    def saved_tensors(self, value: object) -> None:
        raise errors.advised(
            AttributeError(
                "attribute 'saved_tensors' of 'torch._C._FunctionBase' objects is not writable"
            ),
            "Use ctx.save_for_backward(...).",
        )

    @property
    def saved_variables(self) -> tuple:
        """The old name of `saved_tensors`."""
        import warnings

        warnings.warn(
            "'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2
        )
        return self.saved_tensors

    def __getattr__(self, name: str) -> Any:
        node = self.__dict__["_node"]()
        if node is not None and (name in _OF_THE_NODE or name in node.__dict__):
            return getattr(node, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise unpicklable(self)


_OF_THE_NODE = frozenset(
    "_raw_saved_tensors _sequence_nr apply apply_jvp metadata name next_functions register_hook "
    "register_prehook".split()
)


def unpicklable(x: object) -> TypeError:
    """What a node or its `ctx` says to who wants to store or copy it."""
    return errors.type_error(
        f"cannot pickle '{type(x).__name__}' object",
        "detach() tensors before they are stored or copied.",
    )


FunctionCtx.__module__ = Context.__module__ = "torch.autograd.function"
