"""Samples of normalisation."""

from tests.samples.sample import Make, Sample, row


@row
def layer_standardize(make: Make) -> list:
    return [
        Sample(make(3, 4), make(4), make(4), n_axes=1, eps=1e-5),
        Sample(make(2, 3, 4), make(3, 4), None, n_axes=2, eps=1e-3),
        Sample(make(5, 3).T, None, make(5), n_axes=1, eps=1e-5),
        Sample(make(2, 1, 4) + 30, None, None, n_axes=1, eps=1e-5),  # the mean is far from zero
        Sample(make(2, 4) + 9, make(4), make(4), n_axes=1, eps=1e-5),
        Sample(make(0, 4), make(4), make(4), n_axes=1, eps=1e-5),
    ]


@row
def batch_standardize(make: Make) -> list:
    return [
        Sample(make(4, 3), make(3), make(3), groups=None, eps=1e-5),
        Sample(make(2, 3, 4), make(3), None, groups=None, eps=1e-3),
        Sample(make(3, 2, 5).transpose(1, 0, 2), None, make(3)[:3], groups=None, eps=1e-5),
        Sample(make(2, 2, 4) + 30, make(2), make(2), groups=None, eps=1e-5),
        Sample(make(2, 2, 4, 5), None, None, groups=None, eps=1e-5),
    ]


@row
def group_standardize(make: Make) -> list:
    return [
        Sample(make(2, 6), make(6), make(6), groups=2, eps=1e-5),
        Sample(make(2, 4, 3), make(4), None, groups=4, eps=1e-3),
        Sample(make(2, 4, 3), None, make(4), groups=1, eps=1e-5),
        Sample(make(2, 4, 3, 6) + 30, make(4), make(4), groups=2, eps=1e-5),
    ]


@row
def channel_standardize(make: Make) -> list:
    return [
        Sample(make(4, 3), make(3), make(3), make(3), make.positive(3), eps=1e-5, fixed=(3, 4)),
        Sample(make(2, 3, 4), None, make(3), make(3), make.positive(3), eps=1e-5, fixed=(3, 4)),
        Sample(
            *(make(2, 3, 4, 5), make(3), None, make(3) + 30, make.positive(3)),
            eps=1e-3,
            fixed=(3, 4),
        ),
    ]
