// Opens and reads files only if their data is in the system's memory, so the event loop never waits for a disk.
#include "napi/addon.h"

#ifdef __linux__
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#endif

namespace lbc {

namespace {

#if defined(__linux__) && defined(RWF_NOWAIT)

// musl has `preadv2` only since version 1.2.5. On older versions a reference to the symbol could prevent the addon from
// loading.
ssize_t readNoWait(int file, const iovec& part, off_t position) {
#if defined(__GLIBC__) || !defined(__LP64__)
  return preadv2(file, &part, 1, position, RWF_NOWAIT);
#else
  // The position is passed in two words. The lower word is sufficient on 64-bit systems.
  return syscall(SYS_preadv2, file, &part, 1, position, 0, RWF_NOWAIT);
#endif
}

// Reads into `target` from `position` on. Returns the number of bytes read, which is smaller at the end of the file or
// where the following bytes are not cached. Returns -1 when no bytes are cached, or when the system or file system does
// not support such reads.
double readCached(int file, uint8_t* target, size_t size, uint64_t position) {
  const iovec part = {target, size};
  for (;;) {
    const ssize_t got = readNoWait(file, part, static_cast<off_t>(position));
    if (got >= 0) return static_cast<double>(got);
    if (errno != EINTR) return -1;
  }
}

#else

double readCached(int, uint8_t*, size_t, uint64_t) { return -1; }

#endif

napi_value jsReadCached(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  int32_t file;
  Span target;
  uint64_t position;
  if (!readArguments(env, info, 3, arguments) || !readInt32(env, arguments[0], "file", &file) ||
      !readBytes(env, arguments[1], "target", &target) || !readSize(env, arguments[2], "position", &position)) {
    return nullptr;
  }
  return makeNumber(env, readCached(file, const_cast<uint8_t*>(target.data), target.size, position));
}

#if defined(__linux__)

// Headers of older systems lack `struct open_how` and the constants. Source: Linux include/uapi/linux/openat2.h.
struct OpenHow {
  uint64_t flags, mode, resolve;
};
constexpr uint64_t kResolveCached = 0x20;
constexpr long kOpenat2 = 437;

// Opens a file for reading. Returns its descriptor. Returns -1 if that fails, if the entries of the path are not in memory, or
// if the system is older than Linux 5.12.
int openCached(const std::string& path) {
  const OpenHow how = {O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0, kResolveCached};
  return static_cast<int>(syscall(kOpenat2, AT_FDCWD, path.c_str(), &how, sizeof how));
}

napi_value jsOpenCached(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Span path;
  if (!readArguments(env, info, 1, arguments) || !readBytes(env, arguments[0], "path", &path)) return nullptr;
  return makeNumber(env, openCached(std::string(reinterpret_cast<const char*>(path.data), path.size)));
}

#endif

}  // namespace

void registerFileReads(napi_env env, napi_value exports) {
  setFunction(env, exports, "readCached", jsReadCached);
#if defined(__linux__)
  setFunction(env, exports, "openCached", jsOpenCached);
#endif
}

}  // namespace lbc
