/* Included by secp256k1Unit.c alone, behind the library: its functions are static. See knownKey.h. */
#include "knownKey.h"

typedef char lbc_point_fits[sizeof(lbc_stored_point) == sizeof(secp256k1_ge_storage) ? 1 : -1];

/* Of each span in turn the first `count` odd multiples of its point; one inversion makes all of them affine. */
static void lbc_all_spans(lbc_stored_point *out, int count, const secp256k1_gej *base) {
    const size_t total = (size_t)LBC_SPANS * count;
    secp256k1_gej *sums = (secp256k1_gej *)checked_malloc(&default_error_callback, total * sizeof *sums);
    secp256k1_ge *points = (secp256k1_ge *)checked_malloc(&default_error_callback, total * sizeof *points);
    secp256k1_gej point = *base, twice;
    int span, i;
    size_t k;
    for (span = 0; span < LBC_SPANS; span++) {
        secp256k1_gej *odd = sums + (size_t)span * count;
        secp256k1_gej_double_var(&twice, &point, NULL);
        odd[0] = point;
        for (i = 1; i < count; i++) secp256k1_gej_add_var(&odd[i], &odd[i - 1], &twice, NULL);
        point = twice;
        for (i = 1; i < LBC_SPAN_BITS; i++) secp256k1_gej_double_var(&point, &point, NULL);
    }
    secp256k1_ge_set_all_gej_var(points, sums, total);
    for (k = 0; k < total; k++) secp256k1_ge_to_storage((secp256k1_ge_storage *)&out[k], &points[k]);
    free(sums);
    free(points);
}

void lbc_know_generator(lbc_known_generator *out) {
    secp256k1_gej base;
    secp256k1_gej_set_ge(&base, &secp256k1_ge_const_g);
    lbc_all_spans(&out->odd[0][0], LBC_ODD_MULTIPLES(LBC_KNOWN_GENERATOR_WINDOW), &base);
}

void lbc_know_key(lbc_known_key *out, const void *point) {
    secp256k1_ge affine;
    secp256k1_gej base;
    secp256k1_pubkey_load(secp256k1_context_no_precomp, &affine, (const secp256k1_pubkey *)point);
    secp256k1_gej_set_ge(&base, &affine);
    lbc_all_spans(&out->odd[0][0], LBC_ODD_MULTIPLES(LBC_KNOWN_KEY_WINDOW), &base);
}

/* sum += digit * the point of which `odd` are the multiples. */
static void lbc_add_digit(secp256k1_gej *sum, const lbc_stored_point *odd, int digit) {
    secp256k1_ge point;
    if (digit == 0) return;
    secp256k1_ge_from_storage(&point, (const secp256k1_ge_storage *)&odd[(digit < 0 ? -digit : digit) / 2]);
    if (digit < 0) secp256k1_fe_negate(&point.y, &point.y, 1);
    secp256k1_gej_add_ge_var(sum, sum, &point, NULL);
}

int lbc_verify_known(const lbc_known_generator *generator, const lbc_known_key *key, const uint8_t *compact,
                     const uint8_t *hash) {
    int key_digits[256], generator_digits[256];
    secp256k1_scalar r, s, message, u1, u2;
    secp256k1_gej sum;
    secp256k1_fe x;
    int r_overflow, s_overflow, bit, span;
    secp256k1_scalar_set_b32(&r, compact, &r_overflow);
    secp256k1_scalar_set_b32(&s, compact + 32, &s_overflow);
    if (r_overflow || s_overflow || secp256k1_scalar_is_zero(&r) || secp256k1_scalar_is_zero(&s)) return 0;
    secp256k1_scalar_set_b32(&message, hash, NULL);
    secp256k1_scalar_inverse_var(&s, &s);
    secp256k1_scalar_mul(&u1, &s, &message);
    secp256k1_scalar_mul(&u2, &s, &r);
    secp256k1_ecmult_wnaf(key_digits, 256, &u2, LBC_KNOWN_KEY_WINDOW);
    secp256k1_ecmult_wnaf(generator_digits, 256, &u1, LBC_KNOWN_GENERATOR_WINDOW);
    secp256k1_gej_set_infinity(&sum);
    for (bit = LBC_SPAN_BITS - 1; bit >= 0; bit--) {
        secp256k1_gej_double_var(&sum, &sum, NULL);
        for (span = 0; span < LBC_SPANS; span++) {
            lbc_add_digit(&sum, key->odd[span], key_digits[LBC_SPAN_BITS * span + bit]);
            lbc_add_digit(&sum, generator->odd[span], generator_digits[LBC_SPAN_BITS * span + bit]);
        }
    }
    if (secp256k1_gej_is_infinity(&sum)) return 0;
    /* R is the x of the sum modulo n: x itself, or, below p - n, x less n. */
    secp256k1_fe_set_b32(&x, compact);
    if (secp256k1_gej_eq_x_var(&x, &sum)) return 1;
    if (secp256k1_fe_cmp_var(&x, &secp256k1_ecdsa_const_p_minus_order) >= 0) return 0;
    secp256k1_fe_add(&x, &secp256k1_ecdsa_const_order_as_fe);
    return secp256k1_gej_eq_x_var(&x, &sum);
}
