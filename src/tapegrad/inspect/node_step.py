"""One node of a backward pass, as it is seen: what came in, what it kept, what goes out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapegrad.autograd.describe import described, input_names, maker_of, saved_by, target_name
from tapegrad.autograd.node import AccumulateGrad
from tapegrad.autograd.trace import trace_of
from tapegrad.core.tensor_base import wrap
from tapegrad.tensors.tensor import Tensor


class Step:
    """One node of a backward pass, about to run or after it has run.

    Attributes:
        number: how many nodes ran before it.
        node: the node, as `grad_fn` gives it.
        name: its name, such as `MulBackward0`.
        received: the gradients that came in, a tensor or None for each output of the operator.
        kept: what the node kept of the forward call, by the names that its rules use.
        sent: the gradients that went out, triples of the name of the input, the node that it goes
            to, and the tensor (of a leaf, what its `.grad` is now); None before the node has run.
        file, line: where the user's code called the operator, if that was inside
            `tapegrad.inspect.watch()` or anomaly mode; else None.
        module: the layer that called it, such as `Net.body.0`, known inside `watch()`; else "".
    """

    def __init__(self, number: int, node: Any, received: tuple):
        self.number = number
        self.node = node
        self.name = type(node).__name__
        self._maker = maker_of(node)
        self.received = received
        self.kept = {name: _shown(value) for name, value in saved_by(node).items()}
        self.sent: list[tuple[str, Any, Any]] | None = None
        self._trace = trace = trace_of(node)
        where = None if trace is None else trace.line()
        self.file: str | None = None if where is None else where[0]
        self.line: int | None = None if where is None else where[1]

    @property
    def module(self) -> str:
        """The layer that called the operator; "" where that is not known."""
        return "" if self._trace is None else self._trace.module

    def source(self) -> str:
        """The function that runs the node, as text; its rules are what it calls.

        >>> x = torch.ones(2, requires_grad=True)
        >>> step = tapegrad.inspect.step((x * 2).sum()).next()
        >>> print(step.source().splitlines()[0])
        def SumBackward0(node, g, retain):
        """
        import inspect
        from textwrap import dedent

        if self.function is None:
            return f"{self.name} adds what it receives to the .grad of a leaf\n"
        return dedent(inspect.getsource(self.function))

    @property
    def function(self) -> Callable | None:
        """The function that runs the node, or the `backward` of a custom function; None: a leaf."""
        if type(self.node) is AccumulateGrad:
            return None
        plan: Any = self._maker.plan
        run = getattr(getattr(plan, "original", plan), "run", None)
        return self.rules.get("backward", run)

    @property
    def rules(self) -> dict[str, Callable]:
        """The derivative rule of each input that a gradient goes to: an ordinary function.

        A custom function has one for all, `"backward"`.

        >>> x = torch.ones(2, requires_grad=True)
        >>> rule = tapegrad.inspect.step(x.tanh().sum()).run(until="tanh").rules["x"]
        >>> rule.__code__.co_varnames
        ('g', 'y')
        """
        if hasattr(self.node, "user_backward"):
            return {"backward": self.node.user_backward()}
        plan: Any = getattr(self._maker, "plan", None)
        if not hasattr(plan, "rules"):
            return {}
        names = input_names(self._maker)
        return {names[i]: rule.function for i, rule in plan.rules}

    def _head(self) -> str:
        where = "" if self.file is None else f"  {self.file}:{self.line}"
        return f"{self.number}  {self.name}{where}{f'  in {self.module}' * bool(self.module)}"

    def _rows(self) -> list[tuple[str, str, str]]:
        """What there is to see: whether it came in, was kept or goes out, its name, its values."""
        rows = [("in", "", described(g)) for g in self.received if g is not None]
        rows += [("kept", name, described(value)) for name, value in self.kept.items()]
        for name, edge, g in self.sent or ():
            rows.append(("out", f"{name} -> {target_name(edge)}", described(g)))
        return rows

    def __repr__(self) -> str:
        lines = [
            f"   {what:4}  {name}{': ' * bool(name)}{text}" for what, name, text in self._rows()
        ]
        return "\n".join([self._head(), *lines])

    def _repr_html_(self) -> str:
        from tapegrad.inspect.rich import page_table

        return page_table(self._head(), ["", "", ""], self._rows(), n_text=3)


def _shown(value: Any) -> Any:
    """A kept value as the user knows it: arrays as tensors."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(_shown, value))
    is_array = hasattr(value, "__array_namespace__") and not isinstance(value, Tensor)
    return wrap(value) if is_array else value
