"""Grad modes: as blocks, decorators, over generators, threads and asynchronous tasks."""

import asyncio
import contextvars
import threading

import pytest

import tapegrad as torch
from tests.messages import raises

enabled = torch.is_grad_enabled


@pytest.fixture(autouse=True)
def _recording_is_on_again():
    yield
    on = enabled()
    torch.set_grad_enabled(True)
    assert on


# --- blocks ---


def test_recording_is_on_at_first():
    assert enabled() and not torch.is_inference_mode_enabled()


def test_no_grad_stops_recording_in_a_block():
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        assert not enabled()
        y = x * 2
    assert enabled() and not y.requires_grad and y.is_leaf


def test_enable_grad_records_inside_no_grad():
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        with torch.enable_grad():
            assert (x * 2).requires_grad
        assert not (x * 2).requires_grad


@pytest.mark.parametrize("flag", [True, False])
def test_set_grad_enabled_switches_for_a_block(flag):
    with torch.set_grad_enabled(flag):
        assert enabled() is flag
    assert enabled()


def test_set_grad_enabled_switches_at_once():
    torch.set_grad_enabled(False)
    assert not enabled()
    torch.set_grad_enabled(True)
    assert enabled()


def test_leaving_the_block_of_set_grad_enabled_brings_back_what_was():
    switch = torch.set_grad_enabled(False)
    with switch:
        assert not enabled()
    assert enabled()


def test_blocks_nest():
    with torch.no_grad():
        with torch.set_grad_enabled(True):
            with torch.no_grad():
                assert not enabled()
            assert enabled()
        assert not enabled()
    assert enabled()


def test_one_manager_serves_several_blocks():
    off = torch.no_grad()
    for _ in range(2):
        with off:
            assert not enabled()
        assert enabled()


def test_a_manager_may_be_entered_inside_itself():
    off = torch.no_grad()
    with off:
        with off:
            assert not enabled()
        assert not enabled()


def test_an_exception_brings_back_what_was():
    for mode in (torch.no_grad, torch.inference_mode, lambda: torch.set_grad_enabled(False)):
        with pytest.raises(ZeroDivisionError), mode():
            _ = 1 / 0
        assert enabled()


def test_creation_with_requires_grad_is_possible_under_no_grad():
    with torch.no_grad():
        x = torch.ones(2, requires_grad=True)
    assert x.requires_grad and (x * 2).requires_grad


def test_writes_under_no_grad_are_no_part_of_the_graph():
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        x -= 0.5
    assert x.is_leaf and x.requires_grad and x.tolist() == [0.5, 0.5]


# --- decorators ---


@pytest.mark.parametrize("decorate", [torch.no_grad(), torch.no_grad, torch.inference_mode])
def test_a_decorated_function_does_not_record(decorate):
    @decorate
    def double(x, *, factor=2):
        "Twice x."
        assert not enabled()
        return x * factor

    assert not double(torch.ones(2, requires_grad=True), factor=3).requires_grad
    assert double.__name__ == "double" and double.__doc__ == "Twice x."
    assert enabled()


def test_enable_grad_decorates_too():
    @torch.enable_grad()
    def f():
        return enabled()

    with torch.no_grad():
        assert f()
        assert not enabled()


def test_set_grad_enabled_as_a_decorator_changes_the_calls_alone():
    @torch.set_grad_enabled(False)
    def f():
        return enabled()

    assert enabled()
    assert not f()
    assert enabled()


def test_a_decorated_function_may_call_itself():
    @torch.no_grad()
    def depth(n):
        assert not enabled()
        return 0 if n == 0 else 1 + depth(n - 1)

    assert depth(5) == 5 and enabled()


def test_methods_are_decorated():
    class Model:
        @torch.no_grad()
        def predict(self, x):
            return x * 2

        @staticmethod
        @torch.no_grad
        def mode():
            return enabled()

    assert not Model().predict(torch.ones(1, requires_grad=True)).requires_grad
    assert not Model.mode()


def test_an_exception_leaves_a_decorated_function_with_the_mode_as_it_was():
    @torch.no_grad()
    def f():
        raise KeyError("x")

    with pytest.raises(KeyError):
        f()
    assert enabled()


@pytest.mark.filterwarnings("ignore:Decorating classes is deprecated:FutureWarning")
def test_a_decorated_class_is_made_under_the_mode():
    @torch.no_grad()
    class Model:
        def __init__(self):
            self.mode = enabled()

        def call(self):
            return enabled()

    assert isinstance(Model, type)
    assert not Model().mode and Model().call() and enabled()


# --- generators ---


@torch.no_grad()
def counter():
    """Give the mode inside, receive, and count."""
    received = []
    try:
        while True:
            received.append((yield enabled()))
            if received[-1] == "stop":
                return received
    except ValueError as error:
        assert not enabled()
        yield f"caught {error}"
        return "after the error"
    finally:
        assert not enabled()


def test_a_generator_runs_in_its_mode_and_its_caller_in_the_callers():
    generator = counter()
    assert enabled()
    assert next(generator) is False
    assert enabled()
    with torch.no_grad():
        assert next(generator) is False
    assert enabled()
    generator.close()
    assert enabled()


def test_a_generator_receives_and_returns():
    generator = counter()
    next(generator)
    generator.send(1)
    with pytest.raises(StopIteration) as stop:
        generator.send("stop")
    assert stop.value.value == [1, "stop"]


def test_errors_are_thrown_into_a_generator():
    generator = counter()
    next(generator)
    assert generator.throw(ValueError("it")) == "caught it"
    assert enabled()
    with pytest.raises(StopIteration) as stop:
        next(generator)
    assert stop.value.value == "after the error"


def test_errors_of_a_generator_come_out():
    @torch.no_grad
    def f():
        yield 1
        raise KeyError("x")

    generator = f()
    next(generator)
    with pytest.raises(KeyError):
        next(generator)
    assert enabled()


def test_a_generator_that_yields_nothing_ends():
    @torch.no_grad()
    def f():
        return
        yield

    assert list(f()) == []


def test_a_generator_sets_its_own_mode_for_its_own_code():
    @torch.no_grad()
    def f():
        yield enabled()
        with torch.enable_grad():
            yield enabled()
        yield enabled()

    with torch.enable_grad():
        assert list(f()) == [False, True, False]
    assert enabled()


def test_several_generators_take_turns():
    @torch.no_grad()
    def off():
        for _ in range(3):
            yield enabled()

    @torch.enable_grad()
    def on():
        for _ in range(3):
            yield enabled()

    assert list(zip(off(), on(), strict=True)) == [(False, True)] * 3


def test_a_block_may_be_left_in_another_context_than_it_was_entered_in():
    def f():
        with torch.no_grad():
            yield enabled()
        yield enabled()

    generator = f()
    assert contextvars.copy_context().run(next, generator) is False
    assert next(generator) is True


# --- inference mode ---


def test_inference_mode_makes_inference_tensors():
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        assert torch.is_inference_mode_enabled() and not enabled()
        y = x * 2
        z = torch.ones(2)
    assert y.is_inference() and z.is_inference() and not x.is_inference()
    assert not y.requires_grad and enabled()
    assert not torch.is_inference_mode_enabled()


def test_inference_mode_can_be_switched_off():
    with torch.inference_mode(False):
        assert enabled() and not torch.is_inference_mode_enabled()
    with torch.inference_mode():
        with torch.inference_mode(False):
            assert enabled() and not torch.is_inference_mode_enabled()
            assert not torch.ones(2).is_inference()
        assert torch.is_inference_mode_enabled()


def test_enable_grad_does_not_make_inference_tensors_record():
    with torch.inference_mode():
        with torch.enable_grad():
            y = torch.ones(2, requires_grad=True) * 2
            assert torch.is_inference_mode_enabled()
    assert y.is_inference()


def test_an_ordinary_view_of_an_ordinary_tensor_stays_ordinary_in_inference_mode():
    x = torch.ones(2)
    with torch.inference_mode():
        y = x.view(2, 1)
        x.add_(1)
    assert not y.is_inference() and x.tolist() == [2.0, 2.0]


def test_inference_tensors_are_used_and_cloned_outside():
    with torch.inference_mode():
        y = torch.ones(2)
    assert not y.clone().is_inference()
    assert (y + torch.ones(2, requires_grad=True)).requires_grad
    assert (y.clone() * torch.ones(2, requires_grad=True)).requires_grad


# --- threads and tasks ---


def in_thread(function):
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def test_a_new_thread_records_whatever_its_parent_does():
    with torch.no_grad():
        assert in_thread(enabled)
    with torch.inference_mode():
        assert not in_thread(torch.is_inference_mode_enabled)


def test_a_mode_stays_in_its_thread():
    inside, done = threading.Event(), threading.Event()

    def work():
        with torch.no_grad():
            inside.set()
            assert done.wait(120)
            return enabled()

    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    assert inside.wait(120)
    assert enabled()
    done.set()
    thread.join()
    assert found == [False]


def test_asynchronous_code_sees_the_mode_of_its_block():
    async def inner():
        return enabled()

    async def outer():
        with torch.no_grad():
            first = await inner()
        return first, await inner()

    assert asyncio.run(outer()) == (False, True)


def test_decorating_a_class_warns():
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @torch.no_grad()
        class Quiet:
            def __init__(self):
                self.grad_enabled = torch.is_grad_enabled()

    assert Quiet().grad_enabled is False


WRITES_INTO_INFERENCE_TENSORS = {
    "x[i] = 2": lambda x, i: x.__setitem__(i, 2.0),
    "x[i] += 2": lambda x, i: x.__setitem__(i, x[i].add_(2)),
    "x[mask] = 2": lambda x, i: x.__setitem__(x > 3, 2.0),
    "x[0] = 2": lambda x, i: x.__setitem__(0, 2.0),
    "fill_": lambda x, i: x.fill_(2),
    "zero_": lambda x, i: x.zero_(),
    "copy_": lambda x, i: x.copy_(torch.ones(1)),
    "index_put_": lambda x, i: x.index_put_((i,), torch.tensor(1.0), True),
    "mul_ of a view": lambda x, i: x[1:].mul_(2),
}


@pytest.mark.parametrize("name", WRITES_INTO_INFERENCE_TENSORS)
def test_inference_tensors_are_written_in_inference_mode_alone(name):
    write, i = WRITES_INTO_INFERENCE_TENSORS[name], torch.tensor([0, 2])
    expected = torch.arange(12.0).view(4, 3)
    write(expected, i)
    with torch.inference_mode():
        x = torch.arange(12.0).view(4, 3)
        write(x, i)
    assert x.is_inference() and x.tolist() == expected.tolist()
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside Inference"):
        write(x, i)
    assert x.tolist() == expected.tolist()


INPLACE = (
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone "
    "to get a normal tensor before doing inplace update.See "
    "https://github.com/pytorch/rfcs/pull/17 for more details."
)


def test_inference_tensors_are_not_written_outside_by_out_or_resize():
    with torch.inference_mode():
        x = torch.ones(2)
    for write in (lambda: torch.exp(torch.ones(2), out=x), lambda: x.resize_(3)):
        with raises(RuntimeError, INPLACE):
            write()
    assert x.tolist() == [1, 1] and x.data.is_inference()


def test_views_of_inference_tensors_are_no_part_of_a_graph():
    with torch.inference_mode():
        x = torch.ones(2, 3, requires_grad=True)
        assert torch.ones(4, requires_grad=True).resize_(2, 2).shape == (2, 2)
    for view in (x.view(-1), x.T, x[0], *x.split(1)):
        assert view.is_inference() and view.is_leaf and not view.requires_grad
