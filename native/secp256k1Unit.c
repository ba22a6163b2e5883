/*
 * Compiles the bundled libsecp256k1 (a source of 2019) with one function replaced: the inverse of a scalar, which every
 * verification needs once. The original raises to the power n - 2 in about 6.5 us; this one takes the greatest common
 * divisor by batches of "divsteps" in about 1 us. It is only used where the library asks for the variable-time version,
 * that is with public data. Source of the method: Bernstein, Yang, "Fast constant-time gcd computation and modular
 * inversion" (2019), sections 8 to 11, without its constant-time measures. Test: test/differential/ecdsa.test.ts.
 * Behind the library follow what uses its arithmetic: verification with known keys, and what the lanes are given.
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

#include "knownKeyImpl.h"

#if defined(__x86_64__) && defined(USE_ENDOMORPHISM) && defined(USE_FIELD_5X52) && defined(USE_SCALAR_4X64)

#include <string.h>

#include "laneBatch.h"

static void lbc_put_field(uint64_t (*out)[LBC_LANES], int lane, const secp256k1_fe *value) {
    int i;
    for (i = 0; i < LBC_LIMBS; i++) out[i][lane] = value->n[i];
}

/*
 * Digits of `width` bits of a magnitude of 131 bits at most: the bits of each window, whose highest counts negative, and the
 * highest bit of the window below. Source of the method: Booth (1951).
 */
static void lbc_put_digits(int16_t (*out)[LBC_LANES], int count, int width, int lane, const secp256k1_scalar *magnitude,
                           int negative) {
    const unsigned __int128 value = (unsigned __int128)magnitude->d[1] << 64 | magnitude->d[0];
    const uint64_t mask = (UINT64_C(2) << width) - 1;
    int i;
    for (i = 0; i < count; i++) {
        /* The window with the bit below it. Above bit 127 there are the few of the third word. */
        const int from = width * i - 1;
        uint64_t bits;
        int digit;
        if (from < 0) {
            bits = (uint64_t)value << 1;
        } else if (from < 128) {
            bits = (uint64_t)(value >> from);
            if (from > 64) bits |= magnitude->d[2] << (128 - from);
        } else {
            bits = magnitude->d[2] >> (from - 128);
        }
        bits &= mask;
        digit = (int)((bits + 1) >> 1) - (int)((bits >> width) << width);
        out[i][lane] = (int16_t)(negative ? -digit : digit);
    }
}

/* Digits of the two halves of u2, the scalar of the key. False should a half be longer than it can be. */
static int lbc_put_key_digits(lbc_lane_batch *batch, int lane, const secp256k1_scalar *u2) {
    secp256k1_scalar half[2];
    int i;
    secp256k1_scalar_split_lambda(&half[0], &half[1], u2);
    for (i = 0; i < 2; i++) {
        const int negative = secp256k1_scalar_is_high(&half[i]);
        if (negative) secp256k1_scalar_negate(&half[i], &half[i]);
        if (half[i].d[3] != 0 || half[i].d[2] > 3) return 0;
        lbc_put_digits(batch->key_digits[i], LBC_KEY_DIGITS, LBC_KEY_BITS, lane, &half[i], negative);
    }
    return 1;
}

static int lbc_put_key(lbc_lane_batch *batch, int lane, const uint8_t *key, size_t size) {
    const uint8_t bit = (uint8_t)(1 << lane);
    secp256k1_ge point;
    if (size == 33) {
        if (!secp256k1_fe_set_b32(&point.x, key + 1)) return 0;
        lbc_put_field(batch->key_x, lane, &point.x);
        batch->compressed |= bit;
        if (key[0] == SECP256K1_TAG_PUBKEY_ODD) batch->odd |= bit;
        return 1;
    }
    if (!secp256k1_eckey_pubkey_parse(&point, key, size)) return 0;
    lbc_put_field(batch->key_x, lane, &point.x);
    lbc_put_field(batch->key_y, lane, &point.y);
    return 1;
}

void lbc_prepare_lanes(lbc_lane_batch *batch, const lbc_signature *signatures, int count) {
    secp256k1_scalar r[LBC_LANES], s[LBC_LANES], before[LBC_LANES];
    secp256k1_scalar product, inverse;
    int lane;
    memset(batch, 0, sizeof *batch);
    secp256k1_scalar_set_int(&product, 1);
    for (lane = 0; lane < count; lane++) {
        int r_overflow, s_overflow;
        secp256k1_scalar_set_b32(&r[lane], signatures[lane].compact, &r_overflow);
        secp256k1_scalar_set_b32(&s[lane], signatures[lane].compact + 32, &s_overflow);
        if (r_overflow || s_overflow || secp256k1_scalar_is_zero(&r[lane]) || secp256k1_scalar_is_zero(&s[lane])) continue;
        if (!lbc_put_key(batch, lane, signatures[lane].key, signatures[lane].key_size)) continue;
        batch->ready |= (uint8_t)(1 << lane);
        before[lane] = product;
        secp256k1_scalar_mul(&product, &product, &s[lane]);
    }
    /* One inverse for all: that of the product, off which the others are peeled. */
    secp256k1_scalar_inverse_var(&inverse, &product);
    for (lane = count - 1; lane >= 0; lane--) {
        secp256k1_scalar message, own, u1, u2, low, high;
        secp256k1_fe x;
        if (!(batch->ready >> lane & 1)) continue;
        secp256k1_scalar_mul(&own, &inverse, &before[lane]);
        secp256k1_scalar_mul(&inverse, &inverse, &s[lane]);
        secp256k1_scalar_set_b32(&message, signatures[lane].hash, NULL);
        secp256k1_scalar_mul(&u1, &own, &message);
        secp256k1_scalar_mul(&u2, &own, &r[lane]);
        if (!lbc_put_key_digits(batch, lane, &u2)) {
            batch->ready &= (uint8_t)~(1 << lane);
            continue;
        }
        secp256k1_scalar_split_128(&low, &high, &u1);
        lbc_put_digits(batch->generator_digits[0], LBC_GENERATOR_DIGITS, LBC_GENERATOR_BITS, lane, &low, 0);
        lbc_put_digits(batch->generator_digits[1], LBC_GENERATOR_DIGITS, LBC_GENERATOR_BITS, lane, &high, 0);
        secp256k1_fe_set_b32(&x, signatures[lane].compact);
        lbc_put_field(batch->r, lane, &x);
    }
}

static void lbc_multiples(lbc_lane_point *out, const secp256k1_gej *base) {
    enum { COUNT = LBC_GENERATOR_MULTIPLES };
    secp256k1_gej *sums = (secp256k1_gej *)checked_malloc(&default_error_callback, COUNT * sizeof *sums);
    secp256k1_ge *points = (secp256k1_ge *)checked_malloc(&default_error_callback, COUNT * sizeof *points);
    secp256k1_ge step;
    int i, k;
    secp256k1_ge_set_gej(&step, (secp256k1_gej *)base);
    sums[0] = *base;
    for (i = 1; i < COUNT; i++) secp256k1_gej_add_ge_var(&sums[i], &sums[i - 1], &step, NULL);
    secp256k1_ge_set_all_gej_var(points, sums, COUNT);
    for (i = 0; i < COUNT; i++) {
        secp256k1_fe_normalize_var(&points[i].x);
        secp256k1_fe_normalize_var(&points[i].y);
        for (k = 0; k < LBC_LIMBS; k++) {
            out[i].limb[k] = points[i].x.n[k];
            out[i].limb[LBC_LIMBS + k] = points[i].y.n[k];
        }
    }
    free(sums);
    free(points);
}

void lbc_generator_multiples(lbc_lane_point *out) {
    secp256k1_gej base;
    int i;
    secp256k1_gej_set_ge(&base, &secp256k1_ge_const_g);
    lbc_multiples(out, &base);
    for (i = 0; i < 128; i++) secp256k1_gej_double_var(&base, &base, NULL);
    lbc_multiples(out + LBC_GENERATOR_MULTIPLES, &base);
}

#endif
