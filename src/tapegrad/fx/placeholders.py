"""Values of `concrete_args` that stay inputs of a traced function."""

from typing import Any


class PHBase:
    """In `concrete_args`, a place that stays an input of the traced function."""

    def __repr__(self) -> str:
        return "PH"


PH = PHBase()


class PHWithMeta(PHBase):
    """A place whose node is given what is known of it."""

    def __init__(self, ph_key: str | None = None) -> None:
        self.ph_key = ph_key

    def __repr__(self) -> str:
        return f"PHWithMeta({self.ph_key})"

    def transfer_attrs(self, other: Any) -> None:
        """Give `other` the attributes of this one."""
        vars(other).update({k: v for k, v in vars(self).items() if not k.startswith("__")})
