"""What pruning methods share: a mask on a parameter, and a hook that puts it on."""

from __future__ import annotations

from typing import Any

from tapegrad.core.errors import assertion_error, value_error
from tapegrad.tensors.tensor import Tensor


class BasePruningMethod:
    """A way to choose what of a tensor becomes zero; also the hook that makes it so.

    A subclass says what its masks are (`PRUNING_TYPE`: "unstructured" for single elements,
    "structured" for whole slices along `self.dim`, "global" for all of it) and defines
    `compute_mask(t, default_mask)`: 0 where `default_mask` is, and where it prunes more.
    """

    PRUNING_TYPE: str = "unstructured"

    _tensor_name: str

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask for the scores `t`. Each method defines its own."""
        raise NotImplementedError(f"Define compute_mask in {type(self).__name__}.")

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    def apply_mask(self, module: Any) -> Tensor:
        """The tensor as it was, times the mask."""
        name = self._tensor_name
        original = getattr(module, f"{name}_orig")
        return getattr(module, f"{name}_mask").to(dtype=original.dtype) * original

    @classmethod
    def apply(
        cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any
    ) -> Any:
        """Prune the parameter `name` of `module`, more than it is already; returns the hook."""
        method = cls(*args, **kwargs)
        method._tensor_name = name
        hooks = module._forward_pre_hooks
        pruned = [k for k, h in hooks.items() if _prunes(h, name)]
        tensor = getattr(module, name)
        scores = tensor if importance_scores is None else importance_scores
        if scores.shape != tensor.shape:
            raise assertion_error(
                f"importance_scores should have the same shape as parameter {name} of {module}",
                f"They are {tuple(scores.shape)} and {tuple(tensor.shape)}.",
            )
        hook: Any = method
        if pruned:
            mask = getattr(module, f"{name}_mask")
            previous = hooks[pruned[0]]
            if not isinstance(previous, PruningContainer):
                previous = PruningContainer(previous)
            hook = PruningContainer(*previous)
            hook.add_pruning_method(method)
        else:
            mask = tensor.detach().new_ones(tensor.shape)
        mask = hook.compute_mask(scores.detach(), mask)
        if pruned:
            del hooks[pruned[0]]
            setattr(module, f"{name}_mask", mask)
        else:
            del module._parameters[name]
            module.register_parameter(f"{name}_orig", tensor)
            module.register_buffer(f"{name}_mask", mask)
        setattr(module, name, hook.apply_mask(module))
        module.register_forward_pre_hook(hook)
        return hook

    def prune(
        self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Any = None
    ) -> Tensor:
        """`t` with zeros where this method prunes it."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        start = t.new_ones(t.shape) if default_mask is None else default_mask
        return t * self.compute_mask(scores, start)

    def remove(self, module: Any) -> None:
        """Make the pruned tensor a parameter again."""
        name = self._tensor_name
        weight = self.apply_mask(module).detach()
        original = module._parameters.pop(f"{name}_orig")
        original.data = weight
        del module._buffers[f"{name}_mask"]
        delattr(module, name)
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Pruning methods one after the other: each prunes what those before it left.

    >>> from tapegrad.nn.utils import prune
    >>> layer = prune.l1_unstructured(torch.nn.Linear(2, 2), "weight", 1)
    >>> layer = prune.l1_unstructured(layer, "weight", 2)
    >>> layer.weight_mask.sum()
    tensor(1.)
    """

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add a method for the same parameter."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._pruning_methods and method._tensor_name != self._tensor_name:
            raise value_error(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found "
                f"'{method._tensor_name}'",
                "Each parameter has a container of its own.",
            )
        self._tensor_name = method._tensor_name
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: int) -> BasePruningMethod:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """`default_mask` with what the newest method prunes of what it leaves."""
        method: Any = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            left: Any = mask == 1
        elif method.PRUNING_TYPE == "structured":
            axis = method.dim % t.ndim
            others = [i for i in range(t.ndim) if i != axis]
            kept = mask.sum(others) != 0
            left = (slice(None),) * axis + (kept,)
        else:
            left = (slice(None),) * t.ndim
        result = mask.clone()
        result[left] = method.compute_mask(t[left], mask[left]).to(dtype=mask.dtype)
        return result


def _prunes(hook: Any, name: str) -> bool:
    return isinstance(hook, BasePruningMethod) and hook._tensor_name == name
