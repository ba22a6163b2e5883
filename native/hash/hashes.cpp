#include "hash/hashes.h"

#include <cstring>

#include "hash/sha256.h"

namespace lbc {

namespace detail {

// First 64 bits of the fractional parts of the cube roots of the first 80 primes.
const uint64_t kSha512Constants[80] = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc, 0x3956c25bf348b538,
    0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118, 0xd807aa98a3030242, 0x12835b0145706fbe,
    0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2, 0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235,
    0xc19bf174cf692694, 0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5, 0x983e5152ee66dfab,
    0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4, 0xc6e00bf33da88fc2, 0xd5a79147930aa725,
    0x06ca6351e003826f, 0x142929670a0e6e70, 0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed,
    0x53380d139d95b3df, 0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30, 0xd192e819d6ef5218,
    0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8, 0x19a4c116b8d2d0c8, 0x1e376c085141ab53,
    0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8, 0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373,
    0x682e6ff3d6b2b8a3, 0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b, 0xca273eceea26619c,
    0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178, 0x06f067aa72176fba, 0x0a637dc5a2c898a6,
    0x113f9804bef90dae, 0x1b710b35131c471b, 0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc,
    0x431d67c49c100d4c, 0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817};

}  // namespace detail

namespace {

using detail::kSha512Constants;

inline uint64_t rotr64(uint64_t x, int n) { return x >> n | x << (64 - n); }
inline uint32_t rotl32(uint32_t x, int n) { return x << n | x >> (32 - n); }

// The two parallel lines of RIPEMD-160: message word and rotation of each of the 80 steps.
constexpr uint8_t kLeftWords[80] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 7,  4, 13, 1,
                                    10, 6,  15, 3,  12, 0,  9,  5,  2,  14, 11, 8,  3,  10, 14, 4,  9,  15, 8,  1,
                                    2,  7,  0,  6,  13, 11, 5,  12, 1,  9,  11, 10, 0,  8,  12, 4,  13, 3,  7,  15,
                                    14, 5,  6,  2,  4,  0,  5,  9,  7,  12, 2,  10, 14, 1,  3,  8,  11, 6,  15, 13};
constexpr uint8_t kRightWords[80] = {5,  14, 7,  0, 9,  2, 11, 4,  13, 6,  15, 8,  1,  10, 3,  12, 6,  11, 3,  7,
                                     0,  13, 5,  10, 14, 15, 8, 12, 4,  9,  1,  2,  15, 5,  1,  3,  7,  14, 6,  9,
                                     11, 8,  12, 2, 10, 0, 4,  13, 8,  6,  4,  1,  3,  11, 15, 0,  5,  12, 2,  13,
                                     9,  7,  10, 14, 12, 15, 10, 4, 1,  5,  8,  7,  6,  2,  13, 14, 0,  3,  9,  11};
constexpr uint8_t kLeftShifts[80] = {11, 14, 15, 12, 5,  8,  7,  9,  11, 13, 14, 15, 6,  7,  9,  8,  7,  6,  8,  13,
                                     11, 9,  7,  15, 7,  12, 15, 9,  11, 7,  13, 12, 11, 13, 6,  7,  14, 9,  13, 15,
                                     14, 8,  13, 6,  5,  12, 7,  5,  11, 12, 14, 15, 14, 15, 9,  8,  9,  14, 5,  6,
                                     8,  6,  5,  12, 9,  15, 5,  11, 6,  8,  13, 12, 5,  12, 13, 14, 11, 8,  5,  6};
constexpr uint8_t kRightShifts[80] = {8,  9,  9,  11, 13, 15, 15, 5,  7,  7,  8,  11, 14, 14, 12, 6,  9,  13, 15, 7,
                                      12, 8,  9,  11, 7,  7,  12, 7,  6,  15, 13, 11, 9,  7,  15, 11, 8,  6,  6,  14,
                                      12, 13, 5,  14, 13, 13, 7,  5,  15, 5,  8,  11, 14, 14, 6,  14, 6,  9,  12, 9,
                                      12, 5,  15, 8,  8,  5,  12, 9,  12, 5,  14, 6,  8,  13, 6,  5,  15, 13, 11, 11};
constexpr uint32_t kLeftConstants[5] = {0, 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xa953fd4e};
constexpr uint32_t kRightConstants[5] = {0x50a28be6, 0x5c4dd124, 0x6d703ef3, 0x7a6d76e9, 0};

inline uint32_t mix(int round, uint32_t x, uint32_t y, uint32_t z) {
  switch (round) {
    case 0:
      return x ^ y ^ z;
    case 1:
      return (x & y) | (~x & z);
    case 2:
      return (x | ~y) ^ z;
    case 3:
      return (x & z) | (y & ~z);
    default:
      return x ^ (y | ~z);
  }
}

struct Line {
  uint32_t a, b, c, d, e;
  inline void step(uint32_t f, uint32_t word, uint32_t constant, int shift) {
    const uint32_t t = rotl32(a + f + word + constant, shift) + e;
    a = e;
    e = d;
    d = rotl32(c, 10);
    c = b;
    b = t;
  }
};

}  // namespace

void sha512Short(const uint8_t* data, size_t size, uint8_t* digest) {
  uint8_t block[128] = {};
  memcpy(block, data, size);
  block[size] = 0x80;
  block[126] = static_cast<uint8_t>(size * 8 >> 8);
  block[127] = static_cast<uint8_t>(size * 8);

  uint64_t w[80];
  for (int i = 0; i < 16; i++) {
    w[i] = 0;
    for (int j = 0; j < 8; j++) w[i] = w[i] << 8 | block[8 * i + j];
  }
  for (int i = 16; i < 80; i++) {
    const uint64_t s0 = rotr64(w[i - 15], 1) ^ rotr64(w[i - 15], 8) ^ w[i - 15] >> 7;
    const uint64_t s1 = rotr64(w[i - 2], 19) ^ rotr64(w[i - 2], 61) ^ w[i - 2] >> 6;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  // First 64 bits of the fractional parts of the square roots of the first 8 primes.
  constexpr uint64_t initial[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                   0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
  uint64_t v[8];
  memcpy(v, initial, sizeof v);
  for (int i = 0; i < 80; i++) {
    const uint64_t e = v[4];
    const uint64_t a = v[0];
    const uint64_t t1 = v[7] + (rotr64(e, 14) ^ rotr64(e, 18) ^ rotr64(e, 41)) + ((e & v[5]) ^ (~e & v[6])) +
                        kSha512Constants[i] + w[i];
    const uint64_t t2 =
        (rotr64(a, 28) ^ rotr64(a, 34) ^ rotr64(a, 39)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
    v[7] = v[6];
    v[6] = v[5];
    v[5] = e;
    v[4] = v[3] + t1;
    v[3] = v[2];
    v[2] = v[1];
    v[1] = a;
    v[0] = t1 + t2;
  }
  for (int i = 0; i < 8; i++) {
    const uint64_t word = v[i] + initial[i];
    for (int j = 0; j < 8; j++) digest[8 * i + j] = static_cast<uint8_t>(word >> (56 - 8 * j));
  }
}

void ripemd160Short(const uint8_t* data, size_t size, uint8_t* digest) {
  uint8_t block[64] = {};
  memcpy(block, data, size);
  block[size] = 0x80;
  block[56] = static_cast<uint8_t>(size * 8);
  block[57] = static_cast<uint8_t>(size * 8 >> 8);
  uint32_t words[16];
  for (int i = 0; i < 16; i++) {
    words[i] = static_cast<uint32_t>(block[4 * i]) | static_cast<uint32_t>(block[4 * i + 1]) << 8 |
               static_cast<uint32_t>(block[4 * i + 2]) << 16 | static_cast<uint32_t>(block[4 * i + 3]) << 24;
  }
  constexpr uint32_t initial[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  Line left{initial[0], initial[1], initial[2], initial[3], initial[4]};
  Line right = left;
  for (int i = 0; i < 80; i++) {
    const int round = i / 16;
    left.step(mix(round, left.b, left.c, left.d), words[kLeftWords[i]], kLeftConstants[round], kLeftShifts[i]);
    right.step(mix(4 - round, right.b, right.c, right.d), words[kRightWords[i]], kRightConstants[round],
               kRightShifts[i]);
  }
  const uint32_t state[5] = {initial[1] + left.c + right.d, initial[2] + left.d + right.e,
                             initial[3] + left.e + right.a, initial[4] + left.a + right.b,
                             initial[0] + left.b + right.c};
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < 4; j++) digest[4 * i + j] = static_cast<uint8_t>(state[i] >> (8 * j));
  }
}

void hash160(const uint8_t* data, size_t size, uint8_t* digest) {
  uint8_t inner[32];
  sha256(data, size, inner);
  ripemd160Short(inner, sizeof inner, digest);
}

void powHashOfId(const uint8_t* id, uint8_t* digest) {
  uint8_t wide[64];
  sha512Short(id, 32, wide);
  uint8_t halves[40];
  ripemd160Short(wide, 32, halves);
  ripemd160Short(wide + 32, 32, halves + 20);
  sha256d(halves, sizeof halves, digest);
}

void merkleRoot(uint8_t* leaves, size_t count, uint8_t* root, bool* mutated) {
  bool equalNeighbours = false;
  while (count > 1) {
    if (mutated) {
      for (size_t i = 0; i + 1 < count; i += 2) {
        if (memcmp(leaves + 32 * i, leaves + 32 * i + 32, 32) == 0) equalNeighbours = true;
      }
    }
    if (count & 1) {
      memcpy(leaves + 32 * count, leaves + 32 * (count - 1), 32);
      count++;
    }
    count /= 2;
    sha256dPairs(leaves, leaves, count);
  }
  if (mutated) *mutated = equalNeighbours;
  if (count == 0) {
    memset(root, 0, 32);
  } else {
    memcpy(root, leaves, 32);
  }
}

}  // namespace lbc
