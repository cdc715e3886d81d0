"""`python -m torch.utils.collect_env`: what a report of a mistake should say of the machine."""

import locale
import os
import platform
import re
import subprocess
import sys
from collections import namedtuple
from collections.abc import Callable
from importlib import metadata

from tapegrad.core.missing import refuses as _refuses

SystemEnv = namedtuple(
    "SystemEnv",
    "torch_version is_debug_build os libc_version python_version python_platform cpu_info "
    "numpy_version scipy_version tapegrad_version pip_packages is_cuda_available",
)

_PACKAGES = "numpy scipy optree ml-dtypes safetensors torch torchvision torchaudio tapegrad".split()


def run(command: str | list[str]) -> tuple[int, str, str]:
    """A command's exit status and what it writes."""
    done = subprocess.run(
        command, shell=isinstance(command, str), capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def get_platform() -> str:
    """The system, as Python calls it."""
    return sys.platform


def get_os(run_lambda: object = None) -> str:
    """The system with its release."""
    try:
        name = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        name = ""
    return f"{name or platform.platform()} ({platform.machine()})"


def get_cpu_info(run_lambda: Callable = run) -> str | None:
    """What `lscpu` says of the processor, a line for each property; None where there is none."""
    return run_and_read_all(run_lambda, "lscpu")


def run_and_read_all(run_lambda: Callable, command: str) -> str | None:
    """What a command writes, or None if it fails."""
    status, written, _ = run_lambda(command)
    return None if status else written


def run_and_parse_first_match(run_lambda: Callable, command: str, regex: str) -> str | None:
    """The first group of `regex` in what a command writes; None without one or if it fails."""
    written = run_and_read_all(run_lambda, command)
    found = None if written is None else re.search(regex, written)
    return None if found is None else found[1]


def get_gcc_version(run_lambda: Callable = run) -> str | None:
    """The version of the compiler gcc."""
    return run_and_parse_first_match(run_lambda, "gcc --version", r"gcc (.*)")


def get_gpu_info(run_lambda: Callable = run) -> None:
    """The graphics cards that tensors may be on: None, there are none."""


def get_nvidia_driver_version(run_lambda: Callable = run) -> str | None:
    """The version of the driver of NVIDIA's graphics cards, if there is one."""
    return run_and_parse_first_match(run_lambda, "nvidia-smi", r"Driver Version: (.*?) ")


def get_pip_packages(run_lambda: object = None) -> tuple[str, str]:
    """Versions of the installed packages that matter."""
    found = []
    for name in _PACKAGES:
        try:
            found.append(f"{name}=={metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return "pip3", "\n".join(found)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "N/A"


def get_env_info() -> SystemEnv:
    """What there is.

    >>> from tapegrad.compat.torch.utils.collect_env import get_env_info
    >>> get_env_info().is_cuda_available
    'False'
    """
    import tapegrad as torch
    from tapegrad import version

    bits = sys.maxsize.bit_length() + 1
    return SystemEnv(
        torch_version=str(torch.__version__),
        is_debug_build="False",
        os=get_os(),
        libc_version="-".join(platform.libc_ver()) or "N/A",
        python_version=f"{sys.version.splitlines()[0].strip()} ({bits}-bit runtime)",
        python_platform=platform.platform(),
        cpu_info=f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores",
        numpy_version=_version("numpy"),
        scipy_version=_version("scipy"),
        tapegrad_version=version.tapegrad,
        pip_packages=get_pip_packages()[1],
        is_cuda_available=str(torch.cuda.is_available()),
    )


def pretty_str(envinfo: SystemEnv) -> str:
    """What there is, as text."""
    packages = "\n".join(f"[pip3] {line}" for line in envinfo.pip_packages.splitlines())
    return (
        f"PyTorch version: {envinfo.torch_version}\n"
        f"served by: tapegrad {envinfo.tapegrad_version}\n"
        f"Is debug build: {envinfo.is_debug_build}\n"
        "CUDA used to build PyTorch: None\nROCM used to build PyTorch: N/A\n\n"
        f"OS: {envinfo.os}\nLibc version: {envinfo.libc_version}\n"
        f"Locale: {locale.getlocale()}\n\n"
        f"Python version: {envinfo.python_version}\nPython platform: {envinfo.python_platform}\n"
        f"Is CUDA available: {envinfo.is_cuda_available}\n\nCPU: {envinfo.cpu_info}\n\n"
        f"Versions of relevant libraries:\n{packages or '[pip3] No relevant packages'}"
    )


def get_pretty_env_info() -> str:
    """What there is, as text."""
    return pretty_str(get_env_info())


def main() -> None:
    """Print it."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


__getattr__ = _refuses(__name__)

if __name__ == "__main__":
    main()
