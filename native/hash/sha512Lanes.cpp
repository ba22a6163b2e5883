// SHA-384 of several equally long messages at the same time, one message in each 64-bit lane of the vector registers of x86
// processors. Compiled for the baseline; only the functions marked below use the newer instructions, and they are called only
// when the processor reports support. Source: FIPS 180-4 sections 5.1.2, 5.3.4 and 6.4.
#include "hash/sha512Lanes.h"

#include <algorithm>
#include <cstring>

#include "hash/hashes.h"

#if defined(__x86_64__) && defined(__linux__)
#define LBC_SHA_LANES 1
#include <cpuid.h>
#include <immintrin.h>
#ifndef __clang__
// GCC 12 warns about its own header, which leaves variables uninitialized on purpose (`_mm512_undefined_epi32`).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#endif

namespace lbc {

#ifdef LBC_SHA_LANES

namespace {

constexpr size_t kBlock = 128;
constexpr uint64_t kStart[8] = {0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17, 0x152fecd8f70e5939,
                                0x67332667ffc00b31, 0x8eb44a8768581511, 0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4};

#define LBC_INLINE inline __attribute__((always_inline))
#define LBC_AVX2 __attribute__((target("avx2")))
#define LBC_AVX512 __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq")))

// Four lanes of AVX2. The vectors are passed by reference, because the way in which they are passed by value depends on the
// target.
struct FourLanes {
  static constexpr uint32_t kLanes = 4;
  typedef uint64_t Vector __attribute__((vector_size(32), may_alias));

#define LBC_ROTATE(x, n) ((x) >> (n) | (x) << (64 - (n)))

  // Adds a block of each message, which starts at `at`, to the states.
  static LBC_AVX2 void addBlocks(Vector* state, const uint8_t* const* messages, size_t at) {
    Vector w[16], v[8];
    for (int i = 0; i < 16; i++) {
      for (uint32_t lane = 0; lane < kLanes; lane++) {
        uint64_t word;
        memcpy(&word, messages[lane] + at + 8 * i, 8);
        w[i][lane] = __builtin_bswap64(word);
      }
    }
    for (int i = 0; i < 8; i++) v[i] = state[i];
    for (int base = 0; base < 80; base += 16) {
#pragma GCC unroll 16
      for (int i = 0; i < 16; i++) {
        Vector &a = v[(16 - i) & 7], &b = v[(17 - i) & 7], &c = v[(18 - i) & 7], &d = v[(19 - i) & 7];
        Vector &e = v[(20 - i) & 7], &f = v[(21 - i) & 7], &g = v[(22 - i) & 7], &h = v[(23 - i) & 7];
        h += (LBC_ROTATE(e, 14) ^ LBC_ROTATE(e, 18) ^ LBC_ROTATE(e, 41)) + (g ^ (e & (f ^ g))) +
             (w[i] + detail::kSha512Constants[base + i]);
        d += h;
        h += (LBC_ROTATE(a, 28) ^ LBC_ROTATE(a, 34) ^ LBC_ROTATE(a, 39)) + ((a & b) | (c & (a | b)));
        if (base == 64) continue;
        // The message word that round i + 16 needs.
        const Vector &x = w[(i + 1) & 15], &y = w[(i + 14) & 15];
        w[i] += (LBC_ROTATE(x, 1) ^ LBC_ROTATE(x, 8) ^ x >> 7) + w[(i + 9) & 15] +
                (LBC_ROTATE(y, 19) ^ LBC_ROTATE(y, 61) ^ y >> 6);
      }
    }
    for (int i = 0; i < 8; i++) state[i] += v[i];
  }

#undef LBC_ROTATE
};

// Eight lanes of AVX-512, which has instructions for rotations and for bitwise functions of three operands.
struct EightLanes {
  static constexpr uint32_t kLanes = 8;
  typedef uint64_t Vector __attribute__((vector_size(64), may_alias));

  // Loads eight words of each message: word i of all messages is in w[i].
  static LBC_INLINE LBC_AVX512 void loadWords(const uint8_t* const* messages, size_t at, __m512i* w) {
    const __m512i bigEndian =
        _mm512_broadcast_i32x4(_mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
    // In `pairs`, the even words of two messages alternate, then their odd words.
    __m512i pairs[8];
    for (int i = 0; i < 8; i += 2) {
      const __m512i first = _mm512_shuffle_epi8(_mm512_loadu_si512(messages[i] + at), bigEndian);
      const __m512i second = _mm512_shuffle_epi8(_mm512_loadu_si512(messages[i + 1] + at), bigEndian);
      pairs[i] = _mm512_unpacklo_epi64(first, second);
      pairs[i + 1] = _mm512_unpackhi_epi64(first, second);
    }
    for (int odd = 0; odd < 2; odd++) {
      // The words 0 and 4, and the words 2 and 6, of four messages.
      const __m512i low04 = _mm512_shuffle_i64x2(pairs[odd], pairs[2 + odd], 0x88);
      const __m512i low26 = _mm512_shuffle_i64x2(pairs[odd], pairs[2 + odd], 0xdd);
      const __m512i high04 = _mm512_shuffle_i64x2(pairs[4 + odd], pairs[6 + odd], 0x88);
      const __m512i high26 = _mm512_shuffle_i64x2(pairs[4 + odd], pairs[6 + odd], 0xdd);
      w[odd] = _mm512_shuffle_i64x2(low04, high04, 0x88);
      w[2 + odd] = _mm512_shuffle_i64x2(low26, high26, 0x88);
      w[4 + odd] = _mm512_shuffle_i64x2(low04, high04, 0xdd);
      w[6 + odd] = _mm512_shuffle_i64x2(low26, high26, 0xdd);
    }
  }

  static LBC_INLINE LBC_AVX512 __m512i add(__m512i a, __m512i b) { return _mm512_add_epi64(a, b); }
  static LBC_INLINE LBC_AVX512 __m512i add(__m512i a, __m512i b, __m512i c) { return add(add(a, b), c); }
  static LBC_INLINE LBC_AVX512 __m512i exclusiveOr(__m512i a, __m512i b, __m512i c) {
    return _mm512_ternarylogic_epi64(a, b, c, 0x96);
  }

  // Sixteen rounds. The next rounds need new message words unless `isLast`.
  template <bool isLast>
  static LBC_INLINE LBC_AVX512 void addRounds(__m512i* v, __m512i* w, const uint64_t* constants) {
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) {
      __m512i &a = v[(16 - i) & 7], &b = v[(17 - i) & 7], &c = v[(18 - i) & 7], &d = v[(19 - i) & 7];
      __m512i &e = v[(20 - i) & 7], &f = v[(21 - i) & 7], &g = v[(22 - i) & 7], &h = v[(23 - i) & 7];
      // The sums for `d` and `h` are computed separately. So the next `e` waits for fewer additions after this `e`.
      const __m512i known = add(h, add(w[i], _mm512_set1_epi64(static_cast<long long>(constants[i]))));
      const __m512i choice = _mm512_ternarylogic_epi64(e, f, g, 0xca);
      const __m512i ofE = exclusiveOr(_mm512_ror_epi64(e, 14), _mm512_ror_epi64(e, 18), _mm512_ror_epi64(e, 41));
      const __m512i majority = _mm512_ternarylogic_epi64(a, b, c, 0xe8);
      const __m512i ofA = exclusiveOr(_mm512_ror_epi64(a, 28), _mm512_ror_epi64(a, 34), _mm512_ror_epi64(a, 39));
      d = add(add(d, known), choice, ofE);
      h = add(add(known, choice, ofE), majority, ofA);
      if (isLast) continue;
      // The message word that round i + 16 needs.
      const __m512i x = w[(i + 1) & 15], y = w[(i + 14) & 15];
      w[i] = add(add(w[i], w[(i + 9) & 15]),
                 exclusiveOr(_mm512_ror_epi64(x, 1), _mm512_ror_epi64(x, 8), _mm512_srli_epi64(x, 7)),
                 exclusiveOr(_mm512_ror_epi64(y, 19), _mm512_ror_epi64(y, 61), _mm512_srli_epi64(y, 6)));
    }
  }

  // Adds a block of each message, which starts at `at`, to the states.
  static LBC_AVX512 void addBlocks(Vector* state, const uint8_t* const* messages, size_t at) {
    __m512i w[16], v[8];
    loadWords(messages, at, w);
    loadWords(messages, at + 64, w + 8);
    for (int i = 0; i < 8; i++) v[i] = _mm512_loadu_si512(state + i);
    for (int base = 0; base < 64; base += 16) addRounds<false>(v, w, detail::kSha512Constants + base);
    addRounds<true>(v, w, detail::kSha512Constants + 64);
    for (int i = 0; i < 8; i++) {
      _mm512_storeu_si512(state + i, _mm512_add_epi64(v[i], _mm512_loadu_si512(state + i)));
    }
  }
};

template <typename Kind>
bool hashLanes(const LaneMessages& messages, size_t partSize, const LanePartHook* before) {
  constexpr uint32_t lanes = Kind::kLanes;
  const size_t size = messages.size;
  // Lanes without a message repeat the first message.
  const uint8_t* data[lanes];
  for (uint32_t lane = 0; lane < lanes; lane++) data[lane] = messages.data[lane < messages.count ? lane : 0];
  // Not an array of vectors, because this function is compiled for the baseline instruction set.
  alignas(64) uint64_t words[8][lanes];
  for (int i = 0; i < 8; i++) std::fill_n(words[i], lanes, kStart[i]);
  auto* state = reinterpret_cast<typename Kind::Vector*>(words);
  for (size_t start = 0; start < size; start += partSize) {
    const size_t end = std::min(size, start + partSize);
    if (before && !(*before)(start, end - start)) return false;
    for (size_t at = start; at + kBlock <= end; at += kBlock) Kind::addBlocks(state, data, at);
  }
  // The rest of the message, the bit 1, zeros, and the length in bits.
  const size_t rest = size % kBlock, tail = rest < kBlock - 16 ? kBlock : 2 * kBlock;
  uint8_t ends[lanes][2 * kBlock] = {};
  for (uint32_t lane = 0; lane < lanes; lane++) {
    if (rest > 0) memcpy(ends[lane], data[lane] + size - rest, rest);
    ends[lane][rest] = 0x80;
    for (int i = 0; i < 8; i++) ends[lane][tail - 1 - i] = static_cast<uint8_t>(static_cast<uint64_t>(size) * 8 >> 8 * i);
    data[lane] = ends[lane];
  }
  for (size_t at = 0; at < tail; at += kBlock) Kind::addBlocks(state, data, at);
  for (uint32_t lane = 0; lane < messages.count; lane++) {
    for (int i = 0; i < 6; i++) {
      const uint64_t word = __builtin_bswap64(words[i][lane]);
      memcpy(messages.digests[lane] + 8 * i, &word, 8);
    }
  }
  return true;
}

// CPUID leaf 7 EBX shows AVX2 and AVX-512 F, DQ, BW and VL. XCR0 shows whether the system saves the vector registers.
uint32_t lanesOfProcessor() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1)) return 0;
  unsigned low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
  const bool has512 = (b >> 16 & 1) && (b >> 17 & 1) && (b >> 30 & 1) && (b >> 31 & 1);
  if ((low & 0xe6) == 0xe6 && has512) return EightLanes::kLanes;
  return (low & 0x6) == 0x6 && (b >> 5 & 1) ? FourLanes::kLanes : 0;
}

bool hashWith(uint32_t lanes, const LaneMessages& messages, size_t partSize, const LanePartHook* before) {
  return lanes == EightLanes::kLanes ? hashLanes<EightLanes>(messages, partSize, before)
                                     : hashLanes<FourLanes>(messages, partSize, before);
}

}  // namespace

uint32_t sha384LaneCount() {
  static const uint32_t count = lanesOfProcessor();
  return count;
}

bool sha384LanesInParts(const LaneMessages& messages, size_t partSize, const LanePartHook& before) {
  return hashWith(sha384LaneCount(), messages, partSize, &before);
}

void sha384Lanes(uint32_t lanes, const LaneMessages& messages) {
  hashWith(lanes, messages, std::max<size_t>(messages.size, 1), nullptr);
}

#else

uint32_t sha384LaneCount() { return 0; }

bool sha384LanesInParts(const LaneMessages&, size_t, const LanePartHook&) { return false; }

void sha384Lanes(uint32_t, const LaneMessages&) {}

#endif

}  // namespace lbc
