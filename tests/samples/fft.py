"""Samples of the discrete Fourier transform."""

from tests.samples.sample import Make, Sample, row


@row
def fourier(make: Make) -> list:
    return [
        Sample(make.complex(4), axes=(0,), scale="none", forward=True),
        Sample(make.complex(3, 5), axes=(0, 1), scale="root", forward=False),
        Sample(make.complex(2, 3, 4)[:, ::2], axes=(2, 0), scale="count", forward=True),
        Sample(make.complex(1), axes=(0,), scale="count", forward=False),
    ]


@row
def fourier_from_real(make: Make) -> list:
    return [
        Sample(make(4), axes=(0,), scale="none", half=True),
        Sample(make(3, 5), axes=(0, 1), scale="root", half=True),
        Sample(make(2, 4, 2).T, axes=(2, 1), scale="count", half=True),
        Sample(make(3, 4), axes=(0,), scale="none", half=False),
        Sample(make(1), axes=(0,), scale="none", half=True),
        Sample(make(2), axes=(0,), scale="none", half=True),
    ]


@row
def fourier_to_real(make: Make) -> list:
    return [
        Sample(make.complex(3), axes=(0,), scale="none", size=4),
        Sample(make.complex(3), axes=(0,), scale="count", size=5),
        Sample(make.complex(3, 4), axes=(0, 1), scale="root", size=6),
        Sample(make.complex(4, 3), axes=(1, 0), scale="none", size=7),
        Sample(make.complex(1), axes=(0,), scale="none", size=1),
        Sample(make.complex(2), axes=(0,), scale="none", size=2),
    ]
