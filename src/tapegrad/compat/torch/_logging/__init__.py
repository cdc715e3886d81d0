"""`torch._logging`: how much PyTorch's parts say, by `set_logs`.

The parts of the compiler say nothing here; loggers of other names get the level that is asked for.
"""

import functools
import logging
from importlib.util import find_spec
from typing import Any

from tapegrad.compat.torch._logging.names import ARTIFACTS, LOGGERS
from tapegrad.core import errors as _errors
from tapegrad.core.missing import refuses as _refuses

__all__ = ["getArtifactLogger", "set_logs", "warning_once"]

_LEVELS = sorted({*logging.getLevelNamesMapping().values()}, reverse=True)
_set: dict[str, int] = {}


def set_logs(
    *,
    all: int | None = None,
    modules: dict[str, int | bool] | None = None,
    **logs: int | bool | None,
) -> None:
    """Let parts of PyTorch say more: a level for each, True for kinds of messages.

    What an earlier call set is forgotten.

    Raises:
        TypeError: There is no part and no kind of message of the name.
        ValueError: A level that is none, or a kind of message that is neither True nor False.

    >>> import logging
    >>> torch._logging.set_logs(distributed=logging.INFO)
    >>> logging.getLogger("torch.distributed").level == logging.INFO
    True
    >>> torch._logging.set_logs()
    """
    for name in logs:
        if name not in LOGGERS and name not in ARTIFACTS:
            raise _errors.type_error(
                f"set_logs() got an unexpected keyword argument '{name}'",
                f"There are {', '.join([*LOGGERS, *ARTIFACTS])}.",
            )
    wanted: dict[str, int] = {}
    if all is not None:
        wanted |= dict.fromkeys([each for own in LOGGERS.values() for each in own], all)
    for name, value in {**logs, **(modules or {})}.items():
        if value is None:
            continue
        if name in ARTIFACTS:
            if not isinstance(value, bool):
                raise ValueError(f"Expected bool to enable artifact {name}, received {value}")
        elif name in LOGGERS or find_spec(name) is not None:
            if value not in _LEVELS:
                levels = ",".join(map(str, _LEVELS))
                raise ValueError(
                    f"Unrecognized log level for log {name}: {value}, valid level values are: "
                    f"{levels}"
                )
            wanted |= dict.fromkeys(LOGGERS.get(name, (name,)), value)
        else:
            raise ValueError(
                f"Unrecognized log name {name} passed to set_logs. If this is a module, it must be "
                "importable."
            )
    for name in _set.keys() - wanted.keys():
        logging.getLogger(name).setLevel(logging.NOTSET)
    _set.clear()
    _set.update(wanted)
    for name, level in wanted.items():
        logging.getLogger(name).setLevel(level)


def getArtifactLogger(module_qname: str, artifact_name: str) -> logging.Logger:
    """The logger of a kind of messages of a module.

    Raises:
        ValueError: There is no such kind.
    """
    if artifact_name not in ARTIFACTS:
        raise ValueError(
            f"Artifact name: {artifact_name!r} not registered,please call "
            f"register_artifact({artifact_name!r}) in torch._logging.registrations."
        )
    return logging.getLogger(f"{module_qname}.__{artifact_name}")


@functools.lru_cache(None)
def warning_once(logger_obj: logging.Logger, *args: Any, **kwargs: Any) -> None:
    """Warn by a logger, of the same text only once."""
    logger_obj.warning(*args, **kwargs)


__getattr__ = _refuses(__name__)
