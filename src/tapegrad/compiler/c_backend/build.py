"""From a recorded program to a function: `build` is what the rest of the compiler calls."""

from tapegrad.arrays.traced import source as python_source
from tapegrad.arrays.traced.program import Program, Value
from tapegrad.compiler.c_backend import cache, recipes
from tapegrad.compiler.c_backend.toolchain import compiler
from tapegrad.core.annotations import Any, Sequence


def build(program: Program, outputs: Sequence[Value], **options: Any) -> Any:
    """A function of the inputs of a program that gives its outputs.

    Where its results are large, and what it asks of numbers is asked in C, the function has
    `check(*inputs)`, which raises Changed where the program does not hold: whoever has its last
    results may let go of them before it runs. It is None otherwise.

    Args:
        program: what was recorded
        outputs: the values whose arrays it gives
        options: `names`, a dict from numbers of values to names in the C source

    Raises:
        CompilerMissing: there is no C compiler that works, or nowhere to keep what it makes
        Unsupported: a program that this backend cannot express
    """
    names = options.get("names") or {}
    compiles = compiler()
    key = recipes.key_of(program, outputs, names, compiles.identity)
    found = None if key is None else recipes.find(key, program)
    if found is not None:
        recipe, library, check = found
    else:
        from tapegrad.compiler.c_backend.lowered import Compiled  # which takes long to import

        constants = list(program.constants)  # lowering may add some
        recipe = Compiled(program, outputs, names).recipe
        library = cache.library(recipe.source, compiles)
        check = recipe.check and cache.library(recipe.check.source, compiles)
        if key is not None:
            recipes.keep(key, recipe, compiles, constants)
    scope = python_source.scope_of(program)
    run = recipe.bound_to(library, scope)
    if recipe.check is not None:
        run.check = recipe.check.bound_to(check, scope)
    return run
