"""Kernels of matrices, which take batches as they are: the batch is one more leading axis."""

from tapegrad.arrays.batched.array import Batched, closed, opened, spread, top_level
from tapegrad.arrays.batched.below import for_batch, plain, values_of
from tapegrad.arrays.kernel import batching_rule
from tapegrad.arrays.namespaces import namespace_of
from tapegrad.core.annotations import Any, Array, Callable, LevelLike, Namespace, Sequence


def leading(arrays: Sequence[Array], cores: Any, factors: tuple[int, ...] = ()) -> tuple[Any, list]:
    """The level, and values with the batch first and equally many axes before the last `cores`.

    Those at `factors` may be missing: empty, because they were not computed.
    """
    level, values, mapped = opened(arrays)
    if level is None or True not in mapped:
        return level, values
    missing_ones = [i for i in factors if _is_missing(arrays[i])]
    ranks = [len(x.shape) - core for x, core in zip(arrays, cores, strict=True)]
    rank = max(n for i, n in enumerate(ranks) if i not in missing_ones)
    found = []
    for i, value in enumerate(values):
        if i in missing_ones:
            found.append(value)
            continue
        whole = value if mapped[i] else spread(value, level.size)
        missing = rank - ranks[i]
        if missing:
            whole = whole.reshape((whole.shape[0], *(1,) * missing, *whole.shape[1:]))
        found.append(whole)
    return level, found


def _is_missing(x: Array) -> bool:
    """Whether an array is an empty one that stands for what was not computed."""
    return type(x) is Batched and not (x.mapped or x.value.size)


def _kernel(
    name: str, *cores: int, find: Callable | None = None, factors: tuple[int, ...] = ()
) -> Callable:
    def function(*args: object, **params: object) -> Any:
        arrays, rest = args[: len(cores)], args[len(cores) :]
        if top_level(arrays) is None:
            return (find(None) if find else plain(name))(*args, **params)
        level, values = leading(arrays, cores, factors)
        mapped = any(type(x) is Batched and x.level is level and x.mapped for x in arrays)
        xp = namespace_of([v for v in values if hasattr(v, "shape")])
        kernel = find(xp) if find else getattr(xp, name)
        return _closed(level, kernel(*values, *rest, **params), mapped)

    function.__name__ = name
    return function


def _closed(level: LevelLike, out: Array, mapped: bool) -> Any:
    """The same, but empty arrays without the batch stand for what was not computed."""
    if not isinstance(out, tuple):
        return closed(level, out, mapped)
    parts = [closed(level, x, mapped and (x.size > 0 or len(x) == level.size)) for x in out]
    return type(out)._make(parts) if hasattr(out, "_make") else tuple(parts)


cholesky_factor = batching_rule(_kernel("cholesky_factor", 2))
cofactor_change = batching_rule(_kernel("cofactor_change", 2, 2))
cofactors = batching_rule(_kernel("cofactors", 2))
definite_solution = batching_rule(_kernel("definite_solution", 2, 2))
determinants = batching_rule(_kernel("determinants", 2))
invert = batching_rule(_kernel("invert", 2))
ldl_packed = batching_rule(_kernel("ldl_packed", 2))
ldl_solution = batching_rule(_kernel("ldl_solution", 2, 1, 2))
least_squares = batching_rule(_kernel("least_squares", 2, 2))
lu_packed = batching_rule(_kernel("lu_packed", 2))
lu_solution = batching_rule(_kernel("lu_solution", 2, 1, 2))
matrix_exponential = batching_rule(_kernel("matrix_exponential", 2))
pair_distances = batching_rule(_kernel("pair_distances", 2, 2))
pull_distances = batching_rule(_kernel("pull_distances", 2, 2, 2, 2))
push_distances = batching_rule(_kernel("push_distances", 2, 2, 2, 2))
reflectors = batching_rule(_kernel("reflectors", 2))
solution = batching_rule(_kernel("solution", 2, 2))
solve_again = batching_rule(_kernel("solve_again", 2, 2, 1, 2, factors=(1, 2)))
triangular_factor = batching_rule(_kernel("triangular_factor", 2))
triangular_solution = batching_rule(_kernel("triangular_solution", 2, 2))


_solved = _kernel("solve_systems", 2, 2)


@batching_rule
def solve_systems(a: Array, b: Array) -> Any:
    x, *factors = _solved(a, b)
    lead = tuple(a.shape[:-2])  # factors are of A alone, whatever axes B has
    for i, core in enumerate((0, 2, 1)):
        part = factors[i]
        if part.size and len(part.shape) - core != len(lead):
            factors[i] = part.reshape((*lead, *part.shape[len(part.shape) - core :]))
    return (x, *factors)


@batching_rule
def permutation_matrix(pivots: Array, n: int, like: Array) -> Any:
    level, (value, own), (mapped, _) = opened((pivots, like))
    if level is None:
        return plain("permutation_matrix")(pivots, n, like)
    kernel = namespace_of((value,)).permutation_matrix
    return closed(level, kernel(value, n, own), mapped)


@batching_rule
@for_batch
def places_in(level: LevelLike, sequence: Any, values: Array, right: bool) -> Any:
    _, (line, value), (is_own, _) = opened((sequence, values))
    if not is_own and len(sequence.shape) == 1:  # one sequence for all
        return closed(level, namespace_of((line, value)).places_in(line, value, right), True)
    line, value = values_of(level, sequence, values)
    whole = value.shape
    if len(sequence.shape) == 1:
        value = value.reshape((whole[0], -1 if value.size else 0))
    out = namespace_of((line, value)).places_in(line, value, right)
    return closed(level, out.reshape(whole), True)


@batching_rule
class linalg:
    """The array standard's extension for linear algebra."""

    @staticmethod
    def _of(name: str) -> Callable:
        def find(xp: Namespace) -> Callable:
            return getattr((xp if xp is not None else _numpy()).linalg, name)

        return find

    cholesky = staticmethod(_kernel("cholesky", 2, find=_of("cholesky")))
    det = staticmethod(_kernel("det", 2, find=_of("det")))
    diagonal = staticmethod(_kernel("diagonal", 2, find=_of("diagonal")))
    eig = staticmethod(_kernel("eig", 2, find=_of("eig")))
    eigh = staticmethod(_kernel("eigh", 2, find=_of("eigh")))
    eigvals = staticmethod(_kernel("eigvals", 2, find=_of("eigvals")))
    eigvalsh = staticmethod(_kernel("eigvalsh", 2, find=_of("eigvalsh")))
    inv = staticmethod(_kernel("inv", 2, find=_of("inv")))
    matrix_norm = staticmethod(_kernel("matrix_norm", 2, find=_of("matrix_norm")))
    qr = staticmethod(_kernel("qr", 2, find=_of("qr")))
    slogdet = staticmethod(_kernel("slogdet", 2, find=_of("slogdet")))
    solve = staticmethod(_kernel("solve", 2, 2, find=_of("solve")))
    svd = staticmethod(_kernel("svd", 2, find=_of("svd")))
    svdvals = staticmethod(_kernel("svdvals", 2, find=_of("svdvals")))


def _numpy() -> Any:
    from tapegrad.arrays.numpy import namespace as numpy_namespace

    return numpy_namespace
