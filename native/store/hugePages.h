// Memory for tables that are read at random positions. With pages of 2 MiB instead of 4 KiB, fewer
// accesses miss the TLB. Linux uses such pages only where a program requests them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace lbc {

constexpr size_t kHugePage = 2u << 20;

inline void* allocateHuge(size_t size) {
#ifdef __linux__
  if (size >= kHugePage) {
    void* memory = ::operator new(size, std::align_val_t(kHugePage));
    // If the call fails, the memory has pages of the usual size.
    madvise(memory, size, MADV_HUGEPAGE);
    return memory;
  }
#endif
  return ::operator new(size);
}

inline void freeHuge(void* memory, size_t size) {
#ifdef __linux__
  if (size >= kHugePage) return ::operator delete(memory, std::align_val_t(kHugePage));
#endif
  static_cast<void>(size);
  ::operator delete(memory);
}

// Allocator of a std::vector.
template <typename T>
struct HugePages {
  using value_type = T;
  HugePages() = default;
  template <typename Other>
  explicit HugePages(const HugePages<Other>&) {}
  T* allocate(size_t count) { return static_cast<T*>(allocateHuge(count * sizeof(T))); }
  void deallocate(T* memory, size_t count) { freeHuge(memory, count * sizeof(T)); }
  bool operator==(const HugePages&) const { return true; }
  bool operator!=(const HugePages&) const { return false; }
};

// Deleter of a std::unique_ptr of bytes.
struct HugeFree {
  size_t size = 0;
  void operator()(uint8_t* memory) const { freeHuge(memory, size); }
};

using HugeBytes = std::unique_ptr<uint8_t[], HugeFree>;

inline HugeBytes makeHugeBytes(size_t size) {
  return HugeBytes(static_cast<uint8_t*>(allocateHuge(size)), HugeFree{size});
}

}  // namespace lbc
