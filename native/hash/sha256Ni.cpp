// SHA-256 by the SHA extensions of x86 processors. Compiled for the baseline; only the functions marked below use the
// newer instructions, and they are called only when the processor reports support.
#include "hash/sha256.h"

#if (defined(__x86_64__) || defined(__i386__)) && (defined(__GNUC__) || defined(__clang__))
#define LBC_SHA_NI 1
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace lbc {
namespace detail {

#ifdef LBC_SHA_NI

namespace {

// CPUID leaf 1 ECX shows SSSE3 and SSE4.1; leaf 7 EBX shows SHA.
bool processorHasSha() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return false;
  if (!(c >> 9 & 1) || !(c >> 19 & 1)) return false;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  return b >> 29 & 1;
}

__attribute__((target("sha,sse4.1,ssse3"))) void transformNi(uint32_t* state, const uint8_t* block, size_t count) {
  const __m128i toBigEndian = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
  const __m128i* constants = reinterpret_cast<const __m128i*>(kSha256Constants);

  // The SHA instructions need the state as (A B E F) and (C D G H), with the first letter in the highest lane.
  const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<__m128i*>(state)), 0xb1);
  const __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<__m128i*>(state + 4)), 0x1b);
  __m128i abef = _mm_alignr_epi8(badc, hgfe, 8);
  __m128i cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);

  for (; count > 0; count--, block += 64) {
    const __m128i abefBefore = abef;
    const __m128i cdghBefore = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; i++) {
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block) + i), toBigEndian);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) {
      const __m128i wk = _mm_add_epi32(w[i & 3], _mm_load_si128(constants + i));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(wk, 0x0e));
      if (i < 12) {
        // Message words that round i + 4 needs.
        const __m128i last = w[(i + 3) & 3];
        const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]),
                                          _mm_alignr_epi8(last, w[(i + 2) & 3], 4));
        w[i & 3] = _mm_sha256msg2_epu32(sum, last);
      }
    }
    abef = _mm_add_epi32(abef, abefBefore);
    cdgh = _mm_add_epi32(cdgh, cdghBefore);
  }

  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state), _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

}  // namespace

Sha256Transform sha256NiTransform() { return processorHasSha() ? transformNi : nullptr; }

#else

Sha256Transform sha256NiTransform() { return nullptr; }

#endif

}  // namespace detail
}  // namespace lbc
