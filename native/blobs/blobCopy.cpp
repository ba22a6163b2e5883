// Decrypts the file of a blob into another file on a thread of the pool.
#include "blobs/openssl.h"
#include "napi/addon.h"
#include "napi/job.h"

#ifdef LBC_OPENSSL
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "blobs/chunkCodes.h"
#include "blobs/fileStamp.h"
#endif

namespace lbc {

#ifdef LBC_OPENSSL

namespace {

constexpr size_t kBlock = 16;
// Number of bytes that are decrypted and written together.
constexpr size_t kPart = 64 * 1024;

class OpenFile {
 public:
  explicit OpenFile(int file) : file_(file) {}
  ~OpenFile() {
    if (file_ >= 0) close(file_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const { return file_; }

 private:
  int file_;
};

struct CopyRequest {
  std::string path;
  // The stamp of the file when it was verified.
  std::string stamp;
  // The chunk table (src/daemon/content/chunkTable.ts). Without a table, the stamp suffices.
  bool hasTable;
  std::vector<uint8_t> table;
  uint8_t key[kBlock];
  uint8_t iv[kBlock];
  int target;
  uint64_t position;
  // Memory for the blob.
  uint8_t* memory;
  size_t memorySize;
};

bool readAll(int file, uint8_t* into, size_t size) {
  for (size_t at = 0; at < size;) {
    const ssize_t got = pread(file, into + at, size - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += static_cast<size_t>(got);
  }
  return true;
}

bool writeAllAt(int file, const uint8_t* data, size_t size, uint64_t position) {
  for (size_t at = 0; at < size;) {
    const ssize_t count = pwrite(file, data + at, size - at, static_cast<off_t>(position + at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += static_cast<size_t>(count);
  }
  return true;
}

// Whether all chunks of a blob match its table of AES-128-GMAC codes.
bool matchesTable(const uint8_t* blob, size_t size, const std::vector<uint8_t>& table) {
  if (table.size() != kChunkKey + (size + kChunk - 1) / kChunk * kChunkCode) return false;
  ChunkCodes codes(table.data());
  for (size_t at = 0; at < size; at += kChunk) {
    const size_t number = at / kChunk;
    if (!codes.matches(number, blob + at, std::min(kChunk, size - at), table.data() + kChunkKey + number * kChunkCode)) return false;
  }
  return true;
}

// Number of padding bytes at the end of the bytes, which are at least one block; 0 if the padding is wrong.
size_t paddingOf(const uint8_t* bytes, size_t size) {
  const uint8_t count = bytes[size - 1];
  if (count == 0 || count > kBlock) return 0;
  for (size_t i = 1; i <= count; i++) {
    if (bytes[size - i] != count) return 0;
  }
  return count;
}

// Reads the file of a blob into memory. Returns its size; 0 if the file does not have the stamp, does not match its table, does
// not fit or cannot be read.
size_t readVerified(const CopyRequest& request) {
  // Opening a pipe without a writer must not block.
  OpenFile file(open(request.path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat found;
  if (file.get() < 0 || fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) return 0;
  const size_t size = static_cast<size_t>(found.st_size);
  if (size > request.memorySize || size % kBlock != 0 || fileStamp(found) != request.stamp) return 0;
  if (!readAll(file.get(), request.memory, size)) return 0;
  if (request.hasTable) return matchesTable(request.memory, size, request.table) ? size : 0;
  return fstat(file.get(), &found) == 0 && fileStamp(found) == request.stamp ? size : 0;
}

// Returns the number of written bytes. Returns -1 if the blob is not verified or has wrong padding, or if the target cannot be
// written. The whole blob is verified before its first byte is written. Each part is written while it is in the processor's cache.
double copyBlob(const CopyRequest& request) {
  const size_t size = readVerified(request);
  CipherContext cipher(EVP_CIPHER_CTX_new());
  if (size == 0 || !cipher ||
      EVP_CipherInit_ex(cipher.get(), EVP_aes_128_cbc(), nullptr, request.key, request.iv, 0) != 1 ||
      EVP_CIPHER_CTX_set_padding(cipher.get(), 0) != 1) {
    return -1;
  }
  size_t written = 0;
  for (size_t at = 0; at < size; at += kPart) {
    const size_t count = std::min(kPart, size - at);
    uint8_t* part = request.memory + at;
    int decrypted = 0;
    if (EVP_CipherUpdate(cipher.get(), part, &decrypted, part, static_cast<int>(count)) != 1 ||
        static_cast<size_t>(decrypted) != count) {
      return -1;
    }
    const bool isLast = at + count == size;
    const size_t padding = isLast ? paddingOf(part, count) : 0;
    if (isLast && padding == 0) return -1;
    if (!writeAllAt(request.target, part, count - padding, request.position + written)) return -1;
    written += count - padding;
  }
  return static_cast<double>(written);
}

napi_value jsCopyBlob(napi_env env, napi_callback_info info) {
  napi_value arguments[8];
  Span path, stamp, table, memory;
  const uint8_t *key, *iv;
  auto request = std::make_shared<CopyRequest>();
  if (!readArguments(env, info, 8, arguments) || !readBytes(env, arguments[0], "path", &path) ||
      !readBytes(env, arguments[1], "stamp", &stamp) ||
      !readFixedBytes(env, arguments[3], kBlock, "key", &key) || !readFixedBytes(env, arguments[4], kBlock, "iv", &iv) ||
      !readInt32(env, arguments[5], "target", &request->target) ||
      !readSize(env, arguments[6], "position", &request->position) || !readBytes(env, arguments[7], "memory", &memory)) {
    return nullptr;
  }
  request->hasTable = !isNullish(env, arguments[2]);
  if (request->hasTable && !readBytes(env, arguments[2], "table", &table)) return nullptr;
  request->path.assign(reinterpret_cast<const char*>(path.data), path.size);
  request->stamp.assign(reinterpret_cast<const char*>(stamp.data), stamp.size);
  request->table.assign(table.data, table.data + table.size);
  request->memory = const_cast<uint8_t*>(memory.data);
  request->memorySize = memory.size;
  memcpy(request->key, key, kBlock);
  memcpy(request->iv, iv, kBlock);
  auto written = std::make_shared<double>(-1);
  const auto work = [request, written] {
    *written = copyBlob(*request);
    return Outcome();
  };
  return startJob(env, "copyBlob", work, [written](napi_env env) { return makeNumber(env, *written); }, arguments[7]);
}

}  // namespace

void registerBlobCopy(napi_env env, napi_value exports) {
  if (hasOpenSsl()) setFunction(env, exports, "copyBlob", jsCopyBlob);
}

#else

void registerBlobCopy(napi_env, napi_value) {}

#endif

}  // namespace lbc
