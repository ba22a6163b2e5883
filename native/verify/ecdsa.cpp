#include "verify/ecdsa.h"

#include <cstring>
#include <random>

#include <secp256k1.h>
#include <secp256k1_recovery.h>

#include "verify/keyCache.h"

namespace lbc {

namespace {

const secp256k1_context* verifyContext() { return secp256k1_context_static; }

const secp256k1_context* signContext() {
  static const secp256k1_context* const context = [] {
    secp256k1_context* made = secp256k1_context_create(SECP256K1_CONTEXT_NONE);
    // Randomizes the context against side-channel attacks. The random seed does not affect results.
    std::random_device random;
    uint8_t seed[32];
    for (uint8_t& byte : seed) byte = static_cast<uint8_t>(random());
    (void)!secp256k1_context_randomize(made, seed);
    return made;
  }();
  return context;
}

// An integer of a lenient DER signature. The contents may have leading zeros or be too long.
struct Integer {
  const uint8_t* data;
  size_t size;
};

bool readInteger(const uint8_t*& at, const uint8_t* end, Integer* integer) {
  if (at == end || *at++ != 0x02 || at == end) return false;
  size_t size = *at++;
  if (size & 0x80) {
    size_t lengthBytes = size - 0x80;
    if (lengthBytes > static_cast<size_t>(end - at)) return false;
    while (lengthBytes > 0 && *at == 0) {
      at++;
      lengthBytes--;
    }
    if (lengthBytes >= 4) return false;
    size = 0;
    for (; lengthBytes > 0; lengthBytes--) size = size << 8 | *at++;
  }
  if (size > static_cast<size_t>(end - at)) return false;
  integer->data = at;
  integer->size = size;
  at += size;
  return true;
}

// Writes the integer right-aligned into 32 zeroed bytes; false when it has more than 32 significant bytes.
bool placeInteger(Integer integer, uint8_t* out) {
  while (integer.size > 0 && *integer.data == 0) {
    integer.data++;
    integer.size--;
  }
  if (integer.size > 32) return false;
  if (integer.size > 0) memcpy(out + 32 - integer.size, integer.data, integer.size);
  return true;
}

// Reads a signature as leniently as the chain's oldest blocks need: negative or padded integers, long lengths, trailing
// bytes. R and S go to `compact`, 32 bytes each. QUIRK: a signature with an integer of more than 32 bytes parses, but as
// all zeros, which never verifies. Test: test/differential/ecdsa.test.ts.
bool readLaxDer(const uint8_t* input, size_t size, uint8_t* compact) {
  memset(compact, 0, 64);
  const uint8_t* at = input;
  const uint8_t* end = input + size;
  if (at == end || *at++ != 0x30 || at == end) return false;
  const size_t sequence = *at++;
  if (sequence & 0x80) {
    // The bytes of the length are skipped without being read.
    if (sequence - 0x80 > static_cast<size_t>(end - at)) return false;
    at += sequence - 0x80;
  }
  Integer r, s;
  if (!readInteger(at, end, &r) || !readInteger(at, end, &s)) return false;
  if (!placeInteger(r, compact) || !placeInteger(s, compact + 32)) memset(compact, 0, 64);
  return true;
}

void serialize(const secp256k1_pubkey& key, bool compressed, uint8_t* out) {
  size_t size = compressed ? kCompressedKeySize : kUncompressedKeySize;
  secp256k1_ec_pubkey_serialize(verifyContext(), out, &size, &key,
                                compressed ? SECP256K1_EC_COMPRESSED : SECP256K1_EC_UNCOMPRESSED);
}

bool parseKey(const uint8_t* key, size_t size, secp256k1_pubkey* out) {
  return hasPublicKeySize(key, size) && secp256k1_ec_pubkey_parse(verifyContext(), out, key, size);
}

}  // namespace

bool hasPublicKeySize(const uint8_t* key, size_t size) {
  if (size == kCompressedKeySize) return key[0] == 2 || key[0] == 3;
  return size == kUncompressedKeySize && (key[0] == 4 || key[0] == 6 || key[0] == 7);
}

bool verifySignature(const uint8_t* hash, const uint8_t* signature, size_t signatureSize, const uint8_t* key,
                     size_t keySize) {
  uint8_t compact[64];
  if (!readLaxDer(signature, signatureSize, compact)) return false;
  if (!hasPublicKeySize(key, keySize)) return false;
  secp256k1_pubkey point;
  if (keySize == kCompressedKeySize ? !pointOf(key, &point) : !parseKey(key, keySize, &point)) return false;
  // Parsing fails if R or S is not below the group order. Such a signature is never valid.
  secp256k1_ecdsa_signature parsed;
  if (!secp256k1_ecdsa_signature_parse_compact(verifyContext(), &parsed, compact)) return false;
  // libsecp256k1 accepts only a low S; the chain also accepts a high S.
  secp256k1_ecdsa_signature_normalize(verifyContext(), &parsed, &parsed);
  return secp256k1_ecdsa_verify(verifyContext(), &parsed, hash, &point);
}

bool isFullyValidPublicKey(const uint8_t* key, size_t size) {
  secp256k1_pubkey parsed;
  return parseKey(key, size, &parsed);
}

bool convertPublicKey(const uint8_t* key, size_t size, bool compressed, uint8_t* out) {
  secp256k1_pubkey parsed;
  if (!parseKey(key, size, &parsed)) return false;
  serialize(parsed, compressed, out);
  return true;
}

bool publicKeyOf(const uint8_t* privateKey, bool compressed, uint8_t* out) {
  secp256k1_pubkey key;
  if (!secp256k1_ec_pubkey_create(signContext(), &key, privateKey)) return false;
  serialize(key, compressed, out);
  return true;
}

bool sign(const uint8_t* hash, const uint8_t* privateKey, const uint8_t* extraEntropy, uint8_t* compact,
          int* recoveryId) {
  secp256k1_ecdsa_recoverable_signature signature;
  if (!secp256k1_ecdsa_sign_recoverable(signContext(), &signature, hash, privateKey,
                                        secp256k1_nonce_function_rfc6979, extraEntropy)) {
    return false;
  }
  return secp256k1_ecdsa_recoverable_signature_serialize_compact(signContext(), compact, recoveryId, &signature);
}

bool recoverPublicKey(const uint8_t* hash, const uint8_t* compact, int recoveryId, bool compressed, uint8_t* out) {
  secp256k1_ecdsa_recoverable_signature signature;
  secp256k1_pubkey key;
  if (!secp256k1_ecdsa_recoverable_signature_parse_compact(verifyContext(), &signature, compact, recoveryId) ||
      !secp256k1_ecdsa_recover(verifyContext(), &key, &signature, hash)) {
    return false;
  }
  serialize(key, compressed, out);
  return true;
}

bool tweakPrivateKey(uint8_t* privateKey, const uint8_t* tweak) {
  return secp256k1_ec_seckey_tweak_add(signContext(), privateKey, tweak);
}

bool tweakPublicKey(const uint8_t* key, size_t size, const uint8_t* tweak, uint8_t* out) {
  secp256k1_pubkey parsed;
  if (!parseKey(key, size, &parsed) || !secp256k1_ec_pubkey_tweak_add(verifyContext(), &parsed, tweak)) return false;
  serialize(parsed, true, out);
  return true;
}

}  // namespace lbc
