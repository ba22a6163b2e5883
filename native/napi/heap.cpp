// Settings by which the C library returns memory freed by LevelDB and the addon. LevelDB frees memory on another pool
// thread than the one that allocated it. glibc gives each thread its own arena, and allocates large blocks from the arena
// once one of them was freed; both keep freed memory. Measured: a process that added 350,000 names to a claim trie took
// 545 MB without these settings, 485 with them.
#include "napi/addon.h"
#include "napi/job.h"

#include <memory>

#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __linux__
#include <sys/mman.h>

#include <cstdio>
#include <cstring>
#include <string>
#endif

namespace lbc {

namespace {

// Size in bytes from which an allocation is a mapping of its own, until `mapAllocationsFrom` is called.
constexpr int kMappedBytes = 128 << 10;

napi_value jsReturnFreedMemory(napi_env env, napi_callback_info) {
#ifdef __GLIBC__
  constexpr int kArenas = 2;
  // Free memory at the end of the heap up to this size is kept: each block that is connected needs such memory, and the
  // kernel clears each page that is returned and taken back.
  constexpr int kKeptBytes = 8 << 20;
  // A database that is opened later must not undo `mapAllocationsFrom`.
  static const bool isSet = mallopt(M_MMAP_THRESHOLD, kMappedBytes) == 1;
  return makeBool(env, isSet && mallopt(M_ARENA_MAX, kArenas) == 1 && mallopt(M_TRIM_THRESHOLD, kKeptBytes) == 1 && mallopt(M_TOP_PAD, kKeptBytes / 8) == 1);
#else
  return makeBool(env, false);
#endif
}

// Sets the size in bytes from which an allocation is a mapping of its own. Such memory is returned to the system when it is
// freed, but the kernel clears each page of the next mapping again. Source: mallopt(3).
napi_value jsMapAllocationsFrom(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  uint32_t bytes = 0;
  if (!readArguments(env, info, 1, arguments) || !readUint32(env, arguments[0], "bytes", &bytes)) return nullptr;
#ifdef __GLIBC__
  return makeBool(env, mallopt(M_MMAP_THRESHOLD, static_cast<int>(bytes)) == 1);
#else
  return makeBool(env, false);
#endif
}

#ifdef __GLIBC__
// `struct mallinfo2` and `mallinfo2` of glibc 2.33. Older C libraries, for which the addon is built too, lack both: a weak
// symbol is null there.
struct HeapInfo {
  size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};
extern "C" HeapInfo readHeapInfo() __asm__("mallinfo2") __attribute__((weak));
#endif

// Returns heap statistics, summed over all arenas. Returns null where the C library provides none. Source: mallinfo(3).
napi_value jsHeapUsage(napi_env env, napi_callback_info) {
#ifdef __GLIBC__
  if (readHeapInfo == nullptr) return makeNull(env);
  const HeapInfo info = readHeapInfo();
  const auto number = [env](size_t bytes) { return makeNumber(env, static_cast<double>(bytes)); };
  napi_value result = makeObject(env);
  setProperty(env, result, "usedBytes", number(info.uordblks));
  setProperty(env, result, "freeBytes", number(info.fordblks));
  setProperty(env, result, "mappedBytes", number(info.hblkhd));
  return result;
#else
  return makeNull(env);
#endif
}

// Returns whole free pages of all arenas to the system, on another thread. The promise resolves to true if pages were
// returned.
napi_value jsTrimHeap(napi_env env, napi_callback_info) {
  const auto trimmed = std::make_shared<bool>(false);
  return startJob(
      env, "lbcnode trim of the heap",
      [trimmed] {
#ifdef __GLIBC__
        *trimmed = malloc_trim(0) == 1;
#endif
        return Outcome{};
      },
      [trimmed](napi_env target) { return makeBool(target, *trimmed); });
}

#ifdef __linux__
// A mapping of /proc/self/smaps (proc(5)) as far as it was read.
struct Mapping {
  uintptr_t from = 0, to = 0;
  // Whether all of its pages can be read from its file again: no page was written, and none can be written.
  bool isClean = false;
  std::string path;
};

// Unmaps the clean pages of the file that contains the code at `inside`. They stay in the page cache, from which an access
// maps them again. Pages that were changed (relocations, breakpoints) are kept.
void unmapCleanPages(uintptr_t inside) {
  FILE* file = std::fopen("/proc/self/smaps", "re");
  if (file == nullptr) return;
  std::vector<Mapping> mappings;
  char line[4096 + 256];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    unsigned long from, to, inode, kib;
    char rights[5];
    int pathAt = 0;
    if (std::sscanf(line, "%lx-%lx %4s %*s %*s %lu %n", &from, &to, rights, &inode, &pathAt) == 4) {
      const bool isReadOnly = std::strcmp(rights, "r-xp") == 0 || std::strcmp(rights, "r--p") == 0;
      mappings.push_back({from, to, isReadOnly && inode != 0, line + pathAt});
    } else if (!mappings.empty() && std::sscanf(line, "Anonymous: %lu kB", &kib) == 1 && kib > 0) {
      mappings.back().isClean = false;
    }
  }
  std::fclose(file);
  const Mapping* program = nullptr;
  for (const Mapping& one : mappings)
    if (one.from <= inside && inside < one.to) program = &one;
  if (program == nullptr || !program->isClean) return;
  for (const Mapping& one : mappings)
    if (one.isClean && one.path == program->path)
      madvise(reinterpret_cast<void*>(one.from), one.to - one.from, MADV_DONTNEED);
}
#endif

napi_value jsUnmapIdleCode(napi_env env, napi_callback_info) {
  return startJob(
      env, "lbcnode unmapping of idle code",
      [] {
#ifdef __linux__
        unmapCleanPages(reinterpret_cast<uintptr_t>(&napi_get_undefined));
#endif
        return Outcome{};
      },
      nullptr);
}

}  // namespace

void registerHeap(napi_env env, napi_value exports) {
  setFunction(env, exports, "returnFreedMemory", jsReturnFreedMemory);
  setFunction(env, exports, "mapAllocationsFrom", jsMapAllocationsFrom);
  setFunction(env, exports, "heapUsage", jsHeapUsage);
  setFunction(env, exports, "trimHeap", jsTrimHeap);
  setFunction(env, exports, "unmapIdleCode", jsUnmapIdleCode);
}

}  // namespace lbc
