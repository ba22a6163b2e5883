// Stores blobs on threads of the pool: writes new files with direct I/O, then syncs and renames a group of them. Also provides
// memory for blobs that can be written this way.
#include "napi/addon.h"
#include "napi/job.h"

#ifdef __linux__
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "blobs/fileStamp.h"
#endif

namespace lbc {

#ifdef __linux__

namespace {

constexpr size_t kPage = 4096;
// Size of a huge page of x86-64 and of most ARM64 kernels.
constexpr size_t kHugePage = 2 * 1024 * 1024;

struct Mapping {
  void* data;
  size_t size;
};

void unmap(napi_env, void*, void* hint) {
  const std::unique_ptr<Mapping> mapping(static_cast<Mapping*>(hint));
  munmap(mapping->data, mapping->size);
}

// An ArrayBuffer of zeros that starts at a huge page, for which the kernel uses huge pages if it can. One page fault then maps
// the memory of a whole blob.
napi_value jsBlobMemory(napi_env env, napi_callback_info info) {
  napi_value arguments[1], memory;
  uint64_t size;
  if (!readArguments(env, info, 1, arguments) || !readSize(env, arguments[0], "size", &size)) return nullptr;
  if (size == 0 || size > 64 * kHugePage) return throwTypeError(env, "size must be positive and at most 128 MiB");
  const size_t mapped = static_cast<size_t>(size) + kHugePage;
  void* found = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) return throwError(env, "there is no memory for a blob");
  const uintptr_t start = (reinterpret_cast<uintptr_t>(found) + kHugePage - 1) / kHugePage * kHugePage;
  // A failure only makes the first accesses slower.
  madvise(reinterpret_cast<void*>(start), static_cast<size_t>(size), MADV_HUGEPAGE);
  auto* mapping = new Mapping{found, mapped};
  if (napi_create_external_arraybuffer(env, reinterpret_cast<void*>(start), static_cast<size_t>(size), unmap, mapping,
                                       &memory) == napi_ok) {
    return memory;
  }
  unmap(env, nullptr, mapping);
  return throwError(env, "memory for a blob could not be used");
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

// Writes a new file with direct I/O. Returns the open file. Returns -1 and leaves no file if this is not possible or fails.
int writeDirect(const std::string& path, Span bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_DIRECT | O_CLOEXEC, 0666);
  if (file < 0) {
    // Some file systems create the file before they refuse the flag.
    if (errno == EINVAL) unlink(path.c_str());
    return -1;
  }
  if (writeAll(file, bytes.data, bytes.size)) return file;
  close(file);
  unlink(path.c_str());
  return -1;
}

std::string textOf(Span span) { return std::string(reinterpret_cast<const char*>(span.data), span.size); }

napi_value jsWriteDirect(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Span path, bytes;
  if (!readArguments(env, info, 2, arguments) || !readBytes(env, arguments[0], "path", &path) ||
      !readBytes(env, arguments[1], "bytes", &bytes)) {
    return nullptr;
  }
  // Direct I/O needs whole pages.
  if (bytes.size % kPage != 0 || reinterpret_cast<uintptr_t>(bytes.data) % kPage != 0) return makeNull(env);
  auto file = std::make_shared<int>(-1);
  const auto work = [file, to = textOf(path), bytes] {
    *file = writeDirect(to, bytes);
    return Outcome();
  };
  return startJob(env, "writeDirect", work, [file](napi_env env) { return makeNumber(env, *file); }, arguments[1]);
}

// A file with a temporary name.
struct WrittenFile {
  int file;
  std::string temporary, path;
  // The stamp of the file; empty if the file could not be synced or renamed. In this case `error` is the value of `errno`.
  std::string stamp;
  int error = 0;
};

// Syncs the data of a file. The first sync of a group writes the metadata of all its files, so the further ones take less time.
void syncData(WrittenFile* one) {
  if (fdatasync(one->file) != 0) one->error = errno;
}

// Renames a synced file to its final name, and removes the file with the suffix `obsolete`.
void nameFile(WrittenFile* one, const std::string& obsolete) {
  struct stat found;
  if (one->error == 0 && rename(one->temporary.c_str(), one->path.c_str()) != 0) one->error = errno;
  // A rename changes the times of the file.
  if (one->error == 0 && fstat(one->file, &found) != 0) one->error = errno;
  if (one->error == 0) {
    one->stamp = fileStamp(found);
    unlink((one->path + obsolete).c_str());
  } else {
    unlink(one->temporary.c_str());
  }
  close(one->file);
}

// Returns 0, or the number of an error.
int syncFolder(const std::string& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return errno;
  const int error = fsync(file) == 0 ? 0 : errno;
  close(file);
  return error;
}

// Splits names. Each name ends with a zero byte.
std::vector<std::string> namesOf(Span text) {
  std::vector<std::string> names;
  const char *at = reinterpret_cast<const char*>(text.data), *end = at + text.size;
  while (at < end) {
    const void* stop = memchr(at, 0, static_cast<size_t>(end - at));
    if (!stop) break;
    names.emplace_back(at, static_cast<const char*>(stop));
    at = static_cast<const char*>(stop) + 1;
  }
  return names;
}

struct KeptGroup {
  std::string folder, obsolete;
  std::vector<WrittenFile> files;
  int folderError = 0;
};

bool readGroup(napi_env env, const napi_value* arguments, KeptGroup* group) {
  Span folder, names, obsolete;
  uint32_t count = 0;
  if (!readBytes(env, arguments[0], "folder", &folder) || !readBytes(env, arguments[2], "names", &names) ||
      !readBytes(env, arguments[3], "obsolete", &obsolete)) {
    return false;
  }
  const std::vector<std::string> found = namesOf(names);
  if (napi_get_array_length(env, arguments[1], &count) != napi_ok || found.size() != 2 * static_cast<size_t>(count)) {
    throwTypeError(env, "each file needs two names");
    return false;
  }
  group->folder = textOf(folder);
  group->obsolete = textOf(obsolete);
  for (uint32_t i = 0; i < count; i++) {
    napi_value element;
    WrittenFile one;
    if (napi_get_element(env, arguments[1], i, &element) != napi_ok || !readInt32(env, element, "file", &one.file)) {
      return false;
    }
    one.temporary = group->folder + '/' + found[2 * i];
    one.path = group->folder + '/' + found[2 * i + 1];
    group->files.push_back(std::move(one));
  }
  return true;
}

napi_value makeResults(napi_env env, const KeptGroup& group) {
  napi_value results;
  napi_create_array(env, &results);
  for (uint32_t i = 0; i < group.files.size(); i++) {
    const WrittenFile& one = group.files[i];
    const int error = one.error != 0 ? one.error : group.folderError;
    napi_set_element(env, results, i, error == 0 ? makeString(env, one.stamp.c_str()) : makeNumber(env, -error));
  }
  return results;
}

napi_value jsKeepFiles(napi_env env, napi_callback_info info) {
  napi_value arguments[4];
  auto group = std::make_shared<KeptGroup>();
  if (!readArguments(env, info, 4, arguments) || !readGroup(env, arguments, group.get())) return nullptr;
  const auto work = [group] {
    // A file is renamed only after its data is on disk.
    for (WrittenFile& one : group->files) syncData(&one);
    for (WrittenFile& one : group->files) nameFile(&one, group->obsolete);
    group->folderError = syncFolder(group->folder);
    return Outcome();
  };
  return startJob(env, "keepFiles", work, [group](napi_env env) { return makeResults(env, *group); });
}

}  // namespace

void registerBlobStoring(napi_env env, napi_value exports) {
  setFunction(env, exports, "blobMemory", jsBlobMemory);
  setFunction(env, exports, "writeDirect", jsWriteDirect);
  setFunction(env, exports, "keepFiles", jsKeepFiles);
}

#else

void registerBlobStoring(napi_env, napi_value) {}

#endif

}  // namespace lbc
