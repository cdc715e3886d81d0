"""Random numbers are PyTorch's: all literals here were printed by PyTorch 2.13 on x86-64."""

import hashlib
import threading
import warnings

import numpy as np
import pytest

import tapegrad as torch
from tests import needs

# After manual_seed(42): an expression, its shape, the SHA-256 of its bytes (first 12 digits), and
# what randint(2**28 - 1) gives next, which says how much of the stream was used up.
EXACT = [
    ("torch.rand(1)", (1,), "35471a4558ed", 199900607),
    ("torch.randn(1)", (1,), "f4e1275c6e3d", 191100021),
    ("torch.rand(2)", (2,), "2c1388f2c5c8", 56755051),
    ("torch.randn(2)", (2,), "7ef8fd6ae2c9", 191100021),
    ("torch.rand(15)", (15,), "587445e9574a", 91090297),
    ("torch.randn(15)", (15,), "8db9a5331024", 232968655),
    ("torch.rand(16)", (16,), "5e0577df47f5", 165850220),
    ("torch.randn(16)", (16,), "fc34b516db12", 165850220),
    ("torch.rand(17)", (17,), "03a6f50ac417", 76737385),
    ("torch.randn(17)", (17,), "2ae700cddb7c", 211111234),
    ("torch.rand(31)", (31,), "8c5b7c65de6c", 236143785),
    ("torch.randn(31)", (31,), "7f2252163c2b", 194438929),
    ("torch.rand(32)", (32,), "2b6d85474994", 232968655),
    ("torch.randn(32)", (32,), "772cacc71bc5", 232968655),
    ("torch.rand(100)", (100,), "a2f1029a3f45", 137802445),
    ("torch.randn(100)", (100,), "6cf7236205c5", 194249720),
    ("torch.rand(3, dtype=torch.float64)", (3,), "65738b125e13", 155299525),
    ("torch.rand(300, dtype=torch.float64)", (300,), "047d63142a54", 221971308),
    ("torch.rand(40, dtype=torch.float16)", (40,), "0cb9d736357d", 211969091),
    ("torch.randn(40, dtype=torch.float16)", (40,), "c9fd969cdcd3", 79757508),
    ("torch.randn(7, dtype=torch.float16)", (7,), "a7cbb75ec3a2", 165850220),
    ("torch.rand(4, dtype=torch.complex64)", (4,), "a1ca1acbe506", 133224040),
    ("torch.randn(7, dtype=torch.complex64)", (7,), "bec810baae6e", 244061377),
    ("torch.randn(9, dtype=torch.complex64)", (9,), "45b2bd378d9f", 106328093),
    ("torch.randn(200_003)", (200003,), "59214c06c709", 3563646),
    ("torch.rand(0)", (0,), "e3b0c44298fc", 266460267),
    ("torch.rand(())", (), "35471a4558ed", 199900607),
    ("torch.rand(2, 3)", (2, 3), "90d8aed79379", 155299525),
    ("torch.rand((2, 3))", (2, 3), "90d8aed79379", 155299525),
    ("torch.rand(size=(2, 3))", (2, 3), "90d8aed79379", 155299525),
    ("torch.empty(5).uniform_(-0.3, 1.7)", (5,), "492cb81b5608", 127521875),
    ("torch.empty(1000).uniform_(1000, 1000.001)", (1000,), "46670ebbf696", 45791744),
    (
        "torch.empty(50, dtype=torch.float64).uniform_(-100.3, 0.1)",
        (50,),
        "f3f02cadd98a",
        137802445,
    ),
    ("torch.empty(20, dtype=torch.float16).uniform_(1, 5.7)", (20,), "37a02dfc19e7", 88409749),
    ("torch.empty(100).normal_(1.1, 0.3)", (100,), "0617fb825eb1", 194249720),
    ("torch.empty(5).normal_(1.1, 0.3)", (5,), "94df4596bdfe", 249467210),
    ("torch.empty(5, 8).t().normal_()", (8, 5), "35c651371fbf", 255714759),
    ("torch.empty(8, 5).t().uniform_()", (5, 8), "77feceb6762c", 211969091),
    ("torch.empty(40)[::2].normal_()", (20,), "45e7b844397e", 211969091),
    ("torch.randint(10, (5,))", (5,), "4a856642cb6d", 127521875),
    ("torch.randint(-5, 2**28 - 6, (5,))", (5,), "83af55c5d679", 127521875),
    ("torch.randint(-5, 2**28 - 5, (5,))", (5,), "c17eb35bef6f", 133120468),
    ("torch.randint(-(2**63), 2**63 - 1, (5,))", (5,), "4c8cb591a16d", 133120468),
    ("torch.randint(0, 2**31 - 1, (5,), dtype=torch.float32)", (5,), "c7b00881f473", 133120468),
    ("torch.randint(0, 200, (5,), dtype=torch.uint8)", (5,), "31a155f21bd5", 127521875),
    ("torch.randint(0, 2, (9,), dtype=torch.bool)", (9,), "b7ae1cba8a55", 35788928),
    ("torch.randperm(1)", (1,), "af5570f5a181", 266460267),
    ("torch.randperm(10)", (10,), "fd6484606b69", 35788928),
    ("torch.randperm(1000)", (1000,), "ac5c22de20fc", 67606433),
    ("torch.randperm(100, dtype=torch.int32)", (100,), "372bda3b8114", 134489564),
    ("torch.randperm(100, dtype=torch.float32)", (100,), "a3f018308640", 134489564),
    ("torch.empty(9, dtype=torch.bool).random_()", (9,), "b7ae1cba8a55", 35788928),
    ("torch.empty(9, dtype=torch.uint8).random_()", (9,), "d40414953c9f", 35788928),
    ("torch.empty(9, dtype=torch.int8).random_()", (9,), "d3fcc97a2732", 35788928),
    ("torch.empty(9, dtype=torch.int16).random_()", (9,), "3e56fb13b406", 35788928),
    ("torch.empty(9, dtype=torch.int32).random_()", (9,), "a6dd25c9332e", 35788928),
    ("torch.empty(9, dtype=torch.int64).random_()", (9,), "ebbdf131629b", 88358562),
    ("torch.empty(9, dtype=torch.float16).random_()", (9,), "d7ec5b90f33b", 35788928),
    ("torch.empty(9, dtype=torch.float32).random_()", (9,), "0edba4111527", 35788928),
    ("torch.empty(9, dtype=torch.float64).random_()", (9,), "eca1696a1374", 88358562),
    ("torch.empty(9).random_(7)", (9,), "18b8e542d160", 35788928),
    ("torch.empty(9, dtype=torch.int64).random_(-5, None)", (9,), "7f93212a7cb1", 88358562),
    ("torch.empty(9, dtype=torch.int64).random_(-(2**63), None)", (9,), "6f95c3a5868e", 88358562),
    ("torch.empty(20).bernoulli_(0.3)", (20,), "39357fbc782b", 211969091),
    ("torch.bernoulli(torch.full((20,), 0.3))", (20,), "48b77c470787", 88409749),
    (
        "torch.bernoulli(torch.full((20,), 0.3, dtype=torch.float64))",
        (20,),
        "44a937aeb9d5",
        211969091,
    ),
    ("torch.bernoulli(torch.empty(20), 0.3)", (20,), "39357fbc782b", 211969091),
    ("torch.empty(4, 5).bernoulli_(torch.linspace(0, 1, 5))", (4, 5), "60836062c859", 88409749),
    ("torch.empty(9).exponential_(1.5)", (9,), "2195c8e50c83", 88358562),
    ("torch.empty(9).cauchy_(0.5, 2)", (9,), "8c8d25e0b5eb", 88358562),
    ("torch.empty(9).log_normal_(0.5, 0.7)", (9,), "f1985897fd68", 88409749),
    ("torch.empty(9, dtype=torch.int64).geometric_(0.2)", (9,), "4026829b1577", 88358562),
    ("torch.poisson(torch.linspace(0, 40, 50))", (50,), "f94ecd1e759d", 223135410),
    (
        "torch.poisson(torch.full((30,), 1000.0, dtype=torch.float64))",
        (30,),
        "31c0c0c86578",
        51757121,
    ),
    (
        "torch.binomial(torch.linspace(0, 40, 50), torch.linspace(0, 1, 50))",
        (50,),
        "952bf5a3b83c",
        234386341,
    ),
    (
        "torch.binomial(torch.full((30,), 1000.0).double(), torch.tensor(0.4).double())",
        (30,),
        "6c64ceeef8f4",
        95540579,
    ),
    (
        "torch.binomial(torch.full((2, 1), 9.0), torch.tensor([0.1, 0.5, 0.9]))",
        (2, 3),
        "9164eb4dab27",
        250845462,
    ),
    ("torch.multinomial(torch.tensor([0.1, 0.0, 0.6, 0.3]), 3)", (3,), "f02fbf6048e9", 133224040),
    ("torch.multinomial(torch.tensor([0.1, 0.0, 0.6, 0.3]), 1)", (1,), "35be322d094f", 133224040),
    (
        "torch.multinomial(torch.tensor([0.1, 0.0, 0.6, 0.3]), 12, replacement=True)",
        (12,),
        "7b7a6b7e77ca",
        85652984,
    ),
    ("torch.multinomial(torch.ones(3, 5), 4, replacement=True)", (3, 4), "6c62073b89bc", 85652984),
    ("torch.multinomial(torch.arange(1.0, 101.0), 100)", (100,), "e8a3bcf4b5cd", 134987326),
    ("torch.normal(torch.arange(5.0), torch.linspace(0.1, 1, 5))", (5,), "688ae618685b", 249467210),
    ("torch.normal(2.0, torch.linspace(0.1, 1, 20))", (20,), "38a5628a0a63", 244577009),
    ("torch.normal(torch.arange(3.0)[:, None], torch.ones(2))", (3, 2), "34590eef8a60", 249467210),
    ("torch.normal(1.0, 2.0, (2, 2))", (2, 2), "676d5a62ebb5", 133224040),
    ("torch.rand_like(torch.empty(3, 2).t())", (2, 3), "513737c87d11", 155299525),
    ("torch.randn_like(torch.empty(20, 2).t())", (2, 20), "576a470f24b1", 255714759),
    ("torch.randint_like(torch.empty(3), 5)", (3,), "49735ee74d7a", 250975504),
]

# The same for float64, where the C library's functions may differ in the last bit from one machine
# to another: first and last element.
NEAR = [
    ("torch.randn(1, dtype=torch.float64)", [0.33669035438385886, 0.33669035438385886], 191100021),
    ("torch.randn(2, dtype=torch.float64)", [0.33669035438385886, 0.1288094051365897], 191100021),
    ("torch.randn(15, dtype=torch.float64)", [0.33669035438385886, -0.9889598811465726], 232968655),
    ("torch.randn(16, dtype=torch.float64)", [0.2995562877502637, -1.4920727283504345], 232968655),
    ("torch.randn(17, dtype=torch.float64)", [0.2995562877502637, 0.2494118796915765], 48900498),
    ("torch.randn(31, dtype=torch.float64)", [0.2995562877502637, 0.5717787885763634], 86191501),
    ("torch.randn(32, dtype=torch.float64)", [0.2995562877502637, 0.855215961472287], 10959015),
    ("torch.randn(100, dtype=torch.float64)", [0.2995562877502637, -0.9591633938060772], 230519847),
    (
        "torch.randn(5, dtype=torch.complex128)",
        [(0.23807603274492842 + 0.09108200385268787j), (0.32644095199957546 + 0.1890456116127174j)],
        88409749,
    ),
    (
        "torch.empty(20, dtype=torch.float64).normal_(1.1, 0.3)",
        [1.1898668863250792, 1.0006582058144902],
        234564364,
    ),
    (
        "torch.empty(5, dtype=torch.float64).normal_(1.1, 0.3)",
        [1.2010071063151577, 0.763143086978549],
        249467210,
    ),
    (
        "torch.empty(5, dtype=torch.float64).exponential_(1.5)",
        [0.039942677127201426, 0.49794044976891755],
        133120468,
    ),
    (
        "torch.empty(5, dtype=torch.float64).cauchy_(0.5, 2)",
        [-10.324974593994627, 0.664814447215082],
        133120468,
    ),
    (
        "torch.empty(5, dtype=torch.float64).log_normal_(0.5, 0.7)",
        [2.086907380940215, 0.7512630188365745],
        249467210,
    ),
]

BFLOAT16 = [
    [0.49609375, 0.76953125, 0.08837890625],
    [0.365234375, 0.134765625, 0.1640625],
    [-0.1025390625, 0.79296875, -0.2890625],
    [113.0, 30.0, 212.0],
]


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:12]


def draw(expression):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of bounds that float32 cannot represent
        return eval(expression, {"torch": torch})


@pytest.mark.parametrize(("expression", "shape", "bytes_", "following"), EXACT)
def test_draws_are_pytorch_s_to_the_last_bit(seed, expression, shape, bytes_, following):
    torch.manual_seed(42)
    x = draw(expression)
    assert tuple(x.shape) == shape
    assert digest(x.numpy()) == bytes_
    assert torch.randint(2**28 - 1, (1,)).item() == following


@pytest.mark.parametrize(("expression", "ends", "following"), NEAR)
def test_double_precision_draws_are_pytorch_s(seed, expression, ends, following):
    torch.manual_seed(42)
    x = draw(expression).numpy()
    np.testing.assert_allclose(x.ravel()[[0, -1]], ends, rtol=1e-15)
    assert torch.randint(2**28 - 1, (1,)).item() == following


def test_bfloat16_draws_are_pytorch_s(seed):
    needs.package("ml_dtypes", "has bfloat16", extra="test")
    kind = torch.bfloat16
    assert torch.rand(3, dtype=kind).tolist() == BFLOAT16[0]
    assert torch.randn(3, dtype=kind).tolist() == BFLOAT16[1]
    assert torch.randn(17, dtype=kind)[-3:].tolist() == BFLOAT16[2]
    assert torch.empty(3, dtype=kind).random_().tolist() == BFLOAT16[3]


def test_seventeen_normal_numbers_read_as_in_pytorch(seed):
    assert str(torch.randn(17)) == (
        "tensor([-1.1258, -1.6959,  0.5667,  0.7935,  0.5988, -1.5551, -0.3414,  1.8530,\n"
        "         0.4681, -0.5855, -0.1734,  0.1835,  1.3894,  1.5863,  0.9463, -0.8437,\n"
        "         0.9318])"
    )


def test_calls_of_all_kinds_share_one_stream():
    """An odd normal number is kept over other calls, until one of up to 15 elements takes it."""
    torch.manual_seed(7)
    for expression, last in [
        ("torch.randn(3)", [-0.146795094, 0.786141276, 0.94682163]),
        ("torch.rand(2)", [0.365316153, 0.851268351]),
        ("torch.randn(2, dtype=torch.float64)", [-1.11434402, 0.44574241]),
        ("torch.randint(100, (3,))", [62, 30, 66]),
        ("torch.randn(1)", [-0.706832469]),
        ("torch.randn(18)", [-1.6370213, 0.157711908, 0.395740926]),
        ("torch.randperm(5)", [2, 3, 1]),
        ("torch.randn(1)", [2.41298032]),
        ("torch.empty(3).exponential_()", [1.47271824, 0.580503881, 2.00030661]),
        ("torch.randn(2)", [1.97819757, 0.422946155]),
    ]:
        np.testing.assert_allclose(draw(expression)[-3:].numpy(), last, rtol=1e-7)


# --- generators and their states -------------------------------------------------------------


def test_states_are_pytorch_s_byte_by_byte(seed):
    for call, bytes_ in [
        ("torch.manual_seed(42)", "5feb54a46230"),
        ("torch.rand(0)", "5feb54a46230"),
        ("torch.rand(1)", "14239309871b"),
        ("[torch.randn(3), torch.randn(1, dtype=torch.float64)]", "320edab1449a"),
        ("torch.rand(623)", "03ee73b98216"),
        ("torch.rand(624)", "e36490046f23"),
        ("torch.randn(20)", "fe326182c0fb"),
        ("torch.manual_seed(2**64 - 1)", "74c65bce05a4"),
        ("torch.manual_seed(-1)", "74c65bce05a4"),
        ("torch.manual_seed(2**32 + 5)", "53de43f464fb"),
        ("[torch.randn(1), torch.manual_seed(1)]", "f5defda135ec"),
    ]:
        draw(call)
        assert digest(torch.get_rng_state().numpy()) == bytes_, call


def test_a_state_holds_seed_position_and_the_kept_normal_number(seed):
    torch.manual_seed(42)
    torch.randn(3)
    state = torch.get_rng_state().numpy()
    assert state.dtype == np.uint8 and state.shape == (5056,)
    assert state[:8].view(np.uint64) == 42
    assert state[8:16].view(np.int32).tolist() == [617, 1]
    assert state[16:24].view(np.uint64) == 8
    np.testing.assert_allclose(state[5024:5032].view(np.float64), 0.23033303, rtol=1e-6)
    assert state[5040:5044].view(np.int32) == 1


@pytest.mark.parametrize("n_drawn", [0, 1, 3, 623, 624, 625, 2000])
def test_a_generator_continues_from_a_state(n_drawn):
    one, other = torch.Generator().manual_seed(5), torch.Generator()
    torch.rand(n_drawn, generator=one)
    torch.randn(1, generator=one)
    assert other.set_state(one.get_state()) is other
    assert other.initial_seed() == 5
    for n in (1, 2, 700, 16):
        a, b = torch.randn(n, generator=one), torch.randn(n, generator=other)
        assert a.tolist() == b.tolist()
    assert one.get_state().tolist() == other.get_state().tolist()


def test_generators_are_streams_of_their_own(seed):
    g = torch.Generator()
    assert g.initial_seed() == 67280421310721
    assert torch.rand(2, generator=g).tolist() == [0.267295241355896, 0.8725283145904541]
    assert torch.rand(1).item() == 0.49625658988952637
    assert str(g.device) == "cpu"


def test_copies_of_a_generator_go_their_own_way():
    import copy
    import pickle

    g = torch.Generator().manual_seed(3)
    torch.randn(1, generator=g)
    copies = [g.clone_state(), copy.deepcopy(g), pickle.loads(pickle.dumps(g))]
    want = torch.randn(3, generator=g).tolist()
    assert [torch.randn(3, generator=each).tolist() for each in copies] == [want] * 3


def test_seeds_are_what_pytorch_accepts():
    g = torch.Generator()
    assert g.manual_seed(-1).initial_seed() == 2**64 - 1
    assert g.manual_seed(2**63).initial_seed() == 2**63
    for bad, kind, text in [
        (1.5, RuntimeError, "manual_seed expected a long, but got float"),
        (True, RuntimeError, "manual_seed expected a long, but got bool"),
        (2**64, ValueError, "Overflow when unpacking long long"),
        (-(2**63) - 1, ValueError, "Overflow when unpacking long long"),
    ]:
        with pytest.raises(kind, match=f"^{text}"):
            g.manual_seed(bad)
    assert g.initial_seed() == 2**63
    assert g.seed() == g.initial_seed()


def test_a_state_that_is_none_is_refused_and_changes_nothing():
    g = torch.Generator().manual_seed(3)
    bad = g.get_state()
    bad[8:12] = 0
    for state, kind, text in [
        ([1], TypeError, "expected a torch.ByteTensor, but got list"),
        (torch.zeros(5056), TypeError, "RNG state must be a torch.ByteTensor"),
        (torch.zeros(5, dtype=torch.uint8), RuntimeError, "Expected a CPUGeneratorImplState of"),
        (bad, RuntimeError, "Invalid mt19937 state"),
    ]:
        with pytest.raises(kind, match=f"^{text}"):
            g.set_state(state)
    want = torch.Generator().manual_seed(3).get_state()
    assert g.get_state().tolist() == want.tolist()


def test_fork_rng_puts_the_stream_back(seed):
    with torch.random.fork_rng():
        torch.manual_seed(1)
        torch.rand(100)
    assert torch.rand(1).item() == 0.49625658988952637


def test_threads_share_a_generator_without_drawing_a_number_twice(seed):
    drawn = []

    def work():
        for _ in range(100):
            drawn.extend(torch.randn(n).numpy().tobytes() for n in (3, 16, 40))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(drawn) == len(set(drawn)) == 1200


# --- filling in place ------------------------------------------------------------------------

FILLS = [
    ("normal_", (), "NormalBackward0"),
    ("uniform_", (), "UniformBackward0"),
    ("random_", (), "RandomBackward2"),
    ("random_", (5,), "RandomBackward1"),
    ("random_", (2, 5), "RandomBackward0"),
    ("exponential_", (), "ExponentialBackward0"),
    ("geometric_", (0.5,), "GeometricBackward0"),
    ("cauchy_", (), "CauchyBackward0"),
    ("log_normal_", (), "LogNormalBackward0"),
    ("bernoulli_", (0.3,), "BernoulliBackward2"),
]


@pytest.mark.parametrize(("name", "args", "node"), FILLS)
def test_filling_cuts_the_gradient(seed, name, args, node):
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    assert getattr(y, name)(*args) is y
    assert y.grad_fn.name() == node and y._version == 1
    assert torch.autograd.grad(y.sum(), x)[0].tolist() == [0, 0, 0]
    z = x * 2
    getattr(z[1:], name)(*args)
    assert type(z.grad_fn).__name__ == "CopySlices"
    assert torch.autograd.grad(z.sum(), x)[0].tolist() == [2, 0, 0]


@pytest.mark.parametrize(("name", "args", "node"), FILLS)
def test_a_leaf_that_requires_grad_is_filled_under_no_grad_only(seed, name, args, node):
    x = torch.ones(3, requires_grad=True)
    state = torch.get_rng_state()
    with pytest.raises(RuntimeError, match=r"^a leaf Variable that requires grad is being used"):
        getattr(x, name)(*args)
    with pytest.raises(RuntimeError, match=r"^a view of a leaf Variable that requires grad"):
        getattr(x[1:], name)(*args)
    assert x.tolist() == [1, 1, 1]
    assert torch.get_rng_state().tolist() == state.tolist()
    with torch.no_grad():
        getattr(x, name)(*args)
    assert x.is_leaf and x.requires_grad and x.tolist() != [1, 1, 1]


def test_probabilities_get_a_gradient_of_zero(seed):
    p = torch.tensor([0.2, 0.8], requires_grad=True)
    y = torch.bernoulli(p)
    assert y.grad_fn.name() == "BernoulliBackward0"
    assert torch.autograd.grad(y.sum(), p)[0].tolist() == [0, 0]
    y = (p * 1).bernoulli_(p)
    assert y.grad_fn.name() == "BernoulliBackward1" and len(y.grad_fn.next_functions) == 2
    assert torch.autograd.grad(y.sum(), p)[0].tolist() == [0, 0]


def test_parameters_of_normal_get_a_gradient_of_zero(seed):
    mean, std = torch.zeros(3, 1, requires_grad=True), torch.ones(2, requires_grad=True)
    y = torch.normal(mean, std)
    assert y.shape == (3, 2) and y.grad_fn.name() == "NormalBackward3"
    gradients = torch.autograd.grad(y.sum(), (mean, std))
    assert [g.tolist() for g in gradients] == [[[0], [0], [0]], [0, 0]]
    assert torch.normal(mean, 1.0).grad_fn.name() == "NormalBackward1"
    assert torch.normal(0.0, std).grad_fn.name() == "NormalBackward2"


def test_out_takes_the_draw_in_its_own_dtype(seed):
    out = torch.empty(0, dtype=torch.float64)
    assert torch.rand(2, out=out) is out
    assert torch.manual_seed(0) and out.tolist() == torch.rand(2, dtype=torch.float64).tolist()
    assert torch.rand(2, requires_grad=True).requires_grad


# --- errors ------------------------------------------------------------------------------------

ERRORS = [
    ("torch.rand(-1)", RuntimeError, "Trying to create tensor with negative dimension -1: [-1]"),
    (
        "torch.rand(2.5)",
        TypeError,
        "rand(): argument 'size' (position 1) must be tuple of ints, not float",
    ),
    (
        "torch.rand()",
        TypeError,
        "rand() received an invalid combination of arguments - got (), but expected one of:",
    ),
    (
        "torch.rand(2, dtype=torch.int64)",
        NotImplementedError,
        "\"check_uniform_bounds\" not implemented for 'Long'",
    ),
    (
        "torch.randn(2, dtype=torch.int64)",
        NotImplementedError,
        "\"normal_kernel_cpu\" not implemented for 'Long'",
    ),
    ("torch.rand(2, device='cuda')", AssertionError, "Torch not compiled with CUDA enabled"),
    (
        "torch.randint(5, 5, (2,))",
        RuntimeError,
        "random_ expects 'from' to be less than 'to', but got from=5 >= to=5",
    ),
    (
        "torch.randint(0, 300, (2,), dtype=torch.uint8)",
        RuntimeError,
        "to - 1 is out of bounds for unsigned char",
    ),
    ("torch.randint(2**63, (2,))", ValueError, "Overflow when unpacking long long"),
    (
        "torch.randint(0, 5, (2,), requires_grad=True)",
        RuntimeError,
        "Only Tensors of floating point and complex dtype can require gradients",
    ),
    (
        "torch.randperm(2050, dtype=torch.float16)",
        RuntimeError,
        "n cannot be greater than 2049 for Half type.",
    ),
    (
        "torch.normal(torch.zeros(3), torch.ones(2))",
        RuntimeError,
        "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 0",
    ),
    (
        "torch.normal(0.0, -torch.ones(3))",
        RuntimeError,
        "normal expects all elements of std >= 0.0",
    ),
    ("torch.empty(3).normal_(0, -1)", RuntimeError, "normal expects std >= 0.0, but found std -1"),
    (
        "torch.empty(3).uniform_(2, 1)",
        RuntimeError,
        "uniform_ expects to return a [from, to) range, but found from=2 > to=1",
    ),
    ("torch.empty(3).uniform_(0, 1e39)", RuntimeError, "to is out of bounds for float"),
    (
        "torch.empty(3).exponential_(0)",
        RuntimeError,
        "exponential_ expects lambda > 0.0, but found lambda=0",
    ),
    (
        "torch.empty(3).geometric_(1)",
        RuntimeError,
        "geometric_ expects p to be in (0, 1), but got p=1",
    ),
    (
        "torch.empty(3, dtype=torch.int16).cauchy_()",
        RuntimeError,
        "Cauchy distribution is a continuous probability distribution. dtype must be a "
        "floating point but you specified short int",
    ),
    (
        "torch.empty(3).bernoulli_(1.5)",
        RuntimeError,
        "bernoulli_ expects p to be in [0, 1], but got p=1.5",
    ),
    (
        "torch.empty(3, 1).expand(3, 4).uniform_()",
        RuntimeError,
        "unsupported operation: more than one element of the written-to tensor refers to a single "
        "memory location. Please clone() the tensor before performing the operation.",
    ),
    (
        "torch.bernoulli(torch.tensor([1.1]))",
        RuntimeError,
        "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be "
        "improved?  If so, please report an enhancement request to PyTorch.)",
    ),
    (
        "torch.poisson(-torch.ones(3))",
        RuntimeError,
        "invalid Poisson rate, expected rate to be non-negative",
    ),
    (
        "torch.binomial(torch.tensor([5]), torch.tensor([0.2]))",
        ValueError,
        "binomial only supports floating-point dtypes for count, got: Long",
    ),
    (
        "torch.binomial(torch.ones(1), torch.ones(1).double())",
        RuntimeError,
        "Found dtype Double but expected Float",
    ),
    (
        "torch.binomial(torch.ones(3), torch.ones(2))",
        RuntimeError,
        "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 0",
    ),
    (
        "torch.multinomial(torch.ones(3), 4)",
        RuntimeError,
        "cannot sample n_sample > prob_dist.size(-1) samples without replacement",
    ),
    (
        "torch.multinomial(torch.zeros(3), 2)",
        RuntimeError,
        "invalid multinomial distribution (sum of probabilities <= 0)",
    ),
    (
        "torch.multinomial(torch.tensor([1.0, -1.0]), 3, True)",
        RuntimeError,
        "invalid multinomial distribution (encountering probability entry < 0)",
    ),
    ("torch.Generator().get_offset()", RuntimeError, "CPU Generator does not use offset"),
]


@pytest.mark.parametrize(("expression", "kind", "text"), ERRORS)
def test_errors_are_pytorch_s_and_leave_the_stream_alone(seed, expression, kind, text):
    state = torch.get_rng_state()
    with pytest.raises(kind) as caught:
        draw(expression)
    assert str(caught.value).split("\n")[0] == text
    assert torch.get_rng_state().tolist() == state.tolist()


def test_integers_that_a_float_has_not_all_of_come_with_a_warning(seed):
    with pytest.warns(UserWarning, match=r"^to - 1 is out of bounds \[-\(2\^24\), 2\^24\]\."):
        torch.randint(0, 2**25, (2,), dtype=torch.float32)


def test_normal_numbers_fill_the_room_of_out_where_the_mean_alone_is_a_tensor(seed):
    assert torch.normal(torch.tensor(1.0), 0.1, out=torch.empty(3)).shape == (3,)
    assert torch.normal(torch.tensor(1.0), 0.1, out=torch.empty(0)).shape == (0,)
    assert torch.normal(1.0, torch.ones(()), out=torch.empty(0)).shape == ()
    assert torch.normal(torch.ones(2), torch.ones(1), out=torch.empty(0)).shape == (2,)


def test_a_truth_value_is_a_size_behind_the_first():
    assert torch.rand(2, True).shape == torch.randn((2, True)).shape == (2, 1)
    assert torch.randint(3, (2, True)).shape == (2, 1)
    for call in (lambda: torch.rand((True, 2)), lambda: torch.randint(3, (True, 2))):
        with pytest.raises(TypeError, match="found element of type bool at pos 0"):
            call()
