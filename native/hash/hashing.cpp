// JavaScript bindings of the hash functions, the merkle root and the search for a nonce.
#include <vector>

#include "hash/hashes.h"
#include "hash/sha256.h"
#include "napi/addon.h"
#include "napi/napi.h"

namespace lbc {

namespace {

napi_value jsSha256(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Span data;
  if (!readArguments(env, info, 1, arguments) || !readBytes(env, arguments[0], "data", &data)) return nullptr;
  uint8_t digest[32];
  sha256(data.data, data.size, digest);
  return makeBuffer(env, digest, sizeof digest);
}

napi_value jsSha256d(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Span data;
  if (!readArguments(env, info, 2, arguments) || !readBytes(env, arguments[0], "data", &data)) return nullptr;
  uint8_t digest[32];
  sha256d(data.data, data.size, digest);
  return answerBytes(env, digest, sizeof digest, arguments[1]);
}

napi_value jsHash160(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Span data;
  if (!readArguments(env, info, 1, arguments) || !readBytes(env, arguments[0], "data", &data)) return nullptr;
  uint8_t digest[20];
  hash160(data.data, data.size, digest);
  return makeBuffer(env, digest, sizeof digest);
}

napi_value jsSha256dMany(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Span items;
  if (!readArguments(env, info, 1, arguments) || !readBytes(env, arguments[0], "items", &items)) return nullptr;
  if (items.size % 64 != 0) return throwTypeError(env, "items must be a multiple of 64 bytes");
  uint8_t* out = nullptr;
  napi_value result = makeEmptyBuffer(env, items.size / 2, &out);
  if (result) sha256dPairs(out, items.data, items.size / 64);
  return result;
}

napi_value jsPowHash(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  const uint8_t* header;
  if (!readArguments(env, info, 1, arguments) ||
      !readFixedBytes(env, arguments[0], kHeaderSize, "header", &header)) {
    return nullptr;
  }
  uint8_t id[32];
  sha256d(header, kHeaderSize, id);
  uint8_t digest[32];
  powHashOfId(id, digest);
  return makeBuffer(env, digest, sizeof digest);
}

napi_value jsMerkleRoot(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Span leaves;
  if (!readArguments(env, info, 1, arguments) || !readBytes(env, arguments[0], "leaves", &leaves)) return nullptr;
  if (leaves.size % 32 != 0) return throwTypeError(env, "leaves must be a multiple of 32 bytes");
  std::vector<uint8_t> work(leaves.size + 32);
  if (leaves.size > 0) memcpy(work.data(), leaves.data, leaves.size);
  uint8_t root[32];
  bool mutated = false;
  merkleRoot(work.data(), leaves.size / 32, root, &mutated);
  napi_value result = makeObject(env);
  setProperty(env, result, "root", makeBuffer(env, root, sizeof root));
  setProperty(env, result, "mutated", makeBool(env, mutated));
  return result;
}

// Writes the siblings of leaf `index` to `path`, from the leaves upward. Returns their number.
napi_value jsMerklePath(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  Span leaves, path;
  uint32_t index;
  if (!readArguments(env, info, 3, arguments) || !readBytes(env, arguments[0], "leaves", &leaves) ||
      !readUint32(env, arguments[1], "index", &index) || !readBytes(env, arguments[2], "path", &path)) {
    return nullptr;
  }
  size_t count = leaves.size / 32;
  if (leaves.size % 32 != 0 || index >= count) return throwTypeError(env, "leaves must be 32 bytes each, index one of them");
  static thread_local std::vector<uint8_t> work;
  work.resize(leaves.size + 32);
  memcpy(work.data(), leaves.data, leaves.size);
  size_t levels = 0;
  for (; count > 1; count = (count + 1) / 2, index >>= 1, levels++) {
    if (count % 2 == 1) memcpy(work.data() + 32 * count, work.data() + 32 * (count - 1), 32);
    if (path.size < 32 * (levels + 1)) return throwTypeError(env, "path must have 32 bytes for each level");
    memcpy(const_cast<uint8_t*>(path.data) + 32 * levels, work.data() + 32 * (index ^ 1), 32);
    if (count > 2) sha256dPairs(work.data(), work.data(), (count + 1) / 2);
  }
  return makeNumber(env, static_cast<double>(levels));
}

// Whether `hash`, read as a little-endian number, is at most `target`.
bool isAtMost(const uint8_t* hash, const uint8_t* target) {
  for (int i = 31; i >= 0; i--) {
    if (hash[i] != target[i]) return hash[i] < target[i];
  }
  return true;
}

napi_value jsGrind(napi_env env, napi_callback_info info) {
  napi_value arguments[4];
  const uint8_t* header;
  const uint8_t* target;
  uint32_t nonce;
  uint64_t maxTries;
  if (!readArguments(env, info, 4, arguments) ||
      !readFixedBytes(env, arguments[0], kHeaderSize, "header", &header) ||
      !readFixedBytes(env, arguments[1], 32, "target", &target) ||
      !readUint32(env, arguments[2], "startNonce", &nonce) ||
      !readSize(env, arguments[3], "maxTries", &maxTries)) {
    return nullptr;
  }
  // The nonce is the last four bytes of the header. The hash state of the bytes before the nonce is computed once.
  Sha256 start;
  start.write(header, kHeaderSize - 4);
  for (uint64_t tried = 0; tried < maxTries; tried++) {
    uint8_t bytes[4];
    writeLE32(bytes, nonce);
    Sha256 hash = start;
    hash.write(bytes, sizeof bytes);
    uint8_t id[32];
    finishDouble(hash, id);
    uint8_t digest[32];
    powHashOfId(id, digest);
    if (isAtMost(digest, target)) return makeNumber(env, nonce);
    if (nonce == UINT32_MAX) break;
    nonce++;
  }
  return makeNumber(env, -1);
}

}  // namespace

void registerHashing(napi_env env, napi_value exports) {
  setFunction(env, exports, "sha256", jsSha256);
  setFunction(env, exports, "sha256d", jsSha256d);
  setFunction(env, exports, "sha256dMany", jsSha256dMany);
  setFunction(env, exports, "hash160", jsHash160);
  setFunction(env, exports, "powHash", jsPowHash);
  setFunction(env, exports, "merkleRoot", jsMerkleRoot);
  setFunction(env, exports, "merklePath", jsMerklePath);
  setFunction(env, exports, "grind", jsGrind);
  setProperty(env, exports, "sha256Implementation",
              makeString(env, sha256HasInstructions() ? "sha-ni" : "portable"));
}

}  // namespace lbc
