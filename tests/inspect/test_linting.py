"""Lint: what it says of training loops, and what it leaves alone."""

import warnings

import pytest

import tapegrad as torch
from tapegrad.inspect import LintWarning, lint


def model_and_optimizer():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Dropout(0.1), torch.nn.Linear(3, 1))
    return model, torch.optim.SGD(model.parameters(), lr=0.01), torch.ones(4, 2)


def said(loop):
    with warnings.catch_warnings(record=True) as found, lint():
        warnings.simplefilter("always", LintWarning)
        loop()
    return [str(each.message) for each in found if each.category is LintWarning]


def test_a_forgotten_zero_grad():
    model, optimizer, x = model_and_optimizer()

    def loop():
        for _ in range(4):
            model(x).sum().backward()
            optimizer.step()

    (text,) = said(loop)
    assert "adds to gradients that step() at " in text and "zero_grad()" in text


def test_gradients_accumulated_on_purpose_are_fine():
    model, optimizer, x = model_and_optimizer()

    def loop():
        for set_to_none in (True, False):
            for _ in range(3):
                model(x).sum().backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=set_to_none)
        model(x).sum().backward()

    assert said(loop) == []


def test_losses_added_up_with_their_graphs():
    model, optimizer, x = model_and_optimizer()

    def loop(use):
        total = torch.zeros(())
        for _ in range(5):
            optimizer.zero_grad()
            loss = model(x).sum()
            loss.backward()
            optimizer.step()
            total = total + use(loss)

    (text,) = said(lambda: loop(lambda loss: loss))
    assert text.startswith("Here the losses of 3 backward passes are added up together with")
    assert said(lambda: loop(lambda loss: loss.detach())) == []
    assert said(lambda: loop(lambda loss: loss.item())) == []


def test_losses_added_up_before_one_backward_are_fine():
    model, optimizer, x = model_and_optimizer()

    def loop():
        for _ in range(3):
            optimizer.zero_grad()
            total = sum(model(x).sum() for _ in range(5))
            total.backward()
            optimizer.step()

    assert said(loop) == []


def test_losses_kept_in_a_list():
    model, optimizer, x = model_and_optimizer()

    def loop():
        losses = []
        for _ in range(30):
            optimizer.zero_grad()
            losses.append(model(x).sum())
            losses[-1].backward()
            optimizer.step()

    (text,) = said(loop)
    assert text.startswith("21 losses are still held after their backward pass")


def test_training_in_eval_mode():
    model, optimizer, x = model_and_optimizer()

    def loop():
        model(x).sum().backward()
        optimizer.step()

    model.eval()
    (text,) = said(loop)
    assert text.startswith("step() trains Sequential, which ran in eval mode at ")
    model.train()
    model[1].eval()  # a part that stands still on purpose
    optimizer.zero_grad()
    assert said(loop) == []


def test_evaluating_under_no_grad_between_steps_is_fine():
    model, optimizer, x = model_and_optimizer()

    def loop():
        for _ in range(2):
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
            model.eval()
            with torch.no_grad():
                model(x)
            model.train()

    assert said(loop) == []


def test_a_step_for_parameters_that_ran_under_no_grad_only():
    model, optimizer, x = model_and_optimizer()
    head = torch.nn.Linear(1, 1)
    optimizer.add_param_group({"params": head.parameters()})

    def loop():
        with torch.no_grad():
            hidden = model(x)
        head(hidden).sum().backward()
        optimizer.step()

    texts = said(loop)
    assert texts and all("used under no_grad() at " in text for text in texts)


def test_the_hook_of_the_optimizer_goes_with_the_block():
    model, optimizer, x = model_and_optimizer()
    with lint():
        model(x).sum().backward()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.step()
        model(x).sum().backward()


def test_it_decorates_a_function():
    w = torch.ones(1, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)

    @lint()
    def train():
        for _ in range(2):
            (w * w).sum().backward()
            optimizer.step()

    with pytest.warns(LintWarning, match="adds to gradients"):
        train()
