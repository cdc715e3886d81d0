"""Dtypes: what they are, how they are found, which is the default, their limits."""

import copy
import pickle
import subprocess
import sys

import array_api_strict
import ml_dtypes
import numpy as np
import pytest

from tapegrad.core.dtype import (
    ALIASES,
    BY_NAME,
    DTYPES,
    as_dtype,
    bfloat16,
    bool_,
    complex32,
    complex64,
    complex128,
    default,
    default_complex,
    dtype,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    of,
    set_default_dtype,
    uint8,
    uint64,
)
from tapegrad.core.limits import finfo, iinfo

# name: abbreviation, bytes, floating point, complex, signed, real type, complex type
FACTS = """
bool       b8   1  0 0 0 bool     -
uint8      u8   1  0 0 0 uint8    -
uint16     u16  2  0 0 0 uint16   -
uint32     u32  4  0 0 0 uint32   -
uint64     u64  8  0 0 0 uint64   -
int8       i8   1  0 0 1 int8     -
int16      i16  2  0 0 1 int16    -
int32      i32  4  0 0 1 int32    -
int64      i64  8  0 0 1 int64    -
float16    f16  2  1 0 1 float16  complex32
bfloat16   bf16 2  1 0 1 bfloat16 complex64
float32    f32  4  1 0 1 float32  complex64
float64    f64  8  1 0 1 float64  complex128
complex32  c32  4  0 1 1 float16  complex32
complex64  c64  8  0 1 1 float32  complex64
complex128 c128 16 0 1 1 float64  complex128
"""
ROWS = [line.split() for line in FACTS.strip().splitlines()]


@pytest.fixture
def default_restored():
    before = get_default_dtype()
    yield
    set_default_dtype(before)


def first_line(raised):
    return str(raised.value).partition("\n")[0]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_each_dtype_has_the_facts_of_pytorch(row):
    name, abbr, itemsize, floating, is_complex, signed, real, complex_ = row
    x = BY_NAME[name]
    assert repr(x) == f"torch.{name}"
    assert (x.abbr, x.itemsize) == (abbr, int(itemsize))
    assert (x.is_floating_point, x.is_complex) == (floating == "1", is_complex == "1")
    assert x.is_signed == (signed == "1")
    assert x.to_real() is BY_NAME[real]
    if complex_ == "-":
        with pytest.raises(RuntimeError, match="Unknown Complex ScalarType for"):
            x.to_complex()
    else:
        assert x.to_complex() is BY_NAME[complex_]


@pytest.mark.parametrize("x", DTYPES, ids=str)
def test_an_array_of_each_dtype_leads_back_to_it(x):
    array = np.zeros(2, x.numpy)
    assert array.itemsize == x.itemsize
    assert of(array.dtype) is x


def test_the_short_names_are_those_of_pytorch():
    short = {
        "half": float16,
        "float": float32,
        "double": float64,
        "chalf": complex32,
        "cfloat": complex64,
        "cdouble": complex128,
        "short": int16,
        "int": int32,
        "long": int64,
    }
    assert {name: ALIASES[name] for name in short} == short
    assert ALIASES.keys() == BY_NAME.keys() | short.keys()


@pytest.mark.parametrize("x", [*DTYPES, complex32], ids=str)
def test_copies_and_pickles_are_the_same_object(x):
    assert copy.copy(x) is x
    assert copy.deepcopy([x]) == [x]
    assert pickle.loads(pickle.dumps(x)) is x


def test_dtypes_cannot_be_made_or_changed():
    with pytest.raises(TypeError) as raised:
        dtype()
    assert first_line(raised) == "cannot create 'torch.dtype' instances"
    with pytest.raises(AttributeError) as raised:
        float32.itemsize = 8
    assert str(raised.value) == "attribute 'itemsize' of 'torch.dtype' objects is not writable"
    with pytest.raises(AttributeError) as raised:
        float32.colour = "red"
    assert str(raised.value) == "'torch.dtype' object has no attribute 'colour'"
    with pytest.raises(AttributeError):
        del float32.name
    assert float32.itemsize == 4


def test_complex32_has_a_name_and_no_arrays():
    with pytest.raises(NotImplementedError, match=r"torch\.complex64"):
        _ = complex32.numpy


def test_bfloat16_is_recognised_when_an_array_brings_it_first():
    assert of(np.dtype(ml_dtypes.bfloat16)) is bfloat16
    assert bfloat16.numpy == np.dtype(ml_dtypes.bfloat16)


def test_without_ml_dtypes_bfloat16_names_the_extra_to_install():
    code = (
        "import sys; sys.modules['ml_dtypes'] = None\n"
        "from tapegrad.core.dtype import bfloat16, get_default_dtype, set_default_dtype\n"
        "for use in (lambda: bfloat16.numpy, lambda: set_default_dtype(bfloat16)):\n"
        "    try:\n"
        "        use()\n"
        "    except ImportError as error:\n"
        "        print(str(error).splitlines()[1], get_default_dtype())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )
    line = 'Install it with: pip install "tapegrad[bfloat16]" torch.float32\n'
    assert done.stdout == 2 * line


@pytest.mark.parametrize("name", ["bool", "uint8", "uint64", "int64", "float32", "complex128"])
def test_dtypes_of_other_array_libraries_are_found_by_name(name):
    assert of(getattr(array_api_strict, name)) is BY_NAME[name]
    assert of(BY_NAME[name]) is BY_NAME[name]


@pytest.mark.parametrize(
    ("numpy_type", "named"),
    [
        ("U3", "numpy.str_"),
        ("S3", "numpy.bytes_"),
        ("O", "numpy.object_"),
        ("M8[s]", "numpy.datetime64"),
        ("V4", "numpy.void"),
        ("longdouble", "numpy.longdouble"),
        ([("a", "f4")], "numpy.void"),
    ],
)
def test_unsupported_numpy_types_are_named(numpy_type, named):
    with pytest.raises(TypeError) as raised:
        of(np.dtype(numpy_type))
    assert first_line(raised) == (
        f"can't convert np.ndarray of type {named}. The only supported types are: "
        "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, "
        "uint64, uint32, uint16, uint8, and bool."
    )


def test_swapped_bytes_are_refused():
    swapped = np.dtype("float32").newbyteorder("S")
    with pytest.raises(ValueError) as raised:
        of(swapped)
    assert first_line(raised) == (
        "given numpy array has byte order different from the native byte order. "
        "Conversion between byte orders is currently not supported."
    )


def test_python_and_numpy_types_name_dtypes_too():
    assert as_dtype(float) is float64
    assert as_dtype(int) is int64
    assert as_dtype(bool) is bool_
    assert as_dtype(complex) is complex128
    assert as_dtype(np.float16) is float16
    assert as_dtype(np.dtype("uint64")) is uint64
    assert as_dtype(int8) is int8


@pytest.mark.parametrize(("x", "named"), [("float32", "str"), (None, "NoneType"), (str, "type")])
def test_anything_else_is_not_a_dtype(x, named):
    with pytest.raises(TypeError) as raised:
        as_dtype(x, "zeros")
    assert first_line(raised) == f"zeros(): argument 'dtype' must be torch.dtype, not {named}"


@pytest.mark.parametrize("x", [float16, bfloat16, float32, float64], ids=str)
def test_any_floating_point_type_can_be_the_default(x, default_restored):
    set_default_dtype(x)
    assert get_default_dtype() is x
    assert default() is x


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (int32, "only floating-point types are supported as the default type"),
        (complex64, "only floating-point types are supported as the default type"),
        (float, "invalid dtype object: only floating-point types are supported as the default"),
        ("float64", "invalid dtype object: only floating-point types are supported as the default"),
    ],
)
def test_a_refused_default_leaves_the_old_one(x, message, default_restored):
    set_default_dtype(float64)
    with pytest.raises(TypeError) as raised:
        set_default_dtype(x)
    assert str(raised.value).startswith(message)
    assert get_default_dtype() is float64


def test_the_default_complex_type_goes_with_the_default(default_restored):
    assert default_complex() is complex64
    set_default_dtype(float64)
    assert default_complex() is complex128
    set_default_dtype(bfloat16)
    with pytest.raises(RuntimeError) as raised:
        default_complex()
    assert first_line(raised) == "invalid default scalar type for complex"


# --- limits ----------------------------------------------------------------------------------

FINFO = {
    float16: "finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, "
    "smallest_normal=6.10352e-05, tiny=6.10352e-05, dtype=float16)",
    bfloat16: "finfo(resolution=0.01, min=-3.38953e+38, max=3.38953e+38, eps=0.0078125, "
    "smallest_normal=1.17549e-38, tiny=1.17549e-38, dtype=bfloat16)",
    float32: "finfo(resolution=1e-06, min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, "
    "smallest_normal=1.17549e-38, tiny=1.17549e-38, dtype=float32)",
    float64: "finfo(resolution=1e-15, min=-1.79769e+308, max=1.79769e+308, eps=2.22045e-16, "
    "smallest_normal=2.22507e-308, tiny=2.22507e-308, dtype=float64)",
}


@pytest.mark.parametrize("x", FINFO, ids=str)
def test_finfo_prints_as_in_pytorch(x):
    assert repr(finfo(x)) == FINFO[x]


@pytest.mark.parametrize("x", FINFO, ids=str)
def test_finfo_agrees_with_the_array_library(x):
    ours, theirs = finfo(x), ml_dtypes.finfo(x.numpy)
    for field in ("bits", "eps", "max", "min", "tiny", "smallest_normal"):
        assert getattr(ours, field) == float(getattr(theirs, field))
    assert ours.resolution == pytest.approx(float(theirs.resolution), rel=1e-2)


def test_finfo_of_nothing_is_of_the_default_and_of_complex_is_of_its_parts(default_restored):
    assert finfo() == finfo(float32) == finfo(complex64)
    assert finfo(float32) != finfo(float64)
    assert finfo(float) == finfo(type=float64)
    set_default_dtype(float64)
    assert finfo().dtype == "float64"


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (uint8, "iinfo(min=0, max=255, dtype=uint8)"),
        (int8, "iinfo(min=-128, max=127, dtype=int8)"),
        (int32, "iinfo(min=-2.14748e+09, max=2.14748e+09, dtype=int32)"),
        (uint64, "iinfo(min=0, max=1.84467e+19, dtype=uint64)"),
    ],
    ids=str,
)
def test_iinfo_prints_as_in_pytorch_and_agrees_with_numpy(x, text):
    ours, theirs = iinfo(x), np.iinfo(x.numpy)
    assert repr(ours) == text
    assert (ours.bits, ours.min, ours.max) == (theirs.bits, theirs.min, theirs.max)


def test_limits_are_refused_to_types_of_the_other_kind():
    with pytest.raises(TypeError, match=r"torch\.finfo\(\) requires a floating point input type"):
        finfo(int32)
    with pytest.raises(TypeError, match=r"torch\.iinfo\(\) requires an integer input type"):
        iinfo(float32)
    with pytest.raises(TypeError, match=r"torch\.bool is not supported by torch\.iinfo"):
        iinfo(bool_)
    with pytest.raises(TypeError, match=r"argument 'type' \(position 1\) must be torch.dtype"):
        iinfo("int32")


@pytest.mark.parametrize("limits", [finfo(float32), iinfo(int8)], ids=["finfo", "iinfo"])
def test_limits_cannot_be_changed_hashed_or_pickled(limits):
    with pytest.raises(AttributeError, match="is not writable"):
        limits.max = 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(limits)
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(limits)
