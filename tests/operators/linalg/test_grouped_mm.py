"""Products of matrices in groups, and of integers."""

import pytest

import tapegrad as torch
from tapegrad.autograd import gradcheck, gradgradcheck
from tapegrad.nn.functional import grouped_mm
from tapegrad.operators.linalg.grouped_mm import grouped_product


def ends(*numbers):
    return torch.tensor(numbers, dtype=torch.int32)


def leaf(*shape, dtype=torch.float32):
    torch.manual_seed(sum(shape))
    return torch.randn(*shape).to(dtype).requires_grad_()


def by_hand(a, b, *stops):
    """The same by a product for each group."""
    groups = [slice(i, j) for i, j in zip([0, *stops], stops, strict=False)]
    if a.dim() == b.dim() == 2:
        return torch.stack([a[:, each] @ b[each] for each in groups])
    if a.dim() == 2:
        return torch.cat([a[each] @ b[i] for i, each in enumerate(groups)])
    return torch.cat([a[i] @ b[:, each] for i, each in enumerate(groups)], 1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize(
    ("first", "second"),
    [((6, 8), (3, 8, 4)), ((3, 4, 8), (8, 6)), ((4, 6), (6, 8))],
    ids=["rows", "columns", "what is summed over"],
)
def test_groups_are_multiplied_each_by_itself(first, second, dtype):
    a, b = leaf(*first, dtype=dtype), leaf(*second, dtype=dtype)
    found = grouped_mm(a, b, offs=ends(2, 2, 6))
    expected = by_hand(a, b, 2, 2, 6)
    assert found.dtype is dtype
    assert type(found.grad_fn).__name__ == "GroupedMmBackward0"
    assert torch.allclose(found, expected)
    g = torch.randn(found.shape).to(dtype)
    got, want = [torch.autograd.grad(y, (a, b), g) for y in (found, expected)]
    assert all(torch.allclose(x, y, atol=1e-5) for x, y in zip(got, want, strict=True))


@pytest.mark.parametrize(
    ("first", "second"), [((5, 2), (3, 2, 2)), ((3, 2, 2), (2, 5)), ((2, 5), (5, 2))]
)
def test_derivatives_are_those_of_differences(first, second):
    inputs = [leaf(*shape, dtype=torch.float64) for shape in (first, second)]

    def function(a, b):
        return grouped_product(a, b, ends(1, 1, 4)).tanh()

    assert gradcheck(function, inputs, check_forward_ad=True)
    assert gradgradcheck(function, inputs)


def test_batches_need_no_offsets():
    a, b = leaf(2, 3, 4), leaf(2, 4, 5)
    assert torch.equal(torch._grouped_mm(a, b), a @ b)


def test_what_is_behind_the_last_group_is_zero():
    a, b = leaf(6, 8), leaf(2, 8, 4)
    found = grouped_mm(a, b, offs=ends(2, 4))
    assert not found[4:].any()
    found.sum().backward()
    assert not a.grad[4:].any() and a.grad[:4].all()


def test_the_end_of_groups_may_be_another_in_each_compiled_call():
    a, b = leaf(6, 8), leaf(2, 8, 4)
    step = torch.compile(lambda offs: grouped_mm(a, b, offs=offs) * 2, fullgraph=True)
    for stops in ((2, 6), (3, 6), (0, 6), (5, 6)):
        assert torch.allclose(step(ends(*stops)), 2 * by_hand(a, b, *stops), atol=1e-6)
    assert len(step.explain().programs) == 1
    with pytest.raises(RuntimeError, match=r"offs must not decrease"):
        step(ends(5, 3))


def test_tensors_without_memory_have_the_shapes():
    a, b = torch.empty(6, 8, device="meta"), torch.empty(2, 8, 4, device="meta")
    offs = torch.empty(2, dtype=torch.int32, device="meta")
    assert grouped_mm(a, b, offs=offs).shape == (6, 4)
    assert grouped_mm(a.T, a, offs=offs).shape == (2, 8, 8)
    assert grouped_mm(b.mT, a.T, offs=offs).shape == (4, 6)


def test_autocast_multiplies_in_sixteen_bits():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert grouped_mm(leaf(6, 8), leaf(2, 8, 4), offs=ends(2, 6)).dtype is torch.bfloat16


@pytest.mark.parametrize(
    ("first", "second", "options", "message"),
    [
        ((8,), (2, 8, 4), {"offs": (3, 6)}, "mat_a has to be 2 or 3d"),
        ((2, 4, 8), (1, 2, 8, 4), {}, "mat_b has to be 2 or 3d"),
        ((3, 4, 8), (2, 8, 4), {}, "batched dimension has to match"),
        ((2, 4, 8), (2, 8, 4), {"offs": (3, 6)}, "or no offset if both matrices are 3d"),
        ((6, 8), (2, 8, 4), {}, "Have to provide offsets if there is a 2d matrix"),
        ((6, 8), (2, 4, 4), {"offs": (3, 6)}, "contraction dimension of mat_a and mat_b must"),
        ((6, 8), (2, 8, 4), {"offs": (3, 4, 6)}, "matrix batch sizes have to match"),
        ((6, 8), (2, 8, 4), {"offs": ((3, 6),)}, "offs has to be 1D"),
        ((6, 8), (2, 8, 4), {"offs": (5, 3)}, "offs must not decrease"),
        ((6, 8), (2, 8, 4), {"offs": (3, 7)}, "nor end behind the last of 6 slices"),
        ((2, 4, 8), (2, 8, 4), {"bias": torch.ones(4)}, "Bias not supported yet"),
        ((2, 4, 8), (2, 8, 4), {"out_dtype": torch.float64}, "output dtype must match `mat_a`"),
    ],
)
def test_what_does_not_fit_is_refused(first, second, options, message):
    if "offs" in options:
        options = {"offs": ends(*options["offs"])}
    with pytest.raises(RuntimeError, match=message):
        grouped_mm(leaf(*first), leaf(*second), **options)


def test_dtypes_that_do_not_fit_are_refused():
    a, b = leaf(2, 4, 8), leaf(2, 8, 4)
    with pytest.raises(RuntimeError, match=r"Expected mat_a to be Float32, BFloat16 or .* got Dou"):
        grouped_mm(a.double(), b)
    with pytest.raises(RuntimeError, match=r"Expected mat_b to be Float32, BFloat16 or .* got Int"):
        grouped_mm(a, b.int())
    with pytest.raises(RuntimeError, match="Offsets have to be int32"):
        grouped_mm(leaf(6, 8), b, offs=torch.tensor([3, 6]))


def test_integers_of_8_bits_are_summed_up_in_32():
    a, b = torch.randint(-128, 128, (4, 300)).char(), torch.randint(-128, 128, (300, 3)).char()
    found = torch._int_mm(a, b)
    assert found.dtype is torch.int32
    assert torch.equal(found, (a.long() @ b.long()).int())
    out = torch.empty(4, 3, dtype=torch.int32)
    assert torch._int_mm(a, b, out=out) is out and torch.equal(out, found)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (torch.ones(3).char(), torch.ones(3, 1).char(), "self to be of dimension 2 but got 1"),
        (torch.ones(2, 3).char(), torch.ones(2, 1).char(), r"needs to match .* got 3 and 2"),
        (torch.ones(2, 3).char(), torch.ones(3, 1).int(), r"mat2 dtype .* int8 but got int"),
    ],
)
def test_integers_that_do_not_fit_are_refused(first, second, message):
    with pytest.raises(RuntimeError, match=message):
        torch._int_mm(first, second)
