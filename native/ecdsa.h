// Curve operations over libsecp256k1 with the meaning that Core's CPubKey and CKey give them. Safe from any thread.
// Source: Core 0.17 pubkey.cpp, key.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lbc {

constexpr size_t kCompressedKeySize = 33;
constexpr size_t kUncompressedKeySize = 65;

// Whether the first byte announces exactly this size: 2, 3 compressed; 4 and the hybrids 6, 7 uncompressed.
bool hasPublicKeySize(const uint8_t* key, size_t size);

// `CPubKey::Verify`: lenient DER (without hash type byte), any S, hybrid keys.
bool verifySignature(const uint8_t* hash, const uint8_t* signature, size_t signatureSize, const uint8_t* key,
                     size_t keySize);

bool isFullyValidPublicKey(const uint8_t* key, size_t size);
// False when the key is not a point. `out` must have space for 65 bytes.
bool convertPublicKey(const uint8_t* key, size_t size, bool compressed, uint8_t* out);
bool publicKeyOf(const uint8_t* privateKey, bool compressed, uint8_t* out);
// r and s with low S, nonce by RFC 6979; `extraEntropy` (32 bytes) may be null. False on a bad key.
bool sign(const uint8_t* hash, const uint8_t* privateKey, const uint8_t* extraEntropy, uint8_t* compact,
          int* recoveryId);
bool recoverPublicKey(const uint8_t* hash, const uint8_t* compact, int recoveryId, bool compressed, uint8_t* out);
// In place. False when tweak or result are out of range.
bool tweakPrivateKey(uint8_t* privateKey, const uint8_t* tweak);
// `out` receives 33 bytes.
bool tweakPublicKey(const uint8_t* key, size_t size, const uint8_t* tweak, uint8_t* out);

}  // namespace lbc
