"""Random inputs of many shapes for a timer, the same for a seed as PyTorch's."""

import functools
import math
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.dtype import float32
from tapegrad.core.missing import refuses as _refuses
from tapegrad.operators.random.rand_randint_randperm import rand, randint
from tapegrad.random import manual_seed
from tapegrad.tensors.tensor import Tensor

__all__ = ["FuzzedParameter", "FuzzedTensor", "Fuzzer", "ParameterAlias", "dtype_size", "prod"]

_ATTEMPTS = 1000
"""So many draws of parameters may be refused in a row."""

_NAMED = ("loguniform", "uniform")


def dtype_size(dtype: Dtype) -> int:
    """Bytes of an element."""
    return dtype.itemsize


def prod(values: Iterable[int], base: int = 1) -> int:
    """The product of numbers and `base`.

    >>> from tapegrad.utils.benchmark.utils.fuzzer import prod
    >>> prod([2, 3])
    6
    """
    return functools.reduce(operator.mul, map(int, values), base)


class ParameterAlias:
    """Among the values of a parameter: whatever the parameter called `alias_to` is."""

    def __init__(self, alias_to: str) -> None:
        self.alias_to = alias_to

    def __repr__(self) -> str:
        return f"ParameterAlias[alias_to: {self.alias_to}]"


class FuzzedParameter:
    """A number that is drawn.

    Args:
        name: what sizes and constraints call it.
        minval, maxval: its bounds, both included.
        distribution: "uniform", "loguniform", or values with their probabilities.
        strict: kept for who asks for it.

    Raises:
        AssertionError: The probabilities do not add up to 1, or no distribution has this name.
    """

    def __init__(
        self,
        name: str,
        minval: int | float | None = None,
        maxval: int | float | None = None,
        distribution: str | dict[Any, float] | None = None,
        strict: bool = False,
    ) -> None:
        self._name = name
        self._minval: Any = minval
        self._maxval: Any = maxval
        self._distribution = _checked_distribution(distribution)
        self.strict = strict

    @property
    def name(self) -> str:
        """What sizes and constraints call it."""
        return self._name

    def sample(self, state: np.random.RandomState) -> Any:
        """A value, drawn by `state`."""
        if self._distribution == "uniform":
            if isinstance(self._minval, int) and isinstance(self._maxval, int):
                return int(state.randint(low=self._minval, high=self._maxval + 1))
            return state.uniform(low=self._minval, high=self._maxval)
        if self._distribution == "loguniform":
            low, high = math.log2(self._minval), math.log2(self._maxval)
            return int(2 ** state.uniform(low=low, high=high))
        assert isinstance(self._distribution, dict)
        chosen = state.choice(len(self._distribution), p=tuple(self._distribution.values()))
        return list(self._distribution)[chosen]


def _checked_distribution(distribution: Any) -> Any:
    if isinstance(distribution, dict):
        if abs(sum(distribution.values()) - 1) > 1e-6:
            raise AssertionError("Distribution is not normalized")
        return distribution
    if distribution not in _NAMED:
        raise AssertionError(f"Unknown distribution: {distribution}")
    return distribution


class FuzzedTensor:
    """A tensor whose size, and perhaps strides, are those of parameters.

    Args:
        name: what the statement calls it.
        size: for each dimension a number or the name of a parameter.
        steps: likewise, which of the elements allocated are taken.
        probability_contiguous: how often the dimensions are in order in memory.
        min_elements, max_elements, max_allocation_bytes: what does not fit is drawn anew.
        dim_parameter: the name of a parameter that says how many of the dimensions there are.
        tensor_constructor: makes the tensor of `size`, `dtype` and the parameters.
    """

    def __init__(
        self,
        name: str,
        size: tuple[str | int, ...],
        steps: tuple[str | int, ...] | None = None,
        probability_contiguous: float = 0.5,
        min_elements: int | None = None,
        max_elements: int | None = None,
        max_allocation_bytes: int | None = None,
        dim_parameter: str | None = None,
        roll_parameter: str | None = None,
        dtype: Dtype = float32,
        cuda: bool = False,
        tensor_constructor: Callable[..., Tensor] | None = None,
    ) -> None:
        self._name, self._size, self._steps = name, size, steps
        self._probability_contiguous = probability_contiguous
        self._min_elements, self._max_elements = min_elements, max_elements
        self._max_allocation_bytes = max_allocation_bytes
        self._dim_parameter = dim_parameter
        self._dtype, self._cuda, self._tensor_constructor = dtype, cuda, tensor_constructor

    @property
    def name(self) -> str:
        """What the statement calls it."""
        return self._name

    @staticmethod
    def default_tensor_constructor(size: tuple[int, ...], dtype: Dtype, **kwargs: Any) -> Tensor:
        """Numbers between 0 and 1, or integers from 1 to 126."""
        if dtype.is_floating_point or dtype.is_complex:
            return rand(size=size, dtype=dtype)
        return randint(1, 127, size=size, dtype=dtype)

    def _make_tensor(self, params: dict, state: np.random.RandomState) -> tuple[Tensor, dict]:
        size, steps, allocated = self._sizes(params)
        make = self._tensor_constructor or self.default_tensor_constructor
        tensor = make(size=allocated, dtype=self._dtype, **params)
        if self._cuda:
            tensor = tensor.cuda()
        order = np.arange(len(size))
        if state.rand() > self._probability_contiguous:
            while len(size) > 1 and (order == np.arange(len(size))).all():
                order = state.permutation(order.size)
            tensor = tensor.permute(tuple(order)).contiguous()
            tensor = tensor.permute(tuple(np.argsort(order)))
        tensor = tensor[tuple(slice(0, n * k, k) for n, k in zip(size, steps, strict=True))]
        properties = {
            "numel": int(tensor.numel()),
            "order": order,
            "steps": steps,
            "is_contiguous": tensor.is_contiguous(),
            "dtype": str(self._dtype),
        }
        return tensor, properties

    def _sizes(self, params: dict) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """The size, the steps, and the size of what is allocated."""
        n = len(self._size) if self._dim_parameter is None else params[self._dim_parameter]

        def numbers(given: Any) -> tuple[int, ...]:
            given = [params.get(x, x) for x in (given or ())][:n]
            return tuple(given) + (1,) * (n - len(given))

        size, steps = numbers(self._size), numbers(self._steps)
        return size, steps, tuple(k * s for k, s in zip(size, steps, strict=True))

    def satisfies_constraints(self, params: dict) -> bool:
        """Whether a tensor of these parameters is neither too small nor too large."""
        size, _, allocated = self._sizes(params)
        n = prod(size)
        least, most, limit = self._min_elements, self._max_elements, self._max_allocation_bytes
        return not (
            (least is not None and n < least)
            or (most is not None and n > most)
            or (limit is not None and prod(allocated, base=dtype_size(self._dtype)) > limit)
        )


def _flat(items: Iterable) -> list:
    return [x for each in items for x in (each if isinstance(each, (list, tuple)) else [each])]


class Fuzzer:
    """Draws parameters, and tensors of them.

    >>> from tapegrad.utils.benchmark import Fuzzer, FuzzedParameter, FuzzedTensor
    >>> fuzzer = Fuzzer(
    ...     parameters=[FuzzedParameter("n", minval=1, maxval=8, distribution="uniform")],
    ...     tensors=[FuzzedTensor("x", size=("n", 3), probability_contiguous=1)],
    ...     seed=0,
    ... )
    >>> [(tensors["x"].shape, params) for tensors, _, params in fuzzer.take(1)]
    [(torch.Size([6, 3]), {'n': 6})]
    """

    def __init__(
        self,
        parameters: list[FuzzedParameter | list[FuzzedParameter]],
        tensors: list[FuzzedTensor | list[FuzzedTensor]],
        constraints: list[Callable[..., bool]] | None = None,
        seed: int | None = None,
    ) -> None:
        if seed is None:
            seed = int(np.random.RandomState().randint(0, 2**32 - 1, dtype=np.int64))
        self._seed = seed
        self._parameters, self._tensors = _flat(parameters), _flat(tensors)
        self._constraints = tuple(constraints or ())
        twice = {x.name for x in self._parameters} & {x.name for x in self._tensors}
        if twice:
            raise ValueError(f"Duplicate names in parameters and tensors: {twice}")
        self._rejections = self._total_generated = 0

    @property
    def rejection_rate(self) -> float:
        """How many of the parameters drawn so far did not fit, of all."""
        return self._rejections / self._total_generated if self._total_generated else 0.0

    def take(self, n: int) -> Iterator[tuple[dict, dict, dict]]:
        """`n` times the tensors by name, what is known of them, and the parameters."""
        state = np.random.RandomState(self._seed)
        # As in PyTorch, the numbers in the tensors follow from the seed, too.
        manual_seed(int(state.randint(low=0, high=2**63, dtype=np.uint64)))
        for _ in range(n):
            params = self._generate(state)
            tensors, properties = {}, {}
            for each in self._tensors:
                tensors[each.name], properties[each.name] = each._make_tensor(params, state)
            yield tensors, properties, params

    def _generate(self, state: np.random.RandomState) -> dict:
        for _ in range(_ATTEMPTS):
            drawn = {x.name: x.sample(state) for x in self._parameters}
            self._total_generated += 1
            params = _without_aliases(drawn)
            if all(fits(params) for fits in self._constraints) and all(
                each.satisfies_constraints(params) for each in self._tensors
            ):
                return params
            self._rejections += 1
        raise ValueError("Failed to generate a set of valid parameters.")


def _without_aliases(params: dict) -> dict:
    params = dict(params)
    waiting = {name for name, x in params.items() if isinstance(x, ParameterAlias)}
    while waiting:
        known = {name for name in waiting if params[name].alias_to not in waiting}
        if not known:
            raise ValueError("ParameterAlias cycle detected\n" + ", ".join(sorted(waiting)))
        for name in known:
            params[name] = params[params[name].alias_to]
        waiting -= known
    return params


__getattr__ = _refuses(__name__)
