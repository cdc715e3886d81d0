"""3x3 convolutions by Winograd's minimal filtering: 36 products for 4x4 places in place of 144.

Images, kernels and places are taken to 36 points and back (`conv_winograd_steps`). At each point
there is a product of matrices, channels by channels by tiles. It is chosen by `convolution` and
`gradient_of_kernels` below, for single precision alone: its error is three times that of the direct
sum, and far from the 1e-5 of the largest result to which compiled convolutions are held.

Source: A. Lavin and S. Gray, "Fast algorithms for convolutional neural networks" (2015).
"""

from dataclasses import dataclass

from tapegrad.compiler.c_backend.templates import conv_winograd_kernels, conv_winograd_steps
from tapegrad.compiler.c_backend.templates.shared import shared

UNTYPED = r"""
/* Tiles of a strip, and numbers of a row of an image below one, at most */
#define TG_STRIP 32
#define TG_ROW (4 * TG_STRIP + 32)
"""

SOURCE = (
    conv_winograd_steps.SOURCE
    + r"""
/* sums (O, width) = kernels (O, C), of which six channels are side by side, times data (C, width):
   so much of the data at once is in the first cache */
static void tg_sums_at_point_real(real *sums, const real *kernels, const real *data, int64_t C,
                                  int64_t O, int64_t pitch, int64_t width) {
    const int64_t panel = 2 * TG_WIDE / sizeof(real);
    int64_t depth = (C * width + 4095) / 4096;
    depth = (C + depth - 1) / depth;
    for (int64_t c = 0; c < C; c += depth) {
        int64_t n = TG_MIN(depth, C - c);
        for (int64_t o = 0; o < O; o += 6) {
            const real *w = kernels + o * C + c * 6;
            for (int64_t t = 0; t < width; t += panel) {
                real *to = sums + o * width + t;
                const real *from = data + c * pitch + t;
                for (int64_t rows = TG_MIN(6, O - o), i = 0, few; i < rows; i += few) {
                    few = tg_next_rows_real(rows - i);
                    tg_rows_2_real(few, n, 1, w + i, 1, 6, from, pitch, c > 0, to + i * width,
                                   width);
                }
            }
        }
    }
}

/* G g: three elements of six kernels at the six points */
static inline void tg_kernel_at_points_real(double (*restrict to)[8], int64_t step,
                                            const double (*restrict g)[8]) {
    const double a = 0.75, b = 1.5;
    const double of_a = 1 / (2 * a * a * (a * a - b * b)), of_b = 1 / (2 * b * b * (b * b - a * a));
    _Pragma("omp simd")
    for (int64_t k = 0; k < 8; k++) {
        double even = g[0][k] + a * a * g[2][k], odd = a * g[1][k];
        to[0][k] = g[0][k] * (1 / (a * a * b * b));
        to[step][k] = (even + odd) * of_a, to[2 * step][k] = (even - odd) * of_a;
        even = g[0][k] + b * b * g[2][k], odd = b * g[1][k];
        to[3 * step][k] = (even + odd) * of_b, to[4 * step][k] = (even - odd) * of_b;
        to[5 * step][k] = g[2][k];
    }
}

/* Kernels of some channels at 36 points, G g G', in double precision: matrices (O, C) of whole
   sixes of channels, `step` apart; the elements (o, c, i, j) of w lie so far from each other */
static void tg_kernels_at_points_real(real *to, int64_t step, const real *w, int64_t o_step,
                                      int64_t c_step, int64_t i_step, int64_t j_step, int64_t C,
                                      int64_t first, int64_t channels) {
    double g[9][8] = {0}, down[18][8], all[36][8];
    for (int64_t o = first; o < first + channels; o += 6) {
        int64_t few = TG_MIN(6, first + channels - o);
        for (int64_t c = 0; c < C; c++) {
            for (int64_t k = 0; k < few; k++) {
                const real *from = w + (o + k) * o_step + c * c_step;
                for (int64_t i = 0; i < 3; i++)
                    for (int64_t j = 0; j < 3; j++) g[3 * j + i][k] = from[i * i_step + j * j_step];
            }
            for (int64_t j = 0; j < 3; j++) tg_kernel_at_points_real(down + j, 3, g + 3 * j);
            for (int64_t i = 0; i < 6; i++) tg_kernel_at_points_real(all + 6 * i, 1, down + 3 * i);
            for (int64_t p = 0; p < 36; p++)
                for (int64_t k = 0; k < 6; k++) to[p * step + o * C + c * 6 + k] = all[p][k];
        }
    }
}
@SHARED_KERNELS@
/* Strips from `first` on: data, sums of channels, places; returns whether one is not finite */
static int tg_winograd_strips_real(real *y, const real *x, const real *kernels, int64_t step,
                                   const real *bias, int64_t ends,
                                   const tg_strips_real *at, int64_t first, int64_t strips,
                                   int64_t block, int64_t part_size, real *memory) {
    real *data = memory, *sums = memory + 36 * at->data_step + 16;
    real *rows = sums + 36 * at->sums_step + 64;
    int failed = 0;
    for (int64_t n; strips > 0; first += n, strips -= n) {
        n = TG_MIN(strips, block);
        tg_data_of_block_real(data, x, at, 0, at->C, first, n, part_size, rows);
        for (int64_t o = 0; o < at->O; o += at->some) {
            int64_t few = TG_MIN(at->some, at->O - o);
            for (int64_t p = 0; p < 36; p++)
                tg_sums_at_point_real(sums + p * at->sums_step, kernels + p * step + o * at->C,
                                      data + p * at->data_step, at->C, few, at->pitch,
                                      at->width);
            failed |= tg_places_of_block_real(y, sums, bias, ends, at, o, few, first, n);
        }
    }
    return failed;
}
@SHARED_STRIPS@
/* y (N, O, oh, ow): kernels w (O, C, 3, 3) times what they cover of x (N, C, h, w), or, transposed,
   w (C, O, 3, 3) from its last element on; ph and pw are zeros before the images. Where a result is
   not finite, all is computed again without points, at which one element is part of many results.
   The memory: kernels, and that of a part; or what the direct convolution needs */
static void tg_winograd_shared_real(real *y, const real *x, const real *w, const real *bias,
                                    int64_t ends, int64_t transposed, int64_t N, int64_t C,
                                    int64_t O, int64_t h, int64_t width, int64_t oh, int64_t ow,
                                    int64_t ph, int64_t pw, int64_t columns, int64_t strips,
                                    int64_t some, int64_t kernels, int64_t part_size,
                                    int64_t rows, int64_t places, int64_t direct_kernels,
                                    int64_t direct_part, real *memory, int64_t threads) {
    tg_strips_real at = {N, C, O, h, width, oh, ow, ph, pw, columns, strips, some};
    tg_lay_out_strips_real(&at);
    int64_t step = kernels / 36;
    if (transposed)
        tg_kernels_at_points_shared_real(memory, step, w + 8, 9, O * 9, -3, -1, C, 0, O, threads);
    else
        tg_kernels_at_points_shared_real(memory, step, w, C * 9, 9, 3, 1, C, 0, O, threads);
    if (!tg_winograd_strips_shared_real(y, x, memory, step, bias, ends, &at, 0,
                                        N * at.down * at.across, strips, part_size,
                                        memory + kernels, threads))
        return;
    if (transposed)
        tg_convolve_transposed_shared_real(y, x, w, bias, ends, N, 1, C, O, h, width, oh, ow,
                                           3, 3, 1, 1, 2 - ph, 2 - pw, 1, 1, rows, places,
                                           direct_kernels, direct_part, memory, threads);
    else
        tg_convolve_shared_real(y, x, w, bias, ends, N, 1, C, O, h, width, oh, ow, 3, 3, 1, 1,
                                ph, pw, 1, 1, rows, places, direct_kernels, direct_part, memory,
                                threads);
}
static void tg_winograd_real(real *y, const real *x, const real *w, const real *bias,
                             int64_t ends, int64_t transposed, int64_t N, int64_t C, int64_t O,
                             int64_t h, int64_t width, int64_t oh, int64_t ow, int64_t ph,
                             int64_t pw, int64_t columns, int64_t strips, int64_t some,
                             int64_t kernels, int64_t part_size, int64_t rows, int64_t places,
                             int64_t direct_kernels, int64_t direct_part, real *memory) {
    tg_winograd_shared_real(y, x, w, bias, ends, transposed, N, C, O, h, width, oh, ow, ph, pw,
                            columns, strips, some, kernels, part_size, rows, places, direct_kernels,
                            direct_part, memory, 0);
}
"""
)
SOURCE = SOURCE.replace(
    "@SHARED_KERNELS@", shared(SOURCE, "tg_kernels_at_points", "channels", unit=6, first="1")
).replace(
    "@SHARED_STRIPS@",
    shared(
        SOURCE,
        "tg_winograd_strips",
        "strips",
        unit="block",
        first="1",
        scratch="part_size",
        parts="2 * threads",
    ),
)
SOURCE += conv_winograd_kernels.SOURCE

_KERNELS = 2**22  # numbers of kernels at the points, at most: they are four times the kernels
_TILES = 32  # tiles of a block of a convolution, at most: its data are in the second cache
_SUMS = 96  # channels whose sums are there as well, at most
_ALL_TILES = 64  # tiles of a block of a gradient of kernels, at most

# What the data and the places of a tile cost for each channel, and a kernel, in products at the
# points; one of the direct way costs 4/3 of those. With AVX2 on one core, 16 images of 32x32 and 64
# channels take 6 ms, and 17 the direct way; the gradient of their kernels 6.3 ms, and 19
_DATA, _PLACES, _KERNEL, _DIRECT = 560, 800, 1000, 4 / 3


@dataclass(frozen=True)
class Winograd:
    """A 3x3 convolution of n images, C to O channels, and how its places (height, width) are cut.

    So many tiles side by side, `columns`, are a strip, and so many strips a block.
    """

    n: int
    C: int
    O: int  # noqa: E741
    places: tuple[int, int]
    columns: int
    strips: int

    @property
    def some(self) -> int:
        """Channels of the result of which there are sums at once."""
        return min(_SUMS, _whole(self.O, 6))

    @property
    def kernels(self) -> int:
        """Numbers of the kernels at the points."""
        return 36 * (self.C * _whole(self.O, 6) + 16)

    @property
    def part(self) -> int:
        """Numbers that a part of a convolution needs."""
        width = _whole(self.columns * self.strips, 32)
        return 36 * (self.C * (width + 16) + self.some * width + 32) + 128 + self.rows

    @property
    def rows(self) -> int:
        """Numbers of the rows below a block: twice those of a channel, or those of 16 channels."""
        n = 4 * self.strips + 2
        twice = 2 * n * (4 * _whole(self.columns, 16) + 4)
        return _whole(max(twice, 16 * n * (4 * self.columns + 2)), 16)

    @property
    def block(self) -> int:
        """Numbers of all totals, and of the data and cotangents of a block."""
        width, channels = _whole(self.columns * self.strips, 32), _whole(self.C, 32)
        return 36 * (channels * (self.O + width) + self.O * (width + 16) + 32)


def convolution(n: int, C: int, O: int, places: tuple[int, int]) -> Winograd | None:  # noqa: E741
    """How n images are convolved at the points; None where the direct way is quicker.

    Transforms cost as much for each channel, products for each pair of channels: so there have to
    be some channels of both, tiles that fill vectors, and enough of them for the kernels' cost.
    """
    down, across = [-(-size // 4) for size in places]
    columns = _even(across, 32)
    fits = range(1, max(1, _TILES // columns) + 1)
    strips = max(fits, key=lambda k: (k * columns / _whole(k * columns, 16), k))
    found = Winograd(n, C, O, places, columns, strips)
    lanes = _whole(columns, 8) / columns
    return found if _pays(found, n * down * across, lanes * (_DATA * C + _PLACES * O)) else None


def gradient_of_kernels(
    n: int, C: int, O: int, places: tuple[int, int]  # noqa: E741
) -> Winograd | None:  # fmt: skip
    """The same for the gradient of its kernels: the lanes of its data are channels."""
    down, across = [-(-size // 4) for size in places]
    columns = _even(across, 32)
    all_strips = n * down * -(-across // columns)
    strips = _even(all_strips, max(1, _ALL_TILES // columns))
    found = Winograd(n, C, O, places, columns, strips)
    lanes = _whole(columns, 8) / columns
    per_tile = _PLACES * _whole(C, 16) + lanes * _DATA * O
    return found if _pays(found, n * down * across, per_tile, _whole(C, 16)) else None


def _pays(of: Winograd, tiles: int, per_tile: float, channels: int = 0) -> bool:
    """Whether products, transforms of tiles and of kernels cost less than the direct way.

    Args:
        per_tile: what the transforms of a tile cost for all channels
        channels: of the images, where vectors are filled up with more of them
    """
    pairs = (channels or of.C) * of.O
    cost = tiles * (36 * pairs + per_tile) + _KERNEL * pairs
    direct = _DIRECT * 9 * of.n * of.places[0] * of.places[1] * of.C * of.O
    return cost < direct and of.kernels <= _KERNELS


def _even(n: int, most: int) -> int:
    """The size of parts of n, up to `most`, so that they are about as large as each other."""
    return -(-n // -(-n // most))


def _whole(n: int, unit: int) -> int:
    return -(-n // unit) * unit
