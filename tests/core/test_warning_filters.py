"""NumPy's warnings of numbers stay out of programs that make warnings errors."""

import sys
import warnings

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.core.warning_filters import IGNORED


def test_infinity_is_an_answer_where_warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.tensor([0.0]).log().tolist() == [-torch.inf]
        with warnings.catch_warnings():
            warnings.resetwarnings()
            warnings.filterwarnings("error", category=RuntimeWarning)
            x = torch.tensor([0.0], requires_grad=True)
            (1 / x).sum().backward()
            assert x.grad.tolist() == [-torch.inf]
            x = torch.tensor([1e30, 1e3], requires_grad=True)
            (x * x).backward(torch.tensor([1e30, 1.0]))  # rules that are written out
            assert x.grad.tolist() == [torch.inf, 2e3]


@pytest.mark.skipif(sys.platform == "emscripten", reason="WebAssembly has no floating-point flags")
def test_warnings_of_the_program_itself_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="divide by zero"):
            np.log(np.zeros(1))
        with pytest.raises(UserWarning):
            warnings.warn("of the program", UserWarning, stacklevel=1)


def test_the_filter_stays_first_whatever_happens_to_the_others():
    with warnings.catch_warnings():
        for change in (
            warnings.resetwarnings,
            lambda: warnings.simplefilter("always"),
            lambda: warnings.filterwarnings("error", category=RuntimeWarning),
            lambda: warnings.simplefilter("error", append=True),
        ):
            change()
            assert warnings.filters[0] is IGNORED
            assert warnings.filters.count(IGNORED) == 1


def test_a_block_in_which_tapegrad_was_imported_does_not_take_the_filter_along():
    with warnings.catch_warnings():
        before = warnings.filters
        with warnings.catch_warnings():
            before.remove(IGNORED)  # as if it had not been there yet
        assert warnings.filters is before
        assert before[0] is IGNORED


def test_filters_that_a_block_put_in_are_gone_behind_it():
    before = list(warnings.filters)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(warnings.filters) != before
    assert list(warnings.filters) == before


def test_a_warning_of_the_program_is_heard_though_tapegrad_called_it():
    class Warns(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            warnings.warn("not precise", RuntimeWarning, stacklevel=2)
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        Warns.apply(torch.ones(1))
    assert [str(w.message) for w in heard] == ["not precise"]


def test_a_program_may_make_its_filters_anew_from_their_patterns():
    action, message, category, module, lineno = IGNORED
    with warnings.catch_warnings():
        warnings.filterwarnings(action, message.pattern, category, module.pattern, lineno)
        made = warnings.filters[1]  # behind the one that is always first
    assert made[0] == "ignore" and made[2] is RuntimeWarning
    for text in ("overflow encountered in exp", "Degrees of freedom <= 0 for slice", "a program's"):
        assert bool(made[1].match(text)) is message.match(text)
    assert made[3].match("tapegrad.arrays") and not made[3].match("tapegrads")
