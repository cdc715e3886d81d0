"""Several threads over shared graphs and shared leaves."""

import sys
import threading

import pytest

import tapegrad as torch

N_THREADS = 8


def in_threads(work, n=N_THREADS):
    """Run `work(i)` in `n` threads that start together; raise what one of them raised."""
    failures = []
    start = threading.Barrier(n)

    def run(i):
        try:
            start.wait(120)
            work(i)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@pytest.fixture(autouse=True)
def _switch_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def test_eight_threads_walk_one_retained_graph():
    x = torch.ones(4, dtype=torch.float64, requires_grad=True)
    w = torch.full((4,), 2.0, dtype=torch.float64, requires_grad=True)
    y = x
    for _ in range(20):
        y = y * w + x
    y = y.sum()
    gx, gw = torch.autograd.grad(y, (x, w), retain_graph=True)
    rounds = 5

    def work(i):
        for _ in range(rounds):
            y.backward(retain_graph=True)

    in_threads(work)
    assert x.grad.tolist() == (gx * N_THREADS * rounds).tolist()
    assert w.grad.tolist() == (gw * N_THREADS * rounds).tolist()


def test_eight_threads_have_graphs_of_their_own_over_shared_leaves():
    x = torch.ones(3, requires_grad=True)
    rounds = 50

    def work(i):
        for _ in range(rounds):
            (x * (i + 1)).sum().backward()

    in_threads(work)
    total = rounds * sum(range(1, N_THREADS + 1))
    assert x.grad.tolist() == [total] * 3


def test_eight_threads_have_graphs_over_a_shared_trunk():
    x = torch.full((3,), 2.0, dtype=torch.float64, requires_grad=True)
    trunk = x * x

    def work(i):
        (trunk * (i + 1)).sum().backward(retain_graph=True)

    in_threads(work)
    assert x.grad.tolist() == [4.0 * 36] * 3


def test_autograd_grad_gives_each_thread_its_own():
    x = torch.ones(3, requires_grad=True)
    y = (x * 3).exp().sum()
    found = [None] * N_THREADS
    want = torch.autograd.grad(y, x, retain_graph=True)[0].tolist()

    def work(i):
        for _ in range(10):
            found[i] = torch.autograd.grad(y, x, retain_graph=True)[0]

    in_threads(work)
    assert [g.tolist() for g in found] == [want] * N_THREADS
    assert x.grad is None


def test_second_derivatives_from_eight_threads():
    x = torch.full((3,), 2.0, dtype=torch.float64, requires_grad=True)
    y = (x**3).sum()
    found = [None] * N_THREADS

    def work(i):
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        (found[i],) = torch.autograd.grad(g.sum(), x)

    in_threads(work)
    assert [h.tolist() for h in found] == [[12.0] * 3] * N_THREADS


def test_hooks_are_called_once_for_each_pass():
    x = torch.ones(3, requires_grad=True)
    y = (x * 2).sum()
    seen = []
    x.register_hook(lambda g: seen.append(threading.get_ident()))
    in_threads(lambda i: y.backward(retain_graph=True))
    assert len(seen) == N_THREADS and x.grad.tolist() == [2.0 * N_THREADS] * 3


def test_retained_gradients_add_up_over_threads():
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    y.retain_grad()
    z = y.sum()
    in_threads(lambda i: z.backward(retain_graph=True))
    assert y.grad.tolist() == [float(N_THREADS)] * 3


def test_each_thread_has_its_own_grad_mode():
    x = torch.ones(3, requires_grad=True)

    def work(i):
        for _ in range(100):
            if i % 2:
                with torch.no_grad():
                    assert not (x * 2).requires_grad
            else:
                assert (x * 2).requires_grad

    in_threads(work)
    assert torch.is_grad_enabled()


def test_one_decorated_function_is_called_from_several_threads():
    x = torch.ones(3, requires_grad=True)

    @torch.no_grad()
    def double():
        return x * 2

    def work(i):
        for _ in range(100):
            assert not double().requires_grad
            assert torch.is_grad_enabled()

    in_threads(work)


def test_threads_train_models_of_their_own():
    def train(i):
        x = torch.linspace(-1, 1, 16, dtype=torch.float64).reshape(-1, 1)
        w = torch.full((1, 1), float(i), dtype=torch.float64, requires_grad=True)
        for _ in range(30):
            loss = ((x @ w - 3 * x) ** 2).mean()
            (g,) = torch.autograd.grad(loss, w)
            with torch.no_grad():
                w -= g
        return w.item()

    alone = [train(i) for i in range(N_THREADS)]
    found = [None] * N_THREADS

    def work(i):
        found[i] = train(i)

    in_threads(work)
    assert found == alone
