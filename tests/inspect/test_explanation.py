"""Why a tensor has the gradient it has: what `explain` says, line by line."""

import gc
import weakref

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.inspect import explain, live_graphs, step, watch, watching


def line_of(mark):
    """Where in this file a comment stands."""
    with open(__file__) as file:
        lines = file.read().splitlines()
    return f"{__file__}:{next(i for i, line in enumerate(lines, 1) if line.endswith('# ' + mark))}"


def ways_to_lose_history():
    w = torch.ones(3, requires_grad=True)
    with watch():
        with torch.no_grad():
            a = w * 2  # no_grad
        b = w.detach()  # detach
        c = w.data  # data
        d = w.to(torch.int64)  # integers
        e = torch.from_numpy(w.detach().numpy())  # from_numpy
        f = w.argmax()  # argmax
    return [
        (a, f"Its history was lost by mul() under torch.no_grad() at {line_of('no_grad')}."),
        (b, f"Its history was lost by detach() at {line_of('detach')}."),
        (c, f"Its history was lost by .data at {line_of('data')}."),
        (d, f"whose result is torch.int64 at {line_of('integers')}."),
        (e, f"It was made from data by from_numpy() at {line_of('from_numpy')}:"),
        (f, f"lost by argmax(), whose result is torch.int64 at {line_of('argmax')}."),
    ]


def test_it_names_how_and_where_history_was_lost():
    for tensor, said in ways_to_lose_history():
        assert said in str(explain(tensor)), str(explain(tensor))


def test_what_is_computed_from_a_tensor_without_history_knows_where_it_was_lost():
    w = torch.ones(3, requires_grad=True)
    with watch():
        hidden = w.detach()  # cut here
        far = (hidden * 2).exp().sum()
    assert f"detach() at {line_of('cut here')}." in str(explain(far))


def test_a_leaf_that_was_left_out_knows_what_cut_it_off():
    w, v = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with watch():
        loss = (w.tanh().detach() * v).sum()  # left out
        loss.backward()
    assert explain(w).lines[1:] == [
        "Its .grad is None: no backward pass has reached it.",
        "It was used, but what was computed from it lost its history:",
        f"  detach() at {line_of('left out')}",
        "Leave detach() out there, if a gradient is to go through.",
    ]
    other = torch.ones(1, requires_grad=True)
    assert explain(other).lines[-1].endswith("which was not computed from it.")


def test_zero_grad_is_told_from_no_backward():
    w = torch.ones(2, requires_grad=True)
    with watch():
        w.sum().backward()  # reached
    torch.optim.SGD([w]).zero_grad()
    assert explain(w).lines[1] == (
        f"Its .grad is None: the backward pass at {line_of('reached')} reached it, and it was set "
        "to None after that, as zero_grad() does."
    )


def test_a_gradient_of_zeros_names_the_operator_that_made_them():
    w = torch.full((2,), -1.0, requires_grad=True)
    with watch():
        torch.relu(w * 2).sum().backward()  # dead relu
    assert explain(w).lines[1:] == [
        "Its .grad is [2] float32, all 0.",
        f"ReluBackward0 at {line_of('dead relu')} received a gradient that is not zero and sent "
        "zeros: all that goes in is negative: a smaller learning rate, another initialization, or "
        "leaky_relu() keep a unit alive.",
        "  it computed with its result: [2] float32, all 0",
    ]
    with watch():
        (w * 2).backward(torch.zeros(2))  # zeros from the start
    assert explain(w).lines[2] == (
        f"Nothing but zeros reached it in the backward pass at {line_of('zeros from the start')}."
    )


def test_a_result_says_that_only_leaves_keep_gradients_and_who_freed_its_graph():
    w = torch.ones(2, requires_grad=True)
    with watch():
        y = w.exp()  # made
        y.sum().backward()  # freed
    assert explain(y).lines == [
        f"This was made by ExpBackward0 at {line_of('made')}: [2] float32, all 2.718.",
        "Its .grad is None: only leaves keep their gradient. Call retain_grad() on it before "
        "backward().",
        f"What its node kept was freed by a backward pass at {line_of('freed')}: call that with "
        "retain_graph=True to go through the graph again.",
    ]
    with pytest.raises(RuntimeError) as error:
        y.sum().backward()
    assert f"the first call ({line_of('freed')})" in error.value.__notes__[0]


def test_the_error_of_backward_says_where_the_history_was_lost():
    w = torch.ones(2, requires_grad=True)
    with watch():
        loss = w.detach().sum()  # lost for backward
    with pytest.raises(RuntimeError, match="does not require grad and does not have a") as error:
        loss.backward()
    assert error.value.__notes__ == [
        f"Its history was lost by detach() at {line_of('lost for backward')}. "
        "Leave detach() out there, if a gradient is to go through."
    ]


def test_the_errors_of_the_engine_say_the_same():
    w, v = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with watch():
        loss = (w.detach() * v).sum()  # lost for grad
        data = torch.nn.functional.mse_loss(torch.ones(2), torch.zeros(2))  # data alone
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph") as error:
        torch.autograd.grad(loss, w)
    assert error.value.__notes__ == [
        "It was used, but what was computed from it lost its history: detach() at "
        f"{line_of('lost for grad')}. Leave detach() out there, if a gradient is to go through."
    ]
    with pytest.raises(RuntimeError, match="does not require grad and does not have a") as error:
        data.backward()
    assert error.value.__notes__[0].startswith(
        f"It was computed by mse_loss() at {line_of('data alone')} from tensors of which none"
    )


def test_the_error_of_a_write_says_who_kept_the_tensor():
    w = torch.ones(2, requires_grad=True)
    with watch():
        y = w.exp()  # kept
        y.add_(1)  # written
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as error:
        y.sum().backward()
    assert error.value.__notes__ == [
        f"ExpBackward0 saved the tensor at {line_of('kept')}. The last write was add_ at "
        f"{line_of('written')}. Write out of place there, or clone() the tensor before it is "
        "written."
    ]


def test_what_ran_in_a_backward_of_a_custom_function_is_its_own_business():
    w = torch.ones(3, requires_grad=True)
    with watch():
        Twice.apply(w)
    assert explain(w).lines[1:3] == [
        "Its .grad is None: no backward pass has reached it.",
        f"It was used last by Twice.apply() at {line_of_next('Twice.apply(w)')}.",
    ]


def line_of_next(text):
    with open(__file__) as file:
        return f"{__file__}:{next(i for i, each in enumerate(file, 1) if each.strip() == text)}"


def test_steps_of_optimizers_and_evaluation_are_not_blamed():
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters())
    frozen = torch.ones(1, requires_grad=True)
    x = torch.ones(4, 2)
    with watch():
        for _ in range(2):
            optimizer.zero_grad()
            loss = (model(x) * (frozen * 2).detach()).sum()  # the cause
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                (model(x) * frozen).sum()  # evaluation
    assert explain(frozen).lines[2:4] == [
        "It was used, but what was computed from it lost its history:",
        f"  detach() at {line_of('the cause')}",
    ]
    assert len(explain(model.weight).lines) == 2


def test_what_holds_a_graph_is_found_in_containers_of_objects():
    class Trainer:
        pass

    trainer = Trainer()
    w = torch.ones(3, requires_grad=True)
    trainer.history = {"loss": [w.exp()]}
    (graph,) = [g for g in live_graphs() if g.tensor is trainer.history["loss"][0]]
    assert graph.holders[0].startswith("trainer.history['loss'][0] in test_what_holds")


def test_without_watching_it_says_what_would_help(monkeypatch):
    monkeypatch.setattr(watching, "_latest", None)
    x = torch.ones(2)
    text = str(explain(x))
    assert "This has no history and does not require grad: [2] float32, all 1." in text
    assert "requires_grad_()" in text
    leaf = torch.ones(1, requires_grad=True)
    assert explain(leaf).lines[1].endswith("or its gradient was forgotten, as by zero_grad().")
    with torch.inference_mode():
        made = torch.ones(1)
    assert explain(made).lines[1].startswith("It was made in inference mode: make it outside")
    with pytest.raises(TypeError, match="takes a tensor, not Linear"):
        explain(torch.nn.Linear(1, 1))


def test_watching_changes_no_number_and_keeps_nothing_alive():
    def run():
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.GELU())
        loss = model(torch.randn(5, 3)).pow(2).mean()
        loss.backward()
        return loss, [p.grad.numpy() for p in model.parameters()]

    loss, plain = run()
    with watch():
        watched_loss, watched = run()
        refs = [weakref.ref(watched_loss), weakref.ref(watched_loss.grad_fn)]
    assert all(np.array_equal(a, b) for a, b in zip(plain, watched, strict=True))
    assert torch.equal(loss, watched_loss)
    del watched_loss
    gc.collect()
    assert [ref() for ref in refs] == [None, None]


def test_live_graphs_leaves_objects_of_others_alone():
    class Proxy:
        @property
        def __class__(self):
            raise RuntimeError("nobody should ask")

    proxy = [Proxy()]
    live_graphs()
    del proxy


def test_live_graphs_names_who_holds_what():
    x = torch.ones(100, requires_grad=True)
    kept_losses = [(x * x).exp().sum() for _ in range(2)]
    hidden = (x * 2).tanh()
    found = [g for g in live_graphs() if g.tensor is hidden or g.tensor in kept_losses]
    mine = {graph.holders[0].partition(" in ")[0]: graph for graph in found if graph.holders}
    assert mine["kept_losses[1]"].n_nodes == 3
    assert mine["kept_losses[1]"].n_bytes == 400  # what exp() gave; x is a leaf
    assert mine["hidden"].n_bytes == 400
    assert "test_live_graphs_names_who_holds_what" in mine["hidden"].holders[0]
    assert "2 nodes keep 400 bytes" in repr(mine["hidden"])


def test_a_loss_that_needs_an_older_graph_is_one_graph():
    x = torch.ones(10, requires_grad=True)
    inner = x.exp()
    outer = inner.sum()
    graphs = [g for g in live_graphs() if g.tensor is inner or g.tensor is outer]
    assert [g.tensor is outer for g in graphs] == [True]


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        rounded = x.round()
        ctx.mark_non_differentiable(rounded)
        return x * 2, rounded

    @staticmethod
    def backward(ctx, g, _):
        return 2 * g


def test_custom_functions_are_seen_as_well():
    w = torch.ones(3, requires_grad=True)
    with watch():
        y, rounded = Twice.apply(w)  # applied
        with torch.no_grad():
            z, _ = Twice.apply(w)  # not recorded
    assert f"made by TwiceBackward at {line_of('applied')}:" in str(explain(y))
    assert explain(rounded).lines[1] == (
        f"Its history was lost by Twice.apply(), which has no derivative at {line_of('applied')}."
    )
    assert f"Twice.apply() under torch.no_grad() at {line_of('not recorded')}" in str(explain(z))
    first = step(y.sum()).run(until="TwiceBackward")
    assert first.kept["saved_tensors[0]"].tolist() == [1.0, 1.0, 1.0]


def test_mapped_functions_and_their_gradients_can_be_watched():
    x = torch.arange(6.0).reshape(2, 3)
    with watch(gradients=True):
        slopes = torch.func.vmap(torch.func.grad(lambda x: x.square().sum()))(x)
        y = (x.requires_grad_() * 2).sum(1)
        (rows,) = torch.autograd.grad(y, x, torch.eye(2), is_grads_batched=True)
    assert torch.equal(slopes, 2 * x)
    assert rows.shape == (2, 2, 3)
