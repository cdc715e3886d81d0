"""`torch.__future__`: how modules are converted, and states loaded; one day the other way."""

from tapegrad.nn.convert import CONVERSION


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Whether `module.to(...)` makes new parameters, instead of changing those that there are.

    >>> torch.__future__.set_overwrite_module_params_on_conversion(False)
    """
    CONVERSION["overwrite"] = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Whether `module.to(...)` makes new parameters.

    >>> torch.__future__.get_overwrite_module_params_on_conversion()
    False
    """
    return CONVERSION["overwrite"]


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Whether `module.to(...)` and `load_state_dict` swap parameters, by `swap_tensors`.

    >>> torch.__future__.set_swap_module_params_on_conversion(False)
    """
    CONVERSION["swap"] = value


def get_swap_module_params_on_conversion() -> bool:
    """Whether modules swap their parameters.

    >>> torch.__future__.get_swap_module_params_on_conversion()
    False
    """
    return CONVERSION["swap"]
