"""Valid files of tapegrad, and ways to damage them: what `tools.fuzz_files` loads.

`originals` are archives, files in the format before them, and safetensors; `damaged` is one of
them with bits flipped, parts cut, other steps and numbers, or tables that exaggerate.
"""

import io
import pickletools
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import tapegrad
from tapegrad.serialization.writer import TensorPickler
from tools import hostile_files
from tools.hostile_files import HUGE, number

EXTREMES = (0, 1, -1, 2**15, 2**31 - 1, 2**32, 2**40, 2**62, 2**63 - 1, -(2**63), 2**63, HUGE)

# --------------------------------------------------------------------------------- valid files


def objects() -> list[Any]:
    """What people save."""
    x = tapegrad.arange(24.0).reshape(4, 6)
    model = tapegrad.nn.Sequential(tapegrad.nn.Linear(3, 2), tapegrad.nn.BatchNorm1d(2))
    optimizer = tapegrad.optim.Adam(model.parameters())
    model(tapegrad.ones(2, 3)).sum().backward()
    optimizer.step()
    texts = {"name": "é", "bytes": b"\xff\x00", "n": 2**70, "f": 1.5, "c": 1j, "none": None}
    return [
        x,
        {"x": x, "rows": [x[1], x.T, x[::2, 1:3]], "wide": tapegrad.ones(1).expand(5)},
        {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3},
        model,
        [texts, (1, (2, [3])), {1, 2}, OrderedDict(a=1), tapegrad.Size([2]), tapegrad.int8],
        [tapegrad.ones(3).to(getattr(tapegrad, name)) for name in ("uint8", "int64", "complex64")],
    ]


class _LegacyPickler(TensorPickler):
    def persistent_id(self, obj: Any) -> Any:
        found = super().persistent_id(obj)
        return None if found is None else (*found, None)


def legacy(x: object) -> bytes:
    """`x` in PyTorch's format before the archive."""
    program = io.BytesIO()
    pickler = _LegacyPickler(program, 2)
    pickler.dump(x)
    keys = b"](" + b"".join(map(hostile_files.text, sorted(pickler.storages))) + b"e"
    memory = [pickler.storages[key] for key in sorted(pickler.storages)]
    rest = b"".join(struct.pack("<q", each.size) + each.tobytes() for each in memory)
    return hostile_files.legacy(program.getvalue()[2:-1], keys, rest)


def originals() -> dict[str, list[bytes]]:
    """Valid files by format; safetensors only where the package is installed."""
    found: dict[str, list[bytes]] = {"zip": [], "legacy": [], "safetensors": []}
    for x in objects():
        for protocol in (2, 4):
            file = io.BytesIO()
            tapegrad.save(x, file, pickle_protocol=protocol)
            found["zip"].append(file.getvalue())
        found["legacy"].append(legacy(x))
    try:
        tensors = {"x": tapegrad.ones(2, 3), "y": tapegrad.arange(5), "none": tapegrad.ones(0, 3)}
        found["safetensors"] = [
            tapegrad.safetensors.save(tensors, {"by": "us"}),
            tapegrad.safetensors.save({f"layer.{i}": tapegrad.ones(i) for i in range(20)}),
        ]
    except ImportError:
        del found["safetensors"]
    return found


# -------------------------------------------------------------------------------------- damages


def flipped(data: bytes, random: Random) -> bytes:
    """Some bits turned."""
    found = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8, 50))):
        found[random.randrange(len(found))] ^= 1 << random.randrange(8)
    return bytes(found)


def overwritten(data: bytes, random: Random) -> bytes:
    """Some places with other bytes."""
    found = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 5))):
        at = random.randrange(len(found))
        n = random.choice((1, 2, 4, 8))
        found[at : at + n] = random.choice(
            (b"\xff" * n, bytes(n), b"\x7f" * n, random.randbytes(n))
        )
    return bytes(found)


def cut(data: bytes, random: Random) -> bytes:
    """The end, the beginning or a part inside left out."""
    a, b = sorted(random.randrange(len(data) + 1) for _ in range(2))
    return random.choice((data[:a], data[a:], data[:a] + data[b:]))


def lengthened(data: bytes, random: Random) -> bytes:
    """Bytes added at the end or inside."""
    at = random.choice((len(data), random.randrange(len(data) + 1)))
    a, b = sorted(random.randrange(len(data) + 1) for _ in range(2))
    new = random.choice((random.randbytes(random.randrange(1, 300)), bytes(1000), data[a:b], data))
    return data[:at] + new + data[at:]


def tables(data: bytes, random: Random) -> bytes:
    """The numbers of a table that exaggerate: of an archive, of a header, of memory."""
    places = [i for mark in (b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06") for i in _all(data, mark)]
    at = random.choice(places) + 4 + random.randrange(44) if places else random.randrange(16)
    n = random.choice((2, 4, 8))
    value = random.choice(EXTREMES) % 256**n
    return data[:at] + value.to_bytes(n, "little") + data[at + n :]


def _all(data: bytes, mark: bytes) -> Iterator[int]:
    at = data.find(mark)
    while at >= 0:
        yield at
        at = data.find(mark, at + 1)


def headers(data: bytes, random: Random) -> bytes:
    """Another number in the header of safetensors, whose length agrees."""
    n = int.from_bytes(data[:8], "little")
    header = data[8 : 8 + n]
    digits = [i for i, byte in enumerate(header) if 48 <= byte < 58]
    at = random.choice(digits)
    header = header[:at] + str(random.choice(EXTREMES[:-1])).encode() + header[at + 1 :]
    return len(header).to_bytes(8, "little") + header + data[8 + n :]


def programs(data: bytes, random: Random) -> bytes:
    """Another pickle in an archive that is in order, or in the old format."""
    if data[:4] != b"PK\x03\x04":
        start = len(hostile_files.legacy(b"", b"")) - 2 * len(b"\x80\x02.")
        return data[:start] + _edited(data[start:], random)
    file = io.BytesIO()
    packed = random.random() < 0.05
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            record = old.read(name)
            if name.endswith("data.pkl"):
                record = _edited(record, random)
            method = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
            new.writestr(name, record, method)
    return file.getvalue()


_CODES = [each.code.encode("latin1") for each in pickletools.opcodes]


def _edited(program: bytes, random: Random) -> bytes:
    steps = _steps(program)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        i = random.randrange(len(steps))
        step = steps[i]
        change = random.randrange(7)
        if change == 0:
            del steps[i]
        elif change == 1:
            steps.insert(random.randrange(len(steps) + 1), step)
        elif change == 2:
            steps.insert(i, random.choice(_CODES))
        elif change == 3:
            steps[i] = random.choice(steps)
        elif change == 4:
            steps[i : i + 1] = [step] * random.choice((10, 1000, 100_000))
        elif change == 5:
            names = [n for n, each in enumerate(steps) if each[:1] == b"c"] or [i]
            steps[random.choice(names)] = random.choice(_NAMES)
        else:
            numbers = [n for n, each in enumerate(steps) if each[:1] in b"KMJ\x8a\x88\x89"] or [i]
            steps[random.choice(numbers)] = number(random.choice(EXTREMES))
        if not steps:
            break
    return b"".join(steps)


_NAMES = [
    hostile_files.named(name)
    for name in (
        "os system",
        "builtins eval",
        "torch._utils _rebuild_tensor_v3",
        "torch Size",
        "builtins set",
        "torch._utils _rebuild_parameter",
        "collections Counter",
        "torch BoolStorage",
        "torch device",
        "torch.nn.modules.linear Linear",
        "numpy dtype",
        "torch._tensor _rebuild_from_type_v2",
        "torch DoubleStorage",
        "torch.storage UntypedStorage",
        "builtins bytearray",
        "_codecs encode",
    )
]


def _steps(program: bytes) -> list[bytes]:
    """The steps of a pickle; what follows its end, or cannot be read, is the last one."""
    places: list[int] = []
    try:
        places = [place for _, _, place in pickletools.genops(program) if place is not None]
    except Exception:
        places = places or [0]
    ends = [*places[1:], len(program)]
    return [program[a:b] for a, b in zip(places, ends, strict=True)] or [program]


DAMAGES: dict[str, list[Callable[[bytes, Random], bytes]]] = {
    "zip": [flipped, overwritten, cut, lengthened, tables, programs, programs],
    "legacy": [flipped, overwritten, cut, lengthened, tables, programs, programs],
    "safetensors": [flipped, overwritten, cut, lengthened, tables, headers],
}


def damaged(valid: dict[str, list[bytes]], seed: int, i: int) -> tuple[str, str, bytes]:
    """The file of a number: what was done to it, its format, its bytes."""
    random = Random(f"{seed} {i}")
    form = random.choice(sorted(valid))
    damage = random.choice(DAMAGES[form])
    return f"{form}: {damage.__name__}", form, damage(random.choice(valid[form]), random)
