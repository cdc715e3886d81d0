"""What a GradScaler is set to: asking for it, changing it, saving it."""

from __future__ import annotations

from typing import Any

from tapegrad.core.errors import assertion_error, runtime_error

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

    def _get_scale_async(self) -> Any:
        return self._scale

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
