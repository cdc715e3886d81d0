"""Samples of shapes, axes and copies."""

import numpy as np

from tests.samples.sample import Make, Sample, row


@row
def dual_view(make: Make) -> list:
    return [Sample(make(2, 3)), Sample(make()), Sample(make(2, 3).T)]


@row
def primal_view(make: Make) -> list:
    return [Sample(make(2, 3)), Sample(make()), Sample(make(2, 3).T)]


@row
def patch_part(make: Make) -> list:
    return [
        Sample(make(5, 2), make(2, 2), axis=0, key=slice(1, 5, 2)),
        Sample(make(2, 3), make(2, 3), axis=1, key=slice(0, 3, 1)),
    ]


@row
def patch_index(make: Make) -> list:
    return [Sample(make(3, 2), make(2), axis=0, key=1), Sample(make(3), make(), axis=0, key=0)]


@row
def patch_diagonal(make: Make) -> list:
    return [
        Sample(make(3, 4), make(3), offset=0, a=0, b=1),
        Sample(make(2, 3, 4), make(3, 1), offset=1, a=2, b=0),
    ]


@row
def unsafe_view(make: Make) -> list:
    return [Sample(make(2, 3), shape=(6,)), Sample(make(2, 3).T, shape=(2, 3))]


@row
def view_shape(make: Make) -> list:
    return [
        Sample(make(2, 3), shape=(3, 2)),
        Sample(make(), shape=(1, 1)),
        Sample(make(4)[::2], shape=(1, 2)),
        Sample(make(0, 2), shape=(2, 0, 3)),
    ]


@row
def reshape_alias(make: Make) -> list:
    return [Sample(make(4)[::2], shape=(1, 2)), Sample(make(2, 3).T, shape=(3, 2, 1))]


@row
def clone(make: Make) -> list:
    return [
        Sample(make(), order="K"),
        Sample(make(2, 3).T, order="K"),
        Sample(make(2, 3).T, order="C"),
        Sample(np.broadcast_to(make(3), (2, 3)), order="C"),
        Sample(make(0, 2), order="K"),
    ]


@row
def alias(make: Make) -> list:
    return [Sample(make()), Sample(make(2, 3).T), Sample(make(0))]


@row
def permute_axes(make: Make) -> list:
    return [
        Sample(make(2, 3, 4), axes=(2, 0, 1)),
        Sample(make(2, 3), axes=(1, 0)),
        Sample(make(), axes=()),
        Sample(make(0, 2), axes=(1, 0)),
    ]


@row
def swap_axes(make: Make) -> list:
    return [Sample(make(2, 3, 4), a=0, b=2), Sample(make(2, 3), a=1, b=1), Sample(make(), a=0, b=0)]


@row
def transpose_matrix(make: Make) -> list:
    return [Sample(make(2, 3)), Sample(make(3)), Sample(make()), Sample(make(0, 2))]


@row
def insert_axis(make: Make) -> list:
    return [Sample(make(2, 3), axis=1), Sample(make(), axis=0), Sample(make(2, 3).T, axis=2)]


@row
def squeeze_all(make: Make) -> list:
    return [Sample(make(1, 3, 1)), Sample(make(2, 3)), Sample(make()), Sample(make(1, 0))]


@row
def squeeze_axis(make: Make) -> list:
    return [Sample(make(1, 3, 1), axis=2), Sample(make(2, 3), axis=0), Sample(make(), axis=0)]


@row
def squeeze_fresh(make: Make) -> list:
    return [Sample(make(1, 3, 1), axis=2), Sample(make(2, 3), axis=0), Sample(make(), axis=0)]


@row
def squeeze_axes(make: Make) -> list:
    return [Sample(make(1, 3, 1), axes=(0, 1)), Sample(make(1, 1), axes=(0, 1))]


@row
def expand_to(make: Make) -> list:
    return [
        Sample(make(2, 1), shape=(2, 3)),
        Sample(make(3), shape=(2, 1, 3)),
        Sample(make(), shape=(2, 2)),
        Sample(make(1), shape=(0,)),
        Sample(make(2, 3), shape=(2, 3)),
    ]


@row
def select_index(make: Make) -> list:
    return [
        Sample(make(2, 3), axis=0, index=1),
        Sample(make(2, 3).T, axis=1, index=0),
        Sample(make(3), axis=0, index=2),
    ]


@row
def slice_axis(make: Make) -> list:
    return [
        Sample(make(5, 2), axis=0, start=1, stop=5, step=2),
        Sample(make(2, 3).T, axis=1, start=0, stop=1, step=1),
        Sample(make(3), axis=0, start=2, stop=2, step=1),
    ]


@row
def pad_select(make: Make) -> list:
    return [
        Sample(make(3), shape=(2, 3), axis=0, index=1),
        Sample(make(), shape=(3,), axis=0, index=0),
    ]


@row
def pad_slice(make: Make) -> list:
    return [
        Sample(make(2, 2), shape=(5, 2), axis=0, start=1, stop=5, step=2),
        Sample(make(0), shape=(3,), axis=0, start=3, stop=3, step=1),
    ]


@row
def copy_slice(make: Make) -> list:
    return [Sample(make(4, 2), axis=0, start=1, stop=3), Sample(make(3), axis=0, start=0, stop=0)]


@row
def unbind_axis(make: Make) -> list:
    return [Sample(make(2, 3), axis=0), Sample(make(2, 3), axis=1), Sample(make(2), axis=0)]


@row
def split_equal(make: Make) -> list:
    return [Sample(make(5, 2), axis=0, size=2), Sample(make(2, 0), axis=1, size=3)]


@row
def split_by_sizes(make: Make) -> list:
    return [Sample(make(5, 2), axis=0, sizes=(3, 0, 2)), Sample(make(2, 3).T, axis=1, sizes=(1, 1))]


@row
def split_untracked(make: Make) -> list:
    return [Sample(make(5, 2), axis=0, size=2)]


@row
def split_by_sizes_untracked(make: Make) -> list:
    return [Sample(make(5, 2), axis=0, sizes=(3, 0, 2))]


@row
def concat_along(make: Make) -> list:
    return [
        Sample(make(2, 3), make(1, 3), axis=0),
        Sample(make(2, 1), make(2, 2), make(2, 0), axis=1),
        Sample(make(3), axis=0),
    ]


@row
def stack_along(make: Make) -> list:
    return [
        Sample(make(2, 3), make(2, 3), axis=0),
        Sample(make(2), make(2), make(2), axis=1),
        Sample(make(), make(), axis=0),
    ]


@row
def block_diag_of(make: Make) -> list:
    return [Sample(make(2, 3), make(1, 1), make(0, 2))]


@row
def lower_triangle(make: Make) -> list:
    return [Sample(make(3, 4), k=0), Sample(make(2, 3, 3), k=-1), Sample(make(0, 2), k=1)]


@row
def upper_triangle(make: Make) -> list:
    return [Sample(make(3, 4), k=0), Sample(make(2, 3, 3), k=1), Sample(make(2, 3), k=-2)]


@row
def diagonal_axes(make: Make) -> list:
    return [
        Sample(make(3, 4), offset=0, a=0, b=1),
        Sample(make(2, 3, 4), offset=1, a=2, b=0),
        Sample(make(2, 3), offset=-1, a=0, b=1),
        Sample(make(2, 2), offset=5, a=0, b=1),
    ]


@row
def copy_diagonal(make: Make) -> list:
    return [Sample(make(3, 4), offset=1), Sample(make(3, 2), offset=-1)]


@row
def pad_diagonal(make: Make) -> list:
    return [Sample(make(3), shape=(3, 4), offset=1), Sample(make(2, 2), shape=(2, 3, 2), offset=-1)]


@row
def embed_diagonal(make: Make) -> list:
    return [
        Sample(make(3), offset=0, a=0, b=1),
        Sample(make(2, 3), offset=-2, a=0, b=2),
        Sample(make(0), offset=1, a=0, b=1),
    ]


@row
def flip_axes(make: Make) -> list:
    return [Sample(make(2, 3), axes=(0, 1)), Sample(make(3), axes=()), Sample(make(), axes=())]


@row
def roll_axes(make: Make) -> list:
    return [
        Sample(make(2, 3), shifts=(1, -1), axes=(0, 1)),
        Sample(make(2, 3), shifts=(4,), axes=None),
        Sample(make(0, 2), shifts=(1,), axes=(1,)),
    ]


@row
def turn(make: Make) -> list:
    return [Sample(make(2, 3), k=k, a=0, b=1) for k in range(4)]


@row
def tile_by(make: Make) -> list:
    return [
        Sample(make(2, 3), repeats=(2, 1)),
        Sample(make(3), repeats=(2, 2)),
        Sample(make(), repeats=(3,)),
        Sample(make(2), repeats=(0,)),
    ]


@row
def windows(make: Make) -> list:
    return [
        Sample(make(5), axis=0, size=2, step=1),
        Sample(make(2, 5).T, axis=0, size=3, step=2),
        Sample(make(3), axis=0, size=0, step=1),
    ]


@row
def sum_windows(make: Make) -> list:
    return [
        Sample(make(4, 2), shape=(5,), axis=0, size=2, step=1),
        Sample(make(2, 2, 3), shape=(5, 2), axis=0, size=3, step=2),
    ]


@row
def pattern(make: Make) -> list:
    return [
        Sample(make(6), shape=(2, 2), strides=(1, 2), offset=1, own=(1,)),
        Sample(make(2, 3), shape=(3,), strides=(2,), offset=0, own=(3, 1)),
        Sample(make(6), shape=(3, 3), strides=(1, 1), offset=0, own=(1,)),
        Sample(make(2, 2), shape=(), strides=(), offset=3, own=(2, 1)),
    ]


@row
def sum_pattern(make: Make) -> list:
    return [
        Sample(make(2, 2), shape=(6,), strides=(1, 2), offset=1, own=(1,)),
        Sample(make(3, 3), shape=(5,), strides=(1, 1), offset=0, own=(1,)),
    ]


@row
def as_pairs(make: Make) -> list:
    return [Sample(make.complex(3)), Sample(make.complex(2, 3).T), Sample(make.complex())]


@row
def from_pairs(make: Make) -> list:
    return [Sample(make(3, 2)), Sample(make(2, 3, 2)), Sample(make(2))]
