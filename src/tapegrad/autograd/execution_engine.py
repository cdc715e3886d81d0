"""`Variable._execution_engine`: functions to call when the running backward pass ends."""

from tapegrad.autograd.engine import BACKWARD_PASS
from tapegrad.core import errors
from tapegrad.core.annotations import Callable


class ImperativeEngine:
    """The engine as PyTorch shows it to Python."""

    def queue_callback(self, callback: Callable[[], object]) -> None:
        """Call a function at the end of the backward pass that is running, the innermost one.

        Raises: RuntimeError where none is running.

        >>> x = torch.ones(2, requires_grad=True)
        >>> engine = torch.autograd.Variable._execution_engine
        >>> handle = x.register_hook(lambda g: engine.queue_callback(lambda: print("end")))
        >>> x.sum().backward()
        end
        """
        backward = BACKWARD_PASS.get()
        if backward is None:
            raise errors.runtime_error(
                "Final callbacks can only be installed during backward pass.",
                "Queue it in a hook, or in the backward of a custom function.",
            )
        backward.callbacks.append(callback)

    def is_checkpoint_valid(self) -> bool:
        """Whether the running backward pass is one in which leaves accumulate."""
        backward = BACKWARD_PASS.get()
        return backward is None or not backward.restricted


ImperativeEngine.__module__ = "torch._C"
ImperativeEngine.__name__ = ImperativeEngine.__qualname__ = "_EngineBase"

ENGINE = ImperativeEngine()
