#include "store/sharedRows.h"

#include <algorithm>
#include <mutex>

namespace lbc {

namespace {

// Runs `take` for each row type (first byte of a key) that occurs in a range of keys.
template <typename Take>
void forKinds(const Memtable::Range& range, const Take& take) {
  const size_t last = range.ltSize == 0 ? 0 : range.lt[0];
  for (size_t kind = range.gteSize == 0 ? 0 : range.gte[0]; kind <= last; kind++) take(kind);
}

}  // namespace

void SharedTable::beginChange() {
  if (isShared_ && !isChanging_) {
    lock();
    isChanging_ = true;
  }
  changes_.fetch_add(1, std::memory_order_acq_rel);
}

void SharedTable::endChange() {
  if (!isChanging_) return;
  for (size_t kind = 0; kind < 256; kind++) {
    if (walked_[kind].load(std::memory_order_relaxed)) rows_.sortKind(kind);
  }
  isChanging_ = false;
  unlock();
}

void SharedTable::range(const Memtable::Range& range, std::vector<uint8_t>* out) {
  forKinds(range, [&](size_t kind) {
    if (rows_.isSorted(kind)) return;
    const Change change(this);
    rows_.sortKind(kind);
  });
  rows_.range(range, out);
}

int64_t SharedTable::look(const uint8_t* key, size_t keySize, std::vector<uint8_t>* out) {
  const ReadLock shared = lockForReading();
  const uint8_t* value;
  const int64_t size = rows_.find(key, keySize, &value);
  if (size > 0) out->insert(out->end(), value, value + size);
  return size;
}

size_t SharedTable::lookRange(const Memtable::Range& range, std::vector<uint8_t>* out) {
  forKinds(range, [&](size_t kind) { walked_[kind].store(true, std::memory_order_relaxed); });
  const ReadLock shared = lockForReading();
  return rows_.range(range, out);
}

}  // namespace lbc
