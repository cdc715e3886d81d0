"""Tracebacks without tapegrad's own frames: they end at the line of the program that failed.

`tapegrad run` and IPython show them so; `TAPEGRAD_TRACEBACK=full` has them whole.
"""

import os
import sys
from types import CodeType, TracebackType
from typing import Any

from tapegrad import compat

_PACKAGE = os.path.dirname(os.path.dirname(compat.__file__)) + os.sep


def hide_in_ipython() -> None:
    """Let the shell that runs, if one does, show errors without tapegrad's frames.

    A shell that handles errors in a way of its own keeps it.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None and not shell.custom_exceptions:
        shell.set_custom_exc((Exception,), _show_in_ipython)


def _show_in_ipython(
    shell: Any, kind: type, error: BaseException, traceback: TracebackType, tb_offset: Any = None
) -> None:
    said = hide(error)
    shell.showtraceback((kind, error, error.__traceback__), tb_offset=tb_offset)
    if said:
        print(said, file=sys.stderr)


def hide(error: BaseException) -> str:
    """Take tapegrad's frames out of the tracebacks of `error` and of those that led to it.

    Returns: a line about how many they were; "" where there were none but such as find a name.
    """
    if os.environ.get("TAPEGRAD_TRACEBACK") == "full":
        return ""
    hidden, seen = 0, set()
    errors: list[BaseException | None] = [error]
    while errors:
        each = errors.pop()
        if each is not None and id(each) not in seen:
            seen.add(id(each))
            hidden += _hide_frames(each)
            errors += [each.__cause__, each.__context__, *getattr(each, "exceptions", ())]
    frames = "frame" if hidden == 1 else "frames"
    shows = f"({hidden} {frames} of tapegrad: TAPEGRAD_TRACEBACK=full shows them)"
    return shows if hidden else ""


def _hide_frames(error: BaseException) -> int:
    links = []
    link = error.__traceback__
    while link is not None:
        links.append(link)
        link = link.tb_next
    kept = [each for each in links if not _is_ours(each.tb_frame.f_code)]
    if not kept:
        return 0
    for one, following in zip(kept, [*kept[1:], None], strict=True):
        one.tb_next = following
    error.__traceback__ = kept[0]
    codes = [each.tb_frame.f_code for each in links]
    return sum(_is_ours(code) and not _only_finds(code) for code in codes)


def _is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith(_PACKAGE)


def _only_finds(code: CodeType) -> bool:
    """Whether a frame of `code` finds a module or a name, and would be C in plain Python."""
    return code.co_filename == compat.__file__ or code.co_name == "__getattr__"
