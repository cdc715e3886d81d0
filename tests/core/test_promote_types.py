"""Which dtype comes out where several meet."""

from types import SimpleNamespace

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapegrad.core.dtype import (
    BY_NAME,
    DTYPES,
    bfloat16,
    bool_,
    complex32,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
    uint16,
    uint32,
)
from tapegrad.core.promote_types import can_cast, promote, promote_types, result_type

BY_ABBR = {x.abbr: x for x in BY_NAME.values()}

# PyTorch's table. The first row names the columns, and the first column the rows.
TABLE = """
b8   u8   i8   i16  i32  i64  f16  bf16 f32  f64  c32  c64  c128
u8   u8   i16  i16  i32  i64  f16  bf16 f32  f64  c32  c64  c128
i8   i16  i8   i16  i32  i64  f16  bf16 f32  f64  c32  c64  c128
i16  i16  i16  i16  i32  i64  f16  bf16 f32  f64  c32  c64  c128
i32  i32  i32  i32  i32  i64  f16  bf16 f32  f64  c32  c64  c128
i64  i64  i64  i64  i64  i64  f16  bf16 f32  f64  c32  c64  c128
f16  f16  f16  f16  f16  f16  f16  f32  f32  f64  c32  c64  c128
bf16 bf16 bf16 bf16 bf16 bf16 f32  bf16 f32  f64  c64  c64  c128
f32  f32  f32  f32  f32  f32  f32  f32  f32  f64  c64  c64  c128
f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  c128 c128 c128
c32  c32  c32  c32  c32  c32  c32  c64  c64  c128 c32  c64  c128
c64  c64  c64  c64  c64  c64  c64  c64  c64  c128 c64  c64  c128
c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128
"""
GRID = [[BY_ABBR[word] for word in line.split()] for line in TABLE.strip().splitlines()]
PAIRS = [(row[0], column, row[j]) for row in GRID for j, column in enumerate(GRID[0])]

BARE_UNSIGNED = [uint16, uint32, BY_NAME["uint64"]]


def array(x, ndim=1):
    return np.zeros((2,) * ndim, x.numpy)


@pytest.fixture
def default_restored():
    before = get_default_dtype()
    yield
    set_default_dtype(before)


@pytest.mark.parametrize(("a", "b", "expected"), PAIRS, ids=str)
def test_every_pair_promotes_as_in_pytorch(a, b, expected):
    assert promote_types(a, b) is expected


@pytest.mark.parametrize("wide", BARE_UNSIGNED, ids=str)
@pytest.mark.parametrize("x", DTYPES, ids=str)
def test_wide_unsigned_integers_meet_only_themselves_and_fractions(wide, x):
    if x is wide or x.is_floating_point:
        assert promote_types(wide, x) is promote_types(x, wide) is x
        return
    for a, b in ((wide, x), (x, wide)):
        with pytest.raises(RuntimeError) as raised:
            promote_types(a, b)
        assert str(raised.value) == (
            "Promotion for uint16, uint32, uint64 types is not supported, "
            f"attempted to promote {a.scalar_name} and {b.scalar_name}"
        )


def test_promotion_of_what_is_not_a_dtype_says_which_argument():
    with pytest.raises(TypeError, match=r"argument 'type2' \(position 2\) must be torch.dtype"):
        promote_types(float32, 1)
    with pytest.raises(TypeError, match=r"argument 'from_' \(position 1\) must be torch.dtype"):
        can_cast("int8", int8)


@pytest.mark.parametrize(
    ("kinds", "castable"),
    [
        ([bool_], "1111"),
        ([uint8, uint16, int8, int64], "0111"),
        ([float16, bfloat16, float64], "0011"),
        ([complex64, complex128], "0001"),
    ],
)
def test_a_cast_may_widen_the_kind_of_number_and_never_narrow_it(kinds, castable):
    for x in kinds:
        to = "".join(str(int(can_cast(x, y))) for y in (bool_, int8, bfloat16, complex64))
        assert to == castable


# Operands: a dtype is an array with an axis, a 1-tuple of one is 0-d, the rest are numbers.
OPERANDS = [
    ([1, 2], int64),
    ([1, 2.0], float32),
    ([True, 1], int64),
    ([True, True], bool_),
    ([1, 1j], complex64),
    ([int64, 2.0], float32),
    ([(int64,), int8], int8),
    ([(float32,), int64], float32),
    ([float16, 1j], complex32),
    ([float64, 1j], complex128),
    ([bfloat16, 1j], complex64),
    ([(uint16,), int8], int8),
    ([uint16, 1], uint16),
    ([uint16, True], uint16),
    ([uint16, 1.0], float32),
    ([uint16, 1j], complex64),
    ([bool_, 1], int64),
    ([float32, (float64,)], float32),
    ([(float64,), 1], float64),
    ([(float64,), 2j], complex128),
    ([int64, (complex128,)], complex128),
    ([float16, (complex128,)], complex32),
    ([(int8,), 1], int8),
    ([(int8,), (int16,)], int16),
    ([int8, (float64,), 1j], complex128),
    ([float32, (int64,), 2.0], float32),
    ([int32, uint8, (float16,)], float16),
    ([float32], float32),
    ([(bool_,)], bool_),
    ([int8, np.float64(1)], float32),
    ([int8, np.int64(1)], int8),
    ([int64, np.True_], float32),
]


@pytest.mark.parametrize(("operands", "expected"), OPERANDS, ids=str)
def test_scalars_and_numbers_do_not_raise_the_dtype_within_a_category(operands, expected):
    made = [
        array(x[0], ndim=0) if type(x) is tuple else array(x) if x in DTYPES else x
        for x in operands
    ]
    assert promote(made) is expected
    assert promote(made) is expected  # and again, remembered
    if len(made) == 2:
        tensors = [SimpleNamespace(_array=x) if type(x) is np.ndarray else x for x in made]
        assert result_type(*tensors) is expected


@pytest.mark.parametrize("ndim", [0, 1])
def test_arrays_of_other_libraries_promote_like_numpys(ndim):
    strange = array_api_strict.zeros((2,) * ndim, dtype=array_api_strict.float64)
    expected = float64 if ndim else float32
    assert promote([array(float64, ndim), array(float32)]) is expected
    assert promote([strange, array(float32)]) is expected
    assert promote([strange, 1]) is float64


def test_numbers_follow_the_default_dtype(default_restored):
    x = array(int64)
    assert promote([x, 1.0]) is float32
    set_default_dtype(float64)
    assert promote([x, 1.0]) is float64
    assert promote([x, 1j]) is complex128
    assert promote([array(float32), 1.0]) is float32
    set_default_dtype(float16)
    assert promote([x, 1.0]) is float16
    assert promote([x, 1j]) is complex32
    assert promote([array(float32), 1j]) is complex64
    set_default_dtype(bfloat16)
    assert promote([x, 1j]) is complex64


def test_result_type_takes_tensors_and_numbers_only():
    for pair, named in [(("a", 1), "str, int"), (([1], 2), "list, int"), ((1, None), "int, NoneT")]:
        with pytest.raises(TypeError) as raised:
            result_type(*pair)
        assert str(raised.value).startswith(
            f"result_type() received an invalid combination of arguments - got ({named}"
        )


SHARED = st.sampled_from([bool_, uint8, int8, int16, int32, int64, float64, complex128])


@given(SHARED, SHARED)
def test_promotion_is_numpys_for_the_types_where_nothing_can_overflow(a, b):
    assert promote_types(a, b).numpy == np.result_type(a.numpy, b.numpy)


@given(st.lists(st.tuples(SHARED, st.integers(0, 2)), min_size=1, max_size=5), st.randoms())
def test_the_order_of_operands_does_not_matter(operands, random):
    arrays = [array(x, ndim) for x, ndim in operands]
    expected = promote(arrays)
    random.shuffle(arrays)
    assert promote(arrays) is expected
