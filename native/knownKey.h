/*
 * Verification with a key that comes up again and again: its multiples are prepared, and then a signature takes half the
 * work. For a point P the odd multiples of P, 2^32 P, 2^64 P ... up to 2^224 P are kept, so that 32 doublings serve all
 * bits of a scalar, where one set of multiples needs 128 with the endomorphism. Defined in knownKeyImpl.h with the
 * arithmetic of the bundled libsecp256k1. Shared by C and C++.
 */
#ifndef LBC_KNOWN_KEY_H
#define LBC_KNOWN_KEY_H

#include <stdint.h>

#define LBC_SPAN_BITS 32
#define LBC_SPANS (256 / LBC_SPAN_BITS)
/* Digits of so many bits, odd and of either sign. The generator's multiples fill 256 KiB, a key's 8. */
#define LBC_KNOWN_KEY_WINDOW 6
#define LBC_KNOWN_GENERATOR_WINDOW 11
#define LBC_ODD_MULTIPLES(window) (1 << ((window) - 2))

/* x and y, in the library's form for storing. */
typedef struct {
    uint64_t words[8];
} lbc_stored_point;

typedef struct {
    lbc_stored_point odd[LBC_SPANS][LBC_ODD_MULTIPLES(LBC_KNOWN_KEY_WINDOW)];
} lbc_known_key;

typedef struct {
    lbc_stored_point odd[LBC_SPANS][LBC_ODD_MULTIPLES(LBC_KNOWN_GENERATOR_WINDOW)];
} lbc_known_generator;

#ifdef __cplusplus
extern "C" {
#endif

void lbc_know_generator(lbc_known_generator *out);
/* `point` is a secp256k1_pubkey. It costs about as much as three verifications. */
void lbc_know_key(lbc_known_key *out, const void *point);
/*
 * Whether the signature is valid: `compact` is R and S, 32 bytes each, big endian, of any size; `hash` has 32 bytes. The same
 * as secp256k1_ecdsa_verify, but that S may be high.
 */
int lbc_verify_known(const lbc_known_generator *generator, const lbc_known_key *key, const uint8_t *compact,
                     const uint8_t *hash);

#ifdef __cplusplus
}
#endif

#endif
