/* Elementary functions that compilers vectorise: no branches, no tables, no calls but where
   that is said.

   Each is right for nan, infinities, zeros of both signs and denormal numbers, and overflows where
   the function does. Errors are in units in the last place, the largest found over dense ranges.
   Polynomials are minimax fits of the ranges that are named. `(x + magic) - magic` rounds x to a
   whole number, whose bits are then the lowest of the sum: neither needs an instruction for
   conversion, which AVX2 lacks for 64 bits. With `magic + 127` they are the exponent of 2^x. */
#include <math.h>
#include <stdint.h>

static inline float tg_float_of_bits(uint32_t bits) {
    union { uint32_t bits; float x; } u;
    u.bits = bits;
    return u.x;
}
static inline uint32_t tg_bits_of_float(float x) {
    union { uint32_t bits; float x; } u;
    u.x = x;
    return u.bits;
}
static inline double tg_double_of_bits(uint64_t bits) {
    union { uint64_t bits; double x; } u;
    u.bits = bits;
    return u.x;
}
static inline uint64_t tg_bits_of_double(double x) {
    union { uint64_t bits; double x; } u;
    u.x = x;
    return u.bits;
}

/* `a` where a condition (0 or 1) holds, else `b`, by their bits: as a branch the compiler would
   move work into it, and no longer vectorise */
static inline float tg_select_f32(int condition, float a, float b) {
    uint32_t mask = 0u - (uint32_t)condition, x = tg_bits_of_float(a), y = tg_bits_of_float(b);
    return tg_float_of_bits(y ^ ((x ^ y) & mask));
}
static inline double tg_select_f64(int condition, double a, double b) {
    uint64_t mask = (uint64_t)0 - (uint64_t)condition;
    uint64_t x = tg_bits_of_double(a), y = tg_bits_of_double(b);
    return tg_double_of_bits(y ^ ((x ^ y) & mask));
}

/* ---- exponentials: x = n ln 2 + r, |r| <= ln(2) / 2; exp(r) = 1 + r + r^2 q(r) ---- */

#define TG_MAGIC_F32 12582912.0f         /* 1.5 * 2^23 */
#define TG_MAGIC_F64 6755399441055744.0  /* 1.5 * 2^52 */

static inline float tg_exp_bend_f32(float r) { /* q(r) */
    float q = 1.38144817e-3f;
    q = q * r + 8.36871409e-3f;
    q = q * r + 4.16683902e-2f;
    q = q * r + 1.66665207e-1f;
    return q * r + 4.99999934e-1f;
}
static inline float tg_exp_rest_f32(float r) { return r + r * r * tg_exp_bend_f32(r); }

static inline double tg_exp_rest_f64(double r) { /* exp(r) - 1 */
    double q = 2.09244273567569298e-9;
    q = q * r + 2.51090441219095399e-8;
    q = q * r + 2.75572428161724287e-7;
    q = q * r + 2.75572441836354808e-6;
    q = q * r + 2.48015873604713257e-5;
    q = q * r + 1.98412698861573871e-4;
    q = q * r + 1.38888888888669067e-3;
    q = q * r + 8.33333333332161600e-3;
    q = q * r + 4.16666666666667011e-2;
    q = q * r + 1.66666666666666766e-1;
    q = q * r + 0.5;
    return r + r * r * q;
}

/* exp(r), and n + bias in the lowest bits of `bits`; the bias is a constant where it is called */
static inline float tg_exp_parts_f32(float x, float bias, uint32_t *bits) {
    const float magic = TG_MAGIC_F32 + bias;
    float t = x * 1.44269504f + magic, n = t - magic;
    float r = x - n * 0.693359375f + n * 2.12194440e-4f;
    *bits = tg_bits_of_float(t);
    return (tg_exp_bend_f32(r) * r + 1.0f) * r + 1.0f;
}
static inline double tg_exp_parts_f64(double x, double bias, uint64_t *bits) {
    const double magic = TG_MAGIC_F64 + bias;
    double t = x * 1.44269504088896341 + magic, n = t - magic;
    double r = x - n * 6.93147180369123816490e-1 - n * 1.90821492927058770002e-10;
    *bits = tg_bits_of_double(t);
    return 1.0 + tg_exp_rest_f64(r);
}

/* 1 ulp; denormal results too, which is why 2^n is two factors */
static inline float tg_exp_f32(float x) {
    uint32_t bits;
    x = x > 89.0f ? 89.0f : x;
    x = x < -104.0f ? -104.0f : x;
    float p = tg_exp_parts_f32(x, 0, &bits);
    uint32_t half = ((bits << 22) & 0xff800000u) + 0x3f800000u;
    p *= tg_float_of_bits(half);
    return p * tg_float_of_bits((bits << 23) + 0x7f000000u - half);
}

/* 1 ulp */
static inline double tg_exp_f64(double x) {
    uint64_t bits;
    x = x > 710.0 ? 710.0 : x;
    x = x < -746.0 ? -746.0 : x;
    double p = tg_exp_parts_f64(x, 0, &bits);
    uint64_t half = ((bits << 51) & 0xfff0000000000000u) + 0x3ff0000000000000u;
    p *= tg_double_of_bits(half);
    return p * tg_double_of_bits((bits << 52) + 0x7fe0000000000000u - half);
}

/* exp(x) for x <= 80, in one factor: what would be denormal is about 0. 1 ulp */
static inline float tg_exp_down_f32(float x) {
    uint32_t bits;
    float p = tg_exp_parts_f32(x < -88.0f ? -88.0f : x, 127, &bits);
    return p * tg_float_of_bits(bits << 23);
}
static inline double tg_exp_down_f64(double x) {
    uint64_t bits;
    double p = tg_exp_parts_f64(x < -709.0 ? -709.0 : x, 1023, &bits);
    return p * tg_double_of_bits(bits << 52);
}

/* exp(x) - 1 = 2^n (exp(r) - 1) + (2^n - 1), halved until the end: 2^128 is no number */
static inline float tg_expm1_f32(float x) { /* 2 ulp */
    const float magic = TG_MAGIC_F32 + 126;
    float given = x;
    x = x > 89.0f ? 89.0f : x;
    x = x < -30.0f ? -30.0f : x;
    float t = x * 1.44269504f + magic, n = t - magic;
    float r = x - n * 0.693359375f + n * 2.12194440e-4f;
    float s = tg_float_of_bits(tg_bits_of_float(t) << 23);
    float y = 2.0f * (s * tg_exp_rest_f32(r) + (s - 0.5f));
    return fabsf(given) < 1e-9f ? given : y;
}

static inline double tg_expm1_f64(double x) { /* 2 ulp */
    const double magic = TG_MAGIC_F64 + 1022;
    double given = x;
    x = x > 710.0 ? 710.0 : x;
    x = x < -50.0 ? -50.0 : x;
    double t = x * 1.44269504088896341 + magic, n = t - magic;
    double r = x - n * 6.93147180369123816490e-1 - n * 1.90821492927058770002e-10;
    double s = tg_double_of_bits(tg_bits_of_double(t) << 52);
    double y = 2.0 * (s * tg_exp_rest_f64(r) + (s - 0.5));
    return fabs(given) < 1e-18 ? given : y;
}

/* tanh |x| = m / (2 - m), m = 1 - exp(-2 |x|) = (1 - 2^n) + 2^n (1 - exp(-2 r)), n <= 0. In
   float32 1 - exp(-2 r) is r times a polynomial, and r needs no more digits of ln 2: what it is off
   by counts 2^n */
static inline float tg_tanh_f32(float x) { /* 3 ulp */
    const float magic = TG_MAGIC_F32 + 127;
    float a = fabsf(x);
    a = a > 15.0f ? 15.0f : a;
    float t = a * -2.88539008f + magic, n = t - magic;
    float r = a + n * 0.346573590f;
    float q = -8.88481390e-2f;
    q = q * r + 2.67728666e-1f;
    q = q * r - 6.66675198e-1f;
    q = q * r + 1.33332349f;
    q = q * r - 1.99999993f;
    q = q * r + 2.0f;
    float s = tg_float_of_bits(tg_bits_of_float(t) << 23);
    float m = s * (r * q) + (1.0f - s);
    return copysignf(m / (2.0f - m), x);
}
static inline double tg_tanh_f64(double x) { /* 3 ulp */
    const double magic = TG_MAGIC_F64 + 1023;
    double a = fabs(x);
    a = a > 25.0 ? 25.0 : a;
    double t = a * -2.88539008177792681 + magic, n = t - magic;
    double r = -2.0 * a - n * 6.93147180369123816490e-1 - n * 1.90821492927058770002e-10;
    double s = tg_double_of_bits(tg_bits_of_double(t) << 52);
    double m = (1.0 - s) - s * tg_exp_rest_f64(r);
    return copysign(m / (2.0 - m), x);
}

/* 1 / (1 + exp(-x)) = 1/2 / (1/2 + exp(-x) / 2), the exponential in one factor: 3 ulp. 0 from
   where exp(-x) / 2 overflows */
static inline float tg_sigmoid_f32(float x) {
    uint32_t bits;
    x = x < -89.5f ? -89.5f : x;
    x = x > 40.0f ? 40.0f : x;
    float p = tg_exp_parts_f32(-x, 126, &bits);
    return 0.5f / (0.5f + p * tg_float_of_bits(bits << 23));
}
static inline double tg_sigmoid_f64(double x) {
    uint64_t bits;
    x = x < -710.5 ? -710.5 : x;
    x = x > 60.0 ? 60.0 : x;
    double p = tg_exp_parts_f64(-x, 1022, &bits);
    return 0.5 / (0.5 + p * tg_double_of_bits(bits << 52));
}

/* the slopes of both by what they give, y: in one rounding where processors have it, else by
   factors, as 1 - y^2 would lose its digits */
static inline float tg_sigmoid_slope_f32(float y) {
#ifdef FP_FAST_FMAF
    return fmaf(-y, y, y);
#else
    return (1.0f - y) * y;
#endif
}
static inline float tg_tanh_slope_f32(float y) {
#ifdef FP_FAST_FMAF
    return fmaf(-y, y, 1.0f);
#else
    return (1.0f - y) * (1.0f + y);
#endif
}
static inline double tg_sigmoid_slope_f64(double y) {
#ifdef FP_FAST_FMA
    return fma(-y, y, y);
#else
    return (1.0 - y) * y;
#endif
}
static inline double tg_tanh_slope_f64(double y) {
#ifdef FP_FAST_FMA
    return fma(-y, y, 1.0);
#else
    return (1.0 - y) * (1.0 + y);
#endif
}

/* ---- logarithms: x = 2^n m, sqrt(1/2) <= m < sqrt(2), f = m - 1 ---- */

static inline float tg_log_f32(float x) { /* 1 ulp */
    int small = x < 1.17549435e-38f;
    float y = small ? x * 8388608.0f : x;
    uint32_t bits = tg_bits_of_float(y);
    int32_t k = (int32_t)(bits - 0x3f3504f3u) >> 23;
    float f = tg_float_of_bits(bits - ((uint32_t)k << 23)) - 1.0f;
    float n = (float)(small ? k - 23 : k), s = f * f;
    float q = 6.93634334e-2f;
    q = q * f - 1.18473811e-1f;
    q = q * f + 1.18895235e-1f;
    q = q * f - 1.23774276e-1f;
    q = q * f + 1.42170208e-1f;
    q = q * f - 1.66694840e-1f;
    q = q * f + 2.00021914e-1f;
    q = q * f - 2.49999839e-1f;
    q = q * f + 3.33333140e-1f;
    float r = n * -2.12194440e-4f + f * s * q;
    r = r - 0.5f * s;
    r = n * 0.693359375f + (f + r);
    r = tg_select_f32(x < INFINITY, r, x); /* infinity, and nan */
    r = tg_select_f32(x < 0.0f, NAN, r);
    return tg_select_f32(x == 0.0f, -INFINITY, r);
}

/* log m = f - f^2 / 2 + s (f^2 / 2 + z p(z)), s = f / (2 + f), z = s^2 */
static inline double tg_log_f64(double x) { /* 1 ulp */
    int small = x < 2.2250738585072014e-308;
    double y = small ? x * 4503599627370496.0 : x;
    uint64_t bits = tg_bits_of_double(y) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
    double f = tg_double_of_bits((bits & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1.0;
    double n = tg_double_of_bits((bits >> 52) | 0x4330000000000000u);
    n -= small ? 4503599627370496.0 + 1023 + 52 : 4503599627370496.0 + 1023;
    double s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
    double p = 1.32535679328751926e-1;
    p = p * z + 1.32498735549843809e-1;
    p = p * z + 1.53871015273254404e-1;
    p = p * z + 1.81817754211215556e-1;
    p = p * z + 2.22222226498236418e-1;
    p = p * z + 2.85714285690660047e-1;
    p = p * z + 4.00000000000063081e-1;
    p = p * z + 6.66666666666666609e-1;
    double r = s * (half + z * p) + n * 1.90821492927058770002e-10;
    r = n * 6.93147180369123816490e-1 - ((half - r) - f);
    r = tg_select_f64(x < INFINITY, r, x);
    r = tg_select_f64(x < 0.0, NAN, r);
    return tg_select_f64(x == 0.0, -INFINITY, r);
}

/* log(1 + x): what rounding took from u = 1 + x is given back by its derivative */
static inline float tg_log1p_f32(float x) { /* 2 ulp */
    float u = 1.0f + x, y = tg_log_f32(u);
    float z = y + (x - (u - 1.0f)) / u;
    z = tg_select_f32(u == 1.0f, x, z);
    return tg_select_f32((x > -1.0f) & (x < INFINITY), z, y);
}
static inline double tg_log1p_f64(double x) { /* 2 ulp */
    double u = 1.0 + x, y = tg_log_f64(u);
    double z = y + (x - (u - 1.0)) / u;
    z = tg_select_f64(u == 1.0, x, z);
    return tg_select_f64((x > -1.0) & (x < INFINITY), z, y);
}

/* log2 and log10 by the natural logarithm: 3 ulp */
static inline float tg_log2_f32(float x) { return (float)(tg_log_f64(x) * 1.4426950408889634); }
static inline float tg_log10_f32(float x) { return (float)(tg_log_f64(x) * 0.43429448190325183); }
static inline double tg_log2_f64(double x) { return tg_log_f64(x) * 1.4426950408889634; }
static inline double tg_log10_f64(double x) { return tg_log_f64(x) * 0.43429448190325183; }
static inline float tg_exp2_f32(float x) { return (float)tg_exp_f64(x * 0.69314718055994531); }

/* log(1 + exp(x)): 3 ulp */
static inline float tg_softplus_f32(float x) {
    float y = tg_log1p_f32(tg_exp_f32(-fabsf(x)));
    return y + (x < 0.0f ? 0.0f : x); /* nan as well */
}
static inline double tg_softplus_f64(double x) {
    double y = tg_log1p_f64(tg_exp_f64(-fabs(x)));
    return y + (x < 0.0 ? 0.0 : x); /* nan as well */
}

/* ---- error function: x P(x^2) below 1, 1 - erfc(x) above;
        erfc(x) = exp(-x^2) E(u) / (1 + 2 x), u = (x - K) / (x + K) ---- */

static inline float tg_erf_near_f32(float x) {
    float z = x * x, p = 7.88911231e-5f;
    p = p * z - 8.02083745e-4f;
    p = p * z + 5.18953466e-3f;
    p = p * z - 2.68544440e-2f;
    p = p * z + 1.12836002e-1f;
    p = p * z - 3.76126271e-1f;
    p = p * z + 1.28379166e-1f;
    return x + x * p;
}
static inline float tg_erfc_far_f32(float a) { /* of a >= 0, without the factor exp(-a^2) */
    float u = (a - 2.0f) / (a + 2.0f), p = -3.99713445e-4f;
    p = p * u - 1.22885735e-3f;
    p = p * u + 1.31306634e-3f;
    p = p * u + 8.63095767e-3f;
    p = p * u - 8.05980493e-3f;
    p = p * u - 5.42041795e-2f;
    p = p * u + 1.64055338e-1f;
    p = p * u - 1.66031425e-1f;
    p = p * u - 9.27639803e-2f;
    p = p * u + 1.27697839f;
    return p / (1.0f + 2.0f * a);
}
/* exp(-a^2), the square in two parts: its rounding would cost a^2 ulp */
static inline float tg_exp_square_f32(float a) {
    float h = tg_float_of_bits(tg_bits_of_float(a) & 0xfffff000u);
    return tg_exp_f32(-h * h) * (1.0f + tg_exp_rest_f32((h - a) * (h + a)));
}
static inline float tg_erf_f32(float x) { /* 2 ulp */
    float a = fabsf(x);
    float near = tg_erf_near_f32(x);
    a = a > 4.0f ? 4.0f : a;
    float far = copysignf(1.0f - tg_exp_down_f32(-a * a) * tg_erfc_far_f32(a), x);
    return a < 1.0f ? near : far;
}
static inline float tg_erfc_f32(float x) { /* 5 ulp */
    float a = fabsf(x);
    a = a > 10.2f ? 10.2f : a;
    float y = tg_exp_square_f32(a) * tg_erfc_far_f32(a);
    return x < 0.0f ? 2.0f - y : y;
}

static inline double tg_erf_near_f64(double x) {
    double z = x * x, p = 5.96069084989462783e-11;
    p = p * z - 1.13749576953725527e-9;
    p = p * z + 1.46603288788222487e-8;
    p = p * z - 1.63503961917061711e-7;
    p = p * z + 1.64610084695001100e-6;
    p = p * z - 1.49255957713083124e-5;
    p = p * z + 1.20553311329032065e-4;
    p = p * z - 8.54832698142356651e-4;
    p = p * z + 5.22397762482838373e-3;
    p = p * z - 2.68661706450778683e-2;
    p = p * z + 1.12837916709548844e-1;
    p = p * z - 3.76126389031837482e-1;
    p = p * z + 1.28379167095512574e-1;
    return x + x * p;
}
static inline double tg_erfc_far_f64(double a) {
    double u = (a - 4.0) / (a + 4.0), p = 2.7177489087401717e-10;
    p = p * u + 2.04734358424507383e-9;
    p = p * u + 1.69876047209225603e-9;
    p = p * u - 1.64418830970811808e-8;
    p = p * u - 1.90326517255184547e-8;
    p = p * u + 1.13067373256527616e-7;
    p = p * u + 7.68813918566145573e-8;
    p = p * u - 8.27608123536949585e-7;
    p = p * u + 2.91785762454613243e-7;
    p = p * u + 5.71070472675268931e-6;
    p = p * u - 1.12209780164936526e-5;
    p = p * u - 2.43994883766598421e-5;
    p = p * u + 1.50621337522354882e-4;
    p = p * u - 1.99256645594744182e-4;
    p = p * u - 7.57773220220293410e-4;
    p = p * u + 5.03196997244961236e-3;
    p = p * u - 1.61977340663165868e-2;
    p = p * u + 3.71675155378728279e-2;
    p = p * u - 6.63303658116006723e-2;
    p = p * u + 9.37328349983330372e-2;
    p = p * u - 1.01039066036327271e-1;
    p = p * u + 6.80970542546930552e-2;
    p = p * u + 1.53796521026200758e-2;
    p = p * u - 1.39621116840562517e-1;
    p = p * u + 1.23299511862555251;
    return p / (1.0 + 2.0 * a);
}
static inline double tg_exp_square_f64(double a) {
    double h = tg_double_of_bits(tg_bits_of_double(a) & 0xfffffffff8000000u);
    return tg_exp_f64(-h * h) * (1.0 + tg_exp_rest_f64((h - a) * (h + a)));
}
/* the same between 1 and 6 with an error of 2e-17 in 1 - erfc */
static inline double tg_erfc_middle_f64(double a) {
    double u = (a - 3.0) / (a + 3.0), p = 3.69623102751986848e-5;
    p = p * u + 1.44349963580446242e-4;
    p = p * u - 1.03682467534616487e-4;
    p = p * u - 7.83520584820231797e-4;
    p = p * u + 1.88715623701699489e-3;
    p = p * u + 2.52939778884984729e-3;
    p = p * u - 2.37703828187725686e-2;
    p = p * u + 6.83080512336842881e-2;
    p = p * u - 1.19273665517082767e-1;
    p = p * u + 1.29645157743651669e-1;
    p = p * u - 4.75622944114397297e-2;
    p = p * u - 1.35621106119599501e-1;
    p = p * u + 1.25300805827017252;
    return p / (1.0 + 2.0 * a);
}
static inline double tg_erf_f64(double x) { /* 3 ulp */
    double a = fabs(x);
    double near = tg_erf_near_f64(x);
    a = a > 6.0 ? 6.0 : a;
    double far = copysign(1.0 - tg_exp_down_f64(-a * a) * tg_erfc_middle_f64(a), x);
    return a < 1.0 ? near : far;
}
static inline double tg_erfc_f64(double x) { /* 6 ulp */
    double a = fabs(x);
    a = a > 28.0 ? 28.0 : a;
    double y = tg_exp_square_f64(a) * tg_erfc_far_f64(a);
    return x < 0.0 ? 2.0 - y : y;
}

/* ---- sine and cosine: x = n pi / 2 + r, |r| <= pi / 4 ----

   For all of float32: 2 / pi is cut into pieces of 24 bits, whose products with x are exact in
   double precision. From each the multiples of 4, which are whole turns, are taken off; what is
   left adds up to n and a fraction. */
static inline double tg_quarters_f32(double x) { /* x, less the nearest multiple of 4 */
    return x - 4.0 * __builtin_rint(x * 0.25);
}
static inline float tg_sine_f32(float x, uint32_t quarters) {
    double y = (double)x;
    double q0 = tg_quarters_f32(y * 0x1.45f3060000000p-1);
    double q1 = tg_quarters_f32(y * 0x1.b939100000000p-26);
    double q2 = tg_quarters_f32(y * 0x1.529fc00000000p-52);
    double q3 = tg_quarters_f32(y * 0x1.3abe880000000p-75);
    double q4 = tg_quarters_f32(y * 0x1.ea69ba0000000p-97);
    double q5 = tg_quarters_f32(y * 0x1.81b6c40000000p-121);
    double q6 = tg_quarters_f32(y * 0x1.2b32780000000p-145);
    double q7 = tg_quarters_f32(y * 0x1.0e41040000000p-170);
    double n = __builtin_rint(q0 + q1 + q2 + q3 + q4 + q5 + q6 + q7);
    double d = q0 - n + q1 + q2 + q3 + q4 + q5 + q6 + q7;
    float r = (float)(d * 1.57079632679489662), z = r * r;
    quarters += (uint32_t)tg_bits_of_double(n + TG_MAGIC_F64);
    float s = 2.71824177e-6f;
    s = s * z - 1.98393277e-4f;
    s = s * z + 8.33332936e-3f;
    s = s * z - 1.66666666e-1f;
    s = r + r * z * s;
    float c = 2.44378616e-5f;
    c = c * z - 1.38873628e-3f;
    c = c * z + 4.16666468e-2f;
    c = 1.0f - 0.5f * z + z * z * c;
    float found = tg_select_f32(quarters & 1, c, s);
    return tg_float_of_bits(tg_bits_of_float(found) ^ ((quarters & 2) << 30));
}
static inline float tg_sin_f32(float x) { /* 2 ulp */
    float y = tg_sine_f32(x, 0);
    return tg_select_f32(fabsf(x) < 1e-5f, x, y);
}
static inline float tg_cos_f32(float x) { return tg_sine_f32(x, 1); } /* 2 ulp */
/* of doubles by the C library, which keeps a loop from being vectorised: 1 ulp */
static inline double tg_sin_f64(double x) { return sin(x); }
static inline double tg_cos_f64(double x) { return cos(x); }

/* ---- powers ---- */

static inline float tg_pow_f32(float x, float y) { /* 1 ulp */
    float size = fabsf(x);
    float p = (float)tg_exp_f64((double)y * tg_log_f64((double)size));
    float whole = __builtin_rintf(y), half = 0.5f * y;
    int is_odd = (y == whole) & (half != __builtin_rintf(half));
    int is_negative = tg_bits_of_float(x) >> 31;
    p = tg_select_f32(size == 1.0f, 1.0f, p);
    p = tg_float_of_bits(tg_bits_of_float(p) ^ ((uint32_t)(is_odd & is_negative) << 31));
    p = tg_select_f32((x < 0.0f) & (size < INFINITY) & (y != whole), NAN, p);
    p = tg_select_f32((x != x) | (y != y), NAN, p);
    return tg_select_f32((y == 0.0f) | (x == 1.0f), 1.0f, p);
}
static inline double tg_pow_f64(double x, double y) { return pow(x, y); } /* the C library: 1 ulp */

/* x^n by squares: n is a constant where it is called, and the loop is unrolled */
static inline float tg_powi_f32(float x, int n) {
    float p = 1.0f, s = x;
    for (unsigned k = n < 0 ? -(unsigned)n : (unsigned)n; k; k >>= 1, s *= s) p = k & 1 ? p * s : p;
    return n < 0 ? 1.0f / p : p;
}
static inline double tg_powi_f64(double x, int n) {
    double p = 1.0, s = x;
    for (unsigned k = n < 0 ? -(unsigned)n : (unsigned)n; k; k >>= 1, s *= s) p = k & 1 ? p * s : p;
    return n < 0 ? 1.0 / p : p;
}

static inline float tg_sqrt_f32(float x) { return sqrtf(x); }
static inline double tg_sqrt_f64(double x) { return sqrt(x); }
static inline float tg_rsqrt_f32(float x) { return 1.0f / sqrtf(x); } /* 1 ulp */
static inline double tg_rsqrt_f64(double x) { return 1.0 / sqrt(x); }

/* ---- GELU: x Phi(x); Phi(-a) = exp(-a^2 / 2) M(a) of a >= 0. In float32 M, the ratio of Mills, is
        a rational function, and exp(-a^2 / 2) is 2^n 2^r, 0 beyond 13.2. Errors: of x Phi(x) 5 ulp
        for x > 0, 11 down to -3, 60 to -9; of its derivative 2e-7, and 60 ulp from -1 to -9 ---- */

static inline float tg_mills_f32(float a) {
    float p = 5.07399863e-7f;
    p = p * a + 1.29122806e-2f;
    p = p * a + 1.00920464e-1f;
    p = p * a + 3.26880805e-1f;
    p = p * a + 0.5f;
    float q = 3.24157793e-2f;
    q = q * a + 2.52128904e-1f;
    q = q * a + 8.60111522e-1f;
    q = q * a + 1.45164384f;
    q = q * a + 1.0f;
    return p / q;
}
static inline float tg_bell_f32(float a) { /* exp(-a^2 / 2), of 0 <= a <= 13.27: 2^-127 is 0 */
    const float magic = TG_MAGIC_F32 + 127;
    float s = a * a * -0.721347520f;
    float t = s + magic, r = s - (t - magic);
    float p = 1.32647272e-3f;
    p = p * r + 9.67151264e-3f;
    p = p * r + 5.55073374e-2f;
    p = p * r + 2.40222421e-1f;
    p = p * r + 6.93146978e-1f;
    p = p * r + 1.0f;
    return p * tg_float_of_bits(tg_bits_of_float(t) << 23);
}
static inline float tg_gelu_f32(float x) {
    float a = fabsf(x), positive = x < -0.0f ? -0.0f : x;
    a = a > 13.27f ? 13.27f : a;
    return positive - a * (tg_bell_f32(a) * tg_mills_f32(a));
}
static inline float tg_gelu_back_f32(float g, float x) {
    float a = fabsf(x);
    a = a > 13.27f ? 13.27f : a;
    float slope = tg_bell_f32(a) * (tg_mills_f32(a) - 0.398942280f * a); /* at -a */
    return g * tg_select_f32(x > 0.0f, 1.0f - slope, slope);
}

/* its approximation by tanh: Phi(x) is about 1 / (1 + exp(-s)), s = x (k0 + k1 x^2) */
static inline float tg_gelu_tanh_odds_f32(float x) { /* of |x| <= 8 */
    return tg_exp_down_f32(x * (-1.59576912f - 7.13548162e-2f * (x * x)));
}
static inline float tg_gelu_tanh_f32(float x) {
    float near = x < -8.0f ? -8.0f : x;
    near = near > 8.0f ? 8.0f : near;
    float y = x / (1.0f + tg_gelu_tanh_odds_f32(near));
    return x < -8.0f ? -0.0f : y;
}
static inline float tg_gelu_tanh_back_f32(float g, float x) {
    float near = x < -8.0f ? -8.0f : x;
    near = near > 8.0f ? 8.0f : near;
    float phi = 1.0f / (1.0f + tg_gelu_tanh_odds_f32(near));
    float steep = 1.59576912f + 0.214064449f * near * near;
    float y = g * phi + g * near * phi * (1.0f - phi) * steep;
    return x < -8.0f ? 0.0f : y;
}
static inline double tg_gelu_f64(double x) {
    return x * (0.5 * (1.0 + tg_erf_f64(x * 0.7071067811865476)));
}
static inline double tg_gelu_tanh_f64(double x) {
    return x * (0.5 * (1.0 + tg_tanh_f64(x * (0.79788456080286541 * (1.0 + 0.044715 * x * x)))));
}
static inline double tg_gelu_back_f64(double g, double x) {
    double phi = 0.5 * (1.0 + tg_erf_f64(x * 0.7071067811865476));
    return g * (phi + x * tg_exp_f64(x * x * -0.5) * 0.39894228040143268);
}
static inline double tg_gelu_tanh_back_f64(double g, double x) {
    double u = x * (0.79788456080286541 * (1.0 + 0.044715 * x * x));
    double phi = 0.5 * (1.0 + tg_tanh_f64(u));
    double steep = 1.59576912160573081 + 0.21406444881780073 * x * x;
    return g * (phi + x * phi * (1.0 - phi) * steep);
}
