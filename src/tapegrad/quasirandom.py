"""`SobolEngine`: points that fill a cube more evenly than random ones."""

from typing import Any

from tapegrad.core import errors
from tapegrad.core.annotations import Array, DTypeLike
from tapegrad.core.missing import refuses as _refuses

__all__ = ["SobolEngine"]


class SobolEngine:
    """Points of a Sobol sequence in [0, 1), `dimension` coordinates each.

    Args:
        dimension: from 1 to 21201.
        scramble: whether to shuffle the digits and to shift the points at random, so that they
            stay even and become a sample.
        seed: of that shuffling; without one it uses the numbers of `torch.manual_seed`.

    The points of a seed are PyTorch's.

    Source: Sobol, On the distribution of points in a cube, 1967; Joe and Kuo, Constructing Sobol
    sequences with better two-dimensional projections, 2008; Matousek, On the L2-discrepancy for
    anchored boxes, 1998.

    >>> torch.quasirandom.SobolEngine(2).draw(4)
    tensor([[0.0000, 0.0000],
            [0.5000, 0.5000],
            [0.7500, 0.2500],
            [0.2500, 0.7500]])
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        import tapegrad as torch

        if dimension > self.MAXDIM or dimension < 1:
            raise errors.value_error(
                "Supported range of dimensionality for SobolEngine is [1, 21201]",
                f"dimension is {dimension}.",
            )
        self.seed, self.scramble, self.dimension = seed, scramble, dimension
        self.sobolstate = torch.from_numpy(_directions(dimension, self.MAXBIT))
        self.shift = torch.zeros(dimension, dtype=torch.long)
        if scramble:
            self._scramble()
        self.quasi = self.shift.clone()
        self._first_point = (self.quasi / 2**self.MAXBIT).reshape(1, -1)
        self.num_generated = 0

    def draw(self, n: int = 1, out: Any = None, dtype: DTypeLike = None) -> Any:
        """The next `n` points: shape (n, dimension).

        >>> torch.quasirandom.SobolEngine(3).draw(2).shape
        torch.Size([2, 3])
        """
        import tapegrad as torch

        if dtype is None:
            dtype = torch.get_default_dtype()
        if dtype not in (torch.float32, torch.float64):
            raise errors.not_implemented(
                f"\"_sobol_engine_draw\" not implemented for '{dtype.scalar_name}'",
                "Draw float32 or float64, and convert the points.",
            )
        if n < 1:
            raise errors.runtime_error(
                f"Trying to create tensor with negative dimension {n - 1}: "
                f"[{n - 1}, {self.dimension}]",
                "Draw at least one point.",
            )
        result = (torch.from_numpy(self._numbers(n)) / 2**self.MAXBIT).to(dtype)
        if out is not None:
            return out.resize_as_(result).copy_(result)
        return result

    def draw_base2(self, m: int, out: Any = None, dtype: DTypeLike = None) -> Any:
        """The next 2^m points, by which the sequence stays balanced.

        Raises: ValueError where it was not balanced before.
        """
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise errors.value_error(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. If you still want to do this, please use "
                "'SobolEngine.draw()' instead.",
                "reset() begins anew.",
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self) -> "SobolEngine":
        """Begin anew."""
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> "SobolEngine":
        """Leave out `n` points.

        Raises: ValueError for less than none.
        """
        if n < 0:
            raise errors.value_error(f"fast_forward({n}) goes back", "reset() begins anew.")
        if n:
            self._numbers(n)
        return self

    def _numbers(self, n: int) -> Array:
        """The next points as integers of 30 bits: (n, dimension)."""
        import numpy as np

        start, directions = self.num_generated, self.sobolstate.numpy()
        steps = np.arange(max(start, 1), start + n)  # point i + 1 differs from i in one direction
        rows = directions[:, _lowest_zero(steps - 1)].T
        before = self.quasi.numpy()[None]
        if start:  # the state is the point after those that were drawn, but for the first
            points = np.bitwise_xor.accumulate(np.concatenate([before, rows]), axis=0)[1:]
        else:
            points = np.bitwise_xor.accumulate(np.concatenate([before, rows]), axis=0)
        self.quasi.numpy()[:] = points[-1]
        self.num_generated += n
        return points

    def _scramble(self) -> None:
        """Multiply the digits of all directions by random triangular matrices, and shift."""
        import numpy as np

        import tapegrad as torch

        generator = None
        if self.seed is not None:
            generator = torch.Generator().manual_seed(self.seed)
        d, bits = self.dimension, self.MAXBIT
        powers = 2 ** np.arange(bits)
        self.shift = torch.from_numpy(
            torch.randint(2, (d, bits), generator=generator).numpy() @ powers
        )
        chosen = torch.randint(2, (d, bits, bits), generator=generator).tril().numpy()
        chosen[:, range(bits), range(bits)] = 1
        digits = self.sobolstate.numpy()[:, :, None] >> np.arange(bits)[::-1] & 1  # highest first
        mixed = np.einsum("dij,dkj->dki", chosen, digits) & 1
        self.sobolstate = torch.from_numpy(mixed @ powers[::-1])

    def __repr__(self) -> str:
        more = ["scramble=True"] if self.scramble else []
        more += [f"seed={self.seed}"] if self.seed is not None else []
        return f"{type(self).__name__}({', '.join([f'dimension={self.dimension}', *more])})"


def _lowest_zero(numbers: Array) -> Array:
    """The place of the lowest digit that is 0."""
    import numpy as np

    return np.log2(~numbers & (numbers + 1)).astype(np.int64)


def _directions(dimension: int, bits: int) -> Array:
    """The directions of Joe and Kuo, one for each digit: (dimension, bits)."""
    import numpy as np
    from scipy.stats import qmc

    sequence: Any = qmc.Sobol(dimension, scramble=False, bits=bits)
    return np.ascontiguousarray(sequence._sv.astype(np.int64))


__getattr__ = _refuses(__name__)
