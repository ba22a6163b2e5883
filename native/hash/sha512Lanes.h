// SHA-384 of several messages of the same size at the same time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lbc {

// Number of messages that are hashed at the same time.
constexpr int kSha384Lanes = 4;

// Whether this processor and build support `sha384Lanes`.
bool sha384HasLanes();

// Hashes `kSha384Lanes` messages of `size` bytes each. Two entries may point to the same memory. Writes 48 bytes to each digest.
void sha384Lanes(const uint8_t* const* messages, size_t size, uint8_t* const* digests);

}  // namespace lbc
