// Points of the compressed public keys that were used last. All threads of the process share them.
#pragma once

#include <cstddef>
#include <cstdint>

#include <secp256k1.h>

namespace lbc {

// The point of a compressed key (33 bytes, first byte 2 or 3). Returns false for a key that is not on the curve.
bool pointOf(const uint8_t* compressedKey, secp256k1_pubkey* point);

}  // namespace lbc
