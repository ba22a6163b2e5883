// The mixing step of the addon's hash tables. Keys come from the chain, so an attacker can choose them. The salts are
// secret, so an attacker cannot fill a chosen bucket.
#pragma once

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

template <size_t count>
void drawSalts(uint64_t (&salts)[count]) {
  std::random_device random;
  for (uint64_t& salt : salts) salt = static_cast<uint64_t>(random()) << 32 | random();
}

}  // namespace lbc
