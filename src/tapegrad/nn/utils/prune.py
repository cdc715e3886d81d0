"""Pruning: parameters of which a mask sets elements or whole slices to zero."""

from collections.abc import Callable, Iterable, Sequence
from numbers import Integral

from tapegrad.core.annotations import Any, ModuleLike
from tapegrad.core.errors import assertion_error, type_error, value_error
from tapegrad.core.missing import public_names
from tapegrad.operators.random.rand_like import rand_like
from tapegrad.operators.random.rand_randint_randperm import rand
from tapegrad.operators.shape.cat_stack import cat
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

    def __call__(self, module: ModuleLike, inputs: Sequence) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    def apply_mask(self, module: ModuleLike) -> Tensor:
        """The tensor as it was, times the mask."""
        name = self._tensor_name
        original = getattr(module, f"{name}_orig")
        return getattr(module, f"{name}_mask").to(dtype=original.dtype) * original

    @classmethod
    def apply(
        cls,
        module: ModuleLike,
        name: str,
        *args: object,
        importance_scores: Any = None,
        **kwargs: object,
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

    def remove(self, module: ModuleLike) -> None:
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

    def add_pruning_method(self, method: Callable) -> None:
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


def _prunes(hook: Callable, name: str) -> bool:
    return isinstance(hook, BasePruningMethod) and hook._tensor_name == name


class Identity(BasePruningMethod):
    """Prunes nothing.

    >>> from tapegrad.nn.utils import prune
    >>> prune.Identity().prune(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[1., 2.],
            [3., 4.]])
    """

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class _Amount(BasePruningMethod):
    """Prunes `amount`: a number of elements or slices, or a fraction."""

    def __init__(self, amount: int | float) -> None:
        if isinstance(amount, bool) or not isinstance(amount, (int, float)):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        whole = isinstance(amount, Integral)
        if amount < 0 or (not whole and amount > 1):
            raise value_error(
                f"amount={amount} should either be a float in the range [0, 1] or a "
                "non-negative integer",
                "An int is a number of elements or slices, a float a fraction of them.",
            )
        self.amount = amount

    def _number(self, size: int) -> int:
        if not isinstance(self.amount, Integral):
            return round(self.amount * size)
        if self.amount > size:
            raise value_error(
                f"amount={self.amount} should be smaller than the number of parameters to "
                f"prune={size}",
                "So many there are to prune.",
            )
        return int(self.amount)


class RandomUnstructured(_Amount):
    """Prunes elements at random.

    >>> from tapegrad.nn.utils import prune
    >>> prune.RandomUnstructured(0.5).prune(torch.ones(4)).sum()
    tensor(2.)
    """

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        n = self._number(t.numel())
        mask = default_mask.clone()
        if n:
            chosen = rand_like(t).view(-1).topk(k=n).indices
            mask.view(-1)[chosen] = 0
        return mask


class L1Unstructured(_Amount):
    """Prunes the elements with the smallest absolute values.

    >>> from tapegrad.nn.utils import prune
    >>> prune.L1Unstructured(3).prune(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[0., 0.],
            [0., 4.]])
    """

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        n = self._number(t.numel())
        mask = default_mask.clone()
        if n:
            chosen = t.abs().view(-1).topk(k=n, largest=False).indices
            mask.view(-1)[chosen] = 0
        return mask


class _Structured(_Amount):
    PRUNING_TYPE = "structured"

    def __init__(self, amount: int | float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _check(self, t: Tensor) -> None:
        if t.ndim <= 1:
            raise value_error(
                "Structured pruning can only be applied to multidimensional tensors. Found "
                f"tensor of shape {t.shape} with {t.ndim} dims",
                "Prune its elements instead.",
            )
        if self.dim >= t.ndim:
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")

    def _without(self, t: Tensor, mask: Tensor, kept: Tensor) -> Tensor:
        """`mask` with zeros in the slices that are not `kept`."""
        shape = [1] * t.ndim
        shape[self.dim] = -1
        return mask * kept.to(mask.dtype).view(shape)


class RandomStructured(_Structured):
    """Prunes slices along `dim` at random.

    >>> from tapegrad.nn.utils import prune
    >>> prune.RandomStructured(1, dim=1).prune(torch.ones(2, 3)).sum()
    tensor(4.)
    """

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        self._check(t)
        n = self._number(t.shape[self.dim])
        if not n:
            return default_mask
        prob = rand(t.shape[self.dim])
        return self._without(t, default_mask, prob > prob.kthvalue(n).values)


class LnStructured(_Structured):
    """Prunes the slices along `dim` that have the smallest n-norms.

    >>> from tapegrad.nn.utils import prune
    >>> prune.LnStructured(1, n=2, dim=0).prune(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[0., 0.],
            [3., 4.]])
    """

    def __init__(self, amount: int | float, n: int, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        self._check(t)
        size = t.shape[self.dim]
        n = self._number(size)
        if not n:
            return default_mask
        others = [i for i in range(t.ndim) if i != self.dim % t.ndim]
        largest = t.norm(p=self.n, dim=others).topk(k=size - n).indices
        kept = t.new_zeros(size)
        kept[largest] = 1
        return self._without(t, default_mask, kept)


class CustomFromMask(BasePruningMethod):
    """Prunes where a given mask is zero.

    >>> from tapegrad.nn.utils import prune
    >>> prune.CustomFromMask(torch.tensor([1, 0])).prune(torch.tensor([3.0, 4.0]))
    tensor([3., 0.])
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape "
                f"{self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module: ModuleLike, name: str) -> Any:
    """Put a mask on the parameter `name` that prunes nothing; returns the module.

    >>> from tapegrad.nn.utils import prune
    >>> list(prune.identity(torch.nn.Linear(2, 1), "bias").state_dict())
    ['weight', 'bias_orig', 'bias_mask']
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: ModuleLike, name: str, amount: int | float) -> Any:
    """Prune `amount` elements of a parameter at random; returns the module.

    >>> from tapegrad.nn.utils import prune
    >>> prune.random_unstructured(torch.nn.Linear(2, 2), "weight", 1).weight_mask.sum()
    tensor(3.)
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: ModuleLike, name: str, amount: int | float, importance_scores: Tensor | None = None
) -> Any:
    """Prune the `amount` elements with the smallest absolute values, or scores.

    >>> from tapegrad.nn.utils import prune
    >>> prune.l1_unstructured(torch.nn.Linear(2, 2), "weight", 0.5).weight_mask.sum()
    tensor(2.)
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: ModuleLike, name: str, amount: int | float, dim: int) -> Any:
    """Prune `amount` slices along `dim` at random; returns the module.

    >>> from tapegrad.nn.utils import prune
    >>> prune.random_structured(torch.nn.Linear(2, 2), "weight", 1, dim=0).weight_mask.sum()
    tensor(2.)
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: ModuleLike,
    name: str,
    amount: int | float,
    n: int,
    dim: int,
    importance_scores: Tensor | None = None,
) -> Any:
    """Prune the `amount` slices along `dim` with the smallest n-norms; returns the module.

    >>> from tapegrad.nn.utils import prune
    >>> prune.ln_structured(torch.nn.Linear(2, 2), "weight", 1, n=2, dim=0).weight_mask.sum()
    tensor(2.)
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: ModuleLike, name: str, mask: Tensor) -> Any:
    """Prune a parameter where `mask` is zero; returns the module.

    >>> from tapegrad.nn.utils import prune
    >>> prune.custom_from_mask(torch.nn.Linear(2, 1), "bias", torch.tensor([0])).bias_mask
    tensor([0.])
    """
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any
) -> None:
    """Prune several parameters, pairs (module, name), as if they were one.

    >>> from tapegrad.nn.utils import prune
    >>> layer = torch.nn.Linear(2, 2)
    >>> both = [(layer, "weight"), (layer, "bias")]
    >>> prune.global_unstructured(both, prune.L1Unstructured, amount=4)
    >>> layer.weight_mask.sum() + layer.bias_mask.sum()
    tensor(2.)
    """
    if not isinstance(parameters, Iterable):
        raise type_error(
            "global_unstructured(): parameters is not an Iterable",
            "Pass a list of pairs (module, name).",
        )
    pairs = list(parameters)
    given = {} if importance_scores is None else importance_scores
    scores = [given.get((m, name), getattr(m, name)).detach().reshape(-1) for m, name in pairs]
    masks = [_mask_of(m, name).reshape(-1) for m, name in pairs]
    first = pruning_method(**kwargs)
    if first.PRUNING_TYPE != "unstructured":
        raise type_error(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {first.PRUNING_TYPE}",
            "Slices of different tensors are not comparable.",
        )
    first._tensor_name = "temp"
    container = PruningContainer(first)
    final = container.compute_mask(cat(scores), cat(masks))
    start = 0
    for module, name in pairs:
        like = getattr(module, name)
        mask = final[start : start + like.numel()].view(like.shape)
        custom_from_mask(module, name, mask)
        start += like.numel()


def _mask_of(module: ModuleLike, name: str) -> Tensor:
    mask = getattr(module, f"{name}_mask", None)
    weight = getattr(module, name).detach()
    return weight.new_ones(weight.shape) if mask is None else mask


def remove(module: ModuleLike, name: str) -> Any:
    """Make the pruned parameter an ordinary one, its zeros kept; returns the module.

    >>> from tapegrad.nn.utils import prune
    >>> layer = prune.identity(torch.nn.Linear(2, 1), "weight")
    >>> list(prune.remove(layer, "weight").state_dict())
    ['bias', 'weight']
    """
    for key, hook in module._forward_pre_hooks.items():
        if _prunes(hook, name):
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise value_error(
        f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed",
        "is_pruned(module) says whether something in it is.",
    )


def is_pruned(module: ModuleLike) -> bool:
    """Whether a parameter of the module, or of one below it, is pruned.

    >>> from tapegrad.nn.utils import prune
    >>> prune.is_pruned(torch.nn.Linear(2, 1))
    False
    """
    return any(
        isinstance(hook, BasePruningMethod)
        for part in module.modules()
        for hook in part._forward_pre_hooks.values()
    )


__all__ = public_names(globals())
