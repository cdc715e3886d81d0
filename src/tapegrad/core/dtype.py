"""The types of a tensor's elements: what they are, which is the default, how they combine."""

import numpy as np

from tapegrad.core.errors import runtime_error, type_error, value_error

_BOOL, _INTEGER, _FLOATING, _COMPLEX = range(4)


class dtype:
    """The type of a tensor's elements; there is one object for each type.

    >>> torch.float32.itemsize, torch.float32.is_floating_point
    (4, True)
    """

    __slots__ = (
        "abbr", "category", "is_complex", "is_floating_point", "is_signed", "itemsize", "name",
        "numpy", "scalar_name",
    )  # fmt: skip

    abbr: str
    category: int
    is_complex: bool
    is_floating_point: bool
    is_signed: bool
    itemsize: int
    name: str
    numpy: np.dtype
    scalar_name: str

    def __new__(cls, *args, **kwargs):
        raise type_error(
            "cannot create 'torch.dtype' instances",
            "Use one of the existing dtypes, such as torch.float32.",
        )

    def __getattr__(self, name):
        # Reached only where `numpy` is not filled in: of types of ml_dtypes, on demand.
        if name == "numpy":
            return _load_numpy(self)
        if name == "is_signed":
            kind = "Bits types are undefined"
            if self.name[:4] != "bits":
                kind = "isSignedType not supported for quantized types"
            raise runtime_error(kind, f"torch.{self.name} has a name, and no numbers.")
        raise AttributeError(f"'torch.dtype' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        if name in dtype.__slots__:
            raise AttributeError(f"attribute '{name}' of 'torch.dtype' objects is not writable")
        raise AttributeError(f"'torch.dtype' object has no attribute '{name}'")

    def __delattr__(self, name):
        self.__setattr__(name, None)

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        # A plain string pickles as a reference to this module's name, and copies as itself.
        return "bool_" if self is bool_ else self.name

    def to_real(self) -> "dtype":
        """The type of the real part.

        >>> torch.complex64.to_real()
        torch.float32
        """
        return _REAL.get(self, self)

    def to_complex(self) -> "dtype":
        """The complex type whose real part has this type.

        >>> torch.float64.to_complex()
        torch.complex128
        """
        if self in _TO_COMPLEX:
            return _TO_COMPLEX[self]
        raise runtime_error(
            f"Unknown Complex ScalarType for {self.scalar_name}",
            "Only floating-point types have a complex type: convert to torch.float32 first.",
        )


def _make(name: str, abbr: str, scalar_name: str, category: int) -> dtype:
    made = object.__new__(dtype)
    put = object.__setattr__
    put(made, "name", name)
    put(made, "abbr", abbr)
    put(made, "scalar_name", scalar_name)  # what error messages call it: "expected Float"
    put(made, "category", category)
    put(made, "itemsize", max(1, int(abbr.lstrip("biufc").partition("_")[0]) // 8))
    put(made, "is_floating_point", category == _FLOATING)
    put(made, "is_complex", category == _COMPLEX)
    put(made, "is_signed", abbr[0] not in "u" and category != _BOOL and name[-5:] != "m0fnu")
    if hasattr(np, name):
        put(made, "numpy", np.dtype(name))
    return made


bool_ = _make("bool", "b8", "Bool", _BOOL)
uint8 = _make("uint8", "u8", "Byte", _INTEGER)
uint16 = _make("uint16", "u16", "UInt16", _INTEGER)
uint32 = _make("uint32", "u32", "UInt32", _INTEGER)
uint64 = _make("uint64", "u64", "UInt64", _INTEGER)
int8 = _make("int8", "i8", "Char", _INTEGER)
int16 = _make("int16", "i16", "Short", _INTEGER)
int32 = _make("int32", "i32", "Int", _INTEGER)
int64 = _make("int64", "i64", "Long", _INTEGER)
float16 = _make("float16", "f16", "Half", _FLOATING)
bfloat16 = _make("bfloat16", "bf16", "BFloat16", _FLOATING)
float32 = _make("float32", "f32", "Float", _FLOATING)
float64 = _make("float64", "f64", "Double", _FLOATING)
complex32 = _make("complex32", "c32", "ComplexHalf", _COMPLEX)  # has a name and no arrays
complex64 = _make("complex64", "c64", "ComplexFloat", _COMPLEX)
complex128 = _make("complex128", "c128", "ComplexDouble", _COMPLEX)

# Numbers of 8 bits are kept, moved and converted; hardly anything computes with them.
float8_e4m3fn = _make("float8_e4m3fn", "f8_e4m3fn", "Float8_e4m3fn", _FLOATING)
float8_e4m3fnuz = _make("float8_e4m3fnuz", "f8_e4m3fnuz", "Float8_e4m3fnuz", _FLOATING)
float8_e5m2 = _make("float8_e5m2", "f8_e5m2", "Float8_e5m2", _FLOATING)
float8_e5m2fnuz = _make("float8_e5m2fnuz", "f8_e5m2fnuz", "Float8_e5m2fnuz", _FLOATING)
float8_e8m0fnu = _make("float8_e8m0fnu", "f8_e8m0fnu", "Float8_e8m0fnu", _FLOATING)
FLOAT8 = (float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu)
FLOAT8_IN_USE: list[dtype] = []  # those that are loaded: while there is none, none is looked for
# Two numbers of 4 bits in each byte: has a name and no arrays.
float4_e2m1fn_x2 = _make("float4_e2m1fn_x2", "f4", "Float4_e2m1fn_x2", _FLOATING)

# What the elements of an array can be, those that operators compute with.
DTYPES: tuple[dtype, ...] = (
    *(bool_, uint8, uint16, uint32, uint64, int8, int16, int32, int64),
    *(float16, bfloat16, float32, float64, complex64, complex128),
)
BY_NAME = {each.name: each for each in (*DTYPES, complex32, *FLOAT8, float4_e2m1fn_x2)}

# Public names, those that would shadow Python's builtins in this file included.
ALIASES = {
    **BY_NAME,
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

_REAL = {complex32: float16, complex64: float32, complex128: float64}
_TO_COMPLEX = {
    float16: complex32,
    bfloat16: complex64,
    float32: complex64,
    float64: complex128,
    complex32: complex32,
    complex64: complex64,
    complex128: complex128,
}


# --- from other libraries' types -------------------------------------------------------------


def _load_numpy(missing):
    if missing is complex32:
        raise NotImplementedError(
            "torch.complex32 tensors are not supported: NumPy has no complex type of that size\n"
            "Use torch.complex64; convert torch.float16 to torch.float32 first."
        )
    if missing is float4_e2m1fn_x2:
        raise NotImplementedError(
            "torch.float4_e2m1fn_x2 tensors are not supported: NumPy has no type of half a byte\n"
            "Keep the bytes as torch.uint8."
        )
    if missing.name not in BY_NAME:
        raise NotImplementedError(
            f"torch.{missing.name} tensors are not supported: NumPy has no such type\n"
            "Keep the numbers, or the bytes, in one of its types: torch.uint8, torch.int8."
        )
    try:
        import ml_dtypes
    except ImportError as error:
        raise ImportError(
            f"torch.{missing.name} needs the package ml_dtypes\n"
            'Install it with: pip install "tapegrad[bfloat16]"'
        ) from error
    found = np.dtype(getattr(ml_dtypes, missing.name))
    object.__setattr__(missing, "numpy", found)
    if missing in FLOAT8:
        FLOAT8_IN_USE.append(missing)
    BY_NUMPY[found] = missing
    return found


class _ByNumpy(dict):
    def __missing__(self, key):
        found = self[key] = _from_unlisted_numpy(key)
        return found


def _from_unlisted_numpy(key):
    known = BY_NAME.get(key.name)
    if known is bfloat16 or known in FLOAT8:
        _load_numpy(known)
        return known
    if not key.isnative:
        raise value_error(
            "given numpy array has byte order different from the native byte order. "
            "Conversion between byte orders is currently not supported.",
            "Convert it first: array.astype(array.dtype.newbyteorder('=')).",
        )
    raise _unsupported(f"numpy.{key.type.__name__}")


def _unsupported(name):
    return type_error(
        f"can't convert np.ndarray of type {name}. The only supported types are: "
        "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, "
        "uint64, uint32, uint16, uint8, and bool.",
        "Convert it to one of these first, for example with array.astype('float32').",
    )


# BY_NUMPY[array.dtype] is our dtype: the fastest lookup, for the dtypes of NumPy's arrays only.
BY_NUMPY = _ByNumpy({each.numpy: each for each in DTYPES if each is not bfloat16})


def of(x) -> dtype:
    """Our dtype for that of any library's array: NumPy's own, CuPy's, array_api_strict's, ours."""
    if isinstance(x, np.dtype):
        return BY_NUMPY[x]
    if type(x) is dtype:
        return x
    found = BY_NAME.get(str(x).rpartition(".")[2])  # "array_api_strict.float32"
    if found is None:
        raise _unsupported(str(x))
    return found


_BUILTIN = {float: float64, int: int64, bool: bool_, complex: complex128}


def as_dtype(x, function: str = "to", argument: str = "dtype", position: int = 0) -> dtype:
    """The dtype meant by `x`: a dtype, a Python number type or a NumPy dtype."""
    if type(x) is dtype:
        return x
    if isinstance(x, type):
        if x in _BUILTIN:
            return _BUILTIN[x]
        if issubclass(x, np.generic):
            return of(np.dtype(x))
    elif isinstance(x, np.dtype):
        return of(x)
    place = f" (position {position})" if position else ""
    raise type_error(
        f"{function}(): argument '{argument}'{place} must be torch.dtype, not {type(x).__name__}",
        "Pass a dtype such as torch.float32.",
    )


def __getattr__(name: str) -> dtype:
    """Dtypes without arrays: made where they are mentioned."""
    from tapegrad.core import named_dtype

    if name not in named_dtype.__torch__.split():
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(named_dtype, name)


# --- the default -----------------------------------------------------------------------------

# One pair: the default, and what `promote` found under it. Replaced whole, so that threads always
# see a matching pair; in a list, because other files import the list, not its content.
current: list[tuple[dtype, dict]] = [(float32, {})]


def default() -> dtype:
    """The floating-point type of tensors made without `dtype`; for internal use."""
    return current[0][0]


def default_complex() -> dtype:
    """The complex type of tensors made from Python's complex numbers without `dtype`."""
    found = current[0][0]
    if found is bfloat16:
        raise runtime_error(
            "invalid default scalar type for complex",
            "Say which complex type is meant, dtype=torch.complex64, or set another default.",
        )
    return found.to_complex()


def get_default_dtype() -> dtype:
    """The floating-point type of tensors made without `dtype`.

    >>> torch.get_default_dtype()
    torch.float32
    """
    return current[0][0]


def set_default_dtype(d: dtype, /) -> None:
    """Make `d` the floating-point type of tensors made without `dtype`.

    >>> torch.set_default_dtype(torch.float64)
    >>> torch.get_default_dtype()
    torch.float64
    >>> torch.set_default_dtype(torch.float32)
    """
    advice = "Pass torch.float32, torch.float64, torch.float16 or torch.bfloat16."
    if type(d) is not dtype:
        reason = "invalid dtype object: only floating-point types are supported as the default type"
        raise type_error(reason, advice)
    if not d.is_floating_point:
        reason = "only floating-point types are supported as the default type"
        raise type_error(reason, advice)
    if d in FLOAT8 or d is float4_e2m1fn_x2:
        raise type_error(f"couldn't find storage object {d.scalar_name}Storage", advice)
    d.numpy  # noqa: B018  raises now where bfloat16 is missing, not at the first tensor
    if d is not current[0][0]:
        current[0] = (d, {})
