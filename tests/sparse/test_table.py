"""What functions and methods do with sparse tensors, beside PyTorch: values, text and errors."""

import copy
import pickle
import re

import pytest

import tapegrad as torch

pytestmark = pytest.mark.filterwarnings("ignore")  # PyTorch warns once in a process

SETUP = """
i = torch.tensor([[0, 1, 2, 2], [1, 3, 0, 2]])
v = torch.tensor([1.5, -2.0, 3.0, 0.5], dtype=torch.float64)
s = torch.sparse_coo_tensor(i, v, (3, 4)).coalesce()
ones = torch.tensor([1.0, 2.0, -3.0, 4.0], dtype=torch.float64)
u = torch.sparse_coo_tensor([[2, 0, 2, 2], [1, 3, 1, 0]], ones, (3, 4))
d = torch.arange(12.0, dtype=torch.float64).reshape(3, 4) - 4
w = torch.arange(8.0, dtype=torch.float64).reshape(4, 2) - 3
q = torch.sparse_coo_tensor([[0, 1, 3], [1, 3, 2]], ones[:3].abs(), (4, 4)).coalesce()
rows = torch.arange(1.0, 9.0, dtype=torch.float64).reshape(2, 4)
h = torch.sparse_coo_tensor([[0, 2]], rows, (3, 4)).coalesce()
b = torch.sparse_coo_tensor([[0, 0, 1], [0, 2, 1], [3, 1, 0]], ones[:3], (2, 3, 4)).coalesce()
z = torch.sparse_coo_tensor(size=(3, 4), dtype=torch.float64)
n = torch.sparse_coo_tensor(i, torch.tensor([1, 2, 3, 4]), (3, 4))
f = torch.sparse_coo_tensor(i, torch.tensor([1.0, 2, 3, 4]), (3, 4))
r = torch.sparse_coo_tensor(i, v.float(), (3, 4), is_coalesced=True, requires_grad=True)
bd = torch.arange(16.0, dtype=torch.float64).reshape(2, 4, 2)
e = torch.eye(4, dtype=torch.float64)
x = torch.arange(4.0, dtype=torch.float64)
c = torch.ones(3, 2, dtype=torch.float64)
"""
"""Coalesced, uncoalesced, hybrid, of three dimensions, empty, of integers; and dense ones."""

EXPRESSIONS = """
s
u
h
z
n
f
b
r
u.coalesce()
u.indices()
u.values()
u._indices(), u._values(), u._nnz()
s.indices(), s.values()
s.sparse_dim(), s.dense_dim(), h.sparse_dim(), h.dense_dim()
s.is_leaf, s.requires_grad, s.grad, s.grad_fn
s.type(), s.is_floating_point(), s.is_complex(), s.element_size(), s.itemsize
s.nbytes
s.stride()
s.is_contiguous()
s.storage()
s.data_ptr()
s.numpy()
s.tolist()
s.item()
len(s)
bool(s)
float(s)
list(s)
s.to_dense(), h.to_dense(), u.to_dense(), b.to_dense(), z.to_dense(), n.to_dense()
s.to_dense(dtype=torch.float32)
d.to_sparse()
d.to_sparse(1)
d.to_sparse(0)
d.to_sparse(3)
d.to_sparse(layout=torch.sparse_coo)
d.to_sparse_coo()
s.to_sparse()
s.to_sparse(1)
d.to_dense()
torch.tensor(3.0).to_sparse()
torch.sparse_coo_tensor([[0, 1]], [1, 2])
torch.sparse_coo_tensor([[0, 1]], [1.0, 2])
torch.sparse_coo_tensor([[0, 1]], [1.0, 2], (1,))
torch.sparse_coo_tensor([[0, -1]], [1.0, 2], (4,))
torch.sparse_coo_tensor([[0, 1]], [1.0, 2, 3], (4,))
torch.sparse_coo_tensor([[0, 1]], [1.0, 2], (4, 5), check_invariants=True)
torch.sparse_coo_tensor([[0, 9]], [1.0, 2], (4,), check_invariants=True)
torch.sparse_coo_tensor([0, 1], [1.0, 2])
torch.sparse_coo_tensor([[0, 1]], [1.0, 2], (4,), dtype=torch.int32)
torch.sparse_coo_tensor([[0, 1]], [1.0, 2], (4,), is_coalesced=True)
torch.sparse_coo_tensor([[0, 1]], [1.0, 2], (4,), requires_grad=True)
torch.sparse_coo_tensor([[0.5, 1]], [1.0, 2], (4,))
torch.sparse_coo_tensor((2, 3))
torch.sparse_coo_tensor(torch.empty(1, 0, dtype=torch.int64), [], (4,))
torch._sparse_coo_tensor_unsafe(i, torch.ones(4), (3, 4))
s + s
s + u
u + s
s - u
u - u
s + z
s + 1
s + d
d + s
d - s
s - d
torch.add(s, u, alpha=2)
torch.sub(s, u, alpha=2)
torch.add(d, s, alpha=3)
s + n
s + q
h + h
s + h
s * 2
2 * s
s * torch.tensor(2.0)
n * 2.5
s * s
s * u
s * n
s * d
d * s
s * x
s * d[:1]
h * d
h * h
s / 2
n / 2
s / torch.tensor(2.0)
s / d
d / s
s / s
2 / s
s // 2
n // 2
torch.div(s, 2, rounding_mode='floor')
s ** 2
u ** 2
s ** 0
torch.pow(s, 3)
2 ** s
s % 2
-s
-u
+s
abs(s)
u.abs()
n.sin()
n.sqrt()
s.positive()
s.sgn()
s.signbit()
s.isnan()
s.isinf()
s.isposinf()
s.exp()
s.cos()
s.log()
s.sigmoid()
s.reciprocal()
s.nan_to_num()
s.conj()
s.real
torch.nn.functional.relu(u)
s.eq(s)
s == s
s == 0
s > 0
s.logical_not()
s.ne(s)
torch.equal(s, s)
torch.allclose(s, s)
s @ w
w.t() @ s.t()
s.mm(w)
torch.mm(s, w)
torch.mm(u, w)
torch.sparse.mm(s, w)
torch.sparse.mm(u, w)
torch.sparse.mm(s, q)
torch.sparse.mm(u, q)
torch.sparse.mm(w.t(), s.t())
torch.sparse.mm(d, q)
torch.sparse.mm(d, w)
torch.sparse.mm(s, w, 'sum')
torch.sparse.mm(s, d)
s @ q
q @ q
s @ d
s @ x
torch.mv(s, x)
s.matmul(w)
x @ q
d @ q
torch.mm(d, q)
torch.matmul(d, q)
torch.spmm(s, w)
torch.dsmm(s, w)
torch.hspmm(s, w)
torch.smm(s, w)
torch.sspaddmm(s, s, e)
s.smm(w)
torch.addmm(torch.ones(3, 2, dtype=torch.float64), s, w)
torch.addmm(torch.ones(3, 2, dtype=torch.float64), s, w, beta=2, alpha=3)
torch.sparse.addmm(torch.ones(3, 2, dtype=torch.float64), s, w)
torch.sparse.addmm(torch.ones(3, 2, dtype=torch.float64), s, w, beta=0.5, alpha=3)
torch.addmm(s, s, q)
torch.bmm(b, bd)
torch.bmm(bd, b)
b @ bd
torch.bmm(b, b)
b @ w
f @ w
f.mm(torch.ones(4, 2))
n.mm(torch.ones(4, 2, dtype=torch.int64))
torch.nn.functional.linear(x, q)
torch.nn.functional.linear(x[None], s)
torch.nn.functional.linear(w.t(), w.t(), torch.ones(2, dtype=torch.float64).to_sparse())
torch.einsum('ij,jk->ik', s, w)
torch.dot(s, s)
s.sum()
u.sum()
s.sum(0)
s.sum(1)
s.sum(dim=(0, 1))
s.sum(0, keepdim=True)
s.mean()
s.max()
s.prod()
torch.sparse.sum(s)
torch.sparse.sum(s, 0)
torch.sparse.sum(s, dim=(0, 1))
torch.sparse.sum(s, dim=[-1])
torch.sparse.sum(h, 0)
torch.sparse.sum(h, 1)
torch.sparse.sum(b, (0, 2))
torch.sparse.sum(u, 1)
torch.sparse.sum(s, 0, dtype=torch.float32)
torch.sparse.sum(d)
torch.sparse.sum(s, 5)
n.sum()
s.norm()
u.norm()
s.norm(1)
s.norm(2)
s.norm(2, 0)
torch.norm(s)
torch.linalg.norm(s)
torch.linalg.vector_norm(s)
torch.sparse.softmax(s, 1)
torch.sparse.softmax(s, 0)
torch.sparse.softmax(u, 1)
torch.sparse.log_softmax(s, 1)
torch.sparse.log_softmax(s, -1)
torch.sparse.softmax(h, 1)
torch.sparse.softmax(h, 0)
torch.sparse.softmax(n, 1, dtype=torch.float64)
torch.sparse.softmax(s, 2)
torch.softmax(s, 1)
torch.nn.functional.softmax(s, 1)
s.softmax(1)
torch.cat([s, u])
torch.cat([s, s], 1)
torch.cat([s, s], dim=-1)
torch.cat([h, h], 1)
torch.cat([h, h], 0)
torch.cat([s, d])
torch.cat([s, q])
torch.cat([s, q.t()], 1)
torch.stack([s, u])
torch.stack([s, s], 1)
torch.stack([s, s], -1)
torch.hstack([s, s])
torch.vstack([s, s])
s.t()
u.t()
s.T
s.mT
h.t()
b.t()
b.transpose(0, 2)
b.transpose(-1, -2)
s.transpose(0, 1)
b.permute(2, 0, 1)
b.permute(0, 2, 1)
h.permute(1, 0)
h.permute(0, 1)
h.transpose(0, 1)
b.mT
s.t_()
torch.transpose(s, 0, 1)
s.index_select(0, torch.tensor([2, 0, 2]))
s.index_select(1, torch.tensor([3, 0]))
u.index_select(1, torch.tensor([1, 1]))
h.index_select(1, torch.tensor([1, 1]))
h.index_select(0, torch.tensor([2, 2]))
s.index_select(0, torch.tensor([5]))
s.select(0, 2)
s.select(1, 0)
u.select(0, 2)
b.select(0, 1)
h.select(0, 2)
h.select(1, 2)
h.select(0, 1)
s[2]
s[0, 1]
s[-1]
s[:, 1]
b[0]
b[0, 2]
b[1, :, 0]
h[2]
h[2, 1]
s[0:2]
s[torch.tensor([0, 2])]
s[d > 0]
s[None]
s[...]
s[7]
s.narrow_copy(0, 1, 2)
s.narrow(0, 1, 2)
s.split(1)
s.unbind(0)
s.chunk(2)
s.unsqueeze(0)
s.unsqueeze(-1)
h.unsqueeze(-1)
h.unsqueeze(0)
h.unsqueeze(1)
s.unsqueeze(0).squeeze(0)
s.squeeze()
s.reshape(12)
s.reshape(2, 6)
s.view(12)
s.view(3, 4)
s.flatten()
s.expand(3, 4)
s.repeat(2, 1)
s.contiguous()
d.sparse_mask(s)
d.sparse_mask(u)
d.sparse_mask(u).coalesce()
s.sparse_mask(q)
s.sparse_mask(u.coalesce())
d.sparse_mask(d)
s.clone()
u.clone()
s.detach()
s.to(torch.float32)
s.to('cpu')
s.to(torch.float32).dtype
s.double() is s
s.float()
s.half()
s.int()
s.long()
s.bool()
s.type(torch.float32)
s.type_as(f)
s.cpu()
s.data
f.requires_grad_()
n.requires_grad_()
s.new_zeros(2, 2)
s.new_tensor([1.0])
s.new(2, 3)
s.new_empty(2, 3)
torch.zeros_like(s)
torch.ones_like(s)
torch.empty_like(s).shape
torch.rand_like(s)
torch.full_like(s, 2)
s.zero_()
s.fill_(0)
s.fill_(2)
s.clone().add_(u)
s.clone().add_(u, alpha=2)
s.clone().mul_(2)
s.clone().div_(2)
s.clone().mul_(s)
s.clone().sub_(u)
s.clone().neg_()
s.clone().abs_()
s.clone().copy_(u)
s.clone().sqrt_()
s.clone().pow_(2)
s.clone().copy_(d)
d.clone().copy_(s)
d.clone().add_(s)
d.clone().add_(s, alpha=2)
d.clone().sub_(s)
d.clone().mul_(s)
s.clone().add_(d)
d.clone().addmm_(d, q)
torch.ones(3, 2, dtype=torch.float64).addmm_(s, w)
s.resize_(2, 2)
s.clone().sparse_resize_((4, 5), 2, 0)
s.clone().sparse_resize_and_clear_((4, 5), 2, 0)
s.clone().zero_()
torch.zeros(2, 3, layout=torch.sparse_coo)
torch.typename(s)
torch.result_type(s, n), torch.result_type(n, 1.5), torch.result_type(2.0, n)
torch.utils.data.default_collate([s, s])
torch.autocast("cpu")(lambda a=f, w=w: torch.mm(a, w.float()).dtype)()
torch.nn.Parameter(s), isinstance(torch.nn.Parameter(s), torch.nn.Parameter)
torch.testing.assert_close(s, s.clone())
torch.testing.assert_close(s, s * 2)
torch.testing.assert_close(s, q)
torch.testing.assert_close(s, d.to_sparse())
torch.testing.assert_close(s, s.t().t())
torch.testing.assert_close(s, torch.sparse_coo_tensor(i.flip(1), v, (3, 4)).coalesce())
torch.empty(2, 3, layout=torch.sparse_coo)
torch.ones(2, 3, layout=torch.sparse_coo)
s.where(s, s)
torch.where(s, s, s)
s.diag()
s.trace()
s.any()
s.all()
torch.any(s)
s.nonzero()
s.masked_fill(d > 0, 1)
s.gather(0, i)
s.scatter(0, i, 1.0)
s.sort()
s.argmax()
s.topk(1)
s.clamp(0, 1)
s.clamp_min(0)
s.dropout(0.5)
torch.nn.functional.dropout(s, 0.5, False)
torch.maximum(s, s)
s.std()
s.var()
s.cumsum(0)
s.tril()
s.flip(0)
s.roll(1)
s.inverse()
s.det()
torch.linalg.inv(q)
s.addcmul(s, s)
s.lerp(s, 0.5)
s.is_same_size(u)
s.is_nonzero()
s.is_signed()
s.is_pinned()
s.resolve_conj()
torch.is_tensor(s)
torch.is_floating_point(s)
torch.is_nonzero(s)
torch.isnan(s)
torch.numel(s)
torch.zeros_like(s, layout=torch.strided)
torch.numel(h)
torch.sparse.spdiags(torch.arange(9.0).reshape(3, 3), torch.tensor([0, -1, 2]), (3, 3))
torch.sparse.spdiags(torch.ones(3), torch.tensor([0]), (3, 4))
torch.sparse.check_sparse_tensor_invariants.is_enabled()
torch.broadcast_tensors(s, s)
s.count_nonzero()
torch.abs(n)
d.mul(z)
z @ w
z.sum()
z + s
torch.square(u)
torch.empty_like(s)
torch.nn.utils.clip_grad_norm_([r], 1.0)
torch.clone(s)
torch.detach(s)
s.addmm(s, e)
copy.copy(s)
copy.deepcopy(s)
copy.deepcopy(r)
pickle.loads(pickle.dumps(s))
str(s), f'{s}'
s.__class__.__name__, isinstance(s, torch.Tensor)
hash(s) == hash(s)
s.nelement()
s.values().sum()
torch.as_tensor(s)
s.get_device(), s.is_cuda, s.is_meta, s.is_quantized
s.untyped_storage()
s.indices().dtype
s.coalesce() is s
s.to_dense().to_sparse().is_coalesced()
s.crow_indices()
d.indices()
d._indices()
d._values()
d._nnz()
d.coalesce()
d.is_coalesced()
d.values()
i.to_sparse()
(s != 0)
s.__array__()
s.amax(0)
s.amin()
torch.linalg.matrix_norm(s)
torch.special.expm1(s)
torch.special.erf(s)
s.arcsin()
s.absolute()
s.negative()
s.erfinv()
s.multiply(2)
s.divide(2)
s.subtract(s)
s.true_divide(2)
s.as_subclass(torch.Tensor)
d[s]
torch.index_select(s, 0, torch.tensor([0]))
torch.bmm(b.transpose(1, 2), torch.ones(2, 3, 1, dtype=torch.float64))
s.backward()
s.select(0, 7)
s.mul(q)
s.mul(d[:2])
s.mul(torch.ones(1))
1 - s
1 + s
s - 1
s.add_(1)
s.div_(d)
torch.rand(3).add(s)
d[:1] + s
d.add_(n)
d - n
s.mm(s)
torch.mv(s, w)
torch.bmm(b, w)
torch.sparse_coo_tensor(i, torch.ones(4, 2), (3, 4))
torch.sparse_coo_tensor(i, torch.ones(4, 2), (3, 4, 2))
torch.sparse_coo_tensor(i, 2.0, (3, 4))
torch.sparse_coo_tensor([[], []], [], (2, 3))
torch.sparse_coo_tensor(i, [1, 2, 3, 4], (3, 4), requires_grad=True)
torch.sparse_coo_tensor(-i, torch.ones(4), (3, 4), check_invariants=True)
torch.sparse_coo_tensor(i.flip(1), v, (3, 4), check_invariants=True, is_coalesced=True)
torch.sparse_coo_tensor(i, torch.ones(4, dtype=torch.complex64), (3, 4))
torch.sparse.FloatTensor(i, torch.ones(4), torch.Size([3, 4])), torch.sparse.FloatTensor(2, 3)
torch.sparse.LongTensor(i, torch.ones(4).long()), isinstance(f, torch.sparse.FloatTensor)
torch.sparse.FloatTensor()
s.type('torch.sparse.FloatTensor')
d.smm(d)
d.sspaddmm(d, d)
torch.hspmm(d, w)
torch.sparse.softmax(d, 1)
s.transpose(0, 5)
s.unsqueeze(4)
torch.cat([s, h])
torch.stack([s, q])
torch.any(s, 0)
s.norm(p='fro'), s.norm(float('inf')), s.norm(0)
s.pow(0.5)
s.pow(s)
s.type_as(d)
s.narrow_copy(0, 2, 2)
s.to(device='cpu', dtype=torch.float16).dtype, s.to(n).dtype, s.to(d).dtype
s.new_ones(2)
s.expand_as(s)
s.size(5)
b.mT.shape, s.H, s.adjoint()
s.values().requires_grad, r._values().requires_grad, r.coalesce().values().requires_grad
(r.backward(s.float()), r.grad)
torch.sparse_coo_tensor(torch.arange(2000).reshape(2, 1000), torch.arange(1000.0), (2000, 2000))
torch.sparse_coo_tensor(torch.arange(60).reshape(2, 30), torch.arange(30.0), (2000, 2000))
s.clone().copy_(q)
r.add_(f)
(r * 2).coalesce().values().grad_fn is None, r.t().is_leaf
torch.autograd.grad(torch.sparse.mm(r, torch.ones(4, 2)).sum(), r)
torch.autograd.grad(torch.sparse.sum(r), [r])
(torch.sparse.sum(r * r).backward(), r.grad)
r.retain_grad(), r.detach(), r.data, r.is_leaf, r.grad_fn
""".strip().splitlines()


def outcome(expression, module):
    """What an expression gives, as text: its value, or the class and first line of its error."""
    scope = {"torch": module, "copy": copy, "pickle": pickle}
    exec(SETUP, scope)
    try:
        found = eval(expression, scope)
    except Exception as error:
        kind = "AttributeError" if isinstance(error, AttributeError) else type(error).__name__
        text = f"{kind}: {str(error).splitlines()[0]}"
        return re.sub(r"(Could not run 'aten::\w+)(\.\w+)?'.*", r"\1'", text)
    parts = found if type(found) in (tuple, list) else (found,)
    flags = [x.is_coalesced() for x in parts if isinstance(x, module.Tensor) and x.is_sparse]
    return f"{found!r} {flags}"


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_gives_what_pytorch_gives(expression, pytorch):
    assert outcome(expression, torch) == outcome(expression, pytorch)


REFUSED = """
exp cos log sigmoid reciprocal mean max min prod cumsum sort argmax topk clamp flip roll tril
trace view reshape expand numpy tolist storage nonzero std var squeeze split chunk as_strided
fill_ resize_
""".split()


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_in_the_table_raises_by_name(name):
    x = torch.eye(3).to_sparse()
    given = {"expand": (3, 3), "view": (9,), "reshape": (9,), "cumsum": (0,), "topk": (1,)}
    with pytest.raises((NotImplementedError, RuntimeError, TypeError)) as caught:
        getattr(x, name)(*given.get(name, ()))
    assert "sparse" in str(caught.value).lower() or "storage" in str(caught.value)


def test_every_public_operator_refuses_a_sparse_tensor_or_serves_it():
    """No function of one tensor reads a sparse one as if it were dense."""
    x = torch.eye(3).to_sparse()
    quiet = []
    for name in sorted(n for n in dir(torch) if n[0] != "_"):
        function = getattr(torch, name)
        if not callable(function) or isinstance(function, type) or name in _NO_OPERATORS:
            continue
        try:
            found = function(x)
        except Exception:
            continue
        if isinstance(found, torch.Tensor) and not found.is_sparse:
            quiet.append(name)
    assert set(quiet) <= _DENSE, sorted(set(quiet) - _DENSE)


_NO_OPERATORS = {"save", "set_default_device", "set_default_dtype", "set_printoptions"}
_DENSE = {"any", "norm", "sum", "native_norm"}


def test_the_module_is_found_before_any_sparse_tensor_is_made():
    from tests.command import run_code

    program = "import tapegrad as torch; print(torch.sparse.FloatTensor, torch.sparse.mm.__name__)"
    assert run_code(program) == "<class 'torch.sparse.FloatTensor'> sparse_mm\n"
