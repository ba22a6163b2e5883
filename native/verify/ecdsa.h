// Curve operations over libsecp256k1 with the meaning that Core's CPubKey and CKey give them. Safe from any thread.
// Source: Core 0.17 pubkey.cpp, key.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lbc {

constexpr size_t kCompressedKeySize = 33;
constexpr size_t kUncompressedKeySize = 65;

// Whether the size matches the first byte: 33 bytes for 2 and 3 (compressed keys), 65 bytes for 4 and for 6 and 7 (hybrid
// keys).
bool hasPublicKeySize(const uint8_t* key, size_t size);

// Same result as `CPubKey::Verify`: accepts lenient DER (without hash type byte), high and low S, and hybrid keys.
bool verifySignature(const uint8_t* hash, const uint8_t* signature, size_t signatureSize, const uint8_t* key,
                     size_t keySize);

bool isFullyValidPublicKey(const uint8_t* key, size_t size);
// Returns false when the bytes are not a point of the curve. `out` must have space for 65 bytes.
bool convertPublicKey(const uint8_t* key, size_t size, bool compressed, uint8_t* out);
bool publicKeyOf(const uint8_t* privateKey, bool compressed, uint8_t* out);
// Writes R and S to `compact`, with low S and a nonce by RFC 6979. `extraEntropy` (32 bytes) may be null. Returns false
// when the key is invalid.
bool sign(const uint8_t* hash, const uint8_t* privateKey, const uint8_t* extraEntropy, uint8_t* compact,
          int* recoveryId);
bool recoverPublicKey(const uint8_t* hash, const uint8_t* compact, int recoveryId, bool compressed, uint8_t* out);
// Adds `tweak` to the key in place. Returns false when the tweak or the result is out of range.
bool tweakPrivateKey(uint8_t* privateKey, const uint8_t* tweak);
// Adds `tweak` times the generator to a public key. `out` receives the compressed result (33 bytes).
bool tweakPublicKey(const uint8_t* key, size_t size, const uint8_t* tweak, uint8_t* out);

}  // namespace lbc
