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
#endif

namespace lbc {

#ifdef LBC_SHA_LANES

namespace {

constexpr size_t kBlock = 128;
constexpr uint64_t kStart[8] = {0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17, 0x152fecd8f70e5939,
                                0x67332667ffc00b31, 0x8eb44a8768581511, 0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4};

typedef uint64_t Lanes __attribute__((vector_size(32)));

// The vectors are passed by reference, because the way in which they are passed by value depends on the target.
#define LBC_INLINE inline __attribute__((always_inline))
#define LBC_ROTATE(x, n) ((x) >> (n) | (x) << (64 - (n)))

// Adds the next block of each message to the states.
LBC_INLINE void addBlocks(Lanes* state, const uint8_t* const* blocks) {
  Lanes w[16];
  for (int i = 0; i < 16; i++) {
    for (int lane = 0; lane < kSha384Lanes; lane++) {
      uint64_t word;
      memcpy(&word, blocks[lane] + 8 * i, 8);
      w[i][lane] = __builtin_bswap64(word);
    }
  }
  Lanes v[8];
  for (int i = 0; i < 8; i++) v[i] = state[i];
  for (int base = 0; base < 80; base += 16) {
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) {
      Lanes &a = v[(16 - i) & 7], &b = v[(17 - i) & 7], &c = v[(18 - i) & 7], &d = v[(19 - i) & 7];
      Lanes &e = v[(20 - i) & 7], &f = v[(21 - i) & 7], &g = v[(22 - i) & 7], &h = v[(23 - i) & 7];
      h += (LBC_ROTATE(e, 14) ^ LBC_ROTATE(e, 18) ^ LBC_ROTATE(e, 41)) + (g ^ (e & (f ^ g))) +
           (w[i] + detail::kSha512Constants[base + i]);
      d += h;
      h += (LBC_ROTATE(a, 28) ^ LBC_ROTATE(a, 34) ^ LBC_ROTATE(a, 39)) + ((a & b) | (c & (a | b)));
      // The message word that round i + 16 needs.
      const Lanes &x = w[(i + 1) & 15], &y = w[(i + 14) & 15];
      w[i] += (LBC_ROTATE(x, 1) ^ LBC_ROTATE(x, 8) ^ x >> 7) + w[(i + 9) & 15] +
              (LBC_ROTATE(y, 19) ^ LBC_ROTATE(y, 61) ^ y >> 6);
    }
  }
  for (int i = 0; i < 8; i++) state[i] += v[i];
}

LBC_INLINE bool hashLanes(const uint8_t* const* messages, size_t size, uint8_t* const* digests, size_t partSize,
                          const LanePartHook* before) {
  Lanes state[8];
  for (int i = 0; i < 8; i++) state[i] = kStart[i] - Lanes{};
  const uint8_t* blocks[kSha384Lanes];
  for (int lane = 0; lane < kSha384Lanes; lane++) blocks[lane] = messages[lane];
  for (size_t start = 0; start < size; start += partSize) {
    const size_t end = std::min(size, start + partSize);
    if (before && !(*before)(start, end - start)) return false;
    for (size_t at = start; at + kBlock <= end; at += kBlock) {
      addBlocks(state, blocks);
      for (int lane = 0; lane < kSha384Lanes; lane++) blocks[lane] += kBlock;
    }
  }
  // The rest of the message, the bit 1, zeros, and the length in bits.
  const size_t rest = size % kBlock, tail = rest < kBlock - 16 ? kBlock : 2 * kBlock;
  uint8_t ends[kSha384Lanes][2 * kBlock] = {};
  for (int lane = 0; lane < kSha384Lanes; lane++) {
    if (rest > 0) memcpy(ends[lane], blocks[lane], rest);
    ends[lane][rest] = 0x80;
    for (int i = 0; i < 8; i++) ends[lane][tail - 1 - i] = static_cast<uint8_t>(static_cast<uint64_t>(size) * 8 >> 8 * i);
  }
  for (size_t at = 0; at < tail; at += kBlock) {
    for (int lane = 0; lane < kSha384Lanes; lane++) blocks[lane] = ends[lane] + at;
    addBlocks(state, blocks);
  }
  for (int lane = 0; lane < kSha384Lanes; lane++) {
    for (int i = 0; i < 6; i++) {
      const uint64_t word = __builtin_bswap64(state[i][lane]);
      memcpy(digests[lane] + 8 * i, &word, 8);
    }
  }
  return true;
}

// The baseline's SHA-512 takes less than twice the time of four lanes of AVX2, so these lanes need the rotations of AVX-512.
__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq"))) bool hash4(const uint8_t* const* messages, size_t size,
                                                                       uint8_t* const* digests, size_t partSize,
                                                                       const LanePartHook* before) {
  return hashLanes(messages, size, digests, partSize, before);
}

// CPUID leaf 7 EBX shows AVX-512 F, DQ, BW and VL; XCR0 shows whether the system saves all vector registers.
bool processorHasLanes() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1)) return false;
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & 0xe6) != 0xe6 || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  return (b >> 16 & 1) && (b >> 17 & 1) && (b >> 30 & 1) && (b >> 31 & 1);
}

}  // namespace

bool sha384HasLanes() {
  static const bool has = processorHasLanes();
  return has;
}

void sha384Lanes(const uint8_t* const* messages, size_t size, uint8_t* const* digests) {
  hash4(messages, size, digests, std::max<size_t>(size, 1), nullptr);
}

bool sha384LanesInParts(const uint8_t* const* messages, size_t size, uint8_t* const* digests, size_t partSize,
                        const LanePartHook& before) {
  return hash4(messages, size, digests, partSize, &before);
}

#else

bool sha384HasLanes() { return false; }

void sha384Lanes(const uint8_t* const*, size_t, uint8_t* const*) {}

bool sha384LanesInParts(const uint8_t* const*, size_t, uint8_t* const*, size_t, const LanePartHook&) { return false; }

#endif

}  // namespace lbc
