// The mixing step of the addon's hash tables. Keys come from the chain, so an attacker can choose them. The salts are
// secret, so an attacker cannot fill a chosen bucket.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <random>

namespace lbc {

// The 128-bit product of two words, with both halves folded by XOR.
inline uint64_t fold(uint64_t a, uint64_t b) {
#ifdef __SIZEOF_INT128__
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
#else
  uint64_t x = (a ^ (b << 29 | b >> 35)) * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 32) * (b | 1);
  return x ^ x >> 29;
#endif
}

inline uint64_t word(const uint8_t* p) {
  uint64_t value;
  memcpy(&value, p, sizeof value);
  return value;
}

// A salt that differs from all others. All salts of the process come from one secret, because opening a random device takes as
// long as hashing many keys, and a table may exist for one block only.
inline uint64_t drawSalt() {
  struct Secret {
    uint64_t words[2];
    Secret() {
      std::random_device random;
      for (uint64_t& word : words) word = static_cast<uint64_t>(random()) << 32 | random();
    }
  };
  static const Secret secret;
  static std::atomic<uint64_t> drawn{0};
  return fold(secret.words[0] ^ (++drawn * 0x9e3779b97f4a7c15), secret.words[1] | 1);
}

// The hash of a row's key.
inline uint64_t hashOfKey(const uint64_t (&salts)[3], const uint8_t* key, size_t size) {
  uint64_t hash = salts[0] ^ size;
  size_t left = size;
  for (; left >= 8; left -= 8, key += 8) hash = fold(hash ^ word(key), salts[1]);
  uint64_t last = 0;
  memcpy(&last, key, left);
  return fold(hash ^ last, salts[2]);
}

template <size_t count>
void drawSalts(uint64_t (&salts)[count]) {
  for (uint64_t& salt : salts) salt = drawSalt();
}

}  // namespace lbc
