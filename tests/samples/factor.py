"""Samples of operators on square matrices: inverses, systems, determinants, factors."""

import numpy as np

from tests.samples.sample import Sample, hermitian, row


def _lower(make, *shape):
    return np.tril(make(*shape)) + 3.0 * np.eye(shape[-1])


def _complex(make, *shape):
    return make.complex(*shape) + 4.0 * np.eye(shape[-1])


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
