// Work on whole blobs: hashes of several blobs at the same time, and storing without the page cache.
#include "addon.h"
#include "job.h"
#include "sha512Lanes.h"

#ifdef __linux__
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>

#include "fileStamp.h"
#endif

namespace lbc {

namespace {

constexpr size_t kDigest = 48;

// Returns the SHA-384 digests of one to four equally long messages, concatenated.
napi_value jsSha384Lanes(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  uint32_t count = 0;
  if (!readArguments(env, info, 1, arguments)) return nullptr;
  if (napi_get_array_length(env, arguments[0], &count) != napi_ok || count == 0 || count > kSha384Lanes) {
    return throwTypeError(env, "messages must be an array of one to four");
  }
  const uint8_t* messages[kSha384Lanes];
  uint8_t* digests[kSha384Lanes];
  uint8_t found[kSha384Lanes * kDigest];
  size_t size = 0;
  for (uint32_t i = 0; i < kSha384Lanes; i++) {
    napi_value message;
    Span bytes;
    // Lanes without a message hash the first message again.
    if (napi_get_element(env, arguments[0], i < count ? i : 0, &message) != napi_ok ||
        !readBytes(env, message, "message", &bytes)) {
      return nullptr;
    }
    if (i == 0) size = bytes.size;
    if (bytes.size != size) return throwTypeError(env, "messages must be equally long");
    messages[i] = bytes.data;
    digests[i] = found + i * kDigest;
  }
  sha384Lanes(messages, size, digests);
  return makeBuffer(env, found, count * kDigest);
}

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
#ifdef __linux__
  setFunction(env, exports, "bytesToPage", jsBytesToPage);
  setFunction(env, exports, "storeFile", jsStoreFile);
#endif
}

}  // namespace lbc
