"""Samples of linear algebra: products, systems, factors, eigenvalues, norms, distances."""

from math import inf
from typing import Any

import numpy as np

from tests.samples.sample import Make, Sample, hermitian, row


def spread(make: Make, *shape: int) -> np.ndarray:
    """Matrices with singular values well apart: between them lies the divisor of derivatives."""
    u, s, vh = np.linalg.svd(make(*shape), full_matrices=False)
    s = s[..., :1] / 4 + np.arange(s.shape[-1], 0, -1) + 0 * s
    return (u * s[..., None, :]) @ vh


def symmetric(make: Make, *shape: int) -> np.ndarray:
    """Symmetric matrices with eigenvalues well apart, of either sign."""
    v = np.linalg.qr(make(*shape))[0]
    n = shape[-1]
    return (v * (np.arange(n) - n / 2 + 0.3)) @ v.mT


@row
def svd(make: Make) -> list:
    return [
        Sample(spread(make, 3, 3), full=True),
        Sample(spread(make, 4, 2), full=False),
        Sample(spread(make, 2, 2, 3), full=False),
        Sample(spread(make, 3, 2).T, full=False),
        Sample(make(4, 2), full=True, fixed=(0,)),
        Sample(make(0, 3), full=False),
        Sample(make(2, 0, 0), full=True),
    ]


@row
def singular_values(make: Make) -> list:
    complex_matrix = spread(make, 3, 2) + 1j * make(3, 2)
    return [
        Sample(spread(make, 3, 3)),
        Sample(spread(make, 2, 3, 2)),
        Sample(spread(make, 2, 4).T),
        Sample(complex_matrix),
        Sample(make(0, 3)),
    ]


@row
def eigh(make: Make) -> list:
    return [
        Sample(symmetric(make, 3, 3), upper=False, within={0: hermitian}),
        Sample(symmetric(make, 2, 2, 2), upper=True, within={0: hermitian}),
        Sample(make(0, 0), upper=False),
    ]


@row
def eigvalsh(make: Make) -> list:
    complex_matrix = hermitian(make.complex(3, 3)) + np.diag([-4.0, 0, 4])
    return [
        Sample(symmetric(make, 3, 3), upper=False, within={0: hermitian}),
        Sample(symmetric(make, 2, 2, 2), upper=True, within={0: hermitian}),
        Sample(complex_matrix, upper=False, within={0: hermitian}),
        Sample(make(0, 0), upper=False),
    ]


@row
def eig(make: Make) -> list:
    # gradients are of functions that do not see the phases of vectors, weighted sums do: such
    # functions are tested elsewhere
    return [
        Sample(make(3, 3), fixed=(0,)),
        Sample(make.complex(2, 2, 2), fixed=(0,)),
        Sample(make(0, 0), fixed=(0,)),
    ]


@row
def eigvals(make: Make) -> list:
    return [Sample(make(3, 3)), Sample(make.complex(2, 2, 2)), Sample(make(0, 0))]


@row
def qr(make: Make) -> list:
    return [
        Sample(make.invertible(3, 3), mode="reduced"),
        Sample(spread(make, 4, 2), mode="reduced"),
        Sample(spread(make, 2, 2, 3), mode="reduced"),
        Sample(spread(make, 3, 2).T, mode="complete"),
        Sample(make(4, 2), mode="complete", fixed=(0,)),
        Sample(make(2, 3), mode="r", fixed=(0,)),
        Sample(make(3, 0), mode="reduced"),
    ]


@row
def householder_product(make: Make) -> list:
    return [
        Sample(make(3, 3), make(3)),
        Sample(make(4, 3), make(2)),
        Sample(make(2, 3, 2), make(2, 2)),
        Sample(make(3, 2), make(0)),
        Sample(make.complex(3, 2), make.complex(2)),
    ]


@row
def ormqr(make: Make) -> list:
    sides = [(left, transpose) for left in (True, False) for transpose in (True, False)]
    found = [
        Sample(make(4, 3), make(3), make(*shape), left=left, transpose=transpose)
        for left, transpose in sides
        for shape in [(4, 2) if left else (2, 4)]
    ]
    found += [
        Sample(make.complex(3, 2), make.complex(2), c, left=left, transpose=transpose)
        for left, transpose in sides
        for c in [make.complex(3, 3)]
    ]
    options: dict[str, Any] = {"left": True, "transpose": False}
    return [
        *found,
        Sample(make(2, 3, 2), make(2, 2), make(2, 3, 1), **options),
        Sample(make(2, 4), make(2), make(2, 3), **options),
    ]


@row
def geqrf(make: Make) -> list:
    return [
        Sample(make(4, 2), fixed=(0,)),
        Sample(make(2, 2, 3), fixed=(0,)),
        Sample(make(0, 2), fixed=(0,)),
    ]


@row
def pinv(make: Make) -> list:
    none = np.asarray(0.0)
    options: dict[str, Any] = {"fixed": (1, 2), "hermitian": False}
    return [
        Sample(spread(make, 3, 3), none, none, **options),
        Sample(spread(make, 4, 2), none, none, **options),
        Sample(spread(make, 2, 2, 3), none, none, **options),
        Sample(spread(make, 3, 2) + 1j * make(3, 2) / 4, none, none, **options),
        Sample(spread(make, 3, 2), np.asarray(1.5), none, fixed=(0, 1, 2), hermitian=False),
        Sample(make(0, 3), none, none, **options),
        Sample(
            symmetric(make, 3, 3), none, none, hermitian=True, fixed=(1, 2), within={0: hermitian}
        ),
    ]


@row
def lstsq(make: Make) -> list:
    gels: dict[str, Any] = {"rcond": 1e-12, "driver": "gels"}
    return [
        Sample(spread(make, 4, 2), make(4, 3), **gels),
        Sample(spread(make, 2, 4), make(2, 1), **gels),
        Sample(spread(make, 2, 3, 2), make(2, 3, 2), rcond=1e-12, driver="gelsd"),
        Sample(spread(make, 1, 3, 2), make(2, 3, 2), rcond=1e-12, driver="gelsy"),
        Sample(spread(make, 3, 2) + 1j * make(3, 2) / 4, make.complex(3, 2), **gels),
        Sample(make(3, 0), make(3, 2), rcond=1e-12, driver="gelsy", fixed=(0, 1)),
    ]


ORDERS = (0.0, 0.7, 1.0, 1.5, 2.0, 3.0, inf)


@row
def all_distances(make: Make) -> list:
    return [
        *(Sample(make(3, 4), make(2, 4), order=p) for p in ORDERS),
        Sample(make(2, 1, 3, 4), make(2, 2, 4), order=1.5),
        Sample(make(0, 4), make(2, 4), order=2.0),
        Sample(make(4, 3).T, make(2, 4), order=3.0),
    ]


@row
def euclidean_distances(make: Make) -> list:
    return [Sample(make(3, 4), make(2, 4)), Sample(make(2, 3, 4), make(2, 2, 4))]


@row
def own_distances(make: Make) -> list:
    return [Sample(make(4, 3), order=p) for p in ORDERS]


def _lower(make, *shape):
    return np.tril(make(*shape)) + 3.0 * np.eye(shape[-1])


def _complex(make, *shape):
    return make.complex(*shape) + 4.0 * np.eye(shape[-1])


@row
def grouped_product(make):
    ends = np.array([4, 4, 4], np.int32)  # ends of groups backwards too, as programs are run
    return [
        Sample(make(2, 3, 4), make(2, 4, 2), np.zeros(0, np.int32)),
        Sample(make(4, 3), make(3, 3, 2), ends),
        Sample(make(5, 3), make(3, 3, 2), ends),
        Sample(make(3, 2, 3), make(3, 5), ends),
        Sample(make(2, 4), make(4, 3), ends),
        Sample(make(0, 3), make(1, 3, 2), np.zeros(1, np.int32)),
    ]


@row
def matrix_inverse(make):
    return [
        Sample(make.invertible(3, 3)),
        Sample(make.invertible(2, 1, 2, 2)),
        Sample(make.invertible(3, 3).T),
        Sample(make(0, 0)),
        Sample(make(2, 0, 3, 3)),
        Sample(_complex(make, 2, 2)),
    ]


@row
def linear_system(make):
    square = {"left": True, "vectors": False}
    turned = {"left": False, "vectors": False}
    return [
        Sample(make.invertible(3, 3), make(3, 2), **square),
        Sample(make.invertible(3, 3).T, make(2, 3).T, **square),
        Sample(make.invertible(3, 3), make(2, 3), **turned),
        Sample(make.invertible(2, 1, 2, 2), make(3, 2, 1), **square),
        Sample(make.invertible(2, 2), make(3, 1, 2), **turned),
        Sample(make.invertible(3, 3), make(3), left=True, vectors=True),
        Sample(make.invertible(2, 3, 3), make(2, 3), left=True, vectors=True),
        Sample(make(0, 0), make(0, 2), **square),
        Sample(_complex(make, 2, 2), make.complex(2, 1), **square),
        Sample(_complex(make, 2, 2), make.complex(1, 2), **turned),
    ]


@row
def triangular_system(make):
    def sample(a, b, **options):
        return Sample(a, b, **{"upper": False, "left": True, "unitriangular": False, **options})

    return [
        sample(make.invertible(3, 3), make(3, 2)),
        sample(make.invertible(3, 3), make(3, 2), upper=True),
        sample(make.invertible(3, 3), make(2, 3), left=False),
        sample(make.invertible(3, 3), make(2, 3), left=False, upper=True),
        sample(make.invertible(3, 3), make(3, 1), unitriangular=True),
        sample(make.invertible(3, 3).T, make(2, 3).T, upper=True, unitriangular=True),
        sample(make.invertible(2, 1, 2, 2), make(3, 2, 1)),
        sample(make(0, 0), make(0, 2)),
        sample(_complex(make, 2, 2), make.complex(2, 1), upper=True),
    ]


@row
def triangular_pair(make):
    def sample(b, a, **options):
        return Sample(
            b, a, **{"upper": True, "transpose": False, "unitriangular": False, **options}
        )

    return [
        sample(make(3, 2), make.invertible(3, 3)),
        sample(make(3, 2), make.invertible(3, 3), transpose=True),
        sample(make(3, 2), make.invertible(3, 3), upper=False, transpose=True),
        sample(make(3, 2), make.invertible(3, 3), upper=False, unitriangular=True),
        sample(make(2, 2, 1), make.invertible(2, 2)),
        sample(make.complex(2, 1), _complex(make, 2, 2)),
    ]


_SINGULAR = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])


def _matrices(make):
    return [
        Sample(make(3, 3)),
        Sample(make(2, 1, 2, 2)),
        Sample(make(3, 3).T),
        Sample(make(1, 1)),
        Sample(make(0, 0)),
        Sample(make.complex(2, 2)),
    ]


@row
def determinant(make):
    return [*_matrices(make), Sample(np.diag([2.0, 3.0, 0.0])), Sample(_SINGULAR)]


@row
def cofactors(make):
    return [Sample(make.invertible(3, 3)), Sample(make(2, 2, 2)), Sample(_complex(make, 2, 2))]


@row
def log_determinant(make):
    return [
        Sample(make.invertible(3, 3)),
        Sample(-make.invertible(2, 3, 3)),
        Sample(make(0, 0)),
        Sample(_complex(make, 2, 2)),
    ]


@row
def matrix_exponential(make):
    return [
        Sample(make(3, 3)),
        Sample(make(2, 1, 2, 2)),
        Sample(make(0, 0)),
        Sample(10.0 * np.eye(2)),
        Sample(make.complex(2, 2)),
    ]


def _for_lu(make):
    return [
        Sample(make.invertible(3, 3)[::-1].copy()),
        Sample(make(2, 4)),
        Sample(make(4, 2)),
        Sample(make(2, 3, 3)),
        Sample(make(2, 0)),
        Sample(make.complex(2, 3)),
        Sample(make.complex(3, 2)),
    ]


@row
def packed_factors(make):
    return _for_lu(make)


@row
def three_factors(make):
    return _for_lu(make)


def _pivots(*numbers):
    return np.array(numbers, np.int32)


@row
def unpacked(make):
    return [
        Sample(make(3, 3), _pivots(2, 3, 3)),
        Sample(make(2, 4), _pivots(2, 2)),
        Sample(make(4, 2), _pivots(3, 3)),
        Sample(make(2, 2, 2), _pivots([1, 2], [2, 2])),
        Sample(make.complex(2, 2), _pivots(2, 2)),
    ]


@row
def factored_system(make):
    def sample(packed, pivots, b, **options):
        return Sample(packed, pivots, b, **{"left": True, "adjoint": False, **options})

    pivots = _pivots(2, 3, 3)
    return [
        sample(make.invertible(3, 3), pivots, make(3, 2)),
        sample(make.invertible(3, 3), pivots, make(3, 2), adjoint=True),
        sample(make.invertible(3, 3), pivots, make(2, 3), left=False),
        sample(make.invertible(3, 3), pivots, make(2, 3), left=False, adjoint=True),
        sample(make.invertible(3, 3), pivots, make(2, 3, 1)),
        sample(make.invertible(2, 2, 2), _pivots([1, 2], [2, 2]), make(2, 1)),
        sample(_complex(make, 2, 2), _pivots(2, 2), make.complex(2, 1)),
        sample(_complex(make, 2, 2), _pivots(2, 2), make.complex(2, 1), adjoint=True),
        sample(_complex(make, 2, 2), _pivots(2, 2), make.complex(1, 2), left=False, adjoint=True),
    ]


def _hermitian_definite(make, n):
    x = make.complex(n, n)
    return x @ x.mT.conj() + np.eye(n)


def _definite(make):
    """The gradient is that of a Hermitian matrix, and so are the changes.

    That of the rule for tangents is adjoint to it for such changes only.
    """
    kind = {0: hermitian}
    return [
        Sample(make.definite(3, 3), within=kind, upper=False),
        Sample(make.definite(3, 3), within=kind, upper=True),
        Sample(make.definite(2, 2, 2), within=kind, upper=False),
        Sample(make(0, 0), within=kind, upper=False),
        Sample(_hermitian_definite(make, 2), within=kind, upper=False),
        Sample(_hermitian_definite(make, 2), within=kind, upper=True),
    ]


@row
def definite_factor(make):
    return _definite(make)


@row
def older_definite_factor(make):
    return _definite(make)


@row
def definite_system(make):
    down, up = {1: np.tril}, {1: np.triu}
    return [
        Sample(make(3, 2), _lower(make, 3, 3), within=down, upper=False),
        Sample(make(3, 2), _lower(make, 3, 3).T, within=up, upper=True),
        Sample(make(2, 2, 1), _lower(make, 2, 2), within=down, upper=False),
        Sample(make.complex(2, 1), np.tril(_complex(make, 2, 2)), within=down, upper=False),
        Sample(make.complex(2, 1), np.triu(_complex(make, 2, 2)), within=up, upper=True),
    ]


@row
def definite_inverse(make):
    down, up = {0: np.tril}, {0: np.triu}
    return [
        Sample(_lower(make, 3, 3), within=down, upper=False),
        Sample(_lower(make, 2, 3, 3).mT, within=up, upper=True),
        Sample(make(0, 0), within=down, upper=False),
        Sample(np.tril(_complex(make, 2, 2)), within=down, upper=False),
        Sample(np.triu(_complex(make, 2, 2)), within=up, upper=True),
    ]


@row
def indefinite_factors(make):
    return [
        Sample(make.definite(3, 3), fixed=(0,), hermitian=False),
        Sample(make.definite(2, 2, 2), fixed=(0,), hermitian=True),
        Sample(_hermitian_definite(make, 2), fixed=(0,), hermitian=True),
        Sample(make(0, 0), fixed=(0,), hermitian=False),
    ]


@row
def indefinite_system(make):
    pivots = _pivots(1, 2, 3)
    return [
        Sample(make.definite(3, 3), pivots, make(3, 2), fixed=(0, 2), hermitian=False),
        Sample(make.definite(3, 3), pivots, make(2, 3, 1), fixed=(0, 2), hermitian=True),
    ]


@row
def vector_product(make):
    return [
        Sample(make(3), make(3), axis=0),
        Sample(make(2, 3), make(1, 3), axis=1),
        Sample(make(3, 1), make(3, 2), axis=0),
        Sample(make(0, 3), make(1, 3), axis=1),
        Sample(make.complex(3), make.complex(3), axis=0),
    ]


@row
def matrix_product(make: Make) -> list:
    return [
        Sample(make(2, 3), make(3, 4), flipped=False),
        Sample(make(2, 3), make(4, 3).T, flipped=True),
        Sample(make(0, 3), make(3, 2), flipped=False),
        Sample(make(2, 0), make(0, 2), flipped=False),
    ]


@row
def matrix_vector(make: Make) -> list:
    return [Sample(make(2, 3), make(3)), Sample(make(3, 2).T, make(3)), Sample(make(0, 3), make(3))]


@row
def vector_dot(make: Make) -> list:
    return [Sample(make(3), make(3)), Sample(make(0), make(0)), Sample(make(6)[::2], make(3))]


@row
def conjugate_dot(make: Make) -> list:
    a, b = make(3) + 1j * make(3), make(3) + 1j * make(3)
    return [Sample(make(3), make(3)), Sample(make(0), make(0)), Sample(a, b)]


@row
def diagonal_sum(make: Make) -> list:
    return [Sample(make(3, 3)), Sample(make(2, 4)), Sample(make(3, 2).T), Sample(make(0, 2))]


@row
def batched_product(make: Make) -> list:
    return [
        Sample(make(2, 3, 2), make(2, 2, 3)),
        Sample(make(3, 2), make(2, 2, 3)),
        Sample(make(4, 1, 3, 2), make(2, 2, 3)),
    ]


@row
def batch_of_products(make: Make) -> list:
    return [Sample(make(2, 3, 2), make(2, 2, 3)), Sample(make(0, 3, 2), make(0, 2, 3))]


def weighted(make: Make, inputs: list[tuple[int, ...]], *shapes: tuple[int, ...]) -> list:
    """Samples of beta * input + alpha * (a @ b) for several shapes of the input."""
    found = []
    for shape, beta, alpha in zip(inputs, (1, 0.5, 0), (1, 2, 3), strict=True):
        found.append(Sample(make(*shape), *[make(*s) for s in shapes], beta=beta, alpha=alpha))
    return found


@row
def add_products(make: Make) -> list:
    return weighted(make, [(2, 3, 2), (2,), (1, 1)], (2, 3, 2), (2, 2, 2))


@row
def add_sum_of_products(make: Make) -> list:
    return weighted(make, [(3, 2), (2,), ()], (2, 3, 2), (2, 2, 2))


@row
def add_matrix_vector(make: Make) -> list:
    return weighted(make, [(2,), (1,), ()], (2, 3), (3,))


@row
def add_outer(make: Make) -> list:
    return weighted(make, [(2, 3), (3,), ()], (2,), (3,))


@row
def add_matrix_product(make: Make) -> list:
    options: dict[str, Any] = {"beta": 1, "alpha": 1, "flipped": False}
    return [
        Sample(make(4), make(2, 3), make(3, 4), **options),
        Sample(make(2, 4), make(2, 3), make(4, 3).T, beta=0.5, alpha=2, flipped=True),
        Sample(make(2, 1), make(2, 3), make(3, 4), **options),
        Sample(make(), make(2, 3), make(3, 4), **options),
    ]
