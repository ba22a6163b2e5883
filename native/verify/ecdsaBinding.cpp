// JavaScript bindings of the curve operations, in the shape of EcdsaBackend (src/crypto/ecdsa.ts).
#include <memory>
#include <vector>

#include "napi/addon.h"
#include "napi/job.h"
#include "napi/napi.h"
#include "verify/ecdsa.h"

namespace lbc {

namespace {

napi_value makeKey(napi_env env, const uint8_t* key, bool compressed) {
  return makeBuffer(env, key, compressed ? kCompressedKeySize : kUncompressedKeySize);
}

napi_value jsIsFullyValidPublicKey(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Span key;
  if (!readArguments(env, info, 1, arguments) || !readBytes(env, arguments[0], "publicKey", &key)) return nullptr;
  return makeBool(env, isFullyValidPublicKey(key.data, key.size));
}

napi_value jsPublicKeyOf(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  const uint8_t* privateKey;
  bool compressed;
  if (!readArguments(env, info, 2, arguments) ||
      !readFixedBytes(env, arguments[0], 32, "privateKey", &privateKey) ||
      !readBool(env, arguments[1], "compressed", &compressed)) {
    return nullptr;
  }
  uint8_t key[kUncompressedKeySize];
  if (!publicKeyOf(privateKey, compressed, key)) return throwError(env, "private key out of range");
  return makeKey(env, key, compressed);
}

napi_value jsConvertPublicKey(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Span publicKey;
  bool compressed;
  if (!readArguments(env, info, 2, arguments) || !readBytes(env, arguments[0], "publicKey", &publicKey) ||
      !readBool(env, arguments[1], "compressed", &compressed)) {
    return nullptr;
  }
  uint8_t key[kUncompressedKeySize];
  if (!convertPublicKey(publicKey.data, publicKey.size, compressed, key)) return makeNull(env);
  return makeKey(env, key, compressed);
}

napi_value jsSign(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  const uint8_t* hash;
  const uint8_t* privateKey;
  const uint8_t* extraEntropy = nullptr;
  if (!readArguments(env, info, 3, arguments) || !readFixedBytes(env, arguments[0], 32, "hash", &hash) ||
      !readFixedBytes(env, arguments[1], 32, "privateKey", &privateKey) ||
      (!isNullish(env, arguments[2]) && !readFixedBytes(env, arguments[2], 32, "extraEntropy", &extraEntropy))) {
    return nullptr;
  }
  uint8_t compact[64];
  int recoveryId;
  if (!sign(hash, privateKey, extraEntropy, compact, &recoveryId)) {
    return throwError(env, "private key out of range");
  }
  napi_value result = makeObject(env);
  setProperty(env, result, "compact", makeBuffer(env, compact, sizeof compact));
  setProperty(env, result, "recoveryId", makeNumber(env, recoveryId));
  return result;
}

napi_value jsRecover(napi_env env, napi_callback_info info) {
  napi_value arguments[4];
  const uint8_t* hash;
  const uint8_t* compact;
  uint32_t recoveryId;
  bool compressed;
  if (!readArguments(env, info, 4, arguments) || !readFixedBytes(env, arguments[0], 32, "hash", &hash) ||
      !readFixedBytes(env, arguments[1], 64, "compact", &compact) ||
      !readUint32(env, arguments[2], "recoveryId", &recoveryId) ||
      !readBool(env, arguments[3], "compressed", &compressed)) {
    return nullptr;
  }
  if (recoveryId > 3) return throwTypeError(env, "recoveryId must be 0 to 3");
  uint8_t key[kUncompressedKeySize];
  if (!recoverPublicKey(hash, compact, static_cast<int>(recoveryId), compressed, key)) return makeNull(env);
  return makeKey(env, key, compressed);
}

napi_value jsTweakPrivateKey(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  const uint8_t* privateKey;
  const uint8_t* tweak;
  if (!readArguments(env, info, 2, arguments) ||
      !readFixedBytes(env, arguments[0], 32, "privateKey", &privateKey) ||
      !readFixedBytes(env, arguments[1], 32, "tweak", &tweak)) {
    return nullptr;
  }
  uint8_t key[32];
  memcpy(key, privateKey, sizeof key);
  if (!tweakPrivateKey(key, tweak)) return makeNull(env);
  return makeBuffer(env, key, sizeof key);
}

napi_value jsTweakPublicKey(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Span publicKey;
  const uint8_t* tweak;
  if (!readArguments(env, info, 2, arguments) || !readBytes(env, arguments[0], "publicKey", &publicKey) ||
      !readFixedBytes(env, arguments[1], 32, "tweak", &tweak)) {
    return nullptr;
  }
  uint8_t key[kCompressedKeySize];
  if (!tweakPublicKey(publicKey.data, publicKey.size, tweak, key)) return makeNull(env);
  return makeKey(env, key, true);
}

// Arguments of one call of `verifySignature`. The memory to which the pointers refer must stay valid until the check is
// done.
struct SignatureCheck {
  uint8_t hash[32];
  const uint8_t* signature;
  size_t signatureSize;
  const uint8_t* key;
  size_t keySize;
  bool isValid;
};

// Reads element `index` of an array: an object with `hash`, `signature` and `publicKey`.
bool readCheck(napi_env env, napi_value items, uint32_t index, SignatureCheck* check) {
  napi_value item, hashValue, signatureValue, keyValue;
  const uint8_t* hash;
  Span signature, key;
  if (napi_get_element(env, items, index, &item) != napi_ok || !readProperty(env, item, "hash", &hashValue) ||
      !readProperty(env, item, "signature", &signatureValue) || !readProperty(env, item, "publicKey", &keyValue) ||
      !readFixedBytes(env, hashValue, 32, "hash", &hash) || !readBytes(env, signatureValue, "signature", &signature) ||
      !readBytes(env, keyValue, "publicKey", &key)) {
    return false;
  }
  memcpy(check->hash, hash, sizeof check->hash);
  check->signature = signature.data;
  check->signatureSize = signature.size;
  check->key = key.data;
  check->keySize = key.size;
  return true;
}

bool readChecks(napi_env env, napi_callback_info info, std::vector<SignatureCheck>* checks) {
  napi_value arguments[1];
  uint32_t count;
  if (!readArguments(env, info, 1, arguments)) return false;
  if (napi_get_array_length(env, arguments[0], &count) != napi_ok) {
    throwTypeError(env, "items must be an array");
    return false;
  }
  checks->resize(count);
  for (uint32_t i = 0; i < count; i++) {
    if (!readCheck(env, arguments[0], i, &(*checks)[i])) return false;
  }
  return true;
}

void verifyChecks(std::vector<SignatureCheck>* checks) {
  for (SignatureCheck& check : *checks) {
    check.isValid = verifySignature(check.hash, check.signature, check.signatureSize, check.key, check.keySize);
  }
}

napi_value makeVerdicts(napi_env env, const std::vector<SignatureCheck>& checks) {
  uint8_t* answers;
  napi_value result = makeEmptyBuffer(env, checks.size(), &answers);
  for (size_t i = 0; i < checks.size(); i++) answers[i] = checks[i].isValid ? 1 : 0;
  return result;
}

napi_value jsVerifyMany(napi_env env, napi_callback_info info) {
  std::vector<SignatureCheck> checks;
  if (!readChecks(env, info, &checks)) return nullptr;
  verifyChecks(&checks);
  return makeVerdicts(env, checks);
}

// Copies of checks with their own memory, for use on another thread.
struct OwnedChecks {
  std::vector<SignatureCheck> checks;
  std::vector<uint8_t> bytes;

  explicit OwnedChecks(std::vector<SignatureCheck> from) : checks(std::move(from)) {
    for (const SignatureCheck& check : checks) {
      bytes.insert(bytes.end(), check.signature, check.signature + check.signatureSize);
      bytes.insert(bytes.end(), check.key, check.key + check.keySize);
    }
    const uint8_t* at = bytes.data();
    for (SignatureCheck& check : checks) {
      check.signature = at;
      check.key = at += check.signatureSize;
      at += check.keySize;
    }
  }
};

napi_value jsVerifyManyAside(napi_env env, napi_callback_info info) {
  std::vector<SignatureCheck> read;
  if (!readChecks(env, info, &read)) return nullptr;
  auto owned = std::make_shared<OwnedChecks>(std::move(read));
  return startJob(
      env, "lbcnode:verifySignatures",
      [owned] {
        verifyChecks(&owned->checks);
        return Outcome();
      },
      [owned](napi_env env) { return makeVerdicts(env, owned->checks); });
}

}  // namespace

void registerEcdsa(napi_env env, napi_value ecdsa) {
#ifdef LBC_SECP256K1_BUNDLED
  setProperty(env, ecdsa, "name", makeString(env, "native addon, bundled libsecp256k1"));
#else
  setProperty(env, ecdsa, "name", makeString(env, "native addon, system libsecp256k1"));
#endif
  setFunction(env, ecdsa, "verifyMany", jsVerifyMany);
  setFunction(env, ecdsa, "verifyManyAside", jsVerifyManyAside);
  setFunction(env, ecdsa, "isFullyValidPublicKey", jsIsFullyValidPublicKey);
  setFunction(env, ecdsa, "publicKeyOf", jsPublicKeyOf);
  setFunction(env, ecdsa, "convertPublicKey", jsConvertPublicKey);
  setFunction(env, ecdsa, "sign", jsSign);
  setFunction(env, ecdsa, "recover", jsRecover);
  setFunction(env, ecdsa, "tweakPrivateKey", jsTweakPrivateKey);
  setFunction(env, ecdsa, "tweakPublicKey", jsTweakPublicKey);
}

}  // namespace lbc
