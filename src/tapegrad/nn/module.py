"""Module: what every layer and every model is made from."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Self

from tapegrad.autograd import trace
from tapegrad.autograd.mode import MODE
from tapegrad.core.errors import not_implemented, value_error
from tapegrad.core.registration import NOTEBOOK
from tapegrad.nn.attribute import Attributes
from tapegrad.nn.convert import Conversion
from tapegrad.nn.hook import Hooks, call_with_hooks
from tapegrad.nn.state import State
from tapegrad.nn.tree import Tree


class Module(Attributes, Tree, State, Conversion, Hooks):
    """Something with parameters that computes: the base class of all layers and models.

    A subclass calls `super().__init__()`, assigns its parts as attributes (a `Parameter` is
    registered as parameter, a `Module` as child, a `Buffer` as buffer) and defines `forward`.

    >>> class Scale(torch.nn.Module):
    ...     def __init__(self, factor):
    ...         super().__init__()
    ...         self.factor = torch.nn.Parameter(torch.tensor(factor))
    ...
    ...     def forward(self, x):
    ...         return self.factor * x
    >>> Scale(3.0)(torch.ones(2))
    tensor([3., 3.], grad_fn=<MulBackward0>)
    """

    training: bool
    call_super_init: bool = False
    dump_patches: bool = False
    _version: int = 1

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if (args or kwargs) and not self.call_super_init:
            raise _takes_nothing(self, args, kwargs)
        # Through __dict__: __setattr__ below looks for these tables.
        attributes = self.__dict__
        attributes["training"] = True
        attributes["_parameters"] = {}
        attributes["_buffers"] = {}
        attributes["_non_persistent_buffers_set"] = set()
        attributes["_backward_pre_hooks"] = OrderedDict()
        attributes["_backward_hooks"] = OrderedDict()
        attributes["_is_full_backward_hook"] = None
        attributes["_forward_hooks"] = OrderedDict()
        attributes["_forward_hooks_with_kwargs"] = OrderedDict()
        attributes["_forward_hooks_always_called"] = OrderedDict()
        attributes["_forward_pre_hooks"] = OrderedDict()
        attributes["_forward_pre_hooks_with_kwargs"] = OrderedDict()
        attributes["_state_dict_hooks"] = OrderedDict()
        attributes["_state_dict_pre_hooks"] = OrderedDict()
        attributes["_load_state_dict_pre_hooks"] = OrderedDict()
        attributes["_load_state_dict_post_hooks"] = OrderedDict()
        attributes["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # What a pickle of old lacks, it gets from a module without anything.
        self.__dict__.update({**Module().__dict__, **state})

    # ------------------------------------------------------------------------------- computing

    def forward(self, *input: Any) -> Any:
        """What the module computes. Each subclass defines its own."""
        raise not_implemented(
            f'Module [{type(self).__name__}] is missing the required "forward" function',
            f"Define `def forward(self, ...)` in class {type(self).__name__}.",
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (
            self._backward_hooks
            or self._backward_pre_hooks
            or self._forward_hooks
            or self._forward_pre_hooks
        ):
            return call_with_hooks(self, args, kwargs)
        return self.forward(*args, **kwargs)

    # ------------------------------------------------------------------------------------ modes

    def train(self, mode: bool = True) -> Self:
        """Set training mode on this module and all below it; returns this module.

        >>> torch.nn.Dropout().train(False).training
        False
        """
        if not isinstance(mode, bool):
            raise value_error(
                "training mode is expected to be boolean", f"Pass True or False, not {mode!r}."
            )
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Set evaluation mode: dropout and the like stand still. The same as `train(False)`.

        >>> torch.nn.Dropout().eval()(torch.ones(3))
        tensor([1., 1., 1.])
        """
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set `requires_grad` of every parameter; returns this module.

        >>> torch.nn.Linear(2, 1).requires_grad_(False).weight.requires_grad
        False
        """
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradient of every parameter, or with `set_to_none=False` fill it with zeros.

        >>> m = torch.nn.Linear(2, 1)
        >>> m(torch.ones(2)).backward()
        >>> m.zero_grad()
        >>> m.weight.grad is None
        True
        """
        for parameter in self.parameters():
            grad = parameter._grad
            if grad is None:
                continue
            if set_to_none:
                parameter._grad = None
                continue
            if grad.grad_fn is not None:
                grad.detach_()
            else:
                grad.requires_grad_(False)
            grad.zero_()
        mode = MODE.get()
        if set_to_none and type(mode) is not bool:
            mode.cleared(list(self.parameters()), "zero_grad()")

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Accepted as in PyTorch; the module computes as before, there is no compiler.

        >>> torch.nn.Linear(2, 1).compile()
        """

    # ----------------------------------------------------------------------------------- printing

    def extra_repr(self) -> str:
        """What to print of this module between the parentheses. Each layer defines its own."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def _repr_html_(self) -> str:
        """What a notebook shows: the layers, folded."""
        return NOTEBOOK().module_html(self)

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {_indent(repr(m))}" for name, m in self._modules.items()]
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({lines[0]})"
        return block(self._get_name(), lines + children)


def block(name: str, lines: list[str]) -> str:
    """`name(...)` with each of `lines` on a line of its own, indented by two."""
    if not lines:
        return f"{name}()"
    return f"{name}(\n  " + "\n  ".join(lines) + "\n)"


def _indent(text: str) -> str:
    return text.replace("\n", "\n  ")


def _takes_nothing(module: Module, args: tuple, kwargs: dict) -> TypeError:
    init = f"{type(module).__name__}.__init__()"
    if kwargs:
        return TypeError(f"{init} got an unexpected keyword argument '{next(iter(kwargs))}'")
    return TypeError(f"{init} takes 1 positional argument but {len(args) + 1} were given")


trace.LAYER_CALL = Module.__call__.__code__
