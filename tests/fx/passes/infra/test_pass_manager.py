"""Passes one after the other."""

import pytest

import tapegrad as torch
from tapegrad import fx
from tapegrad.fx.passes.infra.pass_base import PassBase, PassResult
from tapegrad.fx.passes.infra.pass_manager import (
    PassManager,
    pass_result_wrapper,
    this_before_that_pass_constraint,
)


@pytest.fixture
def log():
    return []


@pytest.fixture
def module():
    return fx.symbolic_trace(lambda x: x + 1)


@pytest.fixture
def passes(log):
    def first(module):
        log.append("first")
        return PassResult(module, False)

    def second(module):
        log.append("second")
        return PassResult(module, log.count("second") < 3)

    return first, second


def test_passes_run_until_nothing_changes(module, passes, log):
    result = PassManager(list(passes), steps=10)(module)
    assert result.modified and result.graph_module is module
    assert log == ["first", "second"] * 3


def test_constraints_put_passes_in_order(module, passes, log):
    first, second = passes
    before = this_before_that_pass_constraint(second, first)
    PassManager([first, second], constraints=[before])(module)
    assert log == ["second", "first"]
    with pytest.raises(RuntimeError, match="pass schedule constraint violated"):
        PassManager([first, second], constraints=[before]).validate_constraints()
    both = [before, this_before_that_pass_constraint(first, second)]
    with pytest.raises(RuntimeError, match="Circular dependency detected within the following"):
        PassManager([first, second], constraints=both)(module)


def test_checks_follow_passes(module, passes, log):
    manager = PassManager(list(passes), run_checks_after_each_pass=True)
    manager.add_checks(lambda module: log.append("check"))
    manager(module)
    assert log == ["check", "first", "check", "second", "check"]
    with pytest.raises(TypeError, match="should only take in one variable"):
        manager.add_checks(lambda a, b: None)


def test_the_pass_that_fails_is_named(module, passes):
    def fails(module):
        raise ValueError("why")

    expected = r"running the 'fails' pass after the following passes: \['first'\]"
    with pytest.raises(Exception, match=expected) as caught:
        PassManager([passes[0], fails])(module)
    assert isinstance(caught.value.__cause__, ValueError)


def test_passes_that_give_nothing_are_wrapped(module):
    def renames(module):
        module.name = "renamed"

    with pytest.raises(Exception, match="when running the 'renames' pass") as caught:
        PassManager([renames])(module)
    assert isinstance(caught.value.__cause__, TypeError)
    assert PassManager([pass_result_wrapper(renames)])(module).modified
    assert pass_result_wrapper(None) is None


def test_passes_check_what_they_need_and_promise(module, log):
    class Checked(PassBase):
        def requires(self, graph_module):
            log.append("requires")

        def call(self, graph_module):
            log.append("call")
            return PassResult(graph_module, True)

        def ensures(self, graph_module):
            log.append("ensures")

    assert PassManager([Checked()])(module).modified
    assert log == ["requires", "call", "ensures"]


def test_the_code_is_made_anew_after_each_pass():
    def to_tanh(module):
        for node in module.graph.nodes:
            if node.target is torch.relu:
                node.target = torch.tanh
        return PassResult(module, True)

    changed = PassManager([to_tanh])(fx.symbolic_trace(lambda x: torch.relu(x))).graph_module
    assert changed(torch.tensor([-1.0])).item() < 0
