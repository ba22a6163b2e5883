// Hashes several whole blobs at the same time, and computes the authentication codes of their chunks.
#include "blobs/chunkCodes.h"
#include "blobs/digest.h"
#include "hash/sha512Lanes.h"
#include "napi/addon.h"
#include "napi/job.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace lbc {

namespace {

constexpr size_t kDigest = 48;

// Reads one to `lanes` equally long messages.
bool readMessages(napi_env env, napi_value value, uint32_t lanes, LaneMessages* out) {
  if (napi_get_array_length(env, value, &out->count) != napi_ok || out->count == 0 || out->count > lanes) {
    throwTypeError(env, "messages must be an array with at least one message, and at most one for each lane");
    return false;
  }
  for (uint32_t i = 0; i < out->count; i++) {
    napi_value message;
    Span bytes;
    if (napi_get_element(env, value, i, &message) != napi_ok || !readBytes(env, message, "message", &bytes)) {
      return false;
    }
    if (i == 0) out->size = bytes.size;
    if (bytes.size != out->size) {
      throwTypeError(env, "messages must be equally long");
      return false;
    }
    out->data[i] = bytes.data;
  }
  return true;
}

// Returns the SHA-384 digests of equally long messages, concatenated.
napi_value jsSha384Lanes(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  uint32_t lanes;
  LaneMessages messages;
  if (!readArguments(env, info, 2, arguments) || !readUint32(env, arguments[1], "lanes", &lanes)) return nullptr;
  if ((lanes != 4 && lanes != 8) || lanes > sha384LaneCount()) {
    return throwTypeError(env, "the processor does not have these lanes");
  }
  if (!readMessages(env, arguments[0], lanes, &messages)) return nullptr;
  uint8_t found[kMaxSha384Lanes * kDigest];
  for (uint32_t i = 0; i < messages.count; i++) messages.digests[i] = found + i * kDigest;
  sha384Lanes(lanes, messages);
  return makeBuffer(env, found, messages.count * kDigest);
}

#ifdef LBC_OPENSSL

// Writes the digest and the table of each blob, `stride` bytes apart. Each chunk is hashed and coded while it is in the
// processor's cache.
bool digestTogether(LaneMessages* messages, uint8_t* out, size_t stride) {
  const LaneMessages& blobs = *messages;
  std::vector<std::unique_ptr<ChunkCodes>> codes;
  for (uint32_t i = 0; i < blobs.count; i++) {
    messages->digests[i] = out + i * stride;
    codes.push_back(std::make_unique<ChunkCodes>(out + i * stride + kDigest));
  }
  const auto writeCodes = [&](size_t at, size_t size) {
    const size_t number = at / kChunk;
    for (uint32_t i = 0; i < blobs.count; i++) {
      uint8_t* code = out + i * stride + kDigest + kChunkKey + number * kChunkCode;
      if (!codes[i]->code(number, blobs.data[i] + at, size, code)) return false;
    }
    return true;
  };
  return sha384LanesInParts(blobs, kChunk, writeCodes);
}

// Writes the hash of one blob and the codes of its chunks. Each chunk is hashed and coded while it is in the processor's cache.
bool digestOne(const uint8_t* blob, size_t size, uint8_t* digest, uint8_t* table) {
  Sha384 hash;
  ChunkCodes codes(table);
  for (size_t at = 0; at < size; at += kChunk) {
    const size_t number = at / kChunk, count = std::min(kChunk, size - at);
    if (!hash.add(blob + at, count) || !codes.code(number, blob + at, count, table + kChunkKey + number * kChunkCode)) {
      return false;
    }
  }
  return hash.end(digest);
}

// Like `digestTogether`, one blob after the other.
bool digestEach(const LaneMessages& blobs, uint8_t* out, size_t stride) {
  for (uint32_t i = 0; i < blobs.count; i++) {
    uint8_t* digest = out + i * stride;
    if (!digestOne(blobs.data[i], blobs.size, digest, digest + kDigest)) return false;
  }
  return true;
}

// Whether the bytes, which start at the start of a chunk, match the table.
napi_value jsChunksMatch(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  Span table, bytes;
  uint64_t first;
  if (!readArguments(env, info, 3, arguments) || !readBytes(env, arguments[0], "table", &table) ||
      !readSize(env, arguments[1], "first", &first) || !readBytes(env, arguments[2], "bytes", &bytes)) {
    return nullptr;
  }
  const size_t count = (bytes.size + kChunk - 1) / kChunk;
  if (table.size < kChunkKey || first > UINT32_MAX || table.size < kChunkKey + (first + count) * kChunkCode) {
    return throwTypeError(env, "the table has no codes for these chunks");
  }
  ChunkCodes codes(table.data);
  for (size_t i = 0; i < count; i++) {
    const size_t at = i * kChunk, number = static_cast<size_t>(first) + i;
    const uint8_t* wanted = table.data + kChunkKey + number * kChunkCode;
    if (!codes.matches(number, bytes.data + at, std::min(kChunk, bytes.size - at), wanted)) return makeBool(env, false);
  }
  return makeBool(env, true);
}

// Digests and tables of equally long blobs, by a thread of the pool.
napi_value jsDigestBlobs(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  auto messages = std::make_shared<LaneMessages>();
  Span keys;
  if (!readArguments(env, info, 2, arguments) || !readMessages(env, arguments[0], sha384LaneCount(), messages.get()) ||
      !readBytes(env, arguments[1], "keys", &keys)) {
    return nullptr;
  }
  if (keys.size != messages->count * kChunkKey) return throwTypeError(env, "keys must have 16 bytes for each message");
  const size_t stride = kDigest + chunkTableSize(messages->size);
  auto out = std::make_shared<std::vector<uint8_t>>(messages->count * stride);
  for (uint32_t i = 0; i < messages->count; i++) {
    memcpy(out->data() + i * stride + kDigest, keys.data + i * kChunkKey, kChunkKey);
  }
  const auto work = [messages, out, stride] {
    const bool isDone = messages->count < kMinSha384Messages ? digestEach(*messages, out->data(), stride)
                                                             : digestTogether(messages.get(), out->data(), stride);
    return isDone ? Outcome() : Outcome::failed("OpenSSL failed to compute the codes of a blob");
  };
  const auto result = [out](napi_env env) { return makeBufferOf(env, std::move(*out)); };
  return startJob(env, "digestBlobs", work, result, arguments[0]);
}

#endif

}  // namespace

void registerBlobs(napi_env env, napi_value exports) {
  setProperty(env, exports, "sha384LaneCount", makeNumber(env, sha384LaneCount()));
  if (sha384LaneCount() > 0) setFunction(env, exports, "sha384Lanes", jsSha384Lanes);
#ifdef LBC_OPENSSL
  if (hasOpenSsl()) setFunction(env, exports, "chunksMatch", jsChunksMatch);
  if (hasOpenSsl() && sha384LaneCount() > 0) setFunction(env, exports, "digestBlobs", jsDigestBlobs);
#endif
}

}  // namespace lbc
