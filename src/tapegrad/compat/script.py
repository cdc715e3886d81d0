"""Running a script as `python SCRIPT` does, with `import torch` served by tapegrad."""

import os
import sys
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from types import ModuleType

from tapegrad.compat import children, tracebacks
from tapegrad.core.started_place import started_place

_RUNNERS = (__file__, "<frozen runpy>")  # the files of the frames above a program's first


def run(script: str, args: Sequence[str] = (), module: bool = False) -> int:
    """Run the file `script` as `__main__`, with `args` in `sys.argv`; 0 when it has ended.

    What the script raises passes through, SystemExit with its status included; its traceback is
    printed without tapegrad's frames. Where MPI or Slurm started this process with others, the
    variables of `torchrun` are set, and a script that fails ends all of them.

    Args:
        module: `script` is the name of a module.
    """
    if (end_all := _begin_rank()) is None:
        return _run_module(script, args) if module else _run_file(script, args)
    try:
        return _run_module(script, args) if module else _run_file(script, args)
    except SystemExit as error:
        if isinstance(error.code, int) and error.code:
            end_all(error.code)
        elif error.code is not None and error.code != 0:
            end_all(1, str(error.code))
        raise


def _begin_rank():
    """Make this process one of several ranks if it is; what ends all of them."""
    place = started_place()
    if place is None or place.size == 1:
        return None
    from tapegrad.distributed.failure import end_all, mark_tracebacks
    from tapegrad.distributed.launch_variables import set_launch_variables

    set_launch_variables()
    mark_tracebacks(int(os.environ.get("RANK", place.rank)))
    return end_all


def _run_module(name, args):
    """`python -m name args`."""
    import runpy

    children.serve()
    sys.argv = [name, *args]
    sys.path[0:0] = [] if sys.flags.safe_path else [os.getcwd()]
    try:
        _showing_its_frames(runpy.run_module, name, run_name="__main__", alter_sys=True)
    except ImportError as error:
        if _first_frame(error) is not None:
            raise
        # Raised by runpy itself: there is no such module, or it is none that can be run.
        print(f"{sys.executable}: {error}", file=sys.stderr)
        return 1
    return 0


def _run_file(script, args):
    path = absolute(script)
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        reason = f"[Errno {error.errno}] {error.strerror}"
        print(f"tapegrad: can't open file {path!r}: {reason}", file=sys.stderr)
        return 2
    children.serve()
    sys.argv = [script, *args]
    if not sys.flags.safe_path:
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    main = _main_module(path)
    _showing_its_frames(_run_source, source, path, main)
    return 0


def absolute(script: str) -> str:
    """What `__file__` is in a script."""
    return os.path.abspath(script)


def _main_module(path):
    """A fresh `__main__` that has what Python gives to a script."""
    main = ModuleType("__main__")
    main.__file__ = path
    main.__cached__ = None
    main.__loader__ = SourceFileLoader("__main__", path)
    main.__builtins__ = sys.modules["builtins"]
    main.__annotations__ = {}
    sys.modules["__main__"] = main
    return main


def _run_source(source, path, main):
    exec(compile(source, path, "exec", dont_inherit=True), main.__dict__)


def _showing_its_frames(run, *args, **options):
    """Call `run`; a traceback that Python prints at the end has the program's own frames."""
    try:
        run(*args, **options)
    except SystemExit:
        raise
    except BaseException as error:
        # Python itself prints the traceback and chooses the exit status; only the frames differ.
        _show_without_our_frames(error)
        raise


def _show_without_our_frames(error):
    error.__traceback__ = _first_frame(error)
    said = tracebacks.hide(error)
    traceback, show = error.__traceback__, sys.excepthook

    def excepthook(kind, error, _):
        show(kind, error.with_traceback(traceback), traceback)
        if said:
            print(said, file=sys.stderr)

    sys.excepthook = excepthook


def _first_frame(error):
    """The program's first frame in a traceback; None where it has none."""
    link = error.__traceback__
    while link is not None and link.tb_frame.f_code.co_filename in _RUNNERS:
        link = link.tb_next
    return link
