"""Passes one after the other, in an order that keeps what they ask of it."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.fx.graph_module import GraphModule
from tapegrad.fx.passes.infra.pass_base import PassResult
from tapegrad.nn import Module

__all__ = ["PassManager"]

Pass = Callable[..., Any]


def pass_result_wrapper(fn: Pass) -> Pass:
    """A pass that gives a `PassResult`, of one that changes the module and gives nothing.

    >>> from tapegrad import fx
    >>> from tapegrad.fx.passes.infra.pass_manager import pass_result_wrapper
    >>> pass_result_wrapper(lambda module: None)(fx.symbolic_trace(lambda x: x)).modified
    True
    """
    if fn is None:
        return None

    @wraps(fn)
    def wrapped(module: Any) -> PassResult:
        result = fn(module)
        if result is None:
            return PassResult(module, True)
        return result if isinstance(result, PassResult) else PassResult(result, True)

    if not hasattr(fn, "__name__"):
        wrapped.__name__ = str(type(fn))
    return wrapped


def this_before_that_pass_constraint(this: Pass, that: Pass) -> Callable[[Pass, Pass], bool]:
    """A constraint: `this` runs before `that`.

    >>> from tapegrad.fx.passes.infra.pass_manager import this_before_that_pass_constraint
    >>> this_before_that_pass_constraint(len, print)(print, len)
    False
    """

    def holds(a: Pass, b: Pass) -> bool:
        return not (a == that and b == this)

    return holds


def _validate_pass_schedule_constraint(
    constraint: Callable[[Pass, Pass], bool], passes: list[Pass]
) -> None:
    for i, a in enumerate(passes):
        for j, b in enumerate(passes[i + 1 :], i + 1):
            if not constraint(a, b):
                raise RuntimeError(
                    f"pass schedule constraint violated. Expected {a} before {b} but found {a} at "
                    f"index {i} and {b} at index{j} in pass list."
                )


class PassManager:
    """Runs passes over a module, up to `steps` times, until none of them changes it.

    Args:
        passes: functions of a module, or `PassBase` objects, that give a `PassResult`.
        constraints: functions of two passes: whether the first may run before the second.
        steps: how often all are run at most.
        run_checks_after_each_pass: whether `add_checks`'s checks follow each pass.
        suppress_check_failures: whether nothing is checked.

    Raises: TypeError where a pass gives no `PassResult`; Exception, with the names of the passes
    before, where one fails; RuntimeError where the order breaks a constraint.

    >>> from tapegrad import fx
    >>> from tapegrad.fx.passes.infra.pass_base import PassResult
    >>> from tapegrad.fx.passes.infra.pass_manager import PassManager
    >>> PassManager([lambda m: PassResult(m, False)])(fx.symbolic_trace(lambda x: x)).modified
    False
    """

    def __init__(
        self,
        passes: list[Pass] | None = None,
        constraints: list[Callable[[Pass, Pass], bool]] | None = None,
        steps: int | None = None,
        run_checks_after_each_pass: bool = False,
        suppress_check_failures: bool = False,
    ) -> None:
        self.passes: list[Pass] = passes or []
        self.constraints = constraints or []
        self.steps = steps or 1
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures
        self._validated = False

    def add_pass(self, _pass: Pass) -> None:
        """Add a pass at the end."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Callable[[Pass, Pass], bool]) -> None:
        """Add a constraint."""
        self.constraints.append(constraint)
        self._validated = False

    def validate_constraints(self) -> None:
        """Check that the order of the passes keeps all constraints."""
        if self._validated:
            return
        for constraint in self.constraints:
            _validate_pass_schedule_constraint(constraint, self.passes)
        self._validated = True

    def solve_constraints(self) -> None:
        """Put the passes in an order that keeps the constraints.

        Raises: RuntimeError where there is none.
        """
        left, ordered = list(self.passes), []
        while left:
            free = next(
                (
                    each
                    for each in left
                    if all(c(each, b) for b in left if b is not each for c in self.constraints)
                ),
                None,
            )
            if free is None:
                raise RuntimeError(
                    f"Circular dependency detected within the following passes: {left}"
                )
            left.remove(free)
            ordered.append(free)
        self.passes = ordered
        self._validated = True

    def add_checks(self, check: Callable[[Module], None]) -> None:
        """Let `check(module)` be run after the passes.

        Raises: TypeError where it takes more or less than a module.
        """
        import inspect

        if len(inspect.signature(check).parameters) != 1:
            raise TypeError("PassManager check function should only take in one variable, a module")
        self.check = check  # type: ignore[method-assign, assignment]

    def check(self, module: Any) -> None:
        """Nothing, until `add_checks`."""

    def __call__(self, module: Module) -> PassResult:
        if not self._validated:
            self.solve_constraints()
        if not self.suppress_check_failures:
            self.check(module)
        changed_once = False
        for _ in range(self.steps):
            changed = False
            for i, each in enumerate(self.passes):
                module, did = self._run(module, i, each)
                changed = changed or did
            changed_once = changed_once or changed
            if not changed:
                break
        return PassResult(module, changed_once)

    def _run(self, module: Module, i: int, each: Pass) -> tuple[Module, bool]:
        name = each.__name__ if hasattr(each, "__name__") else type(each).__name__
        try:
            result = each(module)
            if not isinstance(result, PassResult) and not hasattr(result, "graph_module"):
                raise TypeError(
                    f"The result of the pass {name} should be type PassResult."
                    "Please wrap it with pass_result_wrapper()"
                )
            if isinstance(result.graph_module, GraphModule):
                result.graph_module.recompile()
            if self.run_checks_after_each_pass and not self.suppress_check_failures:
                self.check(result.graph_module)
        except Exception as error:
            before = [getattr(p, "__name__", type(p).__name__) for p in self.passes[:i]]
            message = f"An error occurred when running the '{name}' pass after the following "
            raise Exception(f"{message}passes: {before}") from error
        return result.graph_module, result.modified


__getattr__ = _refuses(__name__)
