"""Where PyTorch compiles modules with their children; nothing is compiled here."""

from tapegrad.core.missing import refuses as _refuses


class ConcreteTypeStore:
    """The types that were made for modules: none, as none is compiled."""

    def __init__(self) -> None:
        self.type_store: dict = {}
        self.methods_compiled: set = set()


concrete_type_store = ConcreteTypeStore()
"""PyTorch's store, which programs clear."""

__all__ = ["ConcreteTypeStore", "concrete_type_store"]
__getattr__ = _refuses(__name__)
