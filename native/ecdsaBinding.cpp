// JavaScript bindings of the curve operations, in the shape of EcdsaBackend (src/crypto/ecdsa.ts).
#include "addon.h"
#include "ecdsa.h"
#include "napi.h"

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

}  // namespace

void registerEcdsa(napi_env env, napi_value ecdsa) {
#ifdef LBC_SECP256K1_BUNDLED
  setProperty(env, ecdsa, "name", makeString(env, "native addon, bundled libsecp256k1"));
#else
  setProperty(env, ecdsa, "name", makeString(env, "native addon, system libsecp256k1"));
#endif
  setFunction(env, ecdsa, "isFullyValidPublicKey", jsIsFullyValidPublicKey);
  setFunction(env, ecdsa, "publicKeyOf", jsPublicKeyOf);
  setFunction(env, ecdsa, "convertPublicKey", jsConvertPublicKey);
  setFunction(env, ecdsa, "sign", jsSign);
  setFunction(env, ecdsa, "recover", jsRecover);
  setFunction(env, ecdsa, "tweakPrivateKey", jsTweakPrivateKey);
  setFunction(env, ecdsa, "tweakPublicKey", jsTweakPublicKey);
}

}  // namespace lbc
