"""Lazy modules: how many channels or features come in, they learn from their first input."""

from tapegrad.core.annotations import Any, DeviceLike, DTypeLike, ModuleLike
from tapegrad.core.errors import not_implemented, runtime_error
from tapegrad.nn.modules.module import Module
from tapegrad.nn.parameter import UninitializedParameter, is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """A module that makes its parameters when it is called for the first time.

    A class derives from this and then from the module. It gives `UninitializedParameter`s to itself
    in `__init__`, and defines `initialize_parameters(input)`, which materialises them. After its
    first call, or once a state was loaded, the object is one of class `cls_to_become`.

    >>> layer = torch.nn.LazyLinear(3)
    >>> layer
    LazyLinear(in_features=0, out_features=3, bias=True)
    >>> layer(torch.ones(2, 5)).shape
    torch.Size([2, 3])
    >>> layer
    Linear(in_features=5, out_features=3, bias=True)
    """

    cls_to_become: Any = None

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]

    def __init_subclass__(cls, becomes: type | None = None, **options: object) -> None:
        super().__init_subclass__(**options)
        if becomes is not None:
            cls.cls_to_become = becomes

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer of this module has no shape yet."""
        return any(map(is_lazy, [*self._parameters.values(), *self._buffers.values()]))

    def initialize_parameters(self, *args: object, **kwargs: object) -> None:
        """Materialise the parameters for this input. Each lazy class defines its own."""
        raise not_implemented(
            f"initialize_parameters is not implemented for {type(self).__name__}",
            "Define it; it is given the arguments of the first call.",
        )

    def __call__(self, *args: object, **kwargs: object) -> Any:
        if type(self).cls_to_become is not None or self.has_uninitialized_params():
            self._infer_parameters(self, args, kwargs)
        return Module.__call__(self, *args, **kwargs)  # type: ignore[arg-type]

    def _infer_parameters(
        self, module: ModuleLike, args: tuple, kwargs: dict | None = None
    ) -> None:
        self.initialize_parameters(*args, **(kwargs or {}))
        if self.has_uninitialized_params():
            raise runtime_error(
                f"module {type(self).__name__} has not been fully initialized",
                "initialize_parameters has to materialise every parameter and buffer.",
            )
        if self.cls_to_become is not None:
            self.__class__ = self.cls_to_become

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        for name, tensor in [*self._parameters.items(), *self._buffers.items()]:
            value = state_dict.get(prefix + name)
            if is_lazy(tensor) and value is not None and not is_lazy(value):
                tensor.materialize(value.shape)
        super()._load_from_state_dict(state_dict, prefix, *args)  # type: ignore[misc]


class LazyLayer(LazyModuleMixin):
    """A lazy layer of `torch.nn`: what it takes from the input, it counts in `_taken`."""

    _taken: str

    def _make_later(self, weight: bool, bias: bool, device: DeviceLike, dtype: DTypeLike) -> None:
        """Have weight and bias wait for the first input, those of them that are wanted."""
        for name, wanted in (("weight", weight), ("bias", bias)):
            if wanted:
                setattr(self, name, UninitializedParameter(device=device, dtype=dtype))

    def reset_parameters(self) -> None:
        """As in the layer, once the parameters have shapes."""
        if not self.has_uninitialized_params() and getattr(self, self._taken):
            super().reset_parameters()  # type: ignore[misc]
