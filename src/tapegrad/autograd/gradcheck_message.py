"""What `gradcheck` says about derivatives that are not right."""

from __future__ import annotations

from typing import Any

from tapegrad.errors import advised


class GradcheckError(RuntimeError):
    """A derivative is not what finite differences say, or a backward breaks its contract."""


GradcheckError.__module__ = "torch.autograd.gradcheck"

_WORKAROUNDS = """
If you are adding a new operator, please file an issue and then use one of the
workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck"""

_OPTION = """If the test
- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck
  with `{option}` as a keyword argument.
- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test
  to have `{opinfo}"""

_MODULE = """
- is a Module test (e.g., in common_nn.py), then modify the corresponding
  module_test entry to have `{module}`"""

FAST_FAIL_SLOW_OK = (
    "Fast gradcheck failed but element-wise differences are small. This means that the\n"
    "test might've passed in slow_mode!\n"
    + _WORKAROUNDS
    + ":\n\n"
    + _OPTION.format(option="fast_mode=False", opinfo="gradcheck_fast_mode=False`")
    + _MODULE.format(module="gradcheck_fast_mode=False")
)

NONDETERMINISTIC = (
    "\n\nNOTE: If your op relies on non-deterministic operations i.e., it is listed here:\n"
    "https://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html\n"
    "this failure might be expected.\n"
    + _WORKAROUNDS
    + ".\n"
    + _OPTION.format(option="nondet_tol=<tol>", opinfo="gradcheck_nondet_tol=<tol>`.")
    + _MODULE.format(module="gradcheck_nondet_tol=<tol>")
    + "\n"
)

_UNDEFINED = (
    'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
)
UNDEFINED_REFUSED = "Expected backward function to handle undefined output grads. " + _UNDEFINED
UNDEFINED_NOT_ZERO = (
    "Expected all input grads to be undefined or zero when all output grads are undefined or zero. "
    + _UNDEFINED
)
UNDEFINED_WARNING = (
    "Backwards compatibility: New undefined gradient support checking feature is enabled by "
    "default, but it may break existing callers of this function. If this is true for you, you "
    'can call this function with "check_undefined_grad=False" to disable the feature'
)


def mismatch(
    analytical: Any,
    numerical: Any,
    output: int,
    input: int,
    part: str | None,
    forward: bool,
    more: str = "",
) -> Exception:
    """The error for a Jacobian that is not what finite differences give.

    `part`: "real" or "imaginary" where a part of complex numbers was considered.
    """
    sides = "inputs" if forward else "outputs"
    where = f"While considering the {part} part of complex {sides} only, " if part else ""
    how = "computed with forward mode " if forward else ""
    return advised(
        GradcheckError(
            f"{where}Jacobian {how}mismatch for output {output} with respect to input {input},\n"
            f"numerical:{numerical}\nanalytical:{analytical}\n{more}"
        ),
        "The rule of one of the operators is wrong, or the function is not smooth at this point.",
    )


def slow_story(numerical: Any, analytical: Any, close: bool) -> str:
    """What is added where fast mode failed: both Jacobians, whole."""
    worst = (numerical - analytical).abs().max()
    return (
        "\nThe above quantities relating the numerical and analytical jacobians are computed \n"
        "in fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more background \n"
        "about fast mode. Below, we recompute numerical and analytical jacobians in slow mode:\n\n"
        f"Numerical:\n {numerical}\nAnalytical:\n{analytical}\n\n"
        f"The max per-element difference (slow mode) is: {worst}.\n"
    ) + (FAST_FAIL_SLOW_OK if close else "")


def not_reentrant(tolerance: float) -> Exception:
    """The error for a backward that gives another gradient the second time."""
    return advised(
        GradcheckError(
            "Backward is not reentrant, i.e., running backward with same input and grad_output "
            "multiple times gives different values, although analytical gradient matches "
            f"numerical gradient.The tolerance for nondeterminism was {tolerance}."
            + NONDETERMINISTIC
        ),
        "Make it depend on what it is given alone, or allow the difference: nondet_tol=...",
    )


def wrong(text: str, advice: str) -> Exception:
    """Another error of a check."""
    return advised(GradcheckError(text), advice)
