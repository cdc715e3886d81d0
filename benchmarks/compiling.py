"""Rows of `torch.compile`: tapegrad's step compiled, PyTorch's as it is, JAX's by `jax.jit`.

The work of a row prepares its data and returns a step without arguments, which returns what has to
be computed. tapegrad's is compiled in the first sample to warm up, so that what recording and
compiling hold counts as peak memory. A sample is so many steps that they take some milliseconds:
what caches hold after the other libraries' turn is theirs, and the first steps would be most of it.
"""

from row import CPU, JAX, TAPEGRAD, TORCH, WALL, Row, memory, ratio

BACKENDS = {"c": "C", "numpy": "NumPy source"}


class NotCompiled(RuntimeError):
    """A step that would have been measured as something else than the row says."""


def compiled(torch, step, backend):
    """`step` as a program, C or NumPy source, that is ready to run."""
    function = torch.compile(step, backend=backend, fullgraph=True)
    for _ in range(4):
        function()
    function.wait()
    about = function.explain()
    if [each["backend"] for each in about.programs] != [BACKENDS[backend]]:
        raise NotCompiled(str(about))
    return function


def tensors(work, backend, count):
    """What tapegrad and PyTorch do in a row: `count` steps in a sample."""

    def prepare(torch):
        step = work(torch)
        is_ready = torch.__name__ != TAPEGRAD

        def steps():
            nonlocal step, is_ready
            if not is_ready:
                step, is_ready = compiled(torch, step, backend), True
            for _ in range(count):
                step()

        return steps

    return prepare


def jitted(work, count):
    """What JAX does in a row; a sample ends when all of it is computed."""

    def prepare(jax):
        step = work(jax)

        def steps():
            for _ in range(count):
                results = step()
            jax.block_until_ready(results)

        return steps

    return prepare


def row(name, title, work, limit, backend="c", count=1, jax=None, jax_limit=1.0, **options):
    """The row of a step that is compiled by one backend."""
    clock = options.get("clock", CPU)
    bounds = [ratio(TORCH, limit, clock)]
    if jax is not None:
        bounds.append(ratio(JAX, jax_limit, clock))
    if options.get("peak"):
        bounds.append(memory(TORCH, 1.0))
    return Row(
        f"compile_{backend}_{name}",
        f"{title}, compiled to {BACKENDS[backend]}",
        tensors(work, backend, count),
        jitted=None if jax is None else jitted(jax, count),
        count=count,
        bounds=tuple(bounds),
        **{"per": "step", "repeats": 9, **options},
    )


def rows(name, title, work, c, numpy, jax, jax_limit=1.0, **options):
    """The rows of both backends; JAX takes part in that of C."""
    found = [row(name, title, work, c, "c", jax=jax, jax_limit=jax_limit, **options)]
    if numpy is not None:
        found.append(row(name, title, work, numpy, "numpy", **options))
    return found


def all_cores(name, title, work, limit, **options):
    """The row of C on all cores, judged by wall time."""
    return row(f"{name}_all_cores", title, work, limit, clock=WALL, pinned=False, **options)
