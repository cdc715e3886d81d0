"""Samples of products of matrices."""

from typing import Any

from tests.samples.sample import Make, Sample, row


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
def batched_product(make: Make) -> list:
    return [
        Sample(make(2, 3, 2), make(2, 2, 3)),
        Sample(make(3, 2), make(2, 2, 3)),
        Sample(make(4, 1, 3, 2), make(2, 2, 3)),
    ]


@row
def batch_of_products(make: Make) -> list:
    return [Sample(make(2, 3, 2), make(2, 2, 3)), Sample(make(0, 3, 2), make(0, 2, 3))]


@row
def unsafe_view(make: Make) -> list:
    return [Sample(make(2, 3), shape=(6,)), Sample(make(2, 3).T, shape=(2, 3))]


@row
def add_matrix_product(make: Make) -> list:
    options: dict[str, Any] = {"beta": 1, "alpha": 1, "flipped": False}
    return [
        Sample(make(4), make(2, 3), make(3, 4), **options),
        Sample(make(2, 4), make(2, 3), make(4, 3).T, beta=0.5, alpha=2, flipped=True),
        Sample(make(2, 1), make(2, 3), make(3, 4), **options),
        Sample(make(), make(2, 3), make(3, 4), **options),
    ]


@row
def vector_norm(make: Make) -> list:
    found = [
        Sample(make.away(2, 3), order=order, axis=axis, keepdims=keepdims)
        for order in (2.0, 1.0, 3.0, 0.5, 0.0, float("inf"))
        for axis, keepdims in (((0,), False), ((0, 1), True))
    ]
    return [*found, Sample(make.away(), order=2.0, axis=(), keepdims=False)]
