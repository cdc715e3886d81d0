"""From a recorded program to a function: `build` is what the rest of the compiler calls."""

from tapegrad.arrays.traced import source as python_source
from tapegrad.arrays.traced.program import Program, Value
from tapegrad.compiler.c_backend import recipes
from tapegrad.compiler.c_backend.recipe import Recipe
from tapegrad.compiler.c_backend.sizes import Sizes
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
        options: `names`, a dict from numbers of values to names in the C source; `sizes`, the
            programs with which this one may have a compiled file in common; `is_timed`: the
            function notes in its list `ends` when each segment has ended, in nanoseconds

    Raises:
        CompilerMissing: there is no C compiler that works, or nowhere to keep what it makes
        Unsupported: a program that this backend cannot express
    """
    names, is_timed = options.get("names") or {}, options.get("is_timed", False)
    sizes = options.get("sizes") or Sizes()
    key = None if is_timed else recipes.key_of(program, outputs, names, compiler().identity)
    recipe = None if key is None else recipes.find(key, program)
    is_new = recipe is None
    if recipe is None:
        from tapegrad.compiler.c_backend.lowered import Compiled  # which takes long to import

        constants = list(program.constants)  # lowering may add some
        recipe = Compiled(program, outputs, names, is_timed=is_timed).recipe
    scope = python_source.scope_of(program)
    run = _bound(recipe, sizes, scope)
    if recipe.check is not None:
        run.check = _bound(recipe.check, sizes.checks, scope)
    if is_new and key is not None:
        recipes.keep(key, recipe, constants)
    return run


def _bound(recipe: Recipe, sizes: Sizes, scope: dict[str, Any]) -> Any:
    """What calls the library of a recipe."""
    library, arguments = sizes.library(recipe.source)
    run = recipe.bound_to(library, scope)
    run.n_sizes = 0 if arguments is None else len(arguments)
    return run if arguments is None else arguments.given_to(run)
