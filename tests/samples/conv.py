"""Samples of convolutions and sliding blocks."""

from typing import Any

from tests.samples.sample import Make, Sample, row


def _steps(n: int, **changed: Any) -> dict[str, Any]:
    steps: dict[str, Any] = {
        "stride": (1,) * n,
        "padding": (0,) * n,
        "dilation": (1,) * n,
        "transposed": False,
        "output_padding": (0,) * n,
        "groups": 1,
    }
    return {**steps, **changed}


@row
def convolution(make: Make) -> list:
    return [
        Sample(make(2, 3, 5), make(4, 3, 3), make(4), **_steps(1)),
        Sample(make(2, 2, 5, 6)[:, :, :, ::2], make(3, 2, 2, 3), None, **_steps(2, padding=(1, 0))),
        Sample(make(2, 4, 5, 6), make(2, 2, 3, 2), make(2), **_steps(2, groups=2, stride=(2, 3))),
        Sample(
            make(1, 2, 6, 6),
            make(2, 2, 2, 2),
            make(2),
            **_steps(2, dilation=(2, 3), padding=(1, 2)),
        ),
        Sample(make(12, 1, 9, 9), make(4, 1, 3, 3), make(4), **_steps(2)),  # images in one product
        Sample(make(2, 1, 3, 3, 4), make(2, 1, 2, 1, 2), make(2), **_steps(3)),
        Sample(make(2, 3, 4), make(3, 2, 3), make(2), **_steps(1, transposed=True)),
        Sample(
            make(2, 4, 3, 3),
            make(4, 1, 2, 3),
            None,
            **_steps(
                2,
                transposed=True,
                groups=2,
                stride=(2, 3),
                padding=(1, 0),
                output_padding=(1, 0),
                dilation=(1, 2),
            ),
        ),
        Sample(  # a result with more places than the gradient needs
            make(1, 1, 4),
            make(1, 1, 2),
            make(1),
            **_steps(1, transposed=True, dilation=(3,), output_padding=(2,)),
        ),
        Sample(make.complex(1, 2, 4), make.complex(2, 2, 2), make.complex(2), **_steps(1)),
        Sample(make(0, 2, 4), make(3, 2, 2), make(3), **_steps(1)),
    ]


@row
def convolution_weights(make: Make) -> list:
    steps = _steps(2)
    del steps["transposed"], steps["output_padding"]
    return [
        Sample(make(2, 3, 4, 4), make(2, 2, 3, 3), size=(2, 2), **steps),
        Sample(
            make(2, 4, 5, 5),
            make(2, 2, 3, 2),
            size=(3, 2),
            **{**steps, "groups": 2, "stride": (2, 3), "padding": (1, 0)},
        ),
    ]


@row
def image_to_columns(make: Make) -> list:
    return [
        Sample(
            make(2, 2, 4, 5),
            kernel_size=(2, 3),
            dilation=(1, 1),
            padding=(0, 0),
            stride=(1, 1),
            size=(3, 3),
        ),
        Sample(
            make(1, 2, 4, 5),
            kernel_size=(2, 2),
            dilation=(2, 1),
            padding=(1, 2),
            stride=(2, 3),
            size=(2, 3),
        ),
    ]


@row
def columns_to_image(make: Make) -> list:
    return [
        Sample(
            make(2, 12, 9),
            output_size=(4, 5),
            kernel_size=(2, 3),
            dilation=(1, 1),
            padding=(0, 0),
            stride=(1, 1),
            size=(3, 3),
        ),
        Sample(
            make(1, 8, 6),
            output_size=(4, 5),
            kernel_size=(2, 2),
            dilation=(2, 1),
            padding=(1, 2),
            stride=(2, 3),
            size=(2, 3),
        ),
    ]
