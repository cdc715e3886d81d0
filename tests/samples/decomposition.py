"""Samples of decompositions, eigenvalues, least squares, pseudo-inverses, reflections."""

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
