#include "claims/rowLayers.h"

#include "napi/napi.h"
#include "store/readThreads.h"

namespace lbc {

namespace {

// A read that takes longer was not from memory. As SLOW_ROW_MICROS of levelDb.ts.
constexpr std::chrono::microseconds kSlowRow(100);
// Maximum time for which the reads of a block wait for the disk. The fallback, which waits without blocking the event loop, takes
// more processor time than this.
constexpr std::chrono::milliseconds kMaxWaiting(20);
constexpr size_t kLengthBytes = 4;

}  // namespace

bool RowLayers::readPacked(const uint8_t* key, size_t keySize, Bytes* packed, std::atomic<bool>* isSlow) const {
  packed->clear();
  const Clock::time_point start = Clock::now();
  const leveldb::Slice slice(reinterpret_cast<const char*>(key), keySize);
  const bool isRead = database->get(slice, true, packed).ok() && packed->size() >= kLengthBytes;
  if (Clock::now() - start > kSlowRow) isSlow->store(true);
  return isRead;
}

bool RowLayers::read(const std::string& key, std::string* row, bool* failed) {
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(key.data());
  const uint8_t* value = nullptr;
  int64_t length = overlay->find(bytes, key.size(), &value);
  RowCache* cache = cacheOf(bytes[0]);
  if (length == Memtable::kUnknown && cache) length = cache->find(bytes, key.size(), &value);
  if (length >= 0) row->assign(reinterpret_cast<const char*>(value), static_cast<size_t>(length));
  if (length != Memtable::kUnknown || !database) return length >= 0;
  static thread_local Bytes packed;
  std::atomic<bool> isSlow{false};
  const Clock::time_point start = Clock::now();
  *failed = !readPacked(bytes, key.size(), &packed, &isSlow);
  if (isSlow) waited_ += Clock::now() - start;
  // The fallback reads the rows on other threads.
  if (waited_ > kMaxWaiting) *failed = true;
  if (*failed || readLE32(packed.data()) == Memtable::kDeletedValue) return false;
  row->assign(reinterpret_cast<const char*>(packed.data()) + kLengthBytes, packed.size() - kLengthBytes);
  return true;
}

bool RowLayers::readMany(Memtable::Lookup* lookups, size_t count) {
  if (count == 0) return true;
  overlay->findMany(lookups, count);
  unknown_.clear();
  rest_.clear();
  for (size_t i = 0; i < count; i++) {
    if (lookups[i].length != Memtable::kUnknown) continue;
    unknown_.push_back(i);
    rest_.push_back(lookups[i]);
  }
  if (RowCache* cache = cacheOf(lookups[0].key[0])) {
    cache->findMany(rest_.data(), rest_.size());
    size_t left = 0;
    for (size_t i = 0; i < rest_.size(); i++) {
      if (rest_[i].length == Memtable::kUnknown) unknown_[left++] = unknown_[i];
      else lookups[unknown_[i]] = rest_[i];
    }
    unknown_.resize(left);
  }
  if (!database) {
    for (const size_t i : unknown_) lookups[i].length = Memtable::kDeleted;
    return true;
  }
  return readUnknown(lookups);
}

bool RowLayers::readUnknown(Memtable::Lookup* lookups) {
  // Earlier values stay valid when the vector grows, because a `Bytes` moves without its memory.
  const size_t before = kept_.size();
  kept_.resize(before + unknown_.size());
  std::atomic<bool> isRead{true}, isSlow{false};
  const Clock::time_point start = Clock::now();
  ReadThreads::shared().run(unknown_.size(), [&](size_t number) {
    if (isSlow && waited_ + (Clock::now() - start) > kMaxWaiting) isRead = false;
    if (!isRead) return;
    Memtable::Lookup& lookup = lookups[unknown_[number]];
    Bytes& packed = kept_[before + number];
    if (!readPacked(lookup.key, lookup.keySize, &packed, &isSlow)) {
      isRead = false;
      return;
    }
    const uint32_t length = readLE32(packed.data());
    lookup.length = length == Memtable::kDeletedValue ? Memtable::kDeleted : static_cast<int64_t>(length);
    lookup.value = packed.data() + kLengthBytes;
  });
  if (isSlow) waited_ += Clock::now() - start;
  return isRead;
}

}  // namespace lbc
