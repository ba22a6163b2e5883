#include "store/rowCache.h"

#include <algorithm>
#include <cstring>

#include "hash/saltedHash.h"
#include "napi/napi.h"

namespace lbc {

namespace {

constexpr size_t kBucket = 4096;
// A word at the end of a bucket: its number of rows in the upper half, the end of their entries in the lower half. Before it,
// backwards, a word for each row: tag of the hash (16 bits) ‖ flags ‖ offset of the entry (12 bits).
constexpr size_t kWord = 4;
constexpr size_t kHeadAt = kBucket - kWord;
constexpr uint32_t kOffset = (1u << 12) - 1;
constexpr uint32_t kDeletion = 1u << 12;
// The row was read since it was set or last considered for eviction.
constexpr uint32_t kRead = 1u << 13;
constexpr unsigned kTagShift = 16;
// Maximum size of an entry in a bucket, and of its key.
constexpr size_t kMaxEntry = kBucket / 2;
constexpr size_t kMaxKey = 255;
// Maximum number of rows in a bucket: the smallest entry takes one byte and a word.
constexpr size_t kMaxRows = kBucket / (kWord + 1);
// The number of buckets doubles when this share of their space is used (in quarters). Few buckets are full then.
constexpr uint64_t kFullQuarters = 3;
// log2 of the minimum number of buckets with which a large cache begins.
constexpr unsigned kFirstBits = 6;
// Share of the size limit for large rows, and the share if there are many. In a small cache it is at least `kMinLargeBytes`.
constexpr uint64_t kLargeShare = 16;
constexpr uint64_t kManyLargeShare = 4;
constexpr uint64_t kMinLargeBytes = 16 << 10;
// Estimated memory of a large row in addition to its key and value.
constexpr uint64_t kLargeRowBytes = 192;
// Number of rows that are looked up together, so that their prefetches overlap.
constexpr size_t kRowsAtOnce = 16;
constexpr size_t kCacheLine = 64;
// Number of lines that are prefetched of an entry, and of a directory.
constexpr size_t kEntryLines = 3;
constexpr size_t kDirectoryLines = 3;
// Size of the head of a record, before its key.
constexpr size_t kRecordHead = 8;

uint32_t wordAt(const uint8_t* bucket, size_t at) {
  uint32_t value;
  memcpy(&value, bucket + at, sizeof value);
  return value;
}

void putWord(uint8_t* bucket, size_t at, uint32_t value) { memcpy(bucket + at, &value, sizeof value); }

size_t rowsOf(const uint8_t* bucket) { return wordAt(bucket, kHeadAt) >> 16; }
size_t endOf(const uint8_t* bucket) { return wordAt(bucket, kHeadAt) & 0xffff; }
void putHead(uint8_t* bucket, size_t rows, size_t end) {
  putWord(bucket, kHeadAt, static_cast<uint32_t>(rows << 16 | end));
}

size_t placeOf(size_t position) { return kHeadAt - (position + 1) * kWord; }
uint32_t directoryAt(const uint8_t* bucket, size_t position) { return wordAt(bucket, placeOf(position)); }
size_t offsetAt(const uint8_t* bucket, size_t position) { return directoryAt(bucket, position) & kOffset; }
// The end of the entry at a position.
size_t limitAt(const uint8_t* bucket, size_t position) {
  return position + 1 < rowsOf(bucket) ? offsetAt(bucket, position + 1) : endOf(bucket);
}

uint32_t tagOf(uint64_t hash) { return static_cast<uint32_t>(hash & 0xffff); }

// Position of a key in its bucket; the number of rows if it is not there.
size_t positionOf(const uint8_t* bucket, const uint8_t* key, size_t keySize, uint64_t hash) {
  const size_t rows = rowsOf(bucket);
  const uint32_t tag = tagOf(hash);
  for (size_t position = 0; position < rows; position++) {
    const uint32_t word = directoryAt(bucket, position);
    if (word >> kTagShift != tag) continue;
    const uint8_t* entry = bucket + (word & kOffset);
    if (entry[0] == keySize && memcmp(entry + 1, key, keySize) == 0) return position;
  }
  return rows;
}

bool fits(size_t keySize, size_t valueSize) { return keySize <= kMaxKey && 1 + keySize + valueSize <= kMaxEntry; }

}  // namespace

RowCache::RowCache(uint64_t maxBytes) : maxBytes_(maxBytes) {
  static_assert(kBucketBytes == kBucket, "the size of a bucket");
  drawSalts(salt_);
  plan();
}

void RowCache::plan() {
  maxLargeBytes_ = maxBytes_ / (hasManyLarge_ ? kManyLargeShare : kLargeShare);
  maxLargeBytes_ = std::max(maxLargeBytes_, std::min(maxBytes_ / kManyLargeShare, kMinLargeBytes));
  const uint64_t buckets = std::max<uint64_t>(1, (maxBytes_ - maxLargeBytes_) / kBucket);
  unsigned doublings = 0;
  while (buckets >> (doublings + kFirstBits + 1) > 0) doublings++;
  firstBuckets_ = static_cast<size_t>(buckets >> doublings);
  maxBuckets_ = firstBuckets_ << doublings;
}

uint64_t RowCache::hashOf(const uint8_t* key, size_t size) const {
  return hashOfKey(salt_, key, size);
}

uint8_t* RowCache::bucketAt(size_t number) const {
  return segments_[number / kSegmentBuckets].get() + number % kSegmentBuckets * kBucket;
}

// The upper half of the hash, scaled to the number of buckets.
size_t RowCache::numberOf(uint64_t hash) const { return static_cast<size_t>((hash >> 32) * buckets_ >> 32); }

uint8_t* RowCache::bucketOf(uint64_t hash) const { return bucketAt(numberOf(hash)); }

bool RowCache::isFull(size_t buckets) const { return entryBytes_ * 4 > buckets * kBucket * kFullQuarters; }

void RowCache::allocate(size_t buckets) {
  buckets_ = buckets;
  segments_.clear();
  segments_.resize((buckets + kSegmentBuckets - 1) / kSegmentBuckets);
}

void RowCache::startBucket(size_t number) {
  const size_t segment = number / kSegmentBuckets;
  if (!segments_[segment])
    segments_[segment] = makeHugeBytes(std::min(kSegmentBuckets, buckets_ - segment * kSegmentBuckets) * kBucket);
  putHead(bucketAt(number), 0, 0);
}

int64_t RowCache::find(const uint8_t* key, size_t keySize, const uint8_t** value) {
  return find(key, keySize, hashOf(key, keySize), value);
}

int64_t RowCache::find(const uint8_t* key, size_t keySize, uint64_t hash, const uint8_t** value) {
  if (count_ > 0) {
    uint8_t* bucket = bucketOf(hash);
    const size_t position = positionOf(bucket, key, keySize, hash);
    if (position < rowsOf(bucket)) {
      const uint32_t word = directoryAt(bucket, position);
      putWord(bucket, placeOf(position), word | kRead);
      if (word & kDeletion) return Memtable::kDeleted;
      *value = bucket + (word & kOffset) + 1 + keySize;
      return static_cast<int64_t>(limitAt(bucket, position) - (word & kOffset) - 1 - keySize);
    }
  }
  return large_.empty() ? Memtable::kUnknown : findLarge(key, keySize, hash, value);
}

void RowCache::findMany(Memtable::Lookup* lookups, size_t count) {
  uint64_t hashes[kRowsAtOnce];
  for (size_t start = 0; start < count; start += kRowsAtOnce) {
    const size_t some = std::min(kRowsAtOnce, count - start);
    for (size_t i = 0; i < some; i++) {
      hashes[i] = hashOf(lookups[start + i].key, lookups[start + i].keySize);
      if (count_ == 0) continue;
      const uint8_t* end = bucketOf(hashes[i]) + kBucket - 1;
      for (size_t line = 0; line < kDirectoryLines; line++) __builtin_prefetch(end - line * kCacheLine);
    }
    for (size_t i = 0; i < some && count_ > 0; i++) {
      const uint8_t* bucket = bucketOf(hashes[i]);
      const size_t rows = rowsOf(bucket);
      for (size_t position = 0; position < rows; position++) {
        const uint32_t word = directoryAt(bucket, position);
        if (word >> kTagShift != tagOf(hashes[i])) continue;
        const uint8_t* entry = bucket + (word & kOffset);
        for (size_t line = 0; line < kEntryLines; line++) __builtin_prefetch(entry + line * kCacheLine);
        break;
      }
    }
    for (size_t i = 0; i < some; i++) {
      Memtable::Lookup& lookup = lookups[start + i];
      lookup.length = find(lookup.key, lookup.keySize, hashes[i], &lookup.value);
    }
  }
}

void RowCache::set(const uint8_t* key, size_t keySize, const uint8_t* value, size_t valueSize) {
  set(key, keySize, hashOf(key, keySize), value, value ? valueSize : 0);
}

void RowCache::set(const uint8_t* key, size_t keySize, uint64_t hash, const uint8_t* value, size_t valueSize) {
  if (buckets_ == 0) {
    allocate(firstBuckets_);
    for (size_t number = 0; number < buckets_; number++) startBucket(number);
  }
  uint8_t* bucket = bucketOf(hash);
  const size_t position = positionOf(bucket, key, keySize, hash);
  const bool isThere = position < rowsOf(bucket);
  if (!large_.empty()) {
    const auto known = large_.find({hash, {reinterpret_cast<const char*>(key), keySize}});
    if (known != large_.end()) eraseLarge(known->second);
  }
  if (!fits(keySize, valueSize)) {
    if (isThere) remove(bucket, position);
    return setLarge(key, keySize, hash, value, valueSize);
  }
  if (isThere && limitAt(bucket, position) - offsetAt(bucket, position) == 1 + keySize + valueSize) {
    const uint32_t word = directoryAt(bucket, position);
    putWord(bucket, placeOf(position), value ? word & ~kDeletion : word | kDeletion);
    if (valueSize > 0) memcpy(bucket + (word & kOffset) + 1 + keySize, value, valueSize);
    return;
  }
  if (isThere) remove(bucket, position);
  insert(bucket, key, keySize, hash, value, valueSize);
  if (buckets_ < maxBuckets_ && isFull(buckets_)) move(2 * buckets_);
}

void RowCache::insert(uint8_t* bucket, const uint8_t* key, size_t keySize, uint64_t hash, const uint8_t* value,
                      size_t valueSize) {
  const size_t size = 1 + keySize + valueSize;
  makeRoom(bucket, size);
  const size_t rows = rowsOf(bucket), end = endOf(bucket);
  uint8_t* entry = bucket + end;
  entry[0] = static_cast<uint8_t>(keySize);
  if (keySize > 0) memcpy(entry + 1, key, keySize);
  if (valueSize > 0) memcpy(entry + 1 + keySize, value, valueSize);
  putWord(bucket, placeOf(rows), tagOf(hash) << kTagShift | (value ? 0 : kDeletion) | static_cast<uint32_t>(end));
  putHead(bucket, rows + 1, end + size);
  count_++;
  entryBytes_ += size + kWord;
}

void RowCache::remove(uint8_t* bucket, size_t position) {
  const size_t rows = rowsOf(bucket), end = endOf(bucket);
  const size_t from = offsetAt(bucket, position), to = limitAt(bucket, position);
  memmove(bucket + from, bucket + to, end - to);
  for (size_t next = position + 1; next < rows; next++)
    putWord(bucket, placeOf(next - 1), directoryAt(bucket, next) - static_cast<uint32_t>(to - from));
  putHead(bucket, rows - 1, end - (to - from));
  count_--;
  entryBytes_ -= to - from + kWord;
}

void RowCache::makeRoom(uint8_t* bucket, size_t size) {
  const size_t rows = rowsOf(bucket);
  size_t left = kHeadAt - rows * kWord - endOf(bucket);
  const size_t needed = size + kWord;
  if (left >= needed) return;
  // The oldest rows, in their order: those that were read move behind the others, the rest is evicted.
  uint16_t moved[kMaxRows];
  size_t movedCount = 0, seen = 0;
  for (; seen < rows && left < needed; seen++) {
    if (directoryAt(bucket, seen) & kRead) moved[movedCount++] = static_cast<uint16_t>(seen);
    else left += limitAt(bucket, seen) - offsetAt(bucket, seen) + kWord;
  }
  size_t dropped = 0;
  for (; left < needed; dropped++) left += limitAt(bucket, moved[dropped]) - offsetAt(bucket, moved[dropped]) + kWord;
  uint8_t kept[kBucket];
  size_t keptRows = 0, end = 0;
  const auto keep = [&](size_t position, uint32_t flags) {
    const size_t from = offsetAt(bucket, position), length = limitAt(bucket, position) - from;
    memcpy(kept + end, bucket + from, length);
    putWord(kept, placeOf(keptRows++), (directoryAt(bucket, position) & ~kOffset & flags) | static_cast<uint32_t>(end));
    end += length;
  };
  for (size_t position = seen; position < rows; position++) keep(position, ~0u);
  for (size_t i = dropped; i < movedCount; i++) keep(moved[i], ~kRead);
  entryBytes_ -= endOf(bucket) - end + (rows - keptRows) * kWord;
  count_ -= rows - keptRows;
  memcpy(bucket, kept, end);
  memcpy(bucket + kHeadAt - keptRows * kWord, kept + kHeadAt - keptRows * kWord, keptRows * kWord);
  putHead(bucket, keptRows, end);
}

void RowCache::move(size_t buckets) {
  std::vector<HugeBytes> old;
  old.swap(segments_);
  const size_t before = buckets_;
  allocate(buckets);
  count_ = 0;
  entryBytes_ = 0;
  // The buckets are in the order of the hashes before and after, so memory can be freed and allocated step by step.
  size_t started = 0;
  for (size_t number = 0; number < before; number++) {
    const uint8_t* bucket = old[number / kSegmentBuckets].get() + number % kSegmentBuckets * kBucket;
    const size_t rows = rowsOf(bucket);
    for (size_t position = 0; position < rows; position++) {
      const uint32_t word = directoryAt(bucket, position);
      const uint8_t* entry = bucket + (word & kOffset);
      const size_t keySize = entry[0], valueSize = limitAt(bucket, position) - (word & kOffset) - 1 - keySize;
      const uint64_t hash = hashOf(entry + 1, keySize);
      while (started <= numberOf(hash)) startBucket(started++);
      uint8_t* target = bucketAt(numberOf(hash));
      insert(target, entry + 1, keySize, hash, word & kDeletion ? nullptr : entry + 1 + keySize, valueSize);
      const size_t last = placeOf(rowsOf(target) - 1);
      putWord(target, last, wordAt(target, last) | (word & kRead));
    }
    if ((number + 1) % kSegmentBuckets == 0) old[number / kSegmentBuckets].reset();
  }
  while (started < buckets_) startBucket(started++);
}

void RowCache::rebuild() {
  plan();
  if (buckets_ > 0) {
    size_t buckets = firstBuckets_;
    while (buckets < maxBuckets_ && isFull(buckets)) buckets *= 2;
    move(buckets);
  }
  evictLarge();
}

bool RowCache::setRecords(uint8_t kind, const uint8_t* records, size_t size) {
  struct Record {
    const uint8_t* key;
    size_t keySize;
    uint32_t storedSize;
    uint64_t hash;
  };
  Record some[kRowsAtOnce];
  for (const uint8_t *at = records, *end = records + size; at < end;) {
    size_t count = 0;
    bool isWhole = true;
    while (count < kRowsAtOnce && at < end) {
      const size_t left = static_cast<size_t>(end - at);
      const size_t keySize = left < kRecordHead ? 0 : readLE32(at);
      const uint32_t storedSize = left < kRecordHead ? 0 : readLE32(at + 4);
      const size_t valueSize = storedSize == Memtable::kDeletedValue ? 0 : storedSize;
      isWhole = left >= kRecordHead && keySize <= left - kRecordHead && valueSize <= left - kRecordHead - keySize;
      if (!isWhole) break;
      const uint8_t* key = at + kRecordHead;
      at = key + keySize + valueSize;
      if (keySize == 0 || key[0] != kind) continue;
      some[count] = Record{key, keySize, storedSize, hashOf(key, keySize)};
      if (buckets_ > 0) {
        const uint8_t* last = bucketOf(some[count].hash) + kBucket - 1;
        for (size_t line = 0; line < kDirectoryLines; line++) __builtin_prefetch(last - line * kCacheLine, 1);
      }
      count++;
    }
    for (size_t i = 0; i < count; i++) {
      const Record& record = some[i];
      const bool isDeletion = record.storedSize == Memtable::kDeletedValue;
      set(record.key, record.keySize, record.hash, isDeletion ? nullptr : record.key + record.keySize,
          isDeletion ? 0 : record.storedSize);
    }
    if (!isWhole) return false;
  }
  return true;
}

int64_t RowCache::findLarge(const uint8_t* key, size_t keySize, uint64_t hash, const uint8_t** value) {
  const auto known = large_.find({hash, {reinterpret_cast<const char*>(key), keySize}});
  if (known == large_.end()) return Memtable::kUnknown;
  LargeRow& row = *known->second;
  row.wasRead = true;
  if (row.isDeletion) return Memtable::kDeleted;
  *value = reinterpret_cast<const uint8_t*>(row.value.data());
  return static_cast<int64_t>(row.value.size());
}

void RowCache::setLarge(const uint8_t* key, size_t keySize, uint64_t hash, const uint8_t* value, size_t valueSize) {
  LargeRow row = {hash, std::string(reinterpret_cast<const char*>(key), keySize), {}, value == nullptr, false};
  if (value) row.value.assign(reinterpret_cast<const char*>(value), valueSize);
  const uint64_t size = keySize + valueSize + kLargeRowBytes;
  if (largeBytes_ + size > maxLargeBytes_ && !hasManyLarge_ && maxBytes_ / kManyLargeShare > maxLargeBytes_) {
    hasManyLarge_ = true;
    rebuild();
  }
  if (size > maxLargeBytes_) return;
  largeRows_.push_back(std::move(row));
  const auto added = std::prev(largeRows_.end());
  large_.emplace(LargeKey{hash, added->key}, added);
  largeBytes_ += size;
  evictLarge();
}

void RowCache::eraseLarge(LargeRows::iterator row) {
  largeBytes_ -= row->key.size() + row->value.size() + kLargeRowBytes;
  large_.erase({row->hash, row->key});
  largeRows_.erase(row);
}

void RowCache::evictLarge() {
  while (largeBytes_ > maxLargeBytes_) {
    const auto oldest = largeRows_.begin();
    if (!oldest->wasRead) {
      eraseLarge(oldest);
      continue;
    }
    oldest->wasRead = false;
    largeRows_.splice(largeRows_.end(), largeRows_, oldest);
  }
}

void RowCache::clear() {
  segments_.clear();
  buckets_ = 0;
  count_ = 0;
  entryBytes_ = 0;
  large_.clear();
  largeRows_.clear();
  largeBytes_ = 0;
}

void RowCache::resize(uint64_t maxBytes) {
  maxBytes_ = maxBytes;
  rebuild();
}

}  // namespace lbc
