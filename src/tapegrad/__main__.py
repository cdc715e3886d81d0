"""The command line: `python -m tapegrad demo`, `run`, `profile`, `graph`, `compile`, `where`, ...

`enable`, `disable` and `status` are about the environment: what its `import torch` gives.
"""

import argparse
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the command line says; the result is the exit status."""
    parser = _parser()
    words = list(sys.argv[1:] if argv is None else argv)
    args: list[str] = []  # of the script, where ours come after its name: what follows a --
    if words[:1] in (["graph"], ["explain"], ["profile"]) and "--" in words:
        at = words.index("--")
        words, args = words[:at], words[at + 1 :]
    if words[:1] == ["torchrun"]:
        from tapegrad.distributed.run import main as torchrun

        return torchrun(words[1:])
    options = parser.parse_args(words)
    if options.command == "demo":
        from tapegrad.demo import demo

        demo(seed=options.seed)
        return 0
    if options.command == "run":
        from tapegrad.compat.script import run

        return run(options.script, options.args, options.module)
    if options.command == "graph":
        from tapegrad.inspect.command import graph_of

        return graph_of(options.script, args, options.of, options.output)
    if options.command == "explain":
        from tapegrad.inspect.command import explanation_of

        return explanation_of(options.script, args, options.of)
    if options.command == "profile":
        from tapegrad.inspect.command import profile_script

        return profile_script(options.script, options.output, args)
    if options.command == "compile":
        from tapegrad.compiler.script import compile_script

        return compile_script(options.script, options.args)
    if options.command == "where":
        from tapegrad.inspect.where import print_where

        return print_where(options.names)
    if options.command == "stubs":
        from tapegrad.compat.type_stubs import command as write_stubs

        return write_stubs(options.folder)
    if options.command == "doctor":
        from tapegrad.compat.doctor import command as examine

        return examine(options.script)
    if options.command == "ranks":
        from tapegrad.inspect.ranks import ranks

        print(ranks(options.address))
        return 0
    if options.command in ("enable", "disable", "status"):
        from tapegrad.compat.environment import command

        return command(options.command, getattr(options, "force", False))
    parser.print_help()
    return 2


def _parser():
    from tapegrad.version import __version__

    parser = argparse.ArgumentParser(
        prog="tapegrad", description="PyTorch's autograd in readable Python."
    )
    parser.add_argument("--version", action="version", version=f"tapegrad {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    demo = commands.add_parser("demo", help="train a network on handwritten digits, in seconds")
    demo.add_argument("--seed", type=int, default=0, help="another seed, another run (default: 0)")

    run = commands.add_parser("run", help="run a script whose `import torch` is tapegrad")
    run.add_argument("-m", dest="module", action="store_true", help="SCRIPT is a module's name")
    run.add_argument("script", metavar="SCRIPT", help="the Python file")
    run.add_argument("args", nargs=argparse.REMAINDER, help="its arguments")

    commands.add_parser("torchrun", help="run a script in several ranks, which mpiexec starts")

    ranks = commands.add_parser("ranks", help="say where the ranks of a run are, and who waits")
    ranks.add_argument(
        "address", metavar="HOST:PORT", help="MASTER_ADDR and MASTER_PORT of the run"
    )

    graph = commands.add_parser(
        "graph",
        help="run a script and draw the graph of a tensor",
        usage="tapegrad graph [-h] SCRIPT [--of NAME] [-o FILE] [-- ARGS...]",
    )
    graph.add_argument("script", metavar="SCRIPT", help="the Python file")
    graph.add_argument("--of", default="loss", metavar="NAME", help="its variable (default: loss)")
    graph.add_argument(
        "-o",
        dest="output",
        default="graph.html",
        metavar="FILE",
        help="where to: .html, .svg, .dot, .mmd, .md or .txt (default: graph.html)",
    )

    explain = commands.add_parser(
        "explain",
        help="run a script and say where gradients were lost",
        usage="tapegrad explain [-h] SCRIPT [--of NAME]... [-- ARGS...]",
    )
    explain.add_argument("script", metavar="SCRIPT", help="the Python file")
    explain.add_argument(
        "--of",
        action="append",
        default=[],
        metavar="NAME",
        help="a tensor, again for another one (default: every leaf without a gradient)",
    )

    profile = commands.add_parser(
        "profile",
        help="run a script and write where its time goes",
        usage="tapegrad profile [-h] SCRIPT [-o TRACE] [-- ARGS...]",
    )
    profile.add_argument("script", metavar="SCRIPT", help="the Python file")
    profile.add_argument(
        "-o",
        dest="output",
        default="trace.json",
        metavar="TRACE",
        help="where to, .gz compresses it (default: trace.json)",
    )

    compiling = commands.add_parser(
        "compile", help="run a script as it is and compiled, and say what that gains"
    )
    compiling.add_argument("script", metavar="SCRIPT", help="the Python file")
    compiling.add_argument("args", nargs=argparse.REMAINDER, help="its arguments")

    where = commands.add_parser("where", help="say where a name is declared, derived and tested")
    where.add_argument("names", nargs="+", metavar="NAME", help="such as tanh, nn.LayerNorm")

    doctor = commands.add_parser(
        "doctor", help="say which names of torch a script uses that are missing here, or differ"
    )
    doctor.add_argument("script", metavar="SCRIPT", help="the Python file; it is not run")

    stubs = commands.add_parser(
        "stubs", help="write stubs, so that editors and type checkers know `import torch`"
    )
    stubs.add_argument(
        "folder", nargs="?", default="typings", metavar="FOLDER", help="where (default: typings)"
    )

    enable = commands.add_parser(
        "enable", help="let every process of this environment import tapegrad as torch"
    )
    enable.add_argument("--force", action="store_true", help="even where PyTorch is installed")
    commands.add_parser("disable", help="undo enable")
    commands.add_parser("status", help="say which torch this environment imports")
    return parser


if __name__ == "__main__":
    sys.exit(main())
