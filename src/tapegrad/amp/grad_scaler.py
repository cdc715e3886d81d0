"""GradScaler: losses scaled up, so that small gradients do not vanish in float16."""

import inspect
from collections import defaultdict
from collections.abc import Iterable
from enum import Enum
from typing import overload

from tapegrad.amp.autocast_mode import warn_of_device
from tapegrad.autograd.mode import no_grad
from tapegrad.core.annotations import Any, OptimizerLike
from tapegrad.core.dtype import float16, float32, int32
from tapegrad.core.errors import assertion_error, deprecated, runtime_error, value_error, warn
from tapegrad.core.tensor_base import SHARDED
from tapegrad.operators.creation.zeros_eye import full
from tapegrad.tensors.tensor import Tensor

__torch__ = "GradScaler"

__all__ = ["GradScaler", "OptState"]

_SAVED = ("scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker")


class ScalerSettings:
    """The scale of a GradScaler, and how it rises and falls."""

    _enabled: bool
    _init_scale: float
    _scale: Any
    _growth_factor: float
    _backoff_factor: float
    _growth_interval: int
    _init_growth_tracker: int
    _growth_tracker: Any
    _per_optimizer_states: Any

    def get_scale(self) -> float:
        """The scale, 1.0 if scaling is disabled.

        >>> torch.amp.GradScaler("cpu").get_scale()
        65536.0
        """
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self) -> float:
        """What the scale is multiplied by when it rises."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set what the scale is multiplied by when it rises."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the scale is multiplied by when it falls."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set what the scale is multiplied by when it falls."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many good steps in a row the scale rises."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set after how many good steps in a row the scale rises."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        if self._growth_tracker is None:
            return self._init_growth_tracker
        return self._growth_tracker.item()

    def is_enabled(self) -> bool:
        """Whether losses are scaled."""
        return self._enabled

    # --- saving ------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """The scale and the settings, to be saved after `update()`; empty if disabled.

        >>> torch.amp.GradScaler("cpu").state_dict()["scale"]
        65536.0
        """
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` of another scaler gave.

        Raises:
            RuntimeError: it is empty, as that of a disabled scaler.
        """
        if not self._enabled:
            return
        if not state_dict:
            raise runtime_error(
                "The source state dict is empty, possibly because it was saved from a disabled "
                "instance of GradScaler.",
                "Save the state of an enabled scaler, or disable this one.",
            )
        found = [state_dict[name] for name in _SAVED]
        self._init_scale, self._growth_factor, self._backoff_factor = found[:3]
        self._growth_interval, self._init_growth_tracker = found[3:]
        if self._scale is not None:
            self._scale.fill_(self._init_scale)
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(self._init_growth_tracker)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        if self._enabled:
            if self._per_optimizer_states:
                raise assertion_error(
                    "A GradScaler instance may only be pickled at the beginning of an "
                    "iteration, or at the end after scaler.update().",
                    "Save scaler.state_dict().",
                )
            state["_init_scale"] = self.get_scale()
            state["_init_growth_tracker"] = self._get_growth_tracker()
            state["_scale"] = None
            state["_growth_tracker"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


_ORDER = "Each iteration: scaler.scale(loss).backward(), scaler.step(optimizer), scaler.update()."


class OptState(Enum):
    """What has been done with an optimizer since the last `update()`."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _refresh_per_optimizer_state() -> dict[str, Any]:
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class GradScaler(ScalerSettings):
    """Scales losses, takes the scale out of gradients, and finds a scale that just fits.

    Gradients of float16 below 6e-8 are zero. A loss that is multiplied by a large number has
    gradients that are larger by the same factor; before a step they are divided by it. Where a
    gradient is inf or nan the step is left out and the scale falls; after `growth_interval` steps
    without one it rises.

    Args:
        device: the kind of device; on "cuda" there is none, so scaling is disabled
        init_scale: the first scale
        growth_factor: what the scale is multiplied by when it rises, more than 1
        backoff_factor: what it is multiplied by when it falls, less than 1
        growth_interval: after how many good steps in a row it rises
        enabled: if False, `scale` gives back what it gets and `step` steps

    Raises:
        AssertionError: a factor is out of range; a method is called before `scale`.
        RuntimeError: `unscale_` or `step` is called twice between two `update`s.
        ValueError: gradients are float16 themselves: the parameters should be float32.

    Source: Micikevicius et al., Mixed Precision Training, 2018, section 3.2.

    >>> weight = torch.ones(2, requires_grad=True)
    >>> optimizer = torch.optim.SGD([weight], lr=0.1)
    >>> scaler = torch.amp.GradScaler("cpu")
    >>> scaler.scale(weight.sum()).backward()
    >>> weight.grad
    tensor([65536., 65536.])
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> weight
    tensor([0.9000, 0.9000], requires_grad=True)
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if device == "cuda" and enabled:
            warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.")
            self._enabled = False
        if not self._enabled:
            return
        if not growth_factor > 1.0:
            raise assertion_error("The growth factor must be > 1.0.", "2.0 doubles it.")
        if not backoff_factor < 1.0:
            raise assertion_error("The backoff factor must be < 1.0.", "0.5 halves it.")
        self._init_scale = init_scale
        self._scale: Any = None  # a tensor, made by the first scale()
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._init_growth_tracker = 0
        self._growth_tracker: Any = None  # a tensor: good steps since the scale last changed
        self._per_optimizer_states: Any = defaultdict(_refresh_per_optimizer_state)

    # --- the scale ---------------------------------------------------------------------------

    def _check_scale_growth_tracker(self, funcname: str) -> tuple[Any, Any]:
        """The scale and the count of good steps; an error where `scale` was never called."""
        if self._scale is None or self._growth_tracker is None:
            raise assertion_error(
                f"Attempted {funcname} but _scale is None.  This may indicate your script did "
                "not use scaler.scale(loss or outputs) earlier in the iteration.",
                _ORDER,
            )
        return self._scale, self._growth_tracker

    def _lazy_init_scale_growth_tracker(self, dev: Any) -> None:
        if self._growth_tracker is not None:
            raise AssertionError("_growth_tracker initialized before _scale")
        self._scale = full((), self._init_scale, dtype=float32, device=dev)
        self._growth_tracker = full((), self._init_growth_tracker, dtype=int32, device=dev)

    @overload
    def scale(self, outputs: Tensor) -> Tensor: ...
    @overload
    def scale(self, outputs: Iterable[Tensor]) -> Iterable[Tensor]: ...
    def scale(self, outputs: Any) -> Any:
        """A tensor times the scale; of an iterable of tensors, each of them.

        >>> torch.amp.GradScaler("cpu", init_scale=4.0).scale(torch.tensor(0.5))
        tensor(2.)
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._lazy_init_scale_growth_tracker(outputs.device)
            return outputs * self._scale.to(device=outputs.device, non_blocking=True)
        if isinstance(outputs, Iterable):
            scaled = map(self.scale, outputs)
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled
        raise value_error(
            "outputs must be a Tensor or an iterable of Tensors", f"Got {type(outputs).__name__}."
        )

    # --- gradients ---------------------------------------------------------------------------

    def _unscale_grads_(
        self, optimizer: OptimizerLike, inv_scale: Any, found_inf: Any, allow_fp16: bool
    ) -> dict[Any, Any]:
        """Multiply gradients by `inv_scale`; for each device 1 where one was inf or nan."""
        bad = False
        with no_grad():
            for group in optimizer.param_groups:
                for param in group["params"]:
                    grad = param.grad
                    if grad is None:
                        continue
                    if grad.dtype is float16 and not allow_fp16:
                        raise value_error(
                            "Attempting to unscale FP16 gradients.",
                            "Keep the parameters in float32: autocast casts them where it helps.",
                        )
                    bad = bad or not bool(grad.isfinite().all())
                    grad.mul_(inv_scale.to(grad.dtype))
            if SHARDED:
                bad = _anywhere(bad, optimizer)
            if bad:
                found_inf = found_inf.fill_(1.0)
        has_gradients = any(p.grad is not None for g in optimizer.param_groups for p in g["params"])
        return {found_inf.device: found_inf} if has_gradients else {}

    def unscale_(self, optimizer: OptimizerLike) -> None:
        """Take the scale out of the gradients of an optimizer now, to clip them for example.

        >>> weight = torch.ones(2, requires_grad=True)
        >>> optimizer = torch.optim.SGD([weight], lr=0.1)
        >>> scaler = torch.amp.GradScaler("cpu")
        >>> scaler.scale(weight.sum()).backward()
        >>> scaler.unscale_(optimizer)
        >>> weight.grad
        tensor([1., 1.])
        """
        if not self._enabled:
            return
        self._check_scale_growth_tracker("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise runtime_error(
                "unscale_() has already been called on this optimizer since the last update().",
                _ORDER,
            )
        if state["stage"] is OptState.STEPPED:
            raise runtime_error("unscale_() is being called after step().", _ORDER)
        inverse = self._scale.double().reciprocal().float()
        found_inf = full((), 0.0, dtype=float32, device=self._scale.device)
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, inverse, found_inf, False)
        state["stage"] = OptState.UNSCALED

    def _check_inf_per_device(self, optimizer: OptimizerLike) -> dict[Any, Any]:
        scale, _ = self._check_scale_growth_tracker("_check_inf_per_device")
        one = full((), 1.0, dtype=float32, device=scale.device)
        found_inf = full((), 0.0, dtype=float32, device=scale.device)
        found = self._unscale_grads_(optimizer, one, found_inf, True)
        self._per_optimizer_states[id(optimizer)]["found_inf_per_device"] = found
        return found

    def _found_inf_per_device(self, optimizer: OptimizerLike) -> dict[Any, Any]:
        return self._per_optimizer_states[id(optimizer)]["found_inf_per_device"]

    # --- steps -------------------------------------------------------------------------------

    def _maybe_opt_step(
        self,
        optimizer: OptimizerLike,
        optimizer_state: dict[str, Any],
        *args: object,
        **kwargs: object,
    ) -> Any:
        if sum(v.item() for v in optimizer_state["found_inf_per_device"].values()):
            return None
        return optimizer.step(*args, **kwargs)

    def step(self, optimizer: OptimizerLike, *args: object, **kwargs: object) -> Any:
        """`optimizer.step(...)`, unless a gradient is inf or nan; what it returns, or None.

        Takes the scale out of the gradients first, if `unscale_` did not.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise runtime_error(
                "Closure use is not currently supported if GradScaler is enabled.",
                "Compute the loss before the step.",
            )
        self._check_scale_growth_tracker("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise runtime_error("step() has already been called since the last update().", _ORDER)
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            return self._step_with_scale(optimizer, state, args, kwargs)
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        if not state["found_inf_per_device"]:
            raise assertion_error(
                "No inf checks were recorded for this optimizer.",
                "None of its parameters has a gradient: was the scaled loss differentiated?",
            )
        result = self._maybe_opt_step(optimizer, state, *args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def _step_with_scale(
        self, optimizer: OptimizerLike, state: dict, args: tuple, kwargs: dict
    ) -> Any:
        """A step of an optimizer that takes the scale out of gradients itself."""
        if "grad_scaler" in inspect.signature(optimizer.step).parameters:
            deprecated(
                "GradScaler is going to stop passing itself as a keyword argument to the passed "
                "optimizer. In the near future GradScaler registers `grad_scale: Tensor` and "
                "`found_inf: Tensor` to the passed optimizer and let the optimizer use them "
                "directly.",
                3,
            )
            result = optimizer.step(*args, **kwargs, grad_scaler=self)
            state["stage"] = OptState.STEPPED
            return result
        if state["stage"] is OptState.READY:
            self._check_inf_per_device(optimizer)
        scale = self._scale
        found = sum(state["found_inf_per_device"].values(), full((), 0.0, dtype=float32))
        optimizer.grad_scale = None if state["stage"] is OptState.UNSCALED else scale
        optimizer.found_inf = found
        result = optimizer.step(*args, **kwargs)
        state["stage"] = OptState.STEPPED
        del optimizer.grad_scale, optimizer.found_inf
        return result

    def update(self, new_scale: Any = None) -> None:
        """Let the scale rise or fall by what the steps found, or be `new_scale`.

        >>> scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
        >>> loss = scaler.scale(torch.tensor(1.0))
        >>> scaler.update(16.0)
        >>> scaler.get_scale()
        16.0
        """
        if not self._enabled:
            return
        scale, tracker = self._check_scale_growth_tracker("update")
        if new_scale is not None:
            self._set_scale(new_scale)
        else:
            found = [
                v
                for state in self._per_optimizer_states.values()
                for v in state["found_inf_per_device"].values()
            ]
            if not found:
                raise assertion_error("No inf checks were recorded prior to update.", _ORDER)
            self._change_scale(scale, tracker, any(v.item() for v in found))
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    def _set_scale(self, new_scale: Any) -> None:
        if isinstance(new_scale, float):
            self._scale.fill_(new_scale)
            return
        if (
            new_scale.device.type != self._device
            or new_scale.numel() != 1
            or new_scale.requires_grad
        ):
            raise assertion_error(
                "new_scale should be a float or a 1-element torch.cuda.FloatTensor or "
                "torch.FloatTensor with requires_grad=False.",
                "Pass a float.",
            )
        self._scale.copy_(new_scale)

    def _change_scale(self, scale: Any, tracker: Any, bad: bool) -> None:
        with no_grad():
            if bad:
                scale.mul_(self._backoff_factor)
                tracker.fill_(0)
                return
            good = tracker.item() + 1
            if good == self._growth_interval:
                grown = scale * self._growth_factor
                if bool(grown.isfinite()):
                    scale.copy_(grown)
                good = 0
            tracker.fill_(good)


def _anywhere(bad: bool, optimizer: OptimizerLike) -> bool:
    """Whether inf or nan was found here, or on a rank that has other parts of the gradients."""
    params = [p for group in optimizer.param_groups for p in group["params"]]
    for param in {p.device_mesh: p for p in params if isinstance(p, SHARDED[0])}.values():
        bad = param._anywhere(bad)
    return bad


class OlderScaler(GradScaler):
    """A GradScaler by the name that it had for one kind of device, which warns."""

    _kind: str

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        warn_of_device(self._kind, "GradScaler")
        options = (init_scale, growth_factor, backoff_factor, growth_interval, enabled)
        super().__init__(self._kind, *options)
