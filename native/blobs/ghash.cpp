// GHASH of several blocks at the same time. The file is compiled for the baseline. Only the functions with LBC_TARGET use newer
// instructions, and they are called only if the processor and the system support them. Source: NIST SP 800-38D section 6.4; S. Gueron and
// M. Kounavis, "Intel carry-less multiplication instruction and its usage for computing the GCM mode".
#include "blobs/ghash.h"

#include <cstring>

#if defined(__x86_64__) && defined(__linux__)
#define LBC_GHASH 1
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace lbc {

#ifdef LBC_GHASH

namespace {

#define LBC_TARGET __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,pclmul,vpclmulqdq")))
#define LBC_GHASH_INLINE inline LBC_TARGET __attribute__((always_inline))

// The field's polynomial without its highest term, and the bit that a shift carries into the lowest place.
constexpr uint64_t kPolynomial = 0xc200000000000000;
// Blocks of one vector, and vectors of one step. A step uses all powers of the key.
constexpr size_t kLanes = 4;
constexpr size_t kVectors = kGhashPowers / kLanes;

// GCM numbers the bits of a block from the highest bit of the first byte. Reversed bytes have the bits in the processor's order.
LBC_GHASH_INLINE __m128i reversed(__m128i block) {
  return _mm_shuffle_epi8(block, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

LBC_GHASH_INLINE __m128i load(const uint8_t* bytes) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)); }

LBC_GHASH_INLINE void store(uint8_t* bytes, __m128i block) { _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes), block); }

// The sum of products of 128 bits each, not reduced.
struct Products {
  __m512i low, middle, high;
};

LBC_GHASH_INLINE void addProducts(Products* sum, __m512i a, __m512i b) {
  sum->low = _mm512_xor_si512(sum->low, _mm512_clmulepi64_epi128(a, b, 0x00));
  const __m512i cross = _mm512_clmulepi64_epi128(a, b, 0x01);
  sum->middle = _mm512_ternarylogic_epi64(sum->middle, cross, _mm512_clmulepi64_epi128(a, b, 0x10), 0x96);
  sum->high = _mm512_xor_si512(sum->high, _mm512_clmulepi64_epi128(a, b, 0x11));
}

LBC_GHASH_INLINE __m512i reduced(const Products& sum) {
  const __m512i polynomial = _mm512_broadcast_i32x4(_mm_set_epi64x(static_cast<int64_t>(kPolynomial), 1));
  const __m512i first = _mm512_clmulepi64_epi128(polynomial, sum.low, 0x01);
  const __m512i middle = _mm512_ternarylogic_epi64(
      sum.middle, _mm512_shuffle_epi32(sum.low, static_cast<_MM_PERM_ENUM>(0x4e)), first, 0x96);
  const __m512i second = _mm512_clmulepi64_epi128(polynomial, middle, 0x01);
  return _mm512_ternarylogic_epi64(sum.high, _mm512_shuffle_epi32(middle, static_cast<_MM_PERM_ENUM>(0x4e)), second,
                                   0x96);
}

// The product of two blocks in the field. A key has an additional factor x, which the reduction removes.
LBC_GHASH_INLINE __m128i product(__m128i a, __m128i b) {
  Products sum = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()};
  addProducts(&sum, _mm512_zextsi128_si512(a), _mm512_zextsi128_si512(b));
  return _mm512_castsi512_si128(reduced(sum));
}

LBC_TARGET void makeKey(const uint8_t* encryptedZeros, GhashKey* key) {
  uint64_t words[2];
  store(reinterpret_cast<uint8_t*>(words), reversed(load(encryptedZeros)));
  const bool carries = words[1] >> 63;
  words[1] = (words[1] << 1 | words[0] >> 63) ^ (carries ? kPolynomial : 0);
  words[0] = words[0] << 1 ^ (carries ? 1 : 0);
  const __m128i first = load(reinterpret_cast<const uint8_t*>(words));
  __m128i power = first;
  for (size_t i = kGhashPowers; i-- > 0;) {
    store(key->powers[i], power);
    power = product(power, first);
  }
}

LBC_TARGET void hashBytes(const GhashKey& key, const uint8_t* bytes, size_t size, uint8_t* hash) {
  const __m512i reversal =
      _mm512_broadcast_i32x4(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  __m512i powers[kVectors];
  for (size_t i = 0; i < kVectors; i++) powers[i] = _mm512_load_si512(key.powers[i * kLanes]);
  const __m128i first = load(key.powers[kGhashPowers - 1]);
  __m128i sum = _mm_setzero_si128();
  size_t at = 0;
  for (; size - at >= kGhashPowers * kGhashBlock; at += kGhashPowers * kGhashBlock) {
    Products products = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()};
    for (size_t i = 0; i < kVectors; i++) {
      __m512i blocks = _mm512_shuffle_epi8(_mm512_loadu_si512(bytes + at + i * kLanes * kGhashBlock), reversal);
      if (i == 0) blocks = _mm512_xor_si512(blocks, _mm512_zextsi128_si512(sum));
      addProducts(&products, blocks, powers[i]);
    }
    const __m512i found = reduced(products);
    const __m256i half = _mm256_xor_si256(_mm512_castsi512_si256(found), _mm512_extracti64x4_epi64(found, 1));
    sum = _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  }
  for (; at < size; at += kGhashBlock) {
    uint8_t block[kGhashBlock] = {};
    memcpy(block, bytes + at, size - at < kGhashBlock ? size - at : kGhashBlock);
    sum = product(_mm_xor_si128(sum, reversed(load(block))), first);
  }
  // The last block has the lengths of the authenticated data and of the ciphertext, in bits.
  const __m128i lengths = _mm_set_epi64x(static_cast<int64_t>(static_cast<uint64_t>(size) * 8), 0);
  store(hash, reversed(product(_mm_xor_si128(sum, lengths), first)));
}

// CPUID leaf 1 ECX shows PCLMULQDQ; leaf 7 shows AVX-512 F, DQ, BW and VL in EBX and VPCLMULQDQ in ECX; XCR0 shows whether the
// system saves all vector registers.
bool processorHasGhash() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1) || !(c >> 1 & 1)) return false;
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & 0xe6) != 0xe6 || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  return (b >> 16 & 1) && (b >> 17 & 1) && (b >> 30 & 1) && (b >> 31 & 1) && (c >> 10 & 1);
}

}  // namespace

bool hasGhash() {
  static const bool has = processorHasGhash();
  return has;
}

void ghashKey(const uint8_t* encryptedZeros, GhashKey* key) { makeKey(encryptedZeros, key); }

void ghash(const GhashKey& key, const uint8_t* bytes, size_t size, uint8_t* hash) { hashBytes(key, bytes, size, hash); }

#else

bool hasGhash() { return false; }

void ghashKey(const uint8_t*, GhashKey*) {}

void ghash(const GhashKey&, const uint8_t*, size_t, uint8_t*) {}

#endif

}  // namespace lbc
