"""An environment whose `import torch` is tapegrad in every process: `enable`, `disable`, `status`.

Beside the environment's packages are put a small module that Python imports at its start, by a
`.pth` file, and metadata of a distribution called `torch`: pip and `importlib.metadata` then find
the version of PyTorch whose behaviour tapegrad has. `pip uninstall torch` takes both away, too.
"""

import sys
import sysconfig
from base64 import urlsafe_b64encode
from hashlib import sha256
from importlib import metadata
from pathlib import Path

from tapegrad import version
from tapegrad.compat import startup

_VERSION = f"{version.pytorch}+tapegrad.{version.tapegrad}"
_MODULE = "_tapegrad_torch.py"
_PTH = "tapegrad_torch.pth"
_GENERATOR = "tapegrad"  # in the file INSTALLER: whose metadata they are


def command(name: str, force: bool = False) -> int:
    """What `python -m tapegrad enable`, `disable` or `status` does; the exit status."""
    try:
        if name == "enable":
            enable(force)
        elif name == "disable" and not disable():
            print("nothing to undo: tapegrad was not enabled here")
    except (OSError, RuntimeError) as error:
        print(f"tapegrad: {error}", file=sys.stderr)
        return 1
    print(status())
    return 0


def enable(force: bool = False) -> Path:
    """Let every process of this environment import tapegrad as `torch`.

    Returns: the folder that was written to.

    Args:
        force: also where PyTorch itself is installed, which is then hidden, not touched.

    Raises:
        RuntimeError: PyTorch is installed, and `force` is not given.
        OSError: the folder of the environment's packages cannot be written.
    """
    real = installed_pytorch()
    if real is not None and not force:
        raise RuntimeError(
            f"PyTorch {real.version} is installed in this environment, at {real.locate_file('')}\n"
            "Uninstall it with pip uninstall torch, or pass --force to hide it until tapegrad "
            "disable."
        )
    disable()
    folder = _packages()
    files = {
        _MODULE: Path(startup.__file__).read_bytes(),
        _PTH: b"import _tapegrad_torch; _tapegrad_torch.start()\n",
    }
    if real is None:
        files |= _distribution()
    try:
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
    except OSError:
        disable()
        raise
    return folder


def disable() -> bool:
    """Undo `enable`; whether there was anything to undo."""
    folder = _packages()
    info = _our_metadata()
    found = [folder / name for name in (_PTH, _MODULE) if (folder / name).exists()]
    if info is not None:
        found += sorted(info.iterdir())
    compiled = (folder / "__pycache__").glob(f"{Path(_MODULE).stem}.*.pyc")
    for path in (*found, *compiled):
        path.unlink()
    if info is not None:
        info.rmdir()
    return bool(found)


def status() -> str:
    """A line or two: which `torch` the processes of this environment import, and from where."""
    real = installed_pytorch()
    enabled = (_packages() / _PTH).exists()
    if enabled:
        text = f"import torch is tapegrad {version.tapegrad}, as torch {_VERSION}"
        text += f"\nenabled by {_packages() / _PTH}"
        if real is not None:
            text += f"\nit hides PyTorch {real.version} at {real.locate_file('')}"
        return text
    if real is not None:
        return f"import torch is PyTorch {real.version}, at {real.locate_file('')}"
    return (
        "import torch fails: neither PyTorch nor, by python -m tapegrad enable, tapegrad is there"
    )


def installed_pytorch() -> metadata.Distribution | None:
    """The distribution of PyTorch itself in this environment, or None."""
    for found in metadata.distributions(name="torch"):
        if (found.read_text("INSTALLER") or "").strip() != _GENERATOR:
            return found
    return None


def _packages() -> Path:
    return Path(sysconfig.get_path("purelib"))


def _our_metadata() -> Path | None:
    for info in _packages().glob("torch-*.dist-info"):
        installer = info / "INSTALLER"
        if installer.exists() and installer.read_text().strip() == _GENERATOR:
            return info
    return None


def _distribution() -> dict[str, bytes]:
    """The files of the metadata, by their names in the folder of packages."""
    info = f"torch-{_VERSION}.dist-info"
    python = ".".join(map(str, sys.version_info[:2]))
    text = (
        "Metadata-Version: 2.1\nName: torch\n"
        f"Version: {_VERSION}\n"
        "Summary: tapegrad, served as torch: PyTorch's autograd in readable Python\n"
        f"Requires-Python: >={python}\n"
        "Requires-Dist: tapegrad\n"
    )
    files = {
        f"{info}/METADATA": text.encode(),
        f"{info}/INSTALLER": f"{_GENERATOR}\n".encode(),
        f"{info}/top_level.txt": b"torch\nfunctorch\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: tapegrad\nRoot-Is-Purelib: true\n"
        b"Tag: py3-none-any\n",
    }
    rows = [f"{name},{_hash(content)},{len(content)}" for name, content in files.items()]
    rows += [f"{_MODULE},,", f"{_PTH},,", f"{info}/RECORD,,"]
    return files | {f"{info}/RECORD": "\n".join([*rows, ""]).encode()}


def _hash(content: bytes) -> str:
    digest = urlsafe_b64encode(sha256(content).digest()).rstrip(b"=").decode()
    return f"sha256={digest}"
