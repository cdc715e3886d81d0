"""Errors of PyTorch's compiler, for programs that catch them."""

from tapegrad.compiler.backends import (
    BackendCompilerFailed,  # noqa: F401
    InvalidBackend,  # noqa: F401
    TorchDynamoException,
    Unsupported,
)
from tapegrad.core.missing import public_names
from tapegrad.core.missing import refuses as _refuses


class InternalTorchDynamoError(TorchDynamoException):
    """A fault of the compiler itself."""


class RestartAnalysis(TorchDynamoException):
    """The analysis of a function starts again."""


class TensorifyScalarRestartAnalysis(RestartAnalysis):
    """It starts again with numbers as tensors."""


class UserError(Unsupported):
    """Code that cannot be compiled, by a mistake of its author."""


class TorchRuntimeError(TorchDynamoException):
    """An operator that fails while it is traced."""


class UncapturedHigherOrderOpError(TorchDynamoException):
    """A function given to `torch.cond`, `scan` and their kin that does what it must not."""


class ResetRequired(TorchDynamoException):
    """Settings that need `torch._dynamo.reset()`."""


class RecompileError(TorchDynamoException):
    """A function that would have to be compiled again."""


class RecompileLimitExceeded(Unsupported):
    """A function that was compiled too often."""


class FailOnRecompileLimitHit(Unsupported):
    """A function that was compiled too often, where that is an error."""


__all__ = public_names(
    globals(), "BackendCompilerFailed InvalidBackend TorchDynamoException Unsupported"
)
__getattr__ = _refuses(__name__)
