// Reads files from the system's page cache only, so the event loop never waits for a disk.
#include "addon.h"

#ifdef __linux__
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
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

}  // namespace

void registerFileReads(napi_env env, napi_value exports) { setFunction(env, exports, "readCached", jsReadCached); }

}  // namespace lbc
