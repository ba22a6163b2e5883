#include "claims/trie/arena.h"

#include <cstring>

namespace lbc {

uint8_t* Arena::allocate(size_t size) {
  if (size > kChunkBytes) {
    large_.emplace_back(new uint8_t[size]);
    return large_.back().get();
  }
  if (chunk_ < chunks_.size() && used_ + size > kChunkBytes) {
    chunk_++;
    used_ = 0;
  }
  if (chunk_ == chunks_.size()) chunks_.emplace_back(new uint8_t[kChunkBytes]);
  uint8_t* memory = chunks_[chunk_].get() + used_;
  used_ += size;
  return memory;
}

const uint8_t* Arena::copy(const void* data, size_t size) {
  uint8_t* memory = allocate(size);
  if (size > 0) memcpy(memory, data, size);
  return memory;
}

void Arena::clear() {
  large_.clear();
  // Memory that only a large block needed is freed.
  constexpr size_t kKept = 16;
  if (chunks_.size() > kKept) chunks_.resize(kKept);
  chunk_ = used_ = 0;
}

}  // namespace lbc
