// Work on whole blobs: hashes of several blobs at the same time, codes of their chunks, and storing without the page cache.
#include "blobs/chunkCodes.h"
#include "blobs/digest.h"
#include "hash/sha512Lanes.h"
#include "napi/addon.h"
#include "napi/job.h"

#include <algorithm>
#include <memory>
#include <vector>

#ifdef __linux__
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "blobs/fileStamp.h"
#endif

namespace lbc {

namespace {

constexpr size_t kDigest = 48;

// One to four equally long messages. Lanes without a message repeat the first message.
struct Messages {
  const uint8_t* data[kSha384Lanes];
  uint32_t count = 0;
  size_t size = 0;
};

bool readMessages(napi_env env, napi_value value, Messages* out) {
  if (napi_get_array_length(env, value, &out->count) != napi_ok || out->count == 0 || out->count > kSha384Lanes) {
    throwTypeError(env, "messages must be an array of one to four");
    return false;
  }
  for (uint32_t i = 0; i < kSha384Lanes; i++) {
    napi_value message;
    Span bytes;
    if (napi_get_element(env, value, i < out->count ? i : 0, &message) != napi_ok ||
        !readBytes(env, message, "message", &bytes)) {
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

// Pointers to the digests of messages, `stride` bytes apart. The digests of unused lanes are written to `unused`.
struct DigestPointers {
  DigestPointers(const Messages& messages, uint8_t* digests, size_t stride) {
    for (uint32_t i = 0; i < kSha384Lanes; i++) pointers[i] = i < messages.count ? digests + i * stride : unused;
  }
  DigestPointers(const DigestPointers&) = delete;
  DigestPointers& operator=(const DigestPointers&) = delete;

  uint8_t unused[kDigest];
  uint8_t* pointers[kSha384Lanes];
};

// Returns the SHA-384 digests of one to four equally long messages, concatenated.
napi_value jsSha384Lanes(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Messages messages;
  if (!readArguments(env, info, 1, arguments) || !readMessages(env, arguments[0], &messages)) return nullptr;
  uint8_t found[kSha384Lanes * kDigest];
  sha384Lanes(messages.data, messages.size, DigestPointers(messages, found, kDigest).pointers);
  return makeBuffer(env, found, messages.count * kDigest);
}

#ifdef LBC_OPENSSL

// Writes the digest and the table of each blob, `stride` bytes apart. Each chunk is hashed and coded while it is in the
// processor's cache.
bool digestTogether(const Messages& blobs, uint8_t* out, size_t stride) {
  std::vector<std::unique_ptr<ChunkCodes>> codes;
  for (uint32_t i = 0; i < blobs.count; i++) codes.push_back(std::make_unique<ChunkCodes>(out + i * stride + kDigest));
  const auto writeCodes = [&](size_t at, size_t size) {
    const size_t number = at / kChunk;
    for (uint32_t i = 0; i < blobs.count; i++) {
      uint8_t* code = out + i * stride + kDigest + kChunkKey + number * kChunkCode;
      if (!codes[i]->code(number, blobs.data[i] + at, size, code)) return false;
    }
    return true;
  };
  return sha384LanesInParts(blobs.data, blobs.size, DigestPointers(blobs, out, stride).pointers, kChunk, writeCodes);
}

// Writes the hash of one blob and the codes of its chunks. Each chunk is hashed and coded while it is in the processor's cache.
// For a single message, OpenSSL takes less time than the lanes.
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

// Digests and tables of one to four equally long blobs, by a thread of the pool.
napi_value jsDigestBlobs(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  auto messages = std::make_shared<Messages>();
  Span keys;
  if (!readArguments(env, info, 2, arguments) || !readMessages(env, arguments[0], messages.get()) ||
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
    const bool isDone = messages->count == 1
                            ? digestOne(messages->data[0], messages->size, out->data(), out->data() + kDigest)
                            : digestTogether(*messages, out->data(), stride);
    return isDone ? Outcome() : Outcome::failed("OpenSSL failed to compute the codes of a blob");
  };
  const auto result = [out](napi_env env) { return makeBufferOf(env, std::move(*out)); };
  return startJob(env, "digestBlobs", work, result, arguments[0]);
}

#endif

#ifdef __linux__

constexpr size_t kPage = 4096;

// Number of bytes from the start of the memory to the next page.
napi_value jsBytesToPage(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Span bytes;
  if (!readArguments(env, info, 1, arguments) || !readBytes(env, arguments[0], "bytes", &bytes)) return nullptr;
  const size_t over = reinterpret_cast<uintptr_t>(bytes.data) % kPage;
  return makeNumber(env, over == 0 ? 0 : static_cast<double>(kPage - over));
}

bool writeAll(int file, const uint8_t* data, size_t size) {
  for (size_t at = 0; at < size;) {
    const ssize_t count = write(file, data + at, size - at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += static_cast<size_t>(count);
  }
  return true;
}

// Writes a new file past the page cache, syncs it, and gives it its name. Returns the stamp of the file: inode, size and
// times. Returns an empty string if this is not possible or fails; no temporary file remains then.
std::string storeFile(const std::string& temporary, const std::string& path, Span bytes) {
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_DIRECT | O_CLOEXEC, 0666);
  if (file < 0) {
    // Some file systems create the file before they refuse the flag.
    if (errno == EINVAL) unlink(temporary.c_str());
    return "";
  }
  const bool isStored = writeAll(file, bytes.data, bytes.size) && fdatasync(file) == 0 &&
                        rename(temporary.c_str(), path.c_str()) == 0;
  if (!isStored) unlink(temporary.c_str());
  struct stat found;
  std::string stamp;
  if (isStored && fstat(file, &found) == 0) stamp = fileStamp(found);
  close(file);
  return stamp;
}

napi_value jsStoreFile(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  Span temporary, path, bytes;
  if (!readArguments(env, info, 3, arguments) || !readBytes(env, arguments[0], "temporary", &temporary) ||
      !readBytes(env, arguments[1], "path", &path) || !readBytes(env, arguments[2], "bytes", &bytes)) {
    return nullptr;
  }
  const auto textOf = [](Span span) { return std::string(reinterpret_cast<const char*>(span.data), span.size); };
  auto stamp = std::make_shared<std::string>();
  const auto work = [stamp, from = textOf(temporary), to = textOf(path), bytes] {
    *stamp = storeFile(from, to, bytes);
    return Outcome();
  };
  return startJob(env, "storeFile", work, [stamp](napi_env env) { return makeString(env, stamp->c_str()); }, arguments[2]);
}

#endif

}  // namespace

void registerBlobs(napi_env env, napi_value exports) {
  if (sha384HasLanes()) setFunction(env, exports, "sha384Lanes", jsSha384Lanes);
#ifdef LBC_OPENSSL
  if (hasOpenSsl()) setFunction(env, exports, "chunksMatch", jsChunksMatch);
  if (hasOpenSsl() && sha384HasLanes()) setFunction(env, exports, "digestBlobs", jsDigestBlobs);
#endif
#ifdef __linux__
  setFunction(env, exports, "bytesToPage", jsBytesToPage);
  setFunction(env, exports, "storeFile", jsStoreFile);
#endif
}

}  // namespace lbc
