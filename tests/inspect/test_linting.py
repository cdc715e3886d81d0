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
    assert text.startswith(f"The backward pass at {__file__}:")
    assert f"added to gradients that step() at {__file__}:" in text
    assert text.endswith("Call optimizer.zero_grad() between the two.")


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
    assert text.startswith("The graphs of 21 backward passes are still held")


def test_outputs_kept_in_a_list():
    model, optimizer, x = model_and_optimizer()

    def loop(use):
        outputs = []
        for _ in range(30):
            optimizer.zero_grad()
            y = model(x)
            y.mean().backward()
            optimizer.step()
            outputs.append(use(y))

    (text,) = said(lambda: loop(lambda y: y))
    assert "by their losses or by other results" in text
    assert said(lambda: loop(lambda y: y.detach())) == []


def test_scaled_losses_added_up_with_their_graphs():
    model, optimizer, x = model_and_optimizer()

    def loop():
        total = 0
        for _ in range(5):
            optimizer.zero_grad()
            loss = model(x).mean()
            loss.backward()
            optimizer.step()
            total += loss * len(x)

    (text,) = said(loop)
    assert text.startswith("Here the losses of 3 backward passes are added up")


def test_evaluating_with_graphs_that_are_kept():
    model, _, x = model_and_optimizer()
    model.eval()

    def loop(use):
        losses = []
        for _ in range(30):
            losses.append(use(model(x).mean()))

    (text,) = said(lambda: loop(lambda loss: loss))
    assert text.startswith("The graphs of 21 calls of Sequential in eval mode are held")
    assert said(lambda: loop(lambda loss: loss.item())) == []


def adversarial_pair():
    torch.manual_seed(0)
    maker, judge = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
    return maker, judge, torch.optim.Adam(maker.parameters()), torch.optim.Adam(judge.parameters())


def test_an_adversarial_pair_is_fine():
    """The maker's pass adds to gradients of the judge, which are set to zero before they count."""
    maker, judge, of_maker, of_judge = adversarial_pair()

    def loop(set_to_none):
        for _ in range(3):
            judge.zero_grad(set_to_none)
            judge(torch.randn(4, 2)).mean().backward()
            fake = maker(torch.randn(4, 2))
            (-judge(fake.detach()).mean()).backward()
            of_judge.step()
            maker.zero_grad(set_to_none)
            judge(fake).mean().backward()
            of_maker.step()

    assert said(lambda: loop(True)) == [] and said(lambda: loop(False)) == []


def test_an_adversarial_pair_that_forgets_one_is_not():
    maker, judge, of_maker, of_judge = adversarial_pair()

    def loop():
        for _ in range(3):
            of_maker.zero_grad()
            judge(maker(torch.randn(3, 2))).mean().backward()
            of_maker.step()
            judge(maker(torch.randn(3, 2)).detach()).mean().backward()
            of_judge.step()

    (text,) = said(loop)
    assert "this step() uses the sum" in text


def test_two_optimizers_in_turn_are_fine():
    first, second, of_first, of_second = adversarial_pair()

    def loop():
        for _ in range(3):
            for optimizer in (of_first, of_second):
                optimizer.zero_grad()
                second(first(torch.randn(3, 2))).mean().backward()
                optimizer.step()
            of_first.zero_grad(), of_second.zero_grad()
            second(first(torch.randn(3, 2))).mean().backward()
            of_first.step(), of_second.step()

    assert said(loop) == []


def test_closures_of_lbfgs_are_fine():
    model, _, x = model_and_optimizer()
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=4, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        return loss

    assert said(lambda: [optimizer.step(closure) for _ in range(3)]) == []


def test_a_state_that_is_detached_between_passes_is_fine():
    torch.manual_seed(0)
    cell = torch.nn.LSTMCell(2, 3)
    optimizer = torch.optim.SGD(cell.parameters(), lr=0.01)

    def loop():
        state = torch.zeros(4, 3), torch.zeros(4, 3)
        for _ in range(25):
            loss = 0
            for _ in range(3):
                state = cell(torch.randn(4, 2), state)
                loss = loss + state[0].pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            state = tuple(each.detach() for each in state)

    assert said(loop) == []


def test_eval_mode_counts_only_where_its_gradients_are_used():
    model, optimizer, x = model_and_optimizer()

    def loop():
        for _ in range(3):
            model.eval()
            model(x).sum().item()  # nothing comes of this graph
            point = x.clone().requires_grad_()
            torch.autograd.grad(model(point).sum(), point)  # nor of this one for the parameters
            model(point).sum().backward()  # whose gradients are forgotten
            model.train()
            optimizer.zero_grad()
            model((x + point.grad.sign()).detach()).sum().backward()
            optimizer.step()

    assert said(loop) == []


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

    with pytest.warns(LintWarning, match="added to gradients"):
        train()
