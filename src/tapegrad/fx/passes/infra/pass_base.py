"""A pass over a graph, and what it gives."""

import abc
from typing import NamedTuple

from tapegrad.core.missing import refuses as _refuses
from tapegrad.fx.graph_module import GraphModule
from tapegrad.nn import Module

__all__ = ["PassBase", "PassResult"]


class PassResult(NamedTuple):
    """The module that a pass gives, and whether it changed something."""

    graph_module: Module
    modified: bool


class PassBase(abc.ABC):
    """A pass: subclasses define `call`; `requires` and `ensures` check before and after it.

    >>> from tapegrad import fx
    >>> from tapegrad.fx.passes.infra.pass_base import PassBase, PassResult
    >>> class Nothing(PassBase):
    ...     def call(self, graph_module):
    ...         return PassResult(graph_module, False)
    >>> Nothing()(fx.symbolic_trace(lambda x: x)).modified
    False
    """

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module: GraphModule) -> PassResult | None:
        """What the pass does."""

    def requires(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Check what the pass needs."""

    def ensures(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Check what the pass promises."""


__getattr__ = _refuses(__name__)
