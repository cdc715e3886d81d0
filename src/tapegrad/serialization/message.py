"""Messages of `load`: PyTorch's texts, and a note about what to do."""

from pickle import UnpicklingError

from tapegrad.core.errors import advised, runtime_error

_FAILED = "Weights only load failed. "
_CHANGED = (
    "In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` "
    "from `False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will "
    "likely succeed, but it can result in arbitrary code execution. Do it only if you got the "
    "file from a trusted source."
)
_TWO_OPTIONS = (
    "This file can still be loaded, to do so you have two options, \033[1mdo those steps only if "
    f"you trust the source of the checkpoint\033[0m. \n\t(1) {_CHANGED}\n\t(2) Alternatively, to "
    "load with `weights_only=True` please check the recommended steps in the following error "
    "message.\n\tWeightsUnpickler error: "
)
_ISSUE = (
    f"{_CHANGED}\nPlease file an issue with the following so that we can make `weights_only=True` "
    "compatible with your use case: WeightsUnpickler error: \n\n"
)
_DOCUMENTATION = (
    "\n\nCheck the documentation of torch.load to learn more about types accepted by default with "
    "weights_only https://pytorch.org/docs/stable/generated/torch.load.html."
)
_CORRUPTED = (
    " This is an internal miniz error. If you are seeing this error, there is a high likelihood "
    "that your checkpoint file is corrupted. This can happen if the checkpoint was not saved "
    "properly, was transferred incorrectly, or the file was modified after saving."
)


def refused_global(name: str) -> UnpicklingError:
    """A class or function that a file names and that is not on the list."""
    text = (
        f"Unsupported global: GLOBAL {name} was not an allowed global by default. Please use "
        f"`torch.serialization.add_safe_globals([{name}])` or the "
        f"`torch.serialization.safe_globals([{name}])` context manager to allowlist this global "
        "if you trust this class/function."
    )
    return advised(
        UnpicklingError(f"{_FAILED}{_TWO_OPTIONS}{text}{_DOCUMENTATION}"),
        f"tapegrad calls nothing that a file names but what is on its list: allow {name} as the "
        "message says, or save a state_dict() instead of the object.",
    )


def blocked_global(module: str, name: str) -> UnpicklingError:
    """A function that reaches outside the process."""
    text = f"Trying to load unsupported GLOBAL {module}.{name} whose module {module} is blocked."
    return advised(
        UnpicklingError(f"{_FAILED}{_CHANGED}\n\n\n{text}{_DOCUMENTATION}"),
        "No checkpoint needs that: the file is hostile, or was made from a strange object.",
    )


def unsupported(text: str) -> UnpicklingError:
    """A pickle that does what no pickle of tensors and containers does."""
    return advised(
        UnpicklingError(f"{_FAILED}{_ISSUE}{text}{_DOCUMENTATION}"),
        "The file holds more than tensors and containers, or it was altered.",
    )


def malformed(text: str) -> UnpicklingError:
    """A pickle that makes no sense."""
    return advised(
        UnpicklingError(text), "The file was cut or altered after it was saved: get it again."
    )


def lacking(what: str, name: str) -> UnpicklingError:
    """Something of PyTorch that tapegrad does not have."""
    return advised(
        UnpicklingError(f"tapegrad has no {what}, and the file holds one: {name}"),
        "Convert it in PyTorch before saving.",
    )


def corrupted(text: str) -> RuntimeError:
    """A zip archive that cannot be read."""
    return runtime_error(
        f"PytorchStreamReader failed {text}.{_CORRUPTED}",
        "Get the file again; tapegrad.save never leaves half a file behind.",
    )
