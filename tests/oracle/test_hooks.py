"""Hooks, places in the graph and saved tensors, in tapegrad and in PyTorch."""

import pytest

import tapegrad
from tests.oracle.outcome import compare


def leaf(torch):
    return torch.tensor([1.0, 2.0], requires_grad=True)


def note(log, name):
    def hook(*args):
        log.append((name, args))

    return hook


# --- order, removal, exceptions ------------------------------------------------------------------


def order(torch):
    log, x = [], leaf(torch)
    y = x * 2
    y.register_hook(note(log, "first"))
    y.register_hook(lambda g: g * 10)
    y.register_hook(note(log, "last"))
    y.grad_fn.register_prehook(note(log, "before"))
    y.grad_fn.register_hook(note(log, "after"))
    x.register_hook(note(log, "leaf"))
    x.register_post_accumulate_grad_hook(note(log, "accumulated"))
    y.retain_grad()
    (y * 3).sum().backward()
    return log, x.grad, y.grad


def removal(torch):
    log, x = [], leaf(torch)
    y = x * 2

    def once(g):
        log.append(g)
        handle.remove()

    handle = y.register_hook(once)
    other = y.register_hook(note(log, "other"))
    with y.register_hook(note(log, "block")):
        y.sum().backward(retain_graph=True)
    other.remove()
    other.remove()
    y.sum().backward()
    return log, x.grad


def added_while_running(torch):
    log, x = [], leaf(torch)
    y = x * 2
    y.register_hook(lambda g: y.register_hook(note(log, "added")) and None)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return log


def exception(torch):
    x = leaf(torch)
    y = x * 2
    handle = y.register_hook(lambda g: 1 / 0)
    try:
        y.sum().backward()
    except ZeroDivisionError:
        handle.remove()
    before = x.grad
    y.sum().backward()
    return before, x.grad


def several_outputs(torch):
    log, x = [], leaf(torch)
    a, b = (x * 2).unbind(0)
    a.grad_fn.register_prehook(note(log, "before"))
    a.grad_fn.register_hook(note(log, "after"))
    a.register_hook(note(log, "a"))
    b.register_hook(note(log, "b"))
    a.backward()
    return log, x.grad


def several_tensors(torch, mode):
    log = []
    a = leaf(torch)
    b = a * 2
    c = b * 3
    handle = torch.autograd.graph.register_multi_grad_hook([a, b, c], note(log, "all"), mode=mode)
    torch.autograd.grad(c.sum(), b, retain_graph=True)
    c.sum().backward(retain_graph=True)
    handle.remove()
    c.sum().backward()
    return log


# --- places, versions ----------------------------------------------------------------------------


def edges(torch):
    x = leaf(torch)
    y = x * 2
    edge = torch.autograd.graph.get_gradient_edge(y)
    at_leaf = torch.autograd.graph.get_gradient_edge(x)
    torch.autograd.backward(edge, torch.ones(2), retain_graph=True)
    return (
        torch.autograd.grad(y.sum(), (edge, at_leaf)),
        x.grad,
        edge._fields,
        edge.node.name(),
        at_leaf.node.name(),
        edge.output_nr,
    )


def version(torch):
    x = leaf(torch)
    y = x * 2
    z = y * y
    torch.autograd.graph.increment_version([y, y])
    return y._version, z.sum().backward()


def mutation(torch):
    a = leaf(torch)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        b = a.clone()
        v = b[0]
        out = (b * b).sum() + v * 3 * v
        b.mul_(5)
        v.mul_(2)
        out.backward()
    return a.grad, b


def mutation_outside(torch):
    a = leaf(torch)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        out = (a * a).sum()
    out.backward()


def mutation_nested(torch):
    allow = torch.autograd.graph.allow_mutation_on_saved_tensors
    with allow(), allow():
        pass


# --- saved tensors -------------------------------------------------------------------------------


def packed(torch, make):
    seen = []

    def pack(x):
        seen.append((tuple(x.shape), x.requires_grad, x.is_leaf))
        return x

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: seen.append("unpack") or x):
        y = make(leaf(torch))
    y.sum().backward()
    return seen


def packing(torch, pack=lambda x: x, unpack=lambda x: x):
    x = leaf(torch)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x * x
    y.sum().backward()
    return x.grad


def forbidden(torch):
    graph = torch.autograd.graph
    with graph.disable_saved_tensors_hooks("not here"), graph.save_on_cpu():
        pass


def raw(torch):
    x = leaf(torch)
    y = x.exp() * x
    kept = y.grad_fn._raw_saved_self
    kept.register_hooks(lambda t: t.detach().numpy(), lambda a: torch.from_numpy(a) * 2)
    y.sum().backward()
    return x.grad, y.grad_fn._saved_self


CASES = {
    "order": order,
    "removal": removal,
    "added while running": added_while_running,
    "exception": exception,
    "several outputs": several_outputs,
    "several tensors, all": lambda t: several_tensors(t, "all"),
    "several tensors, any": lambda t: several_tensors(t, "any"),
    "several tensors, some": lambda t: several_tensors(t, "some"),
    "no gradient": lambda t: t.ones(2).register_hook(print),
    "no leaf": lambda t: (leaf(t) * 2).register_post_accumulate_grad_hook(print),
    "edges": edges,
    "edge of a constant": lambda t: t.autograd.graph.get_gradient_edge(t.ones(2)),
    "version": version,
    "version of a number": lambda t: t.autograd.graph.increment_version([3]),
    "mutation": mutation,
    "mutation outside": mutation_outside,
    "mutation nested": mutation_nested,
    "forbidden": forbidden,
    "raw": raw,
    "unpack none": lambda t: packing(t, unpack=lambda x: None),
    "unpack another dtype": lambda t: packing(t, unpack=lambda x: x.double()),
    "pack writes": lambda t: packing(t, pack=lambda x: x.mul_(2)),
    "pack raises": lambda t: packing(t, pack=lambda x: 1 / 0),
    "no functions": lambda t: t.autograd.graph.saved_tensors_hooks(3, 4).__enter__(),
    "forbidding with a number": lambda t: t.autograd.graph.disable_saved_tensors_hooks(
        3
    ).__enter__(),
}

ANSWERS = {
    "a number": lambda t, g: 3,
    "a tuple": lambda t, g: (g,),
    "none": lambda t, g: None,
    "another size": lambda t, g: t.ones(3),
    "another dtype": lambda t, g: g.double(),
    "complex": lambda t, g: g.to(t.complex64),
    "bfloat16": lambda t, g: g.to(t.bfloat16),
    "twice": lambda t, g: g * 2,
}


def answered(torch, where, answer):
    x = leaf(torch)
    y = x * x

    def hook(*args):
        g = args[0]
        return answer(torch, g[0] if isinstance(g, tuple) else g)

    add = {
        "tensor": y.register_hook,
        "leaf": x.register_hook,
        "after": y.grad_fn.register_hook,
        "before": y.grad_fn.register_prehook,
        "accumulated": x.register_post_accumulate_grad_hook,
    }
    add[where](hook)
    y.sum().backward()
    return x.grad


@pytest.mark.parametrize("case", CASES)
def test_it_goes_as_in_pytorch(pytorch, case):
    compare(CASES[case], tapegrad, pytorch)


@pytest.mark.parametrize("where", ["tensor", "leaf", "after", "before", "accumulated"])
@pytest.mark.parametrize("answer", ANSWERS)
def test_answers_of_hooks_are_taken_as_in_pytorch(pytorch, where, answer):
    compare(lambda torch: answered(torch, where, ANSWERS[answer]), tapegrad, pytorch)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x * x,
        lambda x: x.exp(),
        lambda x: x**3,
        lambda x: x / x,
        lambda x: x.sum(),
        lambda x: x.softmax(0),
        lambda x: (x * 1).mul_(x),
        lambda x: x.norm(),
        lambda x: x.max(),
        lambda x: x.view(1, 2) @ x.view(2, 1),
        lambda x: x.cumsum(0).relu().std(),
    ],
)
def test_the_same_tensors_are_saved(pytorch, make):
    compare(lambda torch: packed(torch, make), tapegrad, pytorch)
