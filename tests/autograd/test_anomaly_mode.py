"""Anomaly mode: which forward line a failing backward pass comes from."""

import threading
import warnings

import numpy as np
import pytest

import tapegrad
import tapegrad as torch
from tapegrad.autograd.trace import TRACES
from tests.command import python


def root_of(x):
    return (x - 1).sqrt()


def failing(x):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", category=RuntimeWarning)
        with pytest.raises(RuntimeError) as error:
            x.backward()
    return error.value, [str(each.message) for each in told]


def test_nan_names_the_operator_and_shows_the_forward_line():
    x = torch.tensor([1.0, 1.0, 5.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        y = (root_of(x) * torch.tensor([1.0, 0.0, 1.0])).sum()
        error, told = failing(y)
    assert str(error) == "Function 'SqrtBackward0' returned nan values in its 0th output."
    assert told[0].startswith(
        "Error detected in SqrtBackward0. Traceback of forward call that caused the error:\n"
    )
    assert "in root_of\n    return (x - 1).sqrt()" in told[0]
    assert "tapegrad" not in told[0].replace(__file__, "")
    note = "\n".join(error.__notes__)
    assert note.splitlines()[:4] == [
        "1 of 3 elements are nan, the first at [1].",
        "The gradient was computed from:",
        "  the gradient that came in: [3] float32, from 0 to 1, mean 0.6667, 1 zero; 0 at [1]",
        "  its result: [3] float32, from 0 to 2, mean 0.6667, 2 zero; 0 at [1]",
    ]
    assert f"The operator was called at {__file__}:" in note
    assert x.grad is None


def test_without_a_forward_trace_it_says_so():
    x = torch.zeros(2, requires_grad=True)
    y = (x.sqrt() * 0).sum()
    with torch.autograd.set_detect_anomaly(True):
        _, told = failing(y)
    assert told == [
        "Error detected in SqrtBackward0. No forward pass information available. Enable detect "
        "anomaly during forward pass for more information."
    ]


def test_a_second_derivative_shows_what_induced_it():
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        (slope,) = torch.autograd.grad(x.sqrt().sum(), x, create_graph=True)
        _, told = failing((slope * 0).sum())
    assert "Previous calculation was induced by SqrtBackward0. Traceback of forward" in told[1]
    assert "torch.autograd.grad(x.sqrt().sum()" in told[1]


def test_infinity_raises_only_where_it_is_asked_for():
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        x.sqrt().sum().backward()
    assert x.grad.tolist() == [float("inf"), 0.25]
    with torch.autograd.set_detect_anomaly(True, check_inf=True):
        error, _ = failing(x.sqrt().sum())
    assert str(error) == "Function 'SqrtBackward0' returned infinite values in its 0th output."


def test_check_nan_off_lets_nan_pass():
    x = torch.zeros(1, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        (x.sqrt() * 0).sum().backward()
    assert np.isnan(x.grad.item())


def test_an_error_in_a_rule_shows_the_forward_line_and_a_write_hints_at_it():
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        y = x.exp()
        y.add_(1)
        error, told = failing(y.sum())
    assert "y = x.exp()" in told[0]
    assert str(error).endswith(
        "Hint: the backtrace further above shows the operation that failed to compute its "
        "gradient. The variable in question was changed in there or anywhere later. Good luck!"
    )


def test_repeated_gradients_are_looked_at_once():
    x = torch.zeros(3, 4, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        (x * 2).sum().backward()  # the gradient of a sum is one number, repeated
        error, _ = failing((x.sum(1).sqrt() * 0).sum())
    assert "SqrtBackward0" in str(error)


def test_the_switch_holds_for_a_block_or_until_it_is_turned_back():
    assert not torch.is_anomaly_enabled()
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        assert torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled()
        with torch.no_grad():
            assert torch.is_anomaly_enabled()
        with torch.autograd.set_detect_anomaly(False):
            assert not torch.is_anomaly_enabled()
        assert torch.is_anomaly_enabled()
    assert not torch.is_anomaly_enabled()
    torch.autograd.set_detect_anomaly(True)
    try:
        assert torch.is_anomaly_enabled()
    finally:
        torch.autograd.set_detect_anomaly(False)
    assert not torch.is_anomaly_enabled()


def test_the_switch_holds_for_the_process_as_in_pytorch():
    state = []
    asked = lambda: state.append(  # noqa: E731
        (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    )
    try:
        in_a_thread(lambda: torch.autograd.set_detect_anomaly(True, False))
        asked()
        in_a_thread(asked)
        with torch.no_grad():
            torch.autograd.set_detect_anomaly(True)
        asked()
        torch.autograd.set_detect_anomaly(False, check_nan=False)
        asked()
        with torch.autograd.set_detect_anomaly(True):
            asked()
        asked()
    finally:
        torch.autograd.set_detect_anomaly(False)
    asked()
    on, blind, off = (True, True), (True, False), (False, True)
    assert state == [blind, blind, on, (False, False), on, (False, False), off]


def in_a_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def test_a_context_manager_goes_back_to_what_was_when_it_was_made():
    with pytest.warns(UserWarning):
        manager = torch.autograd.detect_anomaly(check_nan=False)
    try:
        torch.autograd.set_detect_anomaly(True)
        with manager:
            assert not torch.is_anomaly_check_nan_enabled()
        assert not torch.is_anomaly_enabled()
    finally:
        torch.autograd.set_detect_anomaly(False)


def test_other_threads_have_it_forward_and_backward():
    made, errors = [], []

    def forward():
        x = torch.zeros(2, requires_grad=True)
        made.append((root_of(x + 1) * 0).sum())

    def backward():
        errors.append(failing(made[0]))

    with torch.autograd.set_detect_anomaly(True):
        in_a_thread(forward)
        in_a_thread(backward)
    ((error, told),) = errors
    assert "SqrtBackward0" in str(error) and "in root_of" in told[0]


def test_the_switch_takes_bools_only():
    with pytest.raises(TypeError) as error:
        torch.autograd.set_detect_anomaly(1)
    assert str(error.value) == (
        "set_anomaly_enabled(): argument 'enabled' (position 1) must be bool, not int"
    )
    with pytest.raises(
        TypeError, match=r"argument 'check_nan' \(position 2\) must be bool, not st"
    ):
        torch.autograd.set_detect_anomaly(True, "no")
    assert not torch.is_anomaly_enabled()


def test_nan_that_comes_from_infinity_tells_where_the_infinity_was_made():
    x = torch.tensor([4.0, 0.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        y = (x * torch.tensor([1.0, 0.0])).sqrt().sum()
        error, _ = failing(y)
    assert str(error) == "Function 'MulBackward0' returned nan values in its 0th output."
    line = root_line("y = (x * torch.tensor([1.0, 0.0])).sqrt().sum()")
    assert (
        f"The first infinity of this backward pass was made by SqrtBackward0, the first at [1], of "
        f"the operator called at {__file__}:{line}." in error.__notes__[0]
    )


def root_line(text):
    with open(__file__) as file:
        return next(i for i, line in enumerate(file, 1) if line.strip() == text)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float64, torch.complex64])
def test_every_kind_of_numbers_is_looked_at(dtype):
    x = torch.zeros(2, dtype=dtype, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        error, _ = failing((x.sqrt() * 0).sum().abs())
    assert "SqrtBackward0" in str(error) or "MulBackward0" in str(error)


def test_an_infinite_part_of_a_complex_number_is_not_nan():
    x = torch.ones(1, dtype=torch.complex64, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        (x + 1).backward(torch.tensor([complex(float("inf"), 1.0)]))


def test_nan_that_was_given_or_that_a_hook_made_is_found_behind_a_view():
    for poison in ("given", "hook"):
        x = torch.ones(2, 3, requires_grad=True)
        with torch.autograd.set_detect_anomaly(True), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = x.t()
            if poison == "hook":
                y.register_hook(lambda g: g * float("nan"))
            g = torch.full((3, 2), float("nan") if poison == "given" else 1.0)
            with pytest.raises(
                RuntimeError, match=r"Function '(T|Transpose)Backward0' returned nan"
            ):
                y.backward(g)


class Fails(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        raise ValueError("broken on purpose")


def test_an_error_in_a_backward_has_a_note_with_what_it_worked_on():
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        y = Fails.apply(x)
        with pytest.raises(ValueError, match="broken on purpose") as error:
            y.sum().backward()
    assert "y = Fails.apply(x)" in str(told[0].message)
    assert error.value.__notes__ == [
        "FailsBackward failed.\nThe gradient was computed from:\n"
        "  the gradient that came in: [2] float32, all 1\n"
        "  saved_tensors[0]: [2] float32, from 1 to 3, mean 2\n"
        f"The operator was called at {__file__}:{root_line('y = Fails.apply(x)')}."
    ]


@pytest.mark.parametrize("when", ["tensor", "pre", "post"])
def test_a_hook_that_fails_shows_the_forward_line_as_well(when):
    def broken(*gradients):
        raise ValueError("in the hook")

    x = torch.ones(2, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        y = x * 3
        node = y.grad_fn
        {"tensor": y.register_hook, "pre": node.register_prehook, "post": node.register_hook}[when](
            broken
        )
        with pytest.raises(ValueError, match="in the hook") as error:
            y.sum().backward()
    assert str(told[0].message).startswith("Error detected in MulBackward0. Traceback of forward")
    assert error.value.__notes__[0].startswith("A hook of MulBackward0 failed.")


def test_mapped_derivatives_are_looked_at():
    def f(x):
        return (x.sqrt() * 0).sum()

    x = torch.zeros(2, 3)
    for differentiate in (torch.func.vmap(torch.func.grad(f)), torch.func.jacrev(f)):
        with (
            torch.autograd.set_detect_anomaly(True),
            warnings.catch_warnings(),
            pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan") as error,
        ):
            warnings.simplefilter("ignore")
            differentiate(x)
        assert "6 of 6 elements are nan" in error.value.__notes__[0]


def test_a_second_walk_tells_which_backward_pass_freed_the_graph():
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        y = (x * x).sum()
        y.backward(retain_graph=True)
        y.backward()  # frees
        error, _ = failing(y)
    line = root_line("y.backward()  # frees")
    assert error.__notes__[0].startswith(
        f"Pass retain_graph=True to the first call ({__file__}:{line})"
    )


def test_a_script_that_the_command_runs_shows_its_own_frames_only(tmp_path):
    (tmp_path / "script.py").write_text(
        "import torch\n"
        "x = torch.zeros(2, requires_grad=True)\n"
        "with torch.autograd.set_detect_anomaly(True):\n"
        "    (x.log() * 0).sum().backward()\n"
    )
    script = tmp_path / "script.py"
    said = python("-m", "tapegrad", "run", "script.py", cwd=tmp_path).stderr
    assert (
        "Error detected in LogBackward0. Traceback of forward call that caused the error:\n"
        f'  File "{script}", line 4, in <module>\n    (x.log() * 0).sum().backward()\n'
    ) in said


def test_the_number_of_an_output_counts_all_inputs():
    a = torch.ones(2)
    b = torch.zeros(2, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        error, _ = failing((a * 0 / b).sum())
    assert str(error) == "Function 'DivBackward0' returned nan values in its 1th output."


def test_watching_still_knows_the_layers():
    model = torch.nn.Sequential(torch.nn.Linear(2, 1))
    with torch.autograd.set_detect_anomaly(True), tapegrad.inspect.watch():
        loss = model(torch.ones(1, 2)).sum()
    assert tapegrad.inspect.step(loss).run(until="addmm").module == "Sequential.0"


def test_entering_warns_as_in_pytorch():
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled. This mode will"):
        torch.autograd.detect_anomaly()


def test_metadata_has_the_traceback():
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        y = root_of(x)
    assert y.grad_fn.metadata["traceback_"][-1].endswith("    return (x - 1).sqrt()\n")


def test_metadata_has_the_node_that_made_a_node():
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        y = (x**3).sum()
        (slope,) = torch.autograd.grad(y, x, create_graph=True)
    parent = slope.grad_fn.metadata["parent_"]
    assert parent is y.grad_fn.next_functions[0][0]
    assert "parent_" not in parent.metadata


def test_traces_go_with_their_nodes():
    n = len(TRACES)
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        y = root_of(x)
    assert len(TRACES) == n + 2
    del y
    assert len(TRACES) == n


def test_it_works_beneath_a_profiler_and_in_forward_mode():
    x = torch.zeros(2, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True), torch.autograd.profiler.profile():
        error, told = failing((x.sqrt() * 0).sum())
    assert "SqrtBackward0" in str(error) and "x.sqrt()" in told[0]
    with torch.autograd.set_detect_anomaly(True):
        _, t = torch.func.jvp(torch.sin, (torch.zeros(2),), (torch.ones(2),))
    assert t.tolist() == [1.0, 1.0]


def test_numbers_and_writes_through_views_keep_their_values_under_it():
    def run():
        x = torch.arange(4.0).requires_grad_()
        y = x * 2
        y[1:3] *= 3
        y.add_(x.exp())
        torch.stack(y.unbind()).pow(2).sum().backward()
        return x.grad

    with torch.autograd.set_detect_anomaly(True):
        inside = run()
    assert torch.equal(inside, run())


def test_a_sum_of_opposite_infinities_is_found_where_it_is_made():
    x = torch.zeros(1, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        y = x.expand(2).t()
        error, _ = failing((y * torch.tensor([float("inf"), float("-inf")])).sum())
    assert str(error) == "Function 'ExpandBackward0' returned nan values in its 0th output."


def test_nan_in_the_gradient_of_a_transposed_matrix_is_found():
    w = torch.zeros(3, 2, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        error, _ = failing((torch.ones(4, 2) @ (w.t().sqrt() * 0)).sum())
    assert "SqrtBackward0" in str(error)


def test_an_error_is_not_lost_where_warnings_are_errors(capsys):
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        y = x + 1
        z = y**2
        y += 1
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            torch.autograd.grad(z.sum(), x)
    assert "Error detected in PowBackward0" in capsys.readouterr().err
