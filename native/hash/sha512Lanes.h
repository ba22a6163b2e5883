// SHA-384 of several messages of the same size at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace lbc {

// Number of messages that are hashed at the same time.
constexpr int kSha384Lanes = 4;

// Whether this processor and build support `sha384Lanes`.
bool sha384HasLanes();

// Hashes `kSha384Lanes` messages of `size` bytes each. Two entries may point to the same memory. Writes 48 bytes to each digest.
void sha384Lanes(const uint8_t* const* messages, size_t size, uint8_t* const* digests);

// Called with the position and the size of a part, before this part of all messages is hashed. Returns false to end the work.
using LanePartHook = std::function<bool(size_t at, size_t size)>;

// Like `sha384Lanes`, in parts of `partSize` bytes, a multiple of 128, so that a part can be in the processor's cache when it is
// hashed. Returns false if `before` returned false. In this case the digests are not written.
bool sha384LanesInParts(const uint8_t* const* messages, size_t size, uint8_t* const* digests, size_t partSize,
                        const LanePartHook& before);

}  // namespace lbc
