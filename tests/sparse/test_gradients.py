"""Sparse gradients: of embeddings, added up, and what optimizers make of them."""

import pytest

import tapegrad as torch

pytestmark = pytest.mark.filterwarnings("ignore")  # PyTorch warns once in a process


def table(module, kind="Embedding", **options):
    found = getattr(module.nn, kind)(5, 3, sparse=True, **options)
    with module.no_grad():
        found.weight.copy_(module.arange(15.0).reshape(5, 3) / 8 - 1)
    return found


def passes(module):
    """Gradients of several passes, as text."""
    x = module.tensor([[0, 2], [2, 1]])
    m = table(module, padding_idx=1)
    m(x).sum().backward()
    yield m.weight.grad
    m(x).sum().backward()
    yield m.weight.grad
    m.weight.grad = None
    (m(x).sum() + m(x).pow(2).sum()).backward()
    yield m.weight.grad
    m.weight.grad = None
    (m(x).sum() + m.weight.sum()).backward()
    yield m.weight.grad
    m(x).sum().backward()  # a sparse one is added to a dense one
    yield m.weight.grad
    m.weight.grad = None
    m(x).sum().backward()
    m.weight.sum().backward()  # a dense one is added to a sparse one
    yield m.weight.grad
    yield module.autograd.grad(m(x).pow(2).sum(), m.weight)
    for mode in ("sum", "mean"):
        bag = table(module, "EmbeddingBag", mode=mode)
        bag(x).pow(2).sum().backward()
        yield bag.weight.grad
    bag = table(module, "EmbeddingBag", mode="sum", padding_idx=2)
    bag(x, per_sample_weights=module.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    yield bag.weight.grad
    seen = []
    m.weight.grad = None
    m.weight.register_hook(seen.append)
    m(x).sum().backward()
    yield seen


def test_gradients_of_embeddings_are_pytorchs(pytorch):
    for ours, theirs in zip(passes(torch), passes(pytorch), strict=True):
        assert repr(ours) == repr(theirs)


def test_gradients_are_the_dense_ones():
    x = torch.tensor([[0, 2, 2], [4, 1, 2]])
    weights = torch.arange(6.0).reshape(2, 3)
    found = []
    for sparse in (True, False):
        m, bag = table(torch), table(torch, "EmbeddingBag", mode="sum")
        m.sparse = bag.sparse = sparse
        (m(x).pow(2).sum() + bag(x, per_sample_weights=weights).pow(2).sum()).backward()
        found.append([p.weight.grad for p in (m, bag)])
    for ours, dense in zip(*found, strict=True):
        assert ours.is_sparse and not dense.is_sparse
        assert torch.equal(ours.to_dense(), dense)


def test_the_second_derivative_of_a_sparse_gradient():
    w = torch.arange(6.0, dtype=torch.float64).reshape(3, 2).requires_grad_()
    x = torch.tensor([0, 2, 2])
    y = torch.nn.functional.embedding(x, w, sparse=True).pow(3).sum()
    (g,) = torch.autograd.grad(y, w, create_graph=True)
    g.to_dense().sum().backward()
    expected = 6 * w.detach() * torch.tensor([[1.0], [0.0], [2.0]], dtype=torch.float64)
    assert torch.equal(w.grad.to_dense(), expected)


def test_scaling_by_frequency_is_refused_in_the_backward_pass(pytorch):
    for module in (torch, pytorch):
        m = table(module, scale_grad_by_freq=True)
        with pytest.raises(RuntimeError, match="scale_grad_by_freq not supported with sparse"):
            m(module.tensor([1])).sum().backward()


def steps(module, name, **options):
    """The table after four steps, and the state of the optimizer."""
    m = table(module)
    optimizer = getattr(module.optim, name)(m.parameters(), lr=0.1, **options)
    for k in range(4):
        optimizer.zero_grad()
        m(module.tensor([0, 2, 2, k % 3])).pow(2).sum().backward()
        optimizer.step()
    state = optimizer.state_dict()["state"].get(0, {})
    numbers = [m.weight.detach()]
    for value in state.values():
        numbers.append(value.to_dense() if getattr(value, "is_sparse", False) else value)
    return [x.double().tolist() if hasattr(x, "tolist") else x for x in numbers], list(state)


TAKING = [
    ("SGD", {}), ("SGD", {"momentum": 0.9}), ("SGD", {"maximize": True}),
    ("SGD", {"momentum": 0.9, "dampening": 0.5}), ("SGD", {"momentum": 0.9, "nesterov": True}),
    ("Adagrad", {}), ("Adagrad", {"lr_decay": 0.1}), ("Adagrad", {"maximize": True}),
    ("SparseAdam", {}), ("SparseAdam", {"betas": (0.5, 0.9)}), ("SparseAdam", {"maximize": True}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options"), TAKING)
def test_an_optimizer_steps_as_pytorchs(name, options, pytorch):
    ours, theirs = steps(torch, name, **options), steps(pytorch, name, **options)
    assert ours[1] == theirs[1]
    for a, b in zip(ours[0], theirs[0], strict=True):
        assert torch.allclose(torch.tensor(a).double(), torch.tensor(b).double(), atol=1e-5)


REFUSING = "Adam AdamW RMSprop Adadelta Adamax NAdam RAdam ASGD Rprop Adafactor".split()


@pytest.mark.parametrize("name", REFUSING)
def test_other_optimizers_refuse_sparse_gradients(name, pytorch):
    texts = []
    for module in (torch, pytorch):
        with pytest.raises(RuntimeError, match="does not support sparse gradients") as caught:
            steps(module, name)
        texts.append(str(caught.value).splitlines()[0])
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("name", "options"), [("SGD", {"weight_decay": 0.1}), ("Adagrad", {"weight_decay": 0.1})]
)
def test_a_penalty_is_refused_with_sparse_gradients(name, options, pytorch):
    texts = []
    for module in (torch, pytorch):
        with pytest.raises(RuntimeError) as caught:
            steps(module, name, **options)
        texts.append(str(caught.value).splitlines()[0])
    assert texts[0] == texts[1]


def test_sparse_adam_is_of_dense_parameters_with_sparse_gradients(pytorch):
    for module in (torch, pytorch):
        with pytest.raises(ValueError, match=r"^Sparse params at indices \[\[0, 0\]\]"):
            module.optim.SparseAdam([module.eye(2).to_sparse().requires_grad_()])
        w = module.zeros(2, requires_grad=True)
        optimizer = module.optim.SparseAdam([w])
        w.grad = module.ones(2)
        with pytest.raises(RuntimeError, match=r"^SparseAdam does not support dense gradients"):
            optimizer.step()
    text = [repr(m.optim.SparseAdam([m.zeros(2)])) for m in (torch, pytorch)]
    assert text[0] == text[1]


def test_norms_of_sparse_gradients_are_refused_as_in_pytorch(pytorch):
    for module in (torch, pytorch):
        m = table(module)
        m(module.tensor([1])).sum().backward()
        with pytest.raises(NotImplementedError, match="'aten::linalg_vector_norm' with arguments"):
            module.nn.utils.clip_grad_norm_(m.parameters(), 1.0)


def test_sparse_and_dense_parameters_step_together():
    m, line = table(torch), torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD([*m.parameters(), *line.parameters()], lr=0.1)
    before = m.weight.detach().clone()
    for _ in range(2):
        optimizer.zero_grad()
        line(m(torch.tensor([3]))).sum().backward()
        optimizer.step()
    moved = (m.weight != before).any(dim=1)
    assert moved.tolist() == [False, False, False, True, False]


def test_lbfgs_takes_sparse_gradients_as_dense_ones():
    found = []
    for sparse in (True, False):
        m = table(torch)
        m.sparse = sparse
        optimizer = torch.optim.LBFGS(m.parameters(), lr=0.1, max_iter=3)

        def closure(m=m, optimizer=optimizer):
            optimizer.zero_grad()
            loss = m(torch.tensor([0, 2, 2])).pow(2).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        found.append(m.weight.tolist())
    assert found[0] == found[1]


def test_a_class_that_dispatches_elsewhere_changes_nothing(monkeypatch):
    monkeypatch.setattr("tapegrad.autograd.accumulate.CLASSES", [torch.Tensor])
    m = table(torch)
    m(torch.tensor([1, 2])).sum().backward()
    assert m.weight.grad.is_sparse


class Rows(torch.autograd.Function):
    """The identity, whose gradient is sparse: the first row, twice, or that of what follows."""

    @staticmethod
    def forward(ctx, x, n):
        ctx.n = n
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        if not g.is_sparse:
            places = torch.tensor([[0, 0]])
            g = torch.sparse_coo_tensor(places, torch.ones(2, 3), (ctx.n, 3), check_invariants=True)
        return g, None


def test_the_gradient_of_a_custom_function_may_be_sparse():
    x = torch.ones(4, 3, requires_grad=True)
    Rows.apply(Rows.apply(x, 4), 4).sum().backward()
    assert x.grad.is_sparse and x.grad.to_dense()[:, 0].tolist() == [2, 0, 0, 0]
    for terms in ([1, 2, 0], [0, 1, 2], [1, 0, 2]):
        x.grad = None
        y = [Rows.apply(x, 4), x * 3, x * 5]
        sum(y[i] for i in terms).sum().backward()
        assert not x.grad.is_sparse and x.grad[:, 0].tolist() == [10, 8, 8, 8]
    with pytest.raises(RuntimeError, match=r"got \[5, 3\] but expected shape compatible with"):
        Rows.apply(x, 5).sum().backward()


def test_a_table_may_be_looked_up_sparsely_and_used_otherwise():
    i = torch.tensor([1, 1, 3])
    for first in range(3):
        x = torch.ones(4, 3, requires_grad=True)
        w = x * 1
        terms = [w * 2, torch.nn.functional.embedding(i, w, sparse=True), w * 3]
        sum(y.sum() for y in terms[first:] + terms[:first]).backward()
        assert x.grad[:, 0].tolist() == [5, 7, 5, 6]


def test_leaves_do_not_share_a_sparse_gradient():
    a, b = (torch.ones(4, 3, requires_grad=True) for _ in range(2))
    torch.nn.functional.embedding(torch.tensor([1]), a + b, sparse=True).sum().backward()
    a.grad.mul_(2)
    assert a.grad.to_dense().sum() == 6 and b.grad.to_dense().sum() == 3


def test_the_data_of_a_dense_tensor_is_dense():
    x = torch.ones(1, 2)
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        x.data = torch.ones(1, 2).to_sparse()


def _leaf_with_an_index_twice():
    values = torch.tensor([1.0, 2.0, 3.0, 4.0])
    return torch.sparse_coo_tensor([[0, 0, 1, 2], [1, 1, 2, 0]], values, (3, 3)).requires_grad_()


def test_a_gradient_counts_an_index_that_comes_twice_once():
    x = _leaf_with_an_index_twice()
    torch.sparse.sum(x).backward()
    assert x.grad.is_coalesced() and x.grad._indices().tolist() == [[0, 1, 2], [1, 2, 0]]
    torch.sparse.sum(x * 2).backward()
    assert x.grad.to_dense().tolist() == [[0, 3, 0], [0, 0, 3], [3, 0, 0]]
    (slope,) = torch.autograd.grad(torch.sparse.sum(x), x)
    assert slope._values().tolist() == [1, 1, 1]


def test_hooks_get_and_give_sparse_gradients_with_each_index_once():
    x, seen = _leaf_with_an_index_twice(), []
    x.register_hook(lambda g: seen.append(g) or g * 3)
    torch.sparse.sum(x).backward()
    assert seen[0]._values().tolist() == [1, 1, 1]
    assert x.grad.to_dense().tolist() == [[0, 3, 0], [0, 0, 3], [3, 0, 0]]


def test_the_gradient_of_a_sparse_leaf_is_one_tensor_that_can_be_written():
    x = torch.eye(2).to_sparse().requires_grad_()
    torch.sparse.sum(x).backward()
    assert x.grad is x.grad
    x.grad.zero_()
    torch.sparse.sum(x * 3).backward()
    assert x.grad.to_dense().tolist() == [[3, 0], [0, 3]]
    x.grad = torch.ones(2, 2)
    assert not x.grad.is_sparse


def test_sgd_steps_a_sparse_parameter():
    x = _leaf_with_an_index_twice()
    optimizer = torch.optim.SGD([x], lr=0.25)
    for _ in range(2):
        torch.sparse.sum(x * x).backward()
        optimizer.step()
    assert x.detach().to_dense().tolist() == [[0, -0.75, 0], [0, 0, -0.75], [-1, 0, 0]]
    assert x.grad.to_dense().tolist() == [[0, 9, 0], [0, 0, 9], [12, 0, 0]]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_sparse_gradients_of_tables_in_half_precision(dtype):
    i = torch.tensor([1, 2, 2])
    for look_up in (torch.nn.functional.embedding, _bag):
        w = torch.arange(6.0).reshape(3, 2).to(dtype).requires_grad_()
        look_up(i, w, sparse=True).sum().backward()
        assert w.grad.dtype is dtype
        assert w.grad.to_dense().tolist() == [[0, 0], [1, 1], [2, 2]]


def _bag(i, w, sparse):
    return torch.nn.functional.embedding_bag(i, w, torch.tensor([0]), mode="sum", sparse=sparse)


def test_the_gradient_of_a_table_of_width_0():
    w = torch.zeros(3, 0, requires_grad=True)
    torch.nn.functional.embedding(torch.tensor([1, 2]), w, sparse=True).sum().backward()
    assert w.grad.shape == (3, 0)
