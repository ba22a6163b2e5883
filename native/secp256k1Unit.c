/*
 * Compiles the bundled libsecp256k1 (a source of 2019) with one function replaced: the inverse of a scalar, which every
 * verification needs once. The original raises to the power n - 2 in about 6.5 us; this one takes the greatest common
 * divisor by batches of "divsteps" in about 1 us. It is only used where the library asks for the variable-time version,
 * that is with public data. Source of the method: Bernstein, Yang, "Fast constant-time gcd computation and modular
 * inversion" (2019), sections 8 to 11, without its constant-time measures. Test: test/differential/ecdsa.test.ts.
 */
#include "include/secp256k1.h"
#include "include/secp256k1_preallocated.h"
#include "src/util.h"

#include "src/num_impl.h"
#include "src/scalar_impl.h"

#ifdef USE_SCALAR_4X64

/* A signed number of 310 bits: digits of 62 bits, of which all but the last are in 0 .. 2^62 - 1. */
#define LBC_DIGITS 5
#define LBC_DIGIT_BITS 62
#define LBC_DIGIT_MASK ((int64_t)((UINT64_C(1) << LBC_DIGIT_BITS) - 1))

typedef __int128 lbc_wide;
typedef struct {
    int64_t digit[LBC_DIGITS];
} lbc_number;

/* The group order n, and -1/n modulo 2^62. */
static const lbc_number lbc_order = {{
    INT64_C(0x3FD25E8CD0364141), INT64_C(0x2ABB739ABD2280EE), INT64_C(0x3FFFFFFFFFFFFFEB), INT64_C(0x3FFFFFFFFFFFFFFF),
    INT64_C(0xFF),
}};
#define LBC_ORDER_NEGATED_INVERSE UINT64_C(0x0B0DFF665588B13F)

/* What 62 steps do to (f, g): 2^62 f' = u f + v g and 2^62 g' = q f + r g. Rows sum up to at most 2^62 in absolute value. */
typedef struct {
    int64_t u, v, q, r;
} lbc_steps;

/* Takes 62 steps, for which the lowest 62 bits of f and g suffice. Returns the new delta. f is odd. */
static int64_t lbc_take_steps(int64_t delta, uint64_t f, uint64_t g, lbc_steps *steps) {
    uint64_t u = 1, v = 0, q = 0, r = 1;
    int left = LBC_DIGIT_BITS;
    for (;;) {
        /* Steps on an even g only halve it. Rather than g, q, r by 2^-k the others grow by 2^k. */
        const int zeros = __builtin_ctzll(g | (UINT64_C(1) << left));
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        delta += zeros;
        left -= zeros;
        if (left == 0) break;
        if (delta > 0) {
            uint64_t t;
            delta = -delta;
            t = f; f = g; g = -t;
            t = u; u = q; q = -t;
            t = v; v = r; r = -t;
        }
        g += f;
        q += u;
        r += v;
    }
    steps->u = (int64_t)u;
    steps->v = (int64_t)v;
    steps->q = (int64_t)q;
    steps->r = (int64_t)r;
    return delta;
}

/* a' = (x a + y b + k n) / 2^62, which is exact; k is chosen so when `modulo` is set, and 0 otherwise. */
static void lbc_combine(lbc_number *out, int64_t x, const lbc_number *a, int64_t y, const lbc_number *b, int modulo) {
    lbc_wide sum = (lbc_wide)x * a->digit[0] + (lbc_wide)y * b->digit[0];
    int64_t k = 0;
    int i;
    if (modulo) {
        k = (int64_t)((uint64_t)sum * LBC_ORDER_NEGATED_INVERSE) & LBC_DIGIT_MASK;
        sum += (lbc_wide)k * lbc_order.digit[0];
    }
    sum >>= LBC_DIGIT_BITS;
    for (i = 1; i < LBC_DIGITS; i++) {
        sum += (lbc_wide)x * a->digit[i] + (lbc_wide)y * b->digit[i];
        if (modulo) sum += (lbc_wide)k * lbc_order.digit[i];
        out->digit[i - 1] = (int64_t)sum & LBC_DIGIT_MASK;
        sum >>= LBC_DIGIT_BITS;
    }
    out->digit[LBC_DIGITS - 1] = (int64_t)sum;
}

static void lbc_apply(lbc_number *a, lbc_number *b, const lbc_steps *steps, int modulo) {
    lbc_number first, second;
    lbc_combine(&first, steps->u, a, steps->v, b, modulo);
    lbc_combine(&second, steps->q, a, steps->r, b, modulo);
    *a = first;
    *b = second;
}

static int lbc_is_zero(const lbc_number *a) {
    return (a->digit[0] | a->digit[1] | a->digit[2] | a->digit[3] | a->digit[4]) == 0;
}

/* a modulo n as a scalar, for -32 n < a < 32 n. */
static void lbc_to_scalar(secp256k1_scalar *out, const lbc_number *a) {
    /* Makes it positive, and then takes off n as often as there is something at 2^256, and once more if needed. */
    lbc_number value;
    lbc_wide carry = 0;
    int64_t times;
    int i, round;
    for (i = 0; i < LBC_DIGITS; i++) {
        carry += (lbc_wide)a->digit[i] + (lbc_wide)32 * lbc_order.digit[i];
        value.digit[i] = i < LBC_DIGITS - 1 ? (int64_t)carry & LBC_DIGIT_MASK : (int64_t)carry;
        carry >>= LBC_DIGIT_BITS;
    }
    for (round = 0; round < 2; round++) {
        times = value.digit[4] >> 8;
        carry = 0;
        for (i = 0; i < LBC_DIGITS; i++) {
            carry += (lbc_wide)value.digit[i] - (lbc_wide)times * lbc_order.digit[i];
            value.digit[i] = i < LBC_DIGITS - 1 ? (int64_t)carry & LBC_DIGIT_MASK : (int64_t)carry;
            carry >>= LBC_DIGIT_BITS;
        }
    }
    out->d[0] = (uint64_t)value.digit[0] | (uint64_t)value.digit[1] << 62;
    out->d[1] = (uint64_t)value.digit[1] >> 2 | (uint64_t)value.digit[2] << 60;
    out->d[2] = (uint64_t)value.digit[2] >> 4 | (uint64_t)value.digit[3] << 58;
    out->d[3] = (uint64_t)value.digit[3] >> 6 | (uint64_t)value.digit[4] << 56;
    (void)secp256k1_scalar_reduce(out, secp256k1_scalar_check_overflow(out));
}

/* 1/x modulo n, and 0 for 0. */
static void lbc_scalar_inverse_var(secp256k1_scalar *out, const secp256k1_scalar *x) {
    /* All along f = d x and g = e x modulo n. At the end g is 0 and f is 1 or -1, so that d is the inverse or its negative. */
    lbc_number f = lbc_order;
    lbc_number d = {{0, 0, 0, 0, 0}};
    lbc_number e = {{1, 0, 0, 0, 0}};
    lbc_number g;
    int64_t delta = 1;
    g.digit[0] = (int64_t)(x->d[0] & LBC_DIGIT_MASK);
    g.digit[1] = (int64_t)((x->d[0] >> 62 | x->d[1] << 2) & LBC_DIGIT_MASK);
    g.digit[2] = (int64_t)((x->d[1] >> 60 | x->d[2] << 4) & LBC_DIGIT_MASK);
    g.digit[3] = (int64_t)((x->d[2] >> 58 | x->d[3] << 6) & LBC_DIGIT_MASK);
    g.digit[4] = (int64_t)(x->d[3] >> 56);
    /* At most 741 steps, 12 rounds. Each lets |d| and |e| grow by n at most. */
    while (!lbc_is_zero(&g)) {
        lbc_steps steps;
        delta = lbc_take_steps(delta, (uint64_t)f.digit[0], (uint64_t)g.digit[0], &steps);
        lbc_apply(&f, &g, &steps, 0);
        lbc_apply(&d, &e, &steps, 1);
    }
    lbc_to_scalar(out, &d);
    if (f.digit[LBC_DIGITS - 1] < 0) secp256k1_scalar_negate(out, out);
}

#define secp256k1_scalar_inverse_var lbc_scalar_inverse_var

#endif

#include "src/secp256k1.c"
