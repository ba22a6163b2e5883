// GHASH, the universal hash of AES-GCM, with vector instructions of x86 processors (VPCLMULQDQ and AVX-512).
#pragma once

#include <cstddef>
#include <cstdint>

namespace lbc {

constexpr size_t kGhashBlock = 16;
// Number of powers of the hash key that are precomputed.
constexpr size_t kGhashPowers = 16;

// Powers of a hash key, from the highest to the first.
struct GhashKey {
  alignas(64) uint8_t powers[kGhashPowers][kGhashBlock];
};

// Whether the processor and the system support `ghashKey` and `ghash`. Otherwise they must not be called.
bool hasGhash();

// Precomputes a key from the encryption of a block of zeros.
void ghashKey(const uint8_t* encryptedZeros, GhashKey* key);

// The hash of authenticated data without ciphertext, as AES-GCM computes it.
void ghash(const GhashKey& key, const uint8_t* bytes, size_t size, uint8_t* hash);

}  // namespace lbc
