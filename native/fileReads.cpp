// Reading files as far as the system has them in memory, so that the event loop never waits for a disk.
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

// musl has `preadv2` since 1.2.5 only, and an addon that names what is not there may not be loaded.
ssize_t readNoWait(int file, const iovec& part, off_t position) {
#if defined(__GLIBC__) || !defined(__LP64__)
  return preadv2(file, &part, 1, position, RWF_NOWAIT);
#else
  // The position in two words; the lower one holds all of it.
  return syscall(SYS_preadv2, file, &part, 1, position, 0, RWF_NOWAIT);
#endif
}

// Fills `target` from `position` on: how many bytes, fewer where the file ends or what follows is not in memory; -1 when
// none is, or when neither this system nor this file system can tell.
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
