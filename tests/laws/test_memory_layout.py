"""Where the elements of results lie in memory: strides as PyTorch's, whatever those of the inputs.

Every call of the tables `*_calls.py`, and those below, with inputs that lie in memory in several
ways. Dimensions of size 1 are not compared: along them there is no step.
"""

import numpy as np
import pytest

import tapegrad
from tests.laws import layer_calls, matrix_calls, tensor_calls
from tests.laws.calls import Group, groups_of, mask, uniform

IMAGES = Group(
    "images",
    """
    x.sum(1)
    x.sum((0, 2))
    x.sum((2, 3), keepdim=True)
    x.mean((2, 3))
    x.mean(0, keepdim=True)
    x.amax((1, 3))
    x.max(1)
    x.min(0, keepdim=True)
    x.median(2)
    x.prod(1)
    x.var(1)
    x.std((0, 2))
    x.logsumexp((0, 1))
    x.nansum(2)
    x.argmax(1)
    x.all(1)
    x.count_nonzero(2)
    x.kthvalue(2, 1)
    x.mode(2)
    x.topk(2, 1)
    x.sort(2)
    x.cumsum(1)
    x.cumprod(2)
    x.cummax(0)
    x.aminmax(dim=1)
    torch.linalg.vector_norm(x, 2, (1, 2))
    torch.linalg.matrix_norm(x)
    x.quantile(0.5, 1)
    x.exp()
    x + y
    x * y[:, :1]
    y[:1] * x
    x * y[0, 0, 0]
    x + w
    w + x
    x > y
    x.long()
    x.double() * y
    x.half()
    torch.where(m, x, y)
    torch.where(x > 0.5, x, 0.0)
    x.lerp(y, w)
    x.frexp()
    torch.addcdiv(x, y, y)
    x.clone()
    x.clone(memory_format=torch.contiguous_format)
    x.contiguous()
    torch.zeros_like(x)
    torch.rand_like(x)
    torch.full_like(x, 2)
    torch.empty_like(x, dtype=torch.float64)
    x.new_zeros(2, 3)
    x.reshape(2, -1)
    x.flatten(1)
    torch.cat([x, y], 1)
    torch.cat([x, x], 2)
    torch.stack([x, y], 2)
    x.flip(1, 2)
    x.roll((1, 2), (0, 3))
    x.roll(3)
    x.rot90(1, (1, 3))
    x.rot90(2, (1, 3))
    x.rot90(3, (1, 3))
    x.repeat(1, 2, 1, 1)
    x.repeat_interleave(2, 1)
    x.tile(2)
    x.tril()
    x.diag_embed()
    x.diagonal(0, 1, 2)
    x.unfold(2, 2, 1)
    x[:, i]
    x[:, i[:2]]
    x[:, :, i]
    x[:, i, :, i]
    x[m]
    x.index_select(2, i)
    x.index_add(1, i, y)
    x.index_copy(1, i, y)
    x.index_fill(1, i, 2.0)
    x.index_put((i - 1,), y[0])
    x.gather(1, (x > 2).long())
    x.take_along_dim((x > 2).long(), 1)
    x.take((x > 2).long())
    x.scatter(1, (x > 2).long(), y)
    x.masked_fill(m, 0.0)
    x.masked_select(m)
    x.nonzero()
    x.softmax(1)
    x.log_softmax(3)
    F.dropout(x, 0.5)
    F.prelu(x, w[0, :, 0, 0])
    F.glu(x[:, :2], 1)
    F.layer_norm(x, (5,))
    F.layer_norm(x, (4, 5))
    F.group_norm(x, 3)
    F.instance_norm(x)
    F.normalize(x)
    F.pad(x, (1, 2))
    F.pad(x, (1, 1, 1, 1), mode="reflect")
    F.pad(x, (1, 1, 1, 1), mode="replicate")
    F.conv2d(x, k)
    F.conv2d(x, k, padding=1, groups=1)
    F.conv_transpose2d(x, k)
    F.avg_pool2d(x, 2)
    F.max_pool2d(x, 2)
    F.adaptive_avg_pool2d(x, 2)
    F.adaptive_max_pool2d(x, 2)
    F.lp_pool2d(x, 2, 2)
    F.interpolate(x, scale_factor=2)
    F.pixel_unshuffle(x[:, :, :, :4], 2)
    F.grid_sample(x, y[:, :2].permute(0, 2, 3, 1))
    F.unfold(x, 2)
    F.linear(x, y[0, 0])
    x @ y.mT
    torch.einsum("nchw,ncxw->nchx", x, y)
    torch.tensordot(x, y, ([2, 3], [2, 3]))
    torch.cdist(x, y)
    torch.bmm(x[0], y[0].mT)
    F.mse_loss(x, y, reduction="none")
    F.l1_loss(x, y, reduction="none")
    F.smooth_l1_loss(x, y, reduction="none")
    F.huber_loss(x, y, reduction="none")
    F.binary_cross_entropy(x, y, reduction="none")
    F.binary_cross_entropy_with_logits(x, y, reduction="none")
    F.kl_div(x, y, reduction="none")
    F.poisson_nll_loss(x, y, reduction="none")
    F.gaussian_nll_loss(x, y, y, reduction="none")
    F.soft_margin_loss(x, y, reduction="none")
    F.cross_entropy(x, (y[:, 0] > 2).long(), reduction="none")
    F.cosine_similarity(x, y)
    F.pairwise_distance(x, y)
    torch.linalg.cross(x, y, dim=1)
    torch.complex(x, y)
    torch.polar(x, y)
    torch.complex(x, y).abs()
    x.diff(dim=1)
    torch.gradient(x, dim=1)
    torch.trapezoid(x, dim=1)
    torch.bucketize(x, w[0, :, 0, 0].sort()[0])
    torch.isin(x, y)
    torch.isclose(x, y)
    torch.bernoulli(x)
    torch.polygamma(1, x)
    torch.pow(2, x)
    torch.pow(x, 2)
    torch.sub(2, x)
    torch.rsub(x, y)
    2 - x
    2 / x
    torch.logit(x)
    torch.nan_to_num(x)
    x.clamp(0.2, 0.5)
    x.fmod(y)
    x.floor_divide(y)
    torch.fft.fft(x)
    torch.fft.fft(x, dim=1)
    torch.fft.rfft(x, dim=0)
    torch.fft.irfft(x + 0j, dim=2)
    torch.fft.fftn(x, dim=(1, 2))
    torch.fft.rfftn(x, dim=(2, 0))
    torch.fft.irfftn(x + 0j, dim=(2, 1))
    """,
    x=uniform(2, 3, 4, 5),
    y=uniform(2, 3, 4, 5),
    constants={
        "m": mask(2, 3, 4, 5),
        "i": lambda rng: rng.permutation(3),
        "w": uniform(1, 3, 1, 1),
        "k": uniform(3, 3, 2, 2),
    },
)

VOLUMES = Group(
    "volumes",
    """
    x + 1
    x.sum((1, 3))
    torch.cat([x, x])
    F.conv3d(x, k)
    F.conv_transpose3d(x, k)
    F.max_pool3d(x, 2)
    F.avg_pool3d(x, 2)
    F.adaptive_avg_pool3d(x, 2)
    F.adaptive_max_pool3d(x, 2)
    F.interpolate(x, scale_factor=2)
    F.interpolate(x, scale_factor=2, mode="trilinear")
    F.batch_norm(x, None, None, training=True)
    F.group_norm(x, 3)
    F.softmax(x, 1)
    """,
    x=uniform(2, 3, 4, 5, 6),
    constants={"k": uniform(3, 3, 2, 2, 2)},
)

BATCHES = Group(
    "batches of matrices",
    """
    torch.linalg.inv(a)
    torch.linalg.solve(a, b)
    torch.linalg.solve(a, v)
    torch.linalg.solve(a, b.mT, left=False)
    torch.linalg.cholesky(a @ a.mT + e)
    torch.linalg.cholesky(a @ a.mT + e, upper=True)
    torch.cholesky_solve(b, a)
    torch.cholesky_inverse(a)
    torch.linalg.qr(b)
    torch.linalg.qr(b, "complete")
    torch.linalg.qr(b, "r")
    torch.linalg.svd(b)
    torch.svd(b)
    torch.linalg.svdvals(b)
    torch.linalg.eigh(a @ a.mT)
    torch.linalg.eig(a)
    torch.linalg.lu(b)
    torch.linalg.lu_factor(b)
    torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b)
    torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b.mT, left=False)
    torch.linalg.solve_triangular(a.tril(), b, upper=False)
    torch.linalg.solve_triangular(a.tril(), b.mT, upper=False, left=False)
    torch.triangular_solve(b, a)
    torch.geqrf(b)
    torch.linalg.householder_product(b, v[..., :2])
    torch.ormqr(b, v[..., :2], b)
    torch.linalg.ldl_factor(a @ a.mT)
    torch.linalg.ldl_solve(*torch.linalg.ldl_factor(a @ a.mT), b)
    torch.linalg.lstsq(a, b)
    torch.linalg.lstsq(b, b)
    torch.linalg.pinv(b)
    torch.linalg.matrix_exp(a)
    torch.linalg.matrix_power(a, -2)
    torch.linalg.matrix_power(a, 3)
    torch.linalg.inv(a).mT
    torch.linalg.multi_dot([a[0, 0], b[0, 0], b[0, 0].mT])
    torch.linalg.det(a)
    torch.linalg.slogdet(a)
    """,
    a=uniform(2, 3, 4, 4),
    b=uniform(2, 3, 4, 2),
    v=uniform(2, 3, 4),
    constants={"e": lambda rng: 4 * np.eye(4, dtype=np.float32)},
)

GROUPS = {
    g.name: g
    for g in [*groups_of(tensor_calls, matrix_calls, layer_calls), IMAGES, VOLUMES, BATCHES]
}


def as_given(torch, x):
    return x


def reversed_axes(torch, x):
    order = list(range(x.dim()))[::-1]
    return x.permute(order).contiguous().permute(order)


def first_axis_last(torch, x):
    n = x.dim()
    return x.permute(*range(1, n), 0).contiguous().permute(n - 1, *range(n - 1)) if n > 1 else x


def every_second(torch, x):
    return torch.stack([x, x], -1).flatten(-2)[..., ::2] if x.dim() else x


def every_second_row(torch, x):
    return every_second(torch, x.mT).mT if x.dim() > 1 else x


def expanded(torch, x):
    return x[:1].expand(x.shape) if x.dim() > 1 else x


def channels_last(torch, x):
    if x.dim() not in (4, 5):
        return x
    name = "channels_last" if x.dim() == 4 else "channels_last_3d"
    return x.contiguous(memory_format=getattr(torch, name))


LAYOUTS = [
    as_given, reversed_axes, first_axis_last, every_second, every_second_row, expanded,
    channels_last,
]  # fmt: skip


def tensors_in(result):
    if isinstance(result, (tuple, list)):
        return [x for each in result for x in tensors_in(each)]
    return [result] if hasattr(result, "stride") else []


def strides(torch, group, call, layout, first_alone):
    """(shape, strides) of each result, None where the call fails."""
    torch.manual_seed(0)
    tensors = {name: torch.from_numpy(array) for name, array in group.arrays().items()}
    for i, name in enumerate(tensors):
        if i == 0 or not first_alone:
            tensors[name] = layout(torch, tensors[name])
    try:
        result = eval(call, {"torch": torch, "F": torch.nn.functional, **tensors})
    except RuntimeError:
        return None
    return [(tuple(x.shape), x.stride()) for x in tensors_in(result)]


def same(ours, theirs):
    if ours is None or theirs is None:
        return theirs is None
    return len(ours) == len(theirs) and all(
        shape == other and (0 in shape or _same_steps(shape, a, b))
        for (shape, a), (other, b) in zip(ours, theirs, strict=True)
    )


def _same_steps(shape, a, b):
    return all(n == 1 or s == t for n, s, t in zip(shape, a, b, strict=True))


_LAZY = "PyTorch marks the tensor, whose memory the result is; here it is conjugated at once"
_LINES = "lines are computed as images of one row, of which the layout is taken"

DIFFERENT = {
    "z.conj()": _LAZY,
    "z.mH": _LAZY,
    "F.max_pool1d(x[:, :, 0], 2)": _LINES,
    "F.max_unpool1d(*F.max_pool1d(x[:, :, 0], 2, return_indices=True), 2)": _LINES,
    "F.conv1d(x[:, :, 0], w[:, :, 0], b)": _LINES,
    "F.conv_transpose1d(x[:, :, 0], w.transpose(0, 1)[:, :, 0])": _LINES,
    "x.as_strided_scatter(y[:4, :4], (4, 4), (48, 1))": "holes in the memory are not kept",
    "torch.gradient(x, dim=1)": "parts with one channel are as good as row-major",
    "torch.stack([x, y], 2)": "of images with the channels innermost, PyTorch makes such volumes",
}
"""Calls of which a result lies otherwise, and why."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("group", GROUPS)
def test_results_lie_in_memory_as_in_pytorch(pytorch, group):
    group = GROUPS[group]
    wrong = []
    for call in set(group.calls) - set(DIFFERENT):
        for layout in LAYOUTS:
            for first_alone in (False, True):
                ours = strides(tapegrad, group, call, layout, first_alone)
                theirs = strides(pytorch, group, call, layout, first_alone)
                if not same(ours, theirs):
                    wrong.append((call, layout.__name__, first_alone, ours, theirs))
    if wrong:
        pytest.fail("\n".join(map(str, wrong)))
