/*
 * What curveLanes.cpp must know of up to eight signatures, laid out for vectors: the index of the lane comes last. Made by
 * secp256k1Unit.c with the scalar arithmetic of libsecp256k1. Shared by C and C++.
 */
#ifndef LBC_LANE_BATCH_H
#define LBC_LANE_BATCH_H

#include <stddef.h>
#include <stdint.h>

#define LBC_LANES 8
/* Elements of the field are five limbs of 52 bits, the lowest first, fully reduced. */
#define LBC_LIMBS 5

/*
 * Scalars are sums of digits times powers of two, the first digit for 2^0. Digits of the key go from -8 to 8 and stand for
 * four bits each, those of the generator from -128 to 128 and for eight bits.
 */
#define LBC_KEY_BITS 4
#define LBC_KEY_DIGITS 33
#define LBC_GENERATOR_BITS 8
#define LBC_GENERATOR_DIGITS 17
#define LBC_GENERATOR_MULTIPLES (1 << (LBC_GENERATOR_BITS - 1))

/* One signature to verify. The memory belongs to the caller. */
typedef struct {
    const uint8_t *hash;    /* 32 bytes */
    const uint8_t *compact; /* R and S, 32 bytes each, big endian */
    const uint8_t *key;     /* 33 or 65 bytes, whose first byte announces just that */
    size_t key_size;
} lbc_signature;

/* R = (g[0] + g[1] 2^128) G + (k[0] + k[1] lambda) Q has the x coordinate `r` if the signature is valid. */
typedef struct {
    uint64_t key_x[LBC_LIMBS][LBC_LANES];
    uint64_t key_y[LBC_LIMBS][LBC_LANES]; /* zero in the lanes of `compressed` */
    uint64_t r[LBC_LIMBS][LBC_LANES];
    int16_t key_digits[2][LBC_KEY_DIGITS][LBC_LANES];
    int16_t generator_digits[2][LBC_GENERATOR_DIGITS][LBC_LANES];
    /* Bits by lane. */
    uint8_t ready;      /* filled in; the other lanes are zero and decide nothing */
    uint8_t compressed; /* y is to be found from x */
    uint8_t odd;        /* that y is odd */
} lbc_lane_batch;

/* x and y of a point. */
typedef struct {
    uint64_t limb[2 * LBC_LIMBS];
} lbc_lane_point;

#ifdef __cplusplus
extern "C" {
#endif

/* Fills in the batch; a signature or key that is out of range leaves its lane empty. `count` is at most LBC_LANES. */
void lbc_prepare_lanes(lbc_lane_batch *batch, const lbc_signature *signatures, int count);

/* The multiples 1 to LBC_GENERATOR_MULTIPLES of G, then those of 2^128 G. */
void lbc_generator_multiples(lbc_lane_point *out);

#ifdef __cplusplus
}
#endif

#endif
