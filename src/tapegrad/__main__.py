"""The command line: `python -m tapegrad demo` and `python -m tapegrad run SCRIPT [args...]`."""

import argparse
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the command line says; the result is the exit status."""
    parser = _parser()
    options = parser.parse_args(argv)
    if options.command == "demo":
        from tapegrad.demo import demo

        demo(seed=options.seed)
        return 0
    if options.command == "run":
        from tapegrad.script import run

        return run(options.script, options.args)
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
    run.add_argument("script", metavar="SCRIPT", help="the Python file")
    run.add_argument("args", nargs=argparse.REMAINDER, help="its arguments")
    return parser


if __name__ == "__main__":
    sys.exit(main())
