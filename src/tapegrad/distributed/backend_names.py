"""Backends by name, and which device takes which."""

import os
import warnings
from importlib.util import find_spec

from tapegrad.core.annotations import Any, Callable
from tapegrad.core.errors import runtime_error


class Backend(str):
    """The name of a backend, in lower case.

    >>> torch.distributed.Backend("GLOO")
    'gloo'
    """

    __slots__ = ()

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    XCCL = "xccl"
    FAKE = "fake"

    backend_list = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, FAKE]  # noqa: RUF012  # as PyTorch's
    default_device_backend_map = {  # noqa: RUF012
        "cpu": GLOO,
        "cuda": NCCL,
        "xpu": XCCL,
        "mps": GLOO,
        "hpu": FAKE,
    }
    backend_capability = {  # noqa: RUF012
        GLOO: ["cpu", "cuda"],
        NCCL: ["cuda"],
        XCCL: ["xpu"],
        UCC: ["cpu", "cuda"],
        MPI: ["cpu", "cuda"],
        FAKE: ["cpu", "cuda", "hpu", "xpu"],
    }
    _plugins: dict[str, Callable] = {}  # noqa: RUF012

    def __new__(cls, name: str) -> Any:
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return str.__new__(cls, name.lower())

    @classmethod
    def register_backend(
        cls,
        name: str,
        func: Callable,
        extended_api: bool = False,
        devices: str | list[str] | None = None,
    ) -> None:
        """Have `func(store, rank, size, timeout)` make the process groups of a backend `name`.

        Args:
            extended_api: Call `func(options, pg_options)` instead, the first with the attributes
                `store`, `group_rank`, `group_size`, `timeout`.
            devices: Of which the backend takes tensors.

        Raises:
            RuntimeError: There is one of that name.
        """
        key = name.lower()
        if hasattr(cls, name.upper()) and key != "ucc":
            raise RuntimeError(f"{name.upper()} c10d backend already exist")
        if name.upper() in cls._plugins:
            raise RuntimeError(f"{name.upper()} c10d backend creator function already exist")
        setattr(cls, name.upper(), key)
        if key not in cls.backend_list:
            cls.backend_list.append(key)
        if devices is None:
            warnings.warn(
                f"Device capability of {name} unspecified, assuming `cpu` and `cuda`. Please "
                "specify it via the `devices` argument of `register_backend`.",
                stacklevel=2,
            )
            devices = ["cpu", "cuda"]
        devices = [devices] if isinstance(devices, str) else devices
        cls.backend_capability[key] = devices
        for device in devices:
            if device not in ("cpu", "cuda"):
                cls.default_device_backend_map[device] = key
        cls._plugins[name.upper()] = (func, extended_api)  # type: ignore[assignment]


class BackendConfig:
    """Which backend each kind of device takes: `"gloo"`, or `"cpu:gloo,cuda:nccl"`."""

    def __init__(self, backend: Backend) -> None:
        if backend == Backend.UNDEFINED:
            pairs = {"cpu": Backend.GLOO}
        elif ":" in backend:
            pairs = dict(self._pair(each, backend) for each in backend.split(","))
        else:
            pairs = {device: backend for device in Backend.backend_capability.get(backend, ["cpu"])}
        self.device_backend_map = {device: Backend(name) for device, name in pairs.items()}

    @staticmethod
    def _pair(each, backend):
        device, colon, name = each.partition(":")
        if not colon or ":" in name:
            raise ValueError(
                f"The custom backend string argument is invalid: {backend}.\nCustom backend "
                "string is an experimental feature where the backend string must be in the "
                'format:\n"<device_type1>:<backend1>,<device_type2>:<backend2>...". e.g. '
                "'cpu:gloo,cuda:nccl'"
            )
        return device, name

    def get_device_backend_map(self) -> dict[str, Backend]:
        """The names by kind of device."""
        return self.device_backend_map

    def __repr__(self) -> str:
        return ",".join(f"{device}:{name}" for device, name in self.device_backend_map.items())


def require(name: str) -> None:
    """Raise as PyTorch does for a backend it was built without."""
    if name == Backend.MPI and not is_mpi_available():
        raise runtime_error(
            "Distributed package doesn't have MPI built in. MPI is only included if you build "
            "PyTorch from source on a host that has MPI installed.",
            "pip install 'tapegrad[distributed]' brings it; one process needs none: take \"gloo\".",
        )
    if name in (Backend.NCCL, Backend.XCCL):
        raise runtime_error(
            f"Distributed package doesn't have {name.upper()} built in",
            'Take "gloo", which computes on the CPU.',
        )
    if name in (Backend.GLOO, Backend.MPI) or name.upper() in Backend._plugins:
        return
    what = "c10d backend type" if name in Backend.backend_list else "backend type"
    raise AssertionError(f"Unknown {what} {name.upper() if what[0] == 'c' else name}")


def is_gloo_available() -> bool:
    """True: what gloo does there is for one rank, and by MPI for more."""
    return True


def is_mpi_available() -> bool:
    """Whether mpi4py is installed."""
    return find_spec("mpi4py") is not None


def is_nccl_available() -> bool:
    """False."""
    return False


def is_ucc_available() -> bool:
    """False."""
    return False


def is_xccl_available() -> bool:
    """False."""
    return False


def is_torchelastic_launched() -> bool:
    """Whether `torchrun` started this process."""
    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


def is_backend_available(backend: str) -> bool:
    """Whether there is a backend of that name.

    >>> torch.distributed.is_backend_available("gloo")
    True
    """
    known = {"gloo": True, "mpi": is_mpi_available(), "nccl": False, "ucc": False, "xccl": False}
    return known.get(backend.lower(), backend.lower() in Backend.backend_list)


def get_default_backend_for_device(device: Any) -> str:
    """The name of the backend that tensors on a device take.

    >>> torch.distributed.get_default_backend_for_device("cpu")
    'gloo'
    """
    kind = device.partition(":")[0] if isinstance(device, str) else device.type
    if (name := Backend.default_device_backend_map.get(kind)) is None:
        raise ValueError(f"Default backend not registered for device : {device}")
    return name
