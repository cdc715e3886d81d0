"""C of a convolution with a batch norm of known moments: other kernels, and another bias."""

SOURCE = r"""
/* Kernels v (O, n) and a bias c (O) with which a convolution gives what a norm, (x - mean) /
   sqrt(variance + eps) weight + shift, makes of the one by w and `bias` */
static void tg_norm_of_kernels_real(real *restrict v, real *restrict c, const real *restrict w,
                                    const real *restrict bias, const real *restrict mean,
                                    const real *restrict variance, const real *restrict weight,
                                    const real *restrict shift, int64_t has_bias,
                                    int64_t has_weight, int64_t has_shift, int64_t O, int64_t n,
                                    double eps) {
    for (int64_t o = 0; o < O; o++) {
        double scale = (has_weight ? weight[o] : 1) / sqrt((double)variance[o] + eps);
        double center = has_bias ? (double)bias[o] - mean[o] : -(double)mean[o];
        c[o] = (real)(center * scale + (has_shift ? shift[o] : 0));
        _Pragma("omp simd")
        for (int64_t k = 0; k < n; k++) v[o * n + k] = (real)(w[o * n + k] * scale);
    }
}
"""
