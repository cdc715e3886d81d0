"""Weights with largest singular value 1, by a hook: the way before parametrisations."""

from tapegrad.autograd.mode import no_grad
from tapegrad.core.annotations import Any, ModuleLike, Sequence
from tapegrad.core.errors import runtime_error, value_error
from tapegrad.nn import functional as F
from tapegrad.nn.modules.conv import _ConvTransposeNd
from tapegrad.nn.parameter import Parameter, require_initialized
from tapegrad.tensors.tensor import Tensor


class SpectralNorm:
    """The hook that computes the weight before each forward."""

    _version = 1

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.name, self.n_power_iterations, self.dim = name, n_power_iterations, dim
        self.eps = eps

    def matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).reshape(weight.shape[self.dim], -1)

    def compute_weight(self, module: ModuleLike, do_power_iteration: bool) -> Tensor:
        weight = getattr(module, f"{self.name}_orig")
        u, v = getattr(module, f"{self.name}_u"), getattr(module, f"{self.name}_v")
        matrix = self.matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(matrix.t().mv(u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(matrix.mv(v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()
        return weight / u.dot(matrix.mv(v))

    def __call__(self, module: ModuleLike, inputs: Sequence) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))

    def mark_version(self, module: ModuleLike, state: dict, prefix: str, about: dict) -> None:
        """Say in the metadata of a state that u and v are both in it."""
        about.setdefault("spectral_norm", {})[f"{self.name}.version"] = self._version


def spectral_norm(
    module: ModuleLike,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """Have a weight divided by its largest singular value, as the power method estimates it.

    Source: Miyato et al., Spectral normalization for generative adversarial networks, 2018.

    >>> layer = torch.nn.utils.spectral_norm(torch.nn.Linear(20, 40))
    >>> layer.weight_u.shape
    torch.Size([40])
    """
    for hook in module._forward_pre_hooks.values():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            raise runtime_error(
                f"Cannot register two spectral_norm hooks on the same parameter {name}",
                "remove_spectral_norm takes the first away.",
            )
    if dim is None:
        dim = 1 if isinstance(module, _ConvTransposeNd) else 0
    hook = SpectralNorm(name, n_power_iterations, dim, eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    require_initialized(weight, "SpectralNorm", "spectral normalization")
    with no_grad():
        n_rows, n_columns = hook.matrix(weight).shape
        u = F.normalize(weight.new_empty(n_rows).normal_(0, 1), dim=0, eps=eps)
        v = F.normalize(weight.new_empty(n_columns).normal_(0, 1), dim=0, eps=eps)
    delattr(module, name)
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.detach())
    module.register_buffer(f"{name}_u", u)
    module.register_buffer(f"{name}_v", v)
    module.register_forward_pre_hook(hook)
    module.register_state_dict_post_hook(hook.mark_version)
    return module


def remove_spectral_norm(module: ModuleLike, name: str = "weight") -> Any:
    """Make the weight of `spectral_norm` a parameter again.

    >>> layer = torch.nn.utils.spectral_norm(torch.nn.Linear(20, 40))
    >>> list(torch.nn.utils.remove_spectral_norm(layer).state_dict())
    ['bias', 'weight']
    """
    hooks = module._forward_pre_hooks
    mine = [k for k, h in hooks.items() if isinstance(h, SpectralNorm) and h.name == name]
    if not mine:
        raise value_error(
            f"spectral_norm of '{name}' not found in {module}", "spectral_norm puts it there."
        )
    hook = hooks.pop(mine[0])
    with no_grad():
        weight = hook.compute_weight(module, do_power_iteration=False)
    for part in (name, f"{name}_orig", f"{name}_u", f"{name}_v"):
        delattr(module, part)
    module.register_parameter(name, Parameter(weight.detach()))
    for number, marks in list(module._state_dict_hooks.items()):
        if getattr(marks, "__self__", None) is hook:
            del module._state_dict_hooks[number]
    return module
