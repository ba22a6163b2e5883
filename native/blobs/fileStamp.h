// Detection of changes of a file.
#pragma once

#include <sys/stat.h>

#include <cstdio>
#include <string>

namespace lbc {

// Inode, size and times of the last changes, as the type `FileStamp` of src/daemon/blobs/blobWork.ts.
inline std::string fileStamp(const struct stat& found) {
  char text[96];
  const auto nanoseconds = [](const timespec& time) { return 1000000000LL * time.tv_sec + time.tv_nsec; };
  snprintf(text, sizeof text, "%llu/%lld/%lld/%lld", static_cast<unsigned long long>(found.st_ino),
           static_cast<long long>(found.st_size), nanoseconds(found.st_mtim), nanoseconds(found.st_ctim));
  return text;
}

}  // namespace lbc
