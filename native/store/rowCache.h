// Cache of the latest values of rows, with a size limit. The JavaScript bindings are in rowCacheBinding.cpp.
//
// Memory: buckets of 4 KiB. The hash of a key selects its bucket. A bucket has its rows one after the other, `u8 size of the
// key ‖ key ‖ value`, the row that was set last at the end, and a directory of 4 bytes a row at the end of the bucket. A full
// bucket evicts its oldest rows, except rows that were read since they were set or last considered for eviction. A row thus
// takes 5 bytes besides its key and value, no space is unused between rows, and a lookup reads two places in memory. Rows that
// are too large for a bucket are stored one by one.
//
// The number of buckets begins small and doubles until the size limit is reached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/hugePages.h"
#include "store/memtable.h"

namespace lbc {

class RowCache {
 public:
  // `maxBytes`: size limit in bytes, greater than 0.
  explicit RowCache(uint64_t maxBytes);
  RowCache(const RowCache&) = delete;
  RowCache& operator=(const RowCache&) = delete;

  // Looks up a key. Returns what `Memtable::find` returns. The value is valid until the next change.
  int64_t find(const uint8_t* key, size_t keySize, const uint8_t** value);
  // Looks up all keys. This is faster than single lookups, because the memory accesses of several lookups overlap.
  void findMany(Memtable::Lookup* lookups, size_t count);

  // Adds or replaces a row. A null value marks a deletion. A row that is too large for the cache is dropped.
  void set(const uint8_t* key, size_t keySize, const uint8_t* value, size_t valueSize);
  // Sets the rows of records (see `Memtable`) whose keys begin with the byte `kind`. Returns false when the bytes are not
  // records.
  bool setRecords(uint8_t kind, const uint8_t* records, size_t size);

  void clear();
  // Changes the size limit, and evicts rows if the cache exceeds it.
  void resize(uint64_t maxBytes);

  // Memory of the cache in bytes.
  uint64_t usedBytes() const { return buckets_ * kBucketBytes + largeBytes_; }
  size_t count() const { return count_ + large_.size(); }

 private:
  static constexpr size_t kBucketBytes = 4096;
  // Number of buckets in an allocation.
  static constexpr size_t kSegmentBuckets = 512;

  struct LargeRow {
    uint64_t hash;
    std::string key;
    std::string value;
    bool isDeletion;
    // Whether the row was read since it was set or last considered for eviction.
    bool wasRead;
  };
  using LargeRows = std::list<LargeRow>;
  struct LargeKey {
    uint64_t hash;
    std::string_view key;
    bool operator==(const LargeKey& other) const { return hash == other.hash && key == other.key; }
  };
  struct LargeHash {
    size_t operator()(const LargeKey& key) const { return static_cast<size_t>(key.hash); }
  };

  uint64_t hashOf(const uint8_t* key, size_t size) const;
  uint8_t* bucketAt(size_t number) const;
  size_t numberOf(uint64_t hash) const;
  uint8_t* bucketOf(uint64_t hash) const;
  // Whether the rows fill so much of this number of buckets that more are needed.
  bool isFull(size_t buckets) const;
  int64_t find(const uint8_t* key, size_t keySize, uint64_t hash, const uint8_t** value);
  void set(const uint8_t* key, size_t keySize, uint64_t hash, const uint8_t* value, size_t valueSize);
  // Sets the number of buckets and the limit of large rows from the size limit, without memory.
  void plan();
  void allocate(size_t buckets);
  // Makes an empty bucket, and the segment that contains it if it does not exist.
  void startBucket(size_t number);
  // Moves all rows to another number of buckets.
  void move(size_t buckets);
  // Adapts the cache to its size limit.
  void rebuild();
  void insert(uint8_t* bucket, const uint8_t* key, size_t keySize, uint64_t hash, const uint8_t* value, size_t valueSize);
  void remove(uint8_t* bucket, size_t position);
  // Evicts rows of a bucket until it has space for `size` bytes and their directory entry.
  void makeRoom(uint8_t* bucket, size_t size);
  int64_t findLarge(const uint8_t* key, size_t keySize, uint64_t hash, const uint8_t** value);
  void setLarge(const uint8_t* key, size_t keySize, uint64_t hash, const uint8_t* value, size_t valueSize);
  void eraseLarge(LargeRows::iterator row);
  void evictLarge();

  uint64_t salt_[3];
  uint64_t maxBytes_;
  // The first, the current and the maximum number of buckets. The current number is 0 while there are no rows.
  size_t firstBuckets_ = 0;
  size_t buckets_ = 0;
  size_t maxBuckets_ = 0;
  std::vector<HugeBytes> segments_;
  // Number of rows in buckets, and the size of their entries in bytes.
  size_t count_ = 0;
  uint64_t entryBytes_ = 0;

  // From the oldest to the newest.
  LargeRows largeRows_;
  std::unordered_map<LargeKey, LargeRows::iterator, LargeHash> large_;
  uint64_t largeBytes_ = 0;
  uint64_t maxLargeBytes_ = 0;
  // Whether large rows may take a larger share, because they have exceeded the smaller one.
  bool hasManyLarge_ = false;
};

}  // namespace lbc
