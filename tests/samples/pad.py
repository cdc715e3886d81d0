"""Samples of padding."""

from tests.samples.sample import Make, Sample, row


@row
def constant_pad(make: Make) -> list:
    return [
        Sample(make(2, 3), pad=(1, 2), value=0.5),
        Sample(make(2, 3, 4), pad=(1, -1, 0, 2), value=0),
        Sample(make(2, 3), pad=(-1, -1, -1, 0), value=1.0),
        Sample(make(3, 2).T, pad=(), value=0),
        Sample(make(), pad=(), value=0),
        Sample(make(0, 2), pad=(1, 0, 1, 1), value=2.0),
    ]


@row
def reflection_pad_1d(make: Make) -> list:
    return [
        Sample(make(2, 4), padding=(3, 2)),
        Sample(make(2, 3, 4), padding=(-1, 3)),
        Sample(make(2, 2, 8)[:, :, ::2], padding=(0, 3)),
    ]


@row
def reflection_pad_2d(make: Make) -> list:
    return [
        Sample(make(2, 3, 4), padding=(1, 3, 2, 0)),
        Sample(make(1, 2, 4, 3), padding=(1, -1, -2, 3)),
    ]


@row
def reflection_pad_3d(make: Make) -> list:
    return [Sample(make(1, 2, 2, 3, 2), padding=(1, 1, 2, 0, 0, 1))]


@row
def replication_pad_1d(make: Make) -> list:
    return [Sample(make(2, 3), padding=(3, 4)), Sample(make(1, 2, 4), padding=(-3, 2))]


@row
def replication_pad_2d(make: Make) -> list:
    return [
        Sample(make(2, 3, 2), padding=(1, 3, 2, 0)),
        Sample(make(1, 2, 3, 3), padding=(2, -1, -2, 1)),
    ]


@row
def replication_pad_3d(make: Make) -> list:
    return [Sample(make(1, 2, 2, 1, 2), padding=(1, 1, 2, 0, 0, 1))]


@row
def circular_pad(make: Make) -> list:
    return [
        Sample(make(2, 3), padding=(3, 2)),
        Sample(make(1, 2, 3, 4), padding=(1, 2, -1, 1)),
        Sample(make(1, 2, 2, 2, 2), padding=(1, 0, 0, 1, 2, 2)),
    ]


@row
def edge_unpad(make: Make) -> list:
    return [
        Sample(make(2, 7), padding=(2, 1), mode="reflect"),
        Sample(make(2, 5, 5), padding=(2, -1, -1, 1), mode="replicate"),
        Sample(make(2, 5, 5), padding=(2, -1, -1, 1), mode="circular"),
    ]
