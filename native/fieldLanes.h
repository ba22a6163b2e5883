// Eight elements of secp256k1's field side by side, by the 52-bit multiplier of AVX-512 (IFMA). Only curveLanes.cpp uses it,
// and only where the processor has the instructions. Test: test/differential/signatureLanes.test.ts.
//
// An element is five limbs of 52 bits modulo p = 2^256 - kFold. Between operations every element is "carried": limbs 0 to 3
// are below 2^52 (the multiplier drops what is above) and limb 4 is below 2^48 + 2^10. So its value is below 2 p, and zero
// modulo p only if it is 0 or p. The functions below take carried elements and return such.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "laneBatch.h"

// Every function that touches vectors: compiled for the instructions, whatever the rest of the addon is compiled for.
#if defined(__clang_major__) && __clang_major__ >= 18 && __clang_major__ <= 21
// These versions have a feature for the width itself, which avx512f brings along unless it is switched off as a whole, as
// Zig does with whatever the baseline lacks.
#define LBC_LANE_CODE __attribute__((target("avx512f,avx512ifma,evex512")))
#else
#define LBC_LANE_CODE __attribute__((target("avx512f,avx512ifma")))
#endif
#define LBC_LANE_INLINE LBC_LANE_CODE __attribute__((always_inline)) inline

namespace lbc {

namespace {

constexpr uint64_t kFold = 0x1000003D1;  // 2^256 modulo p
constexpr uint64_t kLimbMask = (uint64_t{1} << 52) - 1;
constexpr uint64_t kTopMask = (uint64_t{1} << 48) - 1;
// The limbs of p.
constexpr uint64_t kPrime[LBC_LIMBS] = {kLimbMask - kFold + 1, kLimbMask, kLimbMask, kLimbMask, kTopMask};

struct Field {
  __m512i limb[LBC_LIMBS];
};

LBC_LANE_INLINE __m512i everywhere(uint64_t value) { return _mm512_set1_epi64(static_cast<long long>(value)); }

LBC_LANE_INLINE Field loadField(const uint64_t (*limbs)[LBC_LANES]) {
  Field out;
  for (int i = 0; i < LBC_LIMBS; i++) out.limb[i] = _mm512_loadu_si512(limbs[i]);
  return out;
}

// The same number in all lanes; it must be below p.
LBC_LANE_INLINE Field broadcastField(const uint64_t (&limbs)[LBC_LIMBS]) {
  Field out;
  for (int i = 0; i < LBC_LIMBS; i++) out.limb[i] = everywhere(limbs[i]);
  return out;
}

// `ifSet` in the lanes of the mask, `otherwise` in the others.
LBC_LANE_INLINE Field select(__mmask8 mask, const Field& ifSet, const Field& otherwise) {
  Field out;
  for (int i = 0; i < LBC_LIMBS; i++) out.limb[i] = _mm512_mask_mov_epi64(otherwise.limb[i], mask, ifSet.limb[i]);
  return out;
}

// Brings limbs of up to 58 bits into carried form. What stands above bit 256, at most 2^10 of it, is folded to the bottom;
// limb 4 then takes a carry of at most 2^7.
LBC_LANE_INLINE void carry(Field& a) {
  const __m512i mask = everywhere(kLimbMask);
  const __m512i above = _mm512_srli_epi64(a.limb[4], 48);
  a.limb[4] = _mm512_and_si512(a.limb[4], everywhere(kTopMask));
  a.limb[0] = _mm512_madd52lo_epu64(a.limb[0], above, everywhere(kFold));
  for (int i = 0; i < LBC_LIMBS - 1; i++) {
    a.limb[i + 1] = _mm512_add_epi64(a.limb[i + 1], _mm512_srli_epi64(a.limb[i], 52));
    a.limb[i] = _mm512_and_si512(a.limb[i], mask);
  }
}

// a times 2^bits, for at most 4 bits.
LBC_LANE_INLINE Field timesPowerOfTwo(const Field& a, unsigned bits) {
  Field out;
  for (int i = 0; i < LBC_LIMBS; i++) out.limb[i] = _mm512_slli_epi64(a.limb[i], bits);
  carry(out);
  return out;
}

LBC_LANE_INLINE Field timesThree(const Field& a) {
  Field out;
  for (int i = 0; i < LBC_LIMBS; i++)
    out.limb[i] = _mm512_add_epi64(_mm512_slli_epi64(a.limb[i], 1), a.limb[i]);
  carry(out);
  return out;
}

LBC_LANE_INLINE Field add(const Field& a, const Field& b) {
  Field out;
  for (int i = 0; i < LBC_LIMBS; i++) out.limb[i] = _mm512_add_epi64(a.limb[i], b.limb[i]);
  carry(out);
  return out;
}

// a - b 2^bits, for at most 3 bits. Twice p is added as often as b is taken off: its limbs are above those of b.
LBC_LANE_INLINE Field subtract(const Field& a, const Field& b, unsigned bits = 0) {
  Field out;
  for (int i = 0; i < LBC_LIMBS; i++) {
    const __m512i lifted = _mm512_add_epi64(a.limb[i], everywhere(kPrime[i] << (bits + 1)));
    out.limb[i] = _mm512_sub_epi64(lifted, _mm512_slli_epi64(b.limb[i], bits));
  }
  carry(out);
  return out;
}

LBC_LANE_INLINE Field negate(const Field& a) {
  Field out;
  for (int i = 0; i < LBC_LIMBS; i++) out.limb[i] = _mm512_sub_epi64(everywhere(kPrime[i] << 1), a.limb[i]);
  carry(out);
  return out;
}

// A product as ten columns of 52 bits, each below 2^56 and the last below 2^46, modulo p.
LBC_LANE_INLINE void reduce(Field* out, __m512i (&column)[2 * LBC_LIMBS]) {
  const __m512i mask = everywhere(kLimbMask);
  // The upper half counts 2^260, which is this modulo p.
  const __m512i fold = everywhere(kFold << 4);
  for (int i = LBC_LIMBS; i < 2 * LBC_LIMBS - 1; i++) {
    column[i + 1] = _mm512_add_epi64(column[i + 1], _mm512_srli_epi64(column[i], 52));
    column[i] = _mm512_and_si512(column[i], mask);
  }
  for (int i = 0; i < LBC_LIMBS; i++)
    column[i] = _mm512_madd52lo_epu64(column[i], column[i + LBC_LIMBS], fold);
  for (int i = 0; i < LBC_LIMBS - 1; i++)
    column[i + 1] = _mm512_madd52hi_epu64(column[i + 1], column[i + LBC_LIMBS], fold);
  // The last high half counts 2^260 again. Together with what is above bit 256 it is below 2^36 times 2^256.
  const __m512i top = _mm512_madd52hi_epu64(_mm512_setzero_si512(), column[2 * LBC_LIMBS - 1], fold);
  const __m512i above = _mm512_add_epi64(_mm512_srli_epi64(column[4], 48), _mm512_slli_epi64(top, 4));
  column[4] = _mm512_and_si512(column[4], everywhere(kTopMask));
  column[0] = _mm512_madd52lo_epu64(column[0], above, everywhere(kFold));
  column[1] = _mm512_madd52hi_epu64(column[1], above, everywhere(kFold));
  for (int i = 0; i < LBC_LIMBS - 1; i++) {
    column[i + 1] = _mm512_add_epi64(column[i + 1], _mm512_srli_epi64(column[i], 52));
    out->limb[i] = _mm512_and_si512(column[i], mask);
  }
  out->limb[4] = column[4];
}

LBC_LANE_CODE __attribute__((noinline)) void multiplyInto(Field* out, const Field* a, const Field* b) {
  // Lower and upper halves of the partial products are summed apart: shorter chains of dependent sums.
  __m512i low[2 * LBC_LIMBS], high[2 * LBC_LIMBS];
  for (int i = 0; i < 2 * LBC_LIMBS; i++) low[i] = high[i] = _mm512_setzero_si512();
#pragma GCC unroll 5
  for (int i = 0; i < LBC_LIMBS; i++) {
#pragma GCC unroll 5
    for (int k = 0; k < LBC_LIMBS; k++) {
      low[i + k] = _mm512_madd52lo_epu64(low[i + k], a->limb[i], b->limb[k]);
      high[i + k + 1] = _mm512_madd52hi_epu64(high[i + k + 1], a->limb[i], b->limb[k]);
    }
  }
  for (int i = 0; i < 2 * LBC_LIMBS; i++) low[i] = _mm512_add_epi64(low[i], high[i]);
  reduce(out, low);
}

LBC_LANE_CODE __attribute__((noinline)) void squareInto(Field* out, const Field* a) {
  __m512i low[2 * LBC_LIMBS], high[2 * LBC_LIMBS];
  for (int i = 0; i < 2 * LBC_LIMBS; i++) low[i] = high[i] = _mm512_setzero_si512();
#pragma GCC unroll 5
  for (int i = 0; i < LBC_LIMBS; i++) {
#pragma GCC unroll 5
    for (int k = i + 1; k < LBC_LIMBS; k++) {
      low[i + k] = _mm512_madd52lo_epu64(low[i + k], a->limb[i], a->limb[k]);
      high[i + k + 1] = _mm512_madd52hi_epu64(high[i + k + 1], a->limb[i], a->limb[k]);
    }
  }
  // Products of two different limbs count twice.
  for (int i = 0; i < 2 * LBC_LIMBS; i++) {
    low[i] = _mm512_add_epi64(low[i], high[i]);
    low[i] = _mm512_add_epi64(low[i], low[i]);
  }
  for (int i = 0; i < LBC_LIMBS; i++) {
    low[2 * i] = _mm512_madd52lo_epu64(low[2 * i], a->limb[i], a->limb[i]);
    low[2 * i + 1] = _mm512_madd52hi_epu64(low[2 * i + 1], a->limb[i], a->limb[i]);
  }
  reduce(out, low);
}

LBC_LANE_INLINE Field multiply(const Field& a, const Field& b) {
  Field out;
  multiplyInto(&out, &a, &b);
  return out;
}

LBC_LANE_INLINE Field square(const Field& a) {
  Field out;
  squareInto(&out, &a);
  return out;
}

// a to the power 2^times.
LBC_LANE_CODE Field squareOften(const Field& a, int times) {
  Field out = a;
  for (int i = 0; i < times; i++) squareInto(&out, &out);
  return out;
}

// The lanes that are zero modulo p.
LBC_LANE_INLINE __mmask8 isZero(const Field& a) {
  __mmask8 zero = 0xff, prime = 0xff;
  for (int i = 0; i < LBC_LIMBS; i++) {
    zero &= _mm512_cmpeq_epi64_mask(a.limb[i], _mm512_setzero_si512());
    prime &= _mm512_cmpeq_epi64_mask(a.limb[i], everywhere(kPrime[i]));
  }
  return static_cast<__mmask8>(zero | prime);
}

// The lanes whose remainder modulo p is odd.
LBC_LANE_INLINE __mmask8 isOdd(const Field& a) {
  // Adding 2^256 - p carries into bit 256 just when a is p or more; p itself is odd.
  __m512i carried = _mm512_srli_epi64(_mm512_add_epi64(a.limb[0], everywhere(kFold)), 52);
  for (int i = 1; i < LBC_LIMBS - 1; i++)
    carried = _mm512_srli_epi64(_mm512_add_epi64(a.limb[i], carried), 52);
  const __m512i above = _mm512_srli_epi64(_mm512_add_epi64(a.limb[4], carried), 48);
  return _mm512_test_epi64_mask(_mm512_xor_si512(a.limb[0], above), everywhere(1));
}

// a to the power (p + 1) / 4: a root where there is one. The exponent is 223 ones, a zero, 22 ones, and 00001100.
LBC_LANE_CODE Field squareRoot(const Field& a) {
  // ones2 is a to the power of two ones in binary, and so on.
  const Field ones2 = multiply(squareOften(a, 1), a);
  const Field ones3 = multiply(squareOften(ones2, 1), a);
  const Field ones6 = multiply(squareOften(ones3, 3), ones3);
  const Field ones9 = multiply(squareOften(ones6, 3), ones3);
  const Field ones11 = multiply(squareOften(ones9, 2), ones2);
  const Field ones22 = multiply(squareOften(ones11, 11), ones11);
  const Field ones44 = multiply(squareOften(ones22, 22), ones22);
  const Field ones88 = multiply(squareOften(ones44, 44), ones44);
  const Field ones176 = multiply(squareOften(ones88, 88), ones88);
  const Field ones220 = multiply(squareOften(ones176, 44), ones44);
  const Field ones223 = multiply(squareOften(ones220, 3), ones3);
  const Field head = multiply(squareOften(ones223, 23), ones22);
  return squareOften(multiply(squareOften(head, 6), ones2), 2);
}

}  // namespace

}  // namespace lbc
