// Memory of the nodes and paths of one block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace lbc {

// Allocates memory that is freed as a whole.
class Arena {
 public:
  uint8_t* allocate(size_t size);
  const uint8_t* copy(const void* data, size_t size);
  void clear();

 private:
  static constexpr size_t kChunkBytes = 64 << 10;
  std::vector<std::unique_ptr<uint8_t[]>> chunks_;
  // Allocations that do not fit in a chunk.
  std::vector<std::unique_ptr<uint8_t[]>> large_;
  size_t chunk_ = 0;
  size_t used_ = 0;
};

}  // namespace lbc
