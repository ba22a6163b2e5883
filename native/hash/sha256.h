// SHA-256 with the processor's SHA instructions if available (detected once, at run time), else portable.
// Source: FIPS 180-4 section 6.2.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lbc {

class Sha256 {
 public:
  Sha256() { reset(); }
  void reset();
  Sha256& write(const void* data, size_t size);
  // Writes the 32-byte digest; the object must be reset before it is used again.
  void finish(uint8_t* digest);

 private:
  uint32_t state_[8];
  uint64_t size_;
  uint8_t pending_[64];
};

// Writes the double SHA-256 of the bytes that were written to `first`.
void finishDouble(Sha256& first, uint8_t* digest);

void sha256(const uint8_t* data, size_t size, uint8_t* digest);
void sha256d(const uint8_t* data, size_t size, uint8_t* digest);

// Double SHA-256 of each of `count` 64-byte messages; `out` (32 bytes each) may be the same memory as `in`.
void sha256dPairs(uint8_t* out, const uint8_t* in, size_t count);

// Whether the processor's SHA instructions are in use.
bool sha256HasInstructions();

namespace detail {
using Sha256Transform = void (*)(uint32_t* state, const uint8_t* blocks, size_t count);
extern const uint32_t kSha256Constants[64];
// The transform over SHA-NI, or null when this processor or build does not support it.
Sha256Transform sha256NiTransform();
}  // namespace detail

}  // namespace lbc
