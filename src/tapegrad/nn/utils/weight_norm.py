"""Weights as length and direction, by a hook: the way before parametrisations. It warns."""

from tapegrad.core.annotations import Any, ModuleLike, Sequence
from tapegrad.core.errors import deprecated, runtime_error, value_error
from tapegrad.nn.parameter import Parameter, require_initialized
from tapegrad.nn.utils.parametrizations import norm_except
from tapegrad.tensors.tensor import Tensor


class WeightNorm:
    """The hook that computes the weight before each forward."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: ModuleLike) -> Tensor:
        g, v = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        return v * (g / norm_except(v, self.dim))

    def __call__(self, module: ModuleLike, inputs: Sequence) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: ModuleLike, name: str = "weight", dim: int = 0) -> Any:
    """Replace a weight by its length `weight_g` and direction `weight_v`: `g * v / |v|`.

    Source: Salimans and Kingma, Weight normalization, 2016, eq. 2.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     layer = torch.nn.utils.weight_norm(torch.nn.Linear(20, 40))
    >>> layer.weight_g.shape
    torch.Size([40, 1])
    """
    deprecated(
        "`torch.nn.utils.weight_norm` is deprecated in favor of "
        "`torch.nn.utils.parametrizations.weight_norm`."
    )
    for hook in module._forward_pre_hooks.values():
        if isinstance(hook, WeightNorm) and hook.name == name:
            raise runtime_error(
                f"Cannot register two weight_norm hooks on the same parameter {name}",
                "remove_weight_norm takes the first away.",
            )
    hook = WeightNorm(name, dim)
    weight = getattr(module, name)
    require_initialized(weight, "WeightNorm", "weight normalization")
    del module._parameters[name]
    g = Parameter(norm_except(weight, hook.dim).detach())
    module.register_parameter(f"{name}_g", g)
    module.register_parameter(f"{name}_v", Parameter(weight.detach()))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: ModuleLike, name: str = "weight") -> Any:
    """Make the weight of `weight_norm` a parameter again.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     layer = torch.nn.utils.weight_norm(torch.nn.Linear(20, 40))
    >>> list(torch.nn.utils.remove_weight_norm(layer).state_dict())
    ['bias', 'weight']
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            weight = hook.compute_weight(module)
            delattr(module, name)
            del module._parameters[f"{name}_g"]
            del module._parameters[f"{name}_v"]
            setattr(module, name, Parameter(weight.detach()))
            del module._forward_pre_hooks[key]
            return module
    raise value_error(
        f"weight_norm of '{name}' not found in {module}", "weight_norm puts it there."
    )
