"""What there is no kernel for: other dtypes of `out=`, truth values, factors, narrow floats."""

import pytest

import tapegrad

X, M = tapegrad.ones(2), tapegrad.ones(2, 2)
TRUE = tapegrad.ones(2, 2, dtype=tapegrad.bool)
WIDE = {"dtype": tapegrad.float64}
EXACT = "Expected out tensor to have dtype float, but got double instead"


@pytest.mark.parametrize(
    ("call", "shape", "message"),
    [
        (lambda out: tapegrad.mm(M, M, out=out), (2, 2), EXACT),
        (lambda out: tapegrad.softmax(X, 0, out=out), (2,), EXACT),
        (lambda out: tapegrad.tril(M, out=out), (2, 2), EXACT),
        (lambda out: tapegrad.linalg.inv(M + tapegrad.eye(2), out=out), (2, 2), EXACT),
        (
            lambda out: tapegrad.dot(X, X, out=out),
            (),
            "result dtype Double does not match input dtype Float",
        ),
        (
            lambda out: tapegrad.where(X > 0, X, X, out=out),
            (2,),
            "Expected out type to be Float but got Double",
        ),
        (
            lambda out: tapegrad.masked_select(X, X > 0, out=out),
            (2,),
            "masked_select(): self and result must have the same scalar type",
        ),
    ],
)
def test_functions_that_convert_nothing_want_their_own_dtype(call, shape, message):
    out = tapegrad.zeros(shape, **WIDE)
    with pytest.raises(RuntimeError) as caught:
        call(out)
    assert str(caught.value) == message
    assert not out.any()


def test_of_a_pair_nothing_is_written_if_one_does_not_fit():
    values, indices = tapegrad.zeros(2), tapegrad.zeros(2, dtype=tapegrad.int32)
    with pytest.raises(RuntimeError, match="to have dtype long int, but got int instead"):
        tapegrad.sort(X, out=(values, indices))
    assert not values.any()
    with pytest.raises(RuntimeError, match="output values must be of same type as input"):
        tapegrad.kthvalue(X, 1, out=(tapegrad.zeros((), **WIDE), indices))


def test_sums_still_go_into_a_wider_tensor():
    assert tapegrad.add(X, X, out=tapegrad.zeros(2, **WIDE)).tolist() == [2.0, 2.0]
    assert tapegrad.max(X, X, out=tapegrad.zeros(2, **WIDE)).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("call", "kernel"),
    [
        (lambda: tapegrad.mm(TRUE, TRUE), "addmm_impl_cpu_"),
        (lambda: tapegrad.addmm(TRUE, TRUE, TRUE), "addmm_impl_cpu_"),
        (lambda: tapegrad.bmm(TRUE[None], TRUE[None]), "bmm"),
        (lambda: tapegrad.mv(TRUE, TRUE[0]), "addmv_impl_cpu"),
        (lambda: TRUE[0] @ TRUE[0], "dot"),
    ],
)
def test_truth_values_have_no_products(call, kernel):
    with pytest.raises(NotImplementedError) as caught:
        call()
    assert str(caught.value) == f"\"{kernel}\" not implemented for 'Bool'"


@pytest.mark.parametrize(
    "call",
    [
        lambda: tapegrad.addmm(M, M, M, alpha=1j),
        lambda: tapegrad.addmm(M, M, M, beta=1j),
        lambda: tapegrad.addmv(X, M, X, alpha=1j),
        lambda: tapegrad.baddbmm(M[None], M[None], M[None], alpha=1j),
        lambda: tapegrad.addcmul(X, X, X, value=1j),
        lambda: tapegrad.addcdiv(X, X, X, value=1j),
    ],
)
def test_a_factor_is_a_number_of_the_dtype(call):
    with pytest.raises(RuntimeError, match=r"^value cannot be converted to type float"):
        call()


def test_factors_of_unsigned_integers_wrap_around():
    x = tapegrad.tensor([1, 2, 3], dtype=tapegrad.uint8)
    assert tapegrad.addcmul(x, x, x, value=-1).tolist() == [0, 254, 250]
    with pytest.raises(RuntimeError, match="to type uint8_t without overflow"):
        tapegrad.addcmul(x, x, x, value=300)


def test_matrices_of_two_dtypes_are_called_as_in_the_function():
    with pytest.raises(RuntimeError, match=r"^mat1 and mat2 must have the same dtype, but got"):
        tapegrad.addmm(M, M.double(), M)
    with pytest.raises(RuntimeError, match=r"^expected m1 and m2 to have the same dtype, but got"):
        tapegrad.mm(M, M.double())


def test_what_has_no_kernel_for_16_bits_is_refused():
    x = tapegrad.ones(2, dtype=tapegrad.bfloat16)
    for function in (tapegrad.polar, tapegrad.complex):
        with pytest.raises(RuntimeError, match="tensors but got BFloat16 and BFloat16"):
            function(x, x)
    with pytest.raises(RuntimeError, match="MKL FFT doesn't support tensors of type: BFloat16"):
        tapegrad.stft(x.expand(4, 2).reshape(8), 4, window=x.new_ones(4), return_complex=True)
    with pytest.raises(NotImplementedError, match='"avg_pool3d_out_frame" not implemented for \'H'):
        tapegrad.nn.functional.avg_pool3d(tapegrad.ones(1, 2, 2, 2).half(), 2)


@pytest.mark.parametrize("dtype", [tapegrad.bfloat16, tapegrad.float16])
def test_moments_of_16_bits_stay_so_beside_parameters_of_16_bits(dtype):
    x = tapegrad.tensor([[1.0, 2.0, 4.0]], dtype=dtype)
    found = tapegrad.native_layer_norm(x, (3,), None, None, 1e-5)
    assert [y.dtype for y in found] == [dtype] * 3
    weight = tapegrad.ones(3)
    found = tapegrad.native_layer_norm(x, (3,), weight, None, 1e-5)
    assert [y.dtype for y in found] == [dtype, tapegrad.float32, tapegrad.float32]
    found = tapegrad.native_group_norm(x[:, :2], None, None, 1, 2, 1, 1, 1e-5)
    assert [y.dtype for y in found] == [dtype] * 3


def test_a_generator_that_is_none_fits_no_form_of_random():
    with pytest.raises(TypeError, match=r"got \(int, generator=int\), but expected one of:"):
        X.clone().random_(3, generator=3)
