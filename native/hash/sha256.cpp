#include "hash/sha256.h"

#include <cstring>

namespace lbc {

namespace detail {

// First 32 bits of the fractional parts of the cube roots of the first 64 primes.
alignas(16) const uint32_t kSha256Constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

}  // namespace detail

namespace {

// First 32 bits of the fractional parts of the square roots of the first 8 primes.
constexpr uint32_t kInitialState[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

inline uint32_t rotr(uint32_t x, int n) { return x >> n | x << (32 - n); }

inline uint32_t readBE32(const uint8_t* p) {
  return static_cast<uint32_t>(p[0]) << 24 | static_cast<uint32_t>(p[1]) << 16 |
         static_cast<uint32_t>(p[2]) << 8 | static_cast<uint32_t>(p[3]);
}

inline void writeBE32(uint8_t* p, uint32_t v) {
  p[0] = static_cast<uint8_t>(v >> 24);
  p[1] = static_cast<uint8_t>(v >> 16);
  p[2] = static_cast<uint8_t>(v >> 8);
  p[3] = static_cast<uint8_t>(v);
}

void transformPortable(uint32_t* state, const uint8_t* block, size_t count) {
  for (; count > 0; count--, block += 64) {
    uint32_t w[64];
    for (int i = 0; i < 16; i++) w[i] = readBE32(block + 4 * i);
    for (int i = 16; i < 64; i++) {
      const uint32_t s0 = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
      const uint32_t s1 = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t v[8];
    memcpy(v, state, sizeof v);
    for (int i = 0; i < 64; i++) {
      const uint32_t e = v[4];
      const uint32_t a = v[0];
      const uint32_t t1 = v[7] + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & v[5]) ^ (~e & v[6])) +
                          detail::kSha256Constants[i] + w[i];
      const uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
      v[7] = v[6];
      v[6] = v[5];
      v[5] = e;
      v[4] = v[3] + t1;
      v[3] = v[2];
      v[2] = v[1];
      v[1] = a;
      v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) state[i] += v[i];
  }
}

detail::Sha256Transform chooseTransform() {
  const detail::Sha256Transform instructions = detail::sha256NiTransform();
  return instructions ? instructions : transformPortable;
}

const detail::Sha256Transform transform = chooseTransform();

void writeState(const uint32_t* state, uint8_t* out) {
  for (int i = 0; i < 8; i++) writeBE32(out + 4 * i, state[i]);
}

// Computes the SHA-256 digest of a message of exactly 32 bytes.
void sha256Of32(const uint8_t* data, uint8_t* digest) {
  uint8_t block[64] = {};
  memcpy(block, data, 32);
  block[32] = 0x80;
  block[62] = 1;  // 256 bits
  uint32_t state[8];
  memcpy(state, kInitialState, sizeof state);
  transform(state, block, 1);
  writeState(state, digest);
}

}  // namespace

void Sha256::reset() {
  memcpy(state_, kInitialState, sizeof state_);
  size_ = 0;
}

Sha256& Sha256::write(const void* data, size_t size) {
  const uint8_t* bytes = static_cast<const uint8_t*>(data);
  const size_t pending = size_ % 64;
  size_ += size;
  if (pending > 0) {
    const size_t room = 64 - pending;
    if (size < room) {
      if (size > 0) memcpy(pending_ + pending, bytes, size);
      return *this;
    }
    memcpy(pending_ + pending, bytes, room);
    transform(state_, pending_, 1);
    bytes += room;
    size -= room;
  }
  if (size >= 64) {
    transform(state_, bytes, size / 64);
    bytes += size / 64 * 64;
    size %= 64;
  }
  if (size > 0) memcpy(pending_, bytes, size);
  return *this;
}

void Sha256::finish(uint8_t* digest) {
  size_t pending = size_ % 64;
  pending_[pending++] = 0x80;
  if (pending > 56) {
    memset(pending_ + pending, 0, 64 - pending);
    transform(state_, pending_, 1);
    pending = 0;
  }
  memset(pending_ + pending, 0, 56 - pending);
  const uint64_t bits = size_ * 8;
  writeBE32(pending_ + 56, static_cast<uint32_t>(bits >> 32));
  writeBE32(pending_ + 60, static_cast<uint32_t>(bits));
  transform(state_, pending_, 1);
  writeState(state_, digest);
}

void finishDouble(Sha256& first, uint8_t* digest) {
  uint8_t inner[32];
  first.finish(inner);
  sha256Of32(inner, digest);
}

void sha256(const uint8_t* data, size_t size, uint8_t* digest) {
  Sha256 hash;
  hash.write(data, size).finish(digest);
}

void sha256d(const uint8_t* data, size_t size, uint8_t* digest) {
  Sha256 hash;
  hash.write(data, size);
  finishDouble(hash, digest);
}

void sha256dPairs(uint8_t* out, const uint8_t* in, size_t count) {
  // The padding block of a 64-byte message is always the same.
  static const uint8_t padding[64] = {0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                      0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                      0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0};
  for (size_t i = 0; i < count; i++) {
    uint32_t state[8];
    memcpy(state, kInitialState, sizeof state);
    transform(state, in + 64 * i, 1);
    transform(state, padding, 1);
    uint8_t inner[32];
    writeState(state, inner);
    sha256Of32(inner, out + 32 * i);
  }
}

bool sha256HasInstructions() { return transform != transformPortable; }

}  // namespace lbc
