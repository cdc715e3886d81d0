"""Files made by hand to harm who loads them: `files` has each with its name and format.

They ask for memory out of proportion, for numbers that no size can be, for depth, for places that
do not exist, and for code. `python -m tools.fuzz_files` loads them all.
"""

import io
import json
import struct
import zipfile
from collections.abc import Iterator

HUGE = 2**40_000  # an integer that takes 5 KB, and that Python refuses to print
PROTO = b"\x80\x02"
REPEATS = 20_000

# ----------------------------------------------------------------------------- writing of pickles


def text(x: str) -> bytes:
    """The pickle of a string."""
    data = x.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def number(n: int) -> bytes:
    """The pickle of an integer of any size."""
    if 0 <= n < 256:
        return b"K" + bytes([n])
    data = n.to_bytes(n.bit_length() // 8 + 1, "little", signed=True)
    short = len(data) < 256
    return (
        b"\x8a" + bytes([len(data)]) if short else b"\x8b" + struct.pack("<I", len(data))
    ) + data


def row(*parts: bytes) -> bytes:
    """The pickle of a tuple."""
    return b"(" + b"".join(parts) + b"t"


def named(name: str) -> bytes:
    """The pickle of a class or function, named `module name`."""
    module, _, attribute = name.partition(" ")
    return b"c" + f"{module}\n{attribute}\n".encode()


def call(name: str, *args: bytes) -> bytes:
    """The pickle of a call."""
    return named(name) + row(*args) + b"R"


def storage(n: int = 2, kind: str = "FloatStorage", key: str = "0", legacy: bool = False) -> bytes:
    """The pickle of a reference to memory."""
    kind = f"torch.storage {kind}" if kind == "UntypedStorage" else f"torch {kind}"
    parts = [text("storage"), named(kind), text(key), text("cpu"), number(n)]
    return row(*parts, *([b"N"] if legacy else [])) + b"Q"


def shape(*sizes: int) -> bytes:
    """The pickle of sizes or strides."""
    return row(*map(number, sizes))


def tensor(
    memory: bytes, offset: int, sizes: bytes, strides: bytes, metadata: bytes = b""
) -> bytes:
    """The pickle of a tensor."""
    hooks = named("collections OrderedDict") + b")R"
    parts = [memory, number(offset), sizes, strides, b"\x89", hooks]
    return call("torch._utils _rebuild_tensor_v2", *parts, *([metadata] if metadata else []))


def flags(*names: str) -> bytes:
    """The pickle of what PyTorch notes of a tensor: `conj` and `neg`."""
    return b"}(" + b"".join(text(name) + b"\x88" for name in names) + b"u"


def archive(
    program: bytes, *memory: bytes, method: int = zipfile.ZIP_STORED, **records: bytes
) -> bytes:
    """A file in the format of today."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as out:
        out.writestr("archive/data.pkl", program)
        out.writestr("archive/version", records.pop("version", b"3\n"))
        for name, data in records.items():
            out.writestr(f"archive/{name}", data)
        for i, data in enumerate(memory or (bytes(8),)):
            out.writestr(f"archive/data/{i}", data)
    return file.getvalue()


MAGIC = PROTO + number(0x1950A86A20F9469CFC6C) + b"."
SYSTEM = PROTO + b"}" + text("little_endian") + b"\x88s" + b"."


def legacy(program: bytes, keys: bytes = b"](" + text("0") + b"e", rest: bytes = b"") -> bytes:
    """A file in the format before the archive."""
    start = MAGIC + PROTO + number(1001) + b"." + SYSTEM
    return start + PROTO + program + b"." + PROTO + keys + b"." + rest


def safetensors(header: object, data: bytes = b"", length: int | None = None) -> bytes:
    """A file in the safetensors format."""
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(raw) if length is None else length) + raw + data


# --------------------------------------------------------------------------------------- the files

Made = Iterator[tuple]  # a name, a pickle, and the memory of tensors if it is not 8 zeros
VECTOR = (storage(), 0, shape(2), shape(1))


def expanded() -> Made:
    """Tensors of billions of elements that are one number in memory."""
    for sizes in ((2**28,), (2**40,), (2**20, 2**20), (2**31, 2**30)):
        for names in (("conj",), ("neg",), ("conj", "neg")):
            memory, strides = storage(1, "ComplexFloatStorage"), shape(*[0] * len(sizes))
            yield f"{sizes} {names}", tensor(memory, 0, shape(*sizes), strides, flags(*names))
    overlapping = (storage(2**17, "ComplexFloatStorage"), 0, shape(2**16, 2**16), shape(1, 1))
    yield "windows", tensor(*overlapping, flags("conj")), bytes(2**20)
    yield (
        "parameter",
        call(
            "torch._utils _rebuild_parameter",
            tensor(storage(), 0, shape(2**40), shape(0), flags("neg")),
            b"\x88",
            b"N",
        ),
    )
    often = tensor(storage(2**17, "ComplexFloatStorage"), 0, shape(2**17), shape(1), flags("conj"))
    yield "conj often", b"(" + often * 400 + b"t", bytes(2**20)
    for name in ("conj", "neg"):
        yield (
            f"{name} of bool",
            tensor(storage(8, "BoolStorage"), 0, shape(8), shape(1), flags(name)),
        )


def numbers() -> Made:
    """Integers where sizes, steps and places should be."""
    memory = storage()
    for n in (HUGE, -HUGE, 2**63, -(2**63) - 1, 2**63 - 1, 2**62):
        name = "huge" if n == HUGE else "-huge" if n == -HUGE else hex(n)
        yield f"offset {name}", tensor(memory, n, shape(2), shape(1))
        yield f"size {name}", tensor(memory, 0, shape(n), shape(1))
        yield f"stride {name}", tensor(memory, 0, shape(2), shape(n))
        yield f"stride of one {name}", tensor(memory, 0, shape(1), shape(n))
        yield f"stride of none {name}", tensor(memory, 0, shape(0, 1), shape(1, n))
        yield f"none of many {name}", tensor(memory, 0, shape(0, n, n), shape(0, 0, 0))
        yield f"elements {name}", tensor(storage(n), 0, shape(2), shape(1))
        yield f"Size {name}", call("torch Size", row(number(n)))
        yield f"device {name}", call("torch device", text("cuda"), number(n))
        yield f"complex {name}", call("builtins complex", number(n), number(1))
        yield f"bytearray {name}", call("builtins bytearray", number(n))
        yield f"range {name}", call("builtins range", number(n), number(n), number(0))
        yield f"slice {name}", call("builtins slice", number(n))
        yield f"layout {name}", call("torch.serialization _get_layout", number(n))
        yield f"metadata {name}", tensor(*VECTOR, number(n))
        yield f"dtype {name}", call("numpy dtype", number(n), b"\x89", b"\x88")
        yield f"id {name}", number(n) + b"Q"
        yield f"key {name}", b"}" + number(n) + b"Ns"
    yield "many dimensions", tensor(memory, 0, shape(*[1] * 65), shape(*[1] * 65))
    yield (
        "keys that are long numbers",
        b"}" + number(2**400_000) + b"q\x000(" + b"h\x00N" * 30_000 + b"u",
    )


def copies() -> Made:
    """Something large said once, and used again and again."""
    long = text("a" * 300_000) + b"q\x000"
    many = b"](" + b"N" * 100_000 + b"eq\x000"
    pairs = b"](" + text("a") + b"N\x86q\x010" + b"(" + b"h\x01" * 50_000 + b"eq\x000"
    table = b"}(" + b"".join(text(f"k{i}") + b"N" for i in range(20_000)) + b"uq\x000"
    latin = text("latin1") + b"q\x020"
    data = b"B\xe0\x93\x04\x00" + bytes(300_000) + b"q\x000"
    range_ = b"](" + b"".join(map(number, range(20_000))) + b"eq\x000"
    ones = b"](" + b"K\x01" * 50_000 + b"eq\x000"
    two, one = b"h\x00h\x02\x86", b"h\x00\x85"
    for name, function, prepared, args in (
        ("a text encoded", "_codecs encode", long + latin, two),
        ("a text as a bytearray", "builtins bytearray", long + latin, two),
        ("a bytearray", "builtins bytearray", data, one),
        ("an OrderedDict", "collections OrderedDict", pairs, one),
        ("a set of one", "builtins set", many, one),
        ("a set", "builtins set", range_, one),
        ("a Size", "torch Size", ones, one),
        ("a Counter", "collections Counter", table, one),
    ):
        once = b"h\x03" + args + b"R"
        yield name, prepared + named(function) + b"q\x030(" + once * REPEATS + b"t"
    state = b"h\x03)Rh\x00b"
    yield "states", table + named("collections OrderedDict") + b"q\x030(" + state * REPEATS + b"t"
    plain = tensor(*VECTOR) + b"q\x040"
    function = named("torch._utils _rebuild_parameter_with_state") + b"q\x030"
    once = b"h\x03(h\x04\x88Nh\x00tR"
    yield "attributes", table + plain + function + b"(" + once * REPEATS + b"t"
    kind = call("numpy dtype", text("u1"), b"\x89", b"\x88") + b"q\x050"
    made = (
        named("numpy.core.multiarray _reconstruct")
        + row(named("numpy ndarray"), b"K\x00\x85", b"C\x01b")
        + b"R"
    )
    filled = made + row(b"K\x01", number(300_000) + b"\x85", b"h\x05", b"\x89", b"h\x00") + b"b"
    yield "arrays", kind + data + b"(" + filled * 4_000 + b"t"
    arguments = row(*[storage(), number(0), shape(2), shape(1), b"\x89", b"N"]) + b"q\x000"
    function = named("torch._utils _rebuild_tensor_v2") + b"q\x030"
    yield "tensors", arguments + function + b"(" + b"h\x03h\x00R" * 200_000 + b"t"
    leaf = arguments.replace(b"\x89N", b"\x88N")
    yield "leaves", leaf + function + b"(" + b"h\x03h\x00R" * 200_000 + b"t"
    identity = storage()[:-1] + b"q\x000"
    yield "storages", identity + b"(" + b"h\x00Q" * 400_000 + b"t"
    module = named("torch.nn.modules.linear Linear") + b"q\x000"
    yield "modules", module + b"(" + b"h\x00)\x81}b" * 50_000 + b"t"


def steps() -> Made:
    """One byte of a pickle for much memory."""
    for name, code in (
        ("lists", b"]"),
        ("dicts", b"}"),
        ("sets", b"\x8f"),
        ("None", b"N"),
        ("marks", b"("),
        ("tuples", b"N\x85"),
        ("bytearrays", b"\x96" + bytes(8)),
        ("floats", b"G" + bytes(8)),
        ("integers", b"M\xff\xff"),
        ("memos", b"\x94"),
        ("texts", b"U\x02ab"),
        ("dicts of one", b"}NNs"),
        ("sets of one", b"\x8f(N\x90"),
        ("wide texts", text("a" * 4000 + "\U0001f600")),
    ):
        yield name, b"N" + code * (1_500_000 // len(code))
        yield f"{name} in a tuple", b"(" + code * (400_000 // len(code)) + b"t"
    yield "memos apart", b"N" + b"".join(b"r" + struct.pack("<I", 7 * i) for i in range(1, 300_000))


def depth() -> Made:
    """What nests, or holds itself."""
    yield "lists", b"]" * 500_000 + b"a" * 499_999
    yield "tuples", b")" + b"\x85" * 500_000
    yield "dicts", b"}K\x00" * 200_000 + b"}" + b"s" * 200_000
    yield "keys", b"}" + b")" + b"\x85" * 500_000 + b"Ns"
    yield "doubled keys", b"}" + b")" + b"q\x00h\x00\x86" * 64 + b"Ns"
    yield "keys of a set", named("builtins set") + b"])" + b"\x85" * 100_000 + b"a\x85R"
    yield "a list in itself", b"]q\x00h\x00a"
    yield "a dict in itself", b"}q\x00K\x00h\x00s"
    yield (
        "a state in itself",
        named("collections OrderedDict") + b")Rq\x00}" + text("a") + b"h\x00sb",
    )
    nested = b"]" * 100_000 + b"a" * 99_999
    yield "a name", named("torch.serialization _get_layout") + nested + b"\x85R"
    yield "an id", nested + b"Q"
    yield "an id of storages", row(text("storage"), nested, nested, nested, nested) + b"Q"
    yield "an encoding", named("_codecs encode") + text("a") + nested + b"\x86R"
    yield "sizes", named("torch Size") + nested + b"\x85R"
    yield "metadata", tensor(*VECTOR, nested)
    yield "a flag", tensor(*VECTOR, b"}" + text("conj") + nested + b"s")
    yield "a number", named("numpy.core.multiarray scalar") + nested + b"C\x01a\x86R"
    yield "a factory", named("collections defaultdict") + nested + b"\x85R"


def nonsense() -> Made:
    """Steps that have no sense where they stand."""
    for code in (
        b"",
        b"0",
        b"a",
        b"e",
        b"s",
        b"u",
        b"t",
        b"R",
        b"b",
        b"Q",
        b"\x81",
        b"\x90",
        b"\x93",
        b"1",
        b"h\x00",
        b"j\xff\xff\xff\xff",
        b"q\x00",
        b"r\xff\xff\xff\xff",
        b"K\x01r\xff\xff\xff\xffj\xfe\xff\xff\xff",
        b"X\xff\xff\xff\xffa",
        b"\x8d" + b"\xff" * 8,
        b"\x8e\xff\xff\xff\xff\xff\xff\xff\x7f",
        b"\x96" + b"\xff" * 8,
        b"\x8b\xff\xff\xff\x7f",
        b"\x8b\xff\xff\xff\xff",
        b"T\xff\xff\xff\xff",
        b"B\xff\xff\xff\xff",
        b"X\x02\x00\x00\x00\xff\xff",
        b"(K\x01u",
        b"}(Nu",
        b"}]Ns",
        b"ccollections\n",
        b"c\n\n",
        b"\x82\x01",
        b"P0\n",
        b"S'a'\n",
        b"I1\n",
        b"o",
        b"\x97",
        b"(ios\nsystem\n",
        b"\x95" + b"\xff" * 8,
        b"}(" + b"\x8f" + b"Nu",
        b"]" + tensor(*VECTOR) + b"e",
        b"}" + tensor(*VECTOR) + b"Ns",
        named("collections defaultdict") + tensor(*VECTOR) + b"\x85R",
        named("_codecs encode") + text("a") + tensor(*VECTOR) + b"\x86R",
        tensor(*VECTOR, tensor(*VECTOR)),
        tensor(*VECTOR, b"}" + text("conj") + tensor(*VECTOR) + b"s"),
        tensor(*VECTOR) + b"Q",
        row(tensor(*VECTOR), b"N") + b"Q",
        tensor(b"N", 0, shape(1), shape(1)),
    ):
        yield repr(code)[2:40], code


def code() -> Made:
    """Names of what runs code, and ways around the list of what may be named."""
    argument = text("raise SystemError('a file ran code')")
    for name in (
        "os system",
        "posix system",
        "nt system",
        "builtins eval",
        "builtins exec",
        "__builtin__ eval",
        "builtins getattr",
        "builtins __import__",
        "builtins compile",
        "subprocess Popen",
        "pickle loads",
        "torch load",
        "torch.nn.modules.module Module.load_state_dict",
        "torch._utils __builtins__",
        "operator attrgetter",
        "functools partial",
        "importlib import_module",
        "codecs decode",
        "numpy.testing._private.utils runstring",
        "numpy load",
        "numpy fromfile",
        "runpy run_path",
        "webbrowser open",
        "sys exit",
        "torch.jit load",
        "tapegrad.serialization load",
        "copyreg _reconstructor",
        "torch.nn.modules.container Sequential.__class__",
        "torch.hub load",
        "builtins open",
        "code interact",
    ):
        yield name, call(name, argument)
    yield "a name of the stack", text("os") + text("system") + b"\x93" + argument + b"\x85R"
    yield "another codec", call("_codecs encode", text("a"), text("zlib_codec"))
    yield "a method", tensor(*VECTOR) + b"}" + text("__reduce__") + b"Nsb"
    for name in ("__class__", "backward", "_array", "__dict__"):
        state = b"}" + text(name) + argument + b"s"
        yield (
            f"attribute {name}",
            call(
                "torch._utils _rebuild_parameter_with_state", tensor(*VECTOR), b"\x88", b"N", state
            ),
        )
    module = named("torch.nn.modules.linear Linear") + b")\x81"
    yield "a module of nothing", module + b"}" + text("forward") + argument + b"sb"
    yield "a module of a list", module + b"]b"
    yield "a state twice", named("numpy ndarray") + b")\x81}b"
    for name in ("RNN", "LSTM", "MultiheadAttention", "BatchNorm1d", "LayerNorm", "Sequential"):
        for state in (
            b"}",
            b"}" + text("_parameters") + b"Ns",
            b"}" + text("_flat_weights") + b"K\x01s",
        ):
            yield f"{name} {len(state)}", named(f"torch.nn {name}") + b")\x81" + state + b"b"


def zips() -> Iterator[tuple[str, bytes]]:
    """Archives whose own tables lie."""
    plain = archive(PROTO + tensor(*VECTOR) + b".")
    bomb = PROTO + b"B\x00\x00\x00\x02" + bytes(2**25) + b"."
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        yield f"bomb {method}", archive(bomb, method=method)
    yield (
        "bomb of memory",
        archive(PROTO + tensor(*VECTOR) + b".", bytes(2**27), method=zipfile.ZIP_DEFLATED),
    )
    start = plain.index(b"PK\x01\x02")
    end = plain.rindex(b"PK\x05\x06")
    for name, at, size in (
        ("flags", 8, 2),
        ("method", 10, 2),
        ("checksum", 16, 4),
        ("packed size", 20, 4),
        ("size", 24, 4),
        ("length of the name", 28, 2),
        ("length of the extra", 30, 2),
        ("comment", 32, 2),
        ("place", 42, 4),
    ):
        for value in (b"\xff", b"\x7f"):
            data = bytearray(plain)
            data[start + at : start + at + size] = value * size
            yield f"{name} of a record {value[0]:x}", bytes(data)
    for name, at, size in (("count", 8, 4), ("size", 12, 4), ("place", 16, 4), ("comment", 20, 2)):
        for value in (b"\xff", b"\x7f", b"\x00"):
            data = bytearray(plain)
            data[end + at : end + at + size] = value * size
            yield f"{name} of the directory {value[0]:x}", bytes(data)
    for field in ("<Q", 2**63), ("<Q", 2**64 - 1), ("<Q", 2**62), ("<Q", 0):
        body = struct.pack("<4sQ2H2I", b"PK\x06\x06", 44, 45, 45, 0, 0) + struct.pack(*field) * 4
        locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, end, 1)
        tail = plain[end : end + 8] + b"\xff" * 12 + plain[end + 20 :]
        yield f"the large directory {field[1]:x}", plain[:end] + body + locator + tail
        extra = struct.pack("<2H", 1, 24) + struct.pack(*field) * 3
        data = bytearray(plain)
        n = int.from_bytes(data[start + 28 : start + 30], "little")
        data[start + 20 : start + 28] = b"\xff" * 8
        data[start + 30 : start + 32] = struct.pack("<H", len(extra))
        data[start + 42 : start + 46] = b"\xff" * 4
        data[start + 46 + n : start + 46 + n] = extra
        yield f"a large record {field[1]:x}", bytes(data)
    first = plain[start : plain.index(b"PK\x01\x02", start + 1)]
    for name, n in (("one record often", 30_000), ("names often", 20_000)):
        rows = (
            [first] * n
            if name[0] == "o"
            else [first.replace(b"data.pkl", b"%08d" % i) for i in range(n)]
        )
        table = plain[start:end] + b"".join(rows)
        tail = bytearray(plain[end:])
        tail[12:16] = struct.pack("<I", len(table))
        yield name, plain[:start] + table + bytes(tail)
    yield "nothing", archive(b"")
    yield "no version", archive(PROTO + b"N.", version=b"")
    yield "a version of many digits", archive(PROTO + b"N.", version=b"9" * 10_000)
    yield "big endian", archive(PROTO + b"N.", byteorder=b"big")
    yield "a script", archive(PROTO + b"N.", **{"constants.pkl": b""})
    yield "the end alone", b"PK\x03\x04" + plain[end:]
    yield "an archive in an archive", archive(plain, plain, plain)
    yield "two archives", plain + plain
    yield "without memory", archive(PROTO + tensor(storage(key="7"), 0, shape(2), shape(1)) + b".")
    yield (
        "above the folder",
        archive(PROTO + tensor(storage(key="../data.pkl"), 0, shape(2), shape(1)) + b"."),
    )


def legacies() -> Iterator[tuple[str, bytes]]:
    """Files in the old format that announce too much."""
    memory = storage(2, legacy=True)
    plain = tensor(memory, 0, shape(2), shape(1))
    for n in (3, 2**31, 2**40, 2**62, 2**63 - 1, HUGE):
        large = tensor(storage(n, legacy=True), 0, shape(2), shape(1))
        yield (
            f"memory of {n if n < HUGE else 'huge'}",
            legacy(large, rest=struct.pack("<q", 2) + bytes(8)),
        )
    for n in (-1, 0, 1, 3, 2**62, 2**63 - 1, -(2**63)):
        yield f"{n} elements", legacy(plain, rest=struct.pack("<q", n) + bytes(8))
    deep = b"]" * 100_000 + b"a" * 99_999
    for name, keys in (
        ("none", b"]"),
        ("other", b"](" + text("1") + b"e"),
        ("twice", b"](" + text("0") * 2 + b"e"),
        ("no list", b"N"),
        ("a long number", b"](" + number(HUGE) + b"e"),
        ("deep", b"]" + deep + b"a"),
    ):
        yield f"keys: {name}", legacy(plain, keys, struct.pack("<q", 2) + bytes(8))
    yield (
        "views",
        legacy(tensor(storage(legacy=True)[:-3] + text("v") + b"tQ", 0, shape(2), shape(1))),
    )
    yield (
        "expanded",
        legacy(
            tensor(memory, 0, shape(2**40), shape(0), flags("neg")),
            rest=struct.pack("<q", 2) + bytes(8),
        ),
    )
    empty = b"".join(
        row(
            text("storage"),
            named("torch FloatStorage"),
            text(f"{i:x}"),
            text("cpu"),
            b"K\x00",
            b"N",
        )
        + b"Q0"
        for i in range(20_000)
    )
    yield "many memories", legacy(empty + b"N")
    yield "sets", legacy(b"\x8f" * 1_500_000)
    for name, begin in (("huge", number(HUGE)), ("deep", deep), ("a tensor", plain)):
        yield f"the magic number is {name}", PROTO + begin + b"."
        yield f"the version is {name}", MAGIC + PROTO + begin + b"."
        yield f"the system is {name}", MAGIC + PROTO + number(1001) + b"." + PROTO + begin + b"."
    yield "the magic number alone", MAGIC


def tables() -> Iterator[tuple[str, bytes]]:
    """Files of safetensors with headers that lie."""

    def entry(dims: object, offsets: object, dtype: str = "F32") -> dict:
        return {"x": {"dtype": dtype, "shape": dims, "data_offsets": offsets}}

    for n in (0, 1, 2**31, 2**40, 2**63, 2**64 - 1):
        yield f"a header of {n}", safetensors(entry([2], [0, 8]), bytes(8), n)
    for dims, offsets in (
        ([2**40], [0, 8]),
        ([2**62, 4], [0, 0]),
        ([0, 2**62, 2**62], [0, 0]),
        ([2**62, 2**62, 0], [0, 0]),
        ([-1], [0, 8]),
        ([2.0], [0, 8]),
        ([2**64], [0, 8]),
        ([HUGE % 10**4000], [0, 8]),
        (["2"], [0, 8]),
        ([2], [8, 0]),
        ([2], [0, 16]),
        ([2], [2**63, 2**63 + 8]),
        ([2], [-8, 0]),
        ([2], [0]),
        (None, [0, 8]),
        ([1] * 65, [0, 4]),
        ([1] * 1000, [0, 4]),
        ([0] * 100_000, [0, 0]),
        ([2**63], [0, 0]),
        ([], [0, 8]),
    ):
        rest = bytes(offsets[1]) if offsets in ([0, 4], [0, 8]) else b""
        yield f"{str(dims)[:30]} at {offsets}", safetensors(entry(dims, offsets), rest)
    for dtype in ("F4", "F8_E5M2", "C64", "", "os.system", "F32\x00"):
        yield f"dtype {dtype!r}", safetensors(entry([2], [0, 8], dtype), bytes(8))
    yield "deep", safetensors(b"[" * 100_000 + b"]" * 100_000)
    yield "deep names", safetensors(b'{"a":' * 100_000 + b"1" + b"}" * 100_000)
    yield "no text", safetensors(b"\xff" * 100)
    yield "no object", safetensors([1])
    yield "metadata", safetensors({"__metadata__": {"a": 1}})
    yield (
        "a name twice",
        safetensors(b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},' * 2 + b"}", bytes(4)),
    )
    one = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    yield "many", safetensors({f"{i:x}": one for i in range(20_000)})
    yield "spaces", safetensors(b" " * 1_000_000 + b"{}")
    yield "nothing", b""
    yield "overlapping", safetensors({f"{i}": entry([2], [0, 8])["x"] for i in range(3)}, bytes(8))


def files() -> Iterator[tuple[str, str, bytes]]:
    """Each file by its name: its format (zip, legacy or safetensors), and its bytes."""
    for group in (expanded, numbers, copies, steps, depth, nonsense, code):
        for name, program, *memory in group():
            yield f"{group.__name__}: {name}", "zip", archive(PROTO + program + b".", *memory)
    for name, file in zips():
        yield f"zips: {name}", "zip", file
    for name, file in legacies():
        yield f"legacies: {name}", "legacy", file
    for name, file in tables():
        yield f"tables: {name}", "safetensors", file
