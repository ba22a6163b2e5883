// Decrypts a blob from its file or from memory into another file, or reads and verifies its file, on a thread of the pool.
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

// The file of a blob, and what it must match.
struct StoredBlob {
  std::string path;
  // The stamp of the file when it was verified.
  std::string stamp;
  // The chunk table (src/daemon/content/chunkTable.ts). Without a table, the stamp suffices.
  bool hasTable;
  std::vector<uint8_t> table;
};

// Where the plaintext of a blob is written, and how it is decrypted.
struct CopyTarget {
  uint8_t key[kBlock];
  uint8_t iv[kBlock];
  int file;
  uint64_t position;
};

bool readAllAt(int file, uint8_t* into, size_t size, size_t position) {
  for (size_t at = 0; at < size;) {
    const ssize_t got = pread(file, into + at, size - at, static_cast<off_t>(position + at));
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

// Number of padding bytes at the end of the bytes, which are at least one block; 0 if the padding is wrong.
size_t paddingOf(const uint8_t* bytes, size_t size) {
  const uint8_t count = bytes[size - 1];
  if (count == 0 || count > kBlock) return 0;
  for (size_t i = 1; i <= count; i++) {
    if (bytes[size - i] != count) return 0;
  }
  return count;
}

// Reads and verifies the file of a blob part by part.
class BlobReader {
 public:
  explicit BlobReader(const StoredBlob& blob)
      // Opening a pipe without a writer must not block.
      : blob_(blob), file_(open(blob.path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (blob.hasTable && blob.table.size() >= kChunkKey) codes_ = std::make_unique<ChunkCodes>(blob.table.data());
  }

  // The size of the blob; 0 if the file does not have the stamp, or if the table or the size is wrong.
  size_t size() const {
    struct stat found;
    if (!hasStamp(&found) || !S_ISREG(found.st_mode)) return 0;
    const size_t size = static_cast<size_t>(found.st_size);
    if (blob_.hasTable && blob_.table.size() != chunkTableSize(size)) return 0;
    return size;
  }

  // Reads a part, which starts at a multiple of `kChunk`. Returns false if it cannot be read, or if it is not verified: it does
  // not match the table, or the file does not have the stamp after the read.
  bool read(uint8_t* part, size_t count, size_t at) {
    if (!readAllAt(file_.get(), part, count, at)) return false;
    struct stat found;
    if (!codes_) return hasStamp(&found);
    const size_t number = at / kChunk;
    return codes_->matches(number, part, count, blob_.table.data() + kChunkKey + number * kChunkCode);
  }

 private:
  bool hasStamp(struct stat* found) const {
    return file_.get() >= 0 && fstat(file_.get(), found) == 0 && fileStamp(*found) == blob_.stamp;
  }

  const StoredBlob& blob_;
  OpenFile file_;
  std::unique_ptr<ChunkCodes> codes_;
};

// The bytes of a blob in memory. Their hash was verified.
class BlobInMemory {
 public:
  explicit BlobInMemory(Span bytes) : bytes_(bytes) {}
  size_t size() const { return bytes_.size; }
  bool read(uint8_t* part, size_t count, size_t at) const {
    memcpy(part, bytes_.data + at, count);
    return true;
  }

 private:
  Span bytes_;
};

// Returns the number of written bytes. Returns -1 if the blob is not verified or has wrong padding, or if the target cannot be
// written. Each part is verified, decrypted and written while it is in the processor's cache. So the target may contain verified
// parts before a part that is not verified.
template <typename Blob>
double copyBlob(Blob&& blob, const CopyTarget& target) {
  const size_t size = blob.size();
  CipherContext cipher(EVP_CIPHER_CTX_new());
  if (size == 0 || size % kBlock != 0 || !cipher ||
      EVP_CipherInit_ex(cipher.get(), EVP_aes_128_cbc(), nullptr, target.key, target.iv, 0) != 1 ||
      EVP_CIPHER_CTX_set_padding(cipher.get(), 0) != 1) {
    return -1;
  }
  const std::unique_ptr<uint8_t[]> memory(new uint8_t[kChunk]);
  uint8_t* part = memory.get();
  size_t written = 0;
  for (size_t at = 0; at < size; at += kChunk) {
    const size_t count = std::min(kChunk, size - at);
    int decrypted = 0;
    if (!blob.read(part, count, at) ||
        EVP_CipherUpdate(cipher.get(), part, &decrypted, part, static_cast<int>(count)) != 1 ||
        static_cast<size_t>(decrypted) != count) {
      return -1;
    }
    const bool isLast = at + count == size;
    const size_t padding = isLast ? paddingOf(part, count) : 0;
    if (isLast && padding == 0) return -1;
    if (!writeAllAt(target.file, part, count - padding, target.position + written)) return -1;
    written += count - padding;
  }
  return static_cast<double>(written);
}

// Reads a blob into memory of `room` bytes. Returns its size; -1 if it is larger or not verified. Each part is verified while it
// is in the processor's cache.
double readBlob(const StoredBlob& stored, uint8_t* into, size_t room) {
  BlobReader blob(stored);
  const size_t size = blob.size();
  if (size == 0 || size > room) return -1;
  for (size_t at = 0; at < size; at += kChunk) {
    if (!blob.read(into + at, std::min(kChunk, size - at), at)) return -1;
  }
  return static_cast<double>(size);
}

bool readStoredBlob(napi_env env, const napi_value* arguments, StoredBlob* blob) {
  Span path, stamp, table;
  if (!readBytes(env, arguments[0], "path", &path) || !readBytes(env, arguments[1], "stamp", &stamp)) return false;
  blob->hasTable = !isNullish(env, arguments[2]);
  if (blob->hasTable && !readBytes(env, arguments[2], "table", &table)) return false;
  blob->path.assign(reinterpret_cast<const char*>(path.data), path.size);
  blob->stamp.assign(reinterpret_cast<const char*>(stamp.data), stamp.size);
  blob->table.assign(table.data, table.data + table.size);
  return true;
}

napi_value jsReadBlob(napi_env env, napi_callback_info info) {
  napi_value arguments[4];
  auto blob = std::make_shared<StoredBlob>();
  Span into;
  if (!readArguments(env, info, 4, arguments) || !readStoredBlob(env, arguments, blob.get()) ||
      !readBytes(env, arguments[3], "into", &into)) {
    return nullptr;
  }
  auto size = std::make_shared<double>(-1);
  const auto work = [blob, size, into] {
    *size = readBlob(*blob, const_cast<uint8_t*>(into.data), into.size);
    return Outcome();
  };
  return startJob(env, "readBlob", work, [size](napi_env env) { return makeNumber(env, *size); }, arguments[3]);
}

// Reads the arguments key, iv, file and position.
bool readTarget(napi_env env, const napi_value* arguments, CopyTarget* target) {
  const uint8_t *key, *iv;
  if (!readFixedBytes(env, arguments[0], kBlock, "key", &key) || !readFixedBytes(env, arguments[1], kBlock, "iv", &iv) ||
      !readInt32(env, arguments[2], "target", &target->file) ||
      !readSize(env, arguments[3], "position", &target->position)) {
    return false;
  }
  memcpy(target->key, key, kBlock);
  memcpy(target->iv, iv, kBlock);
  return true;
}

napi_value jsCopyBlob(napi_env env, napi_callback_info info) {
  napi_value arguments[7];
  auto blob = std::make_shared<StoredBlob>();
  CopyTarget target;
  if (!readArguments(env, info, 7, arguments) || !readStoredBlob(env, arguments, blob.get()) ||
      !readTarget(env, arguments + 3, &target)) {
    return nullptr;
  }
  auto written = std::make_shared<double>(-1);
  const auto work = [blob, target, written] {
    *written = copyBlob(BlobReader(*blob), target);
    return Outcome();
  };
  return startJob(env, "copyBlob", work, [written](napi_env env) { return makeNumber(env, *written); });
}

napi_value jsDecryptBlob(napi_env env, napi_callback_info info) {
  napi_value arguments[5];
  Span bytes;
  CopyTarget target;
  if (!readArguments(env, info, 5, arguments) || !readBytes(env, arguments[0], "bytes", &bytes) ||
      !readTarget(env, arguments + 1, &target)) {
    return nullptr;
  }
  auto written = std::make_shared<double>(-1);
  const auto work = [bytes, target, written] {
    *written = copyBlob(BlobInMemory(bytes), target);
    return Outcome();
  };
  const auto result = [written](napi_env env) { return makeNumber(env, *written); };
  return startJob(env, "decryptBlob", work, result, arguments[0]);
}

}  // namespace

void registerBlobCopy(napi_env env, napi_value exports) {
  if (!hasOpenSsl()) return;
  setFunction(env, exports, "copyBlob", jsCopyBlob);
  setFunction(env, exports, "decryptBlob", jsDecryptBlob);
  setFunction(env, exports, "readBlob", jsReadBlob);
}

#else

void registerBlobCopy(napi_env, napi_value) {}

#endif

}  // namespace lbc
