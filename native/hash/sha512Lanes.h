// SHA-384 of several messages of the same size at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace lbc {

// Maximum of `sha384LaneCount`.
constexpr uint32_t kMaxSha384Lanes = 8;
// For fewer messages, OpenSSL takes as much time or less, with either number of lanes.
constexpr uint32_t kMinSha384Messages = 3;

// Number of messages that this processor hashes at the same time: 8 with AVX-512, 4 with AVX2. 0 if the processor or the build
// supports neither.
uint32_t sha384LaneCount();

// Called with the position and the size of a part, before this part of all messages is hashed. Returns false to end the work.
using LanePartHook = std::function<bool(size_t at, size_t size)>;

// Messages of `size` bytes each, and their digests of 48 bytes each.
struct LaneMessages {
  // At least 1, at most `sha384LaneCount`.
  uint32_t count = 0;
  size_t size = 0;
  const uint8_t* data[kMaxSha384Lanes];
  uint8_t* digests[kMaxSha384Lanes];
};

// Hashes at most `lanes` messages with 4 or 8 lanes, at most `sha384LaneCount`. Two entries may point to the same memory. The
// time hardly depends on the number of messages.
void sha384Lanes(uint32_t lanes, const LaneMessages& messages);

// Like `sha384Lanes` with all lanes, in parts of `partSize` bytes, a multiple of 128, so that a part can be in the processor's
// cache when it is hashed. Returns false if `before` returned false. In this case the digests are not written.
bool sha384LanesInParts(const LaneMessages& messages, size_t partSize, const LanePartHook& before);

}  // namespace lbc
