// Rows by key in packed memory: the write-back overlay of the database. The JavaScript bindings are in memtableBinding.cpp.
// Memory: rows stored consecutively in segments, `u32 size in units of 8 bytes ‖ u32 length of the value ‖ u32 length of the
// key ‖ u32 number of the row ‖ key ‖ value`; a row that outgrows its space moves to the end and leaves the old space unused. A
// hash table with slots of 8 bytes maps a key to a row number. A vector maps a row number to the position of the row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "store/hugePages.h"

namespace lbc {

class Memtable {
 public:
  // Position that `find` returns for an unknown key.
  static constexpr int64_t kUnknown = -1;
  static constexpr int64_t kDeleted = -2;
  // Length that marks a deletion in records.
  static constexpr uint32_t kDeletedValue = UINT32_MAX;
  // Length that marks an unknown key in packed values.
  static constexpr uint32_t kUnknownValue = UINT32_MAX - 1;

  Memtable();
  Memtable(const Memtable&) = delete;
  Memtable& operator=(const Memtable&) = delete;

  // Looks up a key. Returns the length of its value. The value is valid until the next change of the table.
  int64_t find(const uint8_t* key, size_t keySize, const uint8_t** value) const;

  // A key that is looked up together with others, and the result that `find` returns for it.
  struct Lookup {
    const uint8_t* key = nullptr;
    size_t keySize = 0;
    int64_t length = kUnknown;
    const uint8_t* value = nullptr;
  };
  // Looks up all keys. This is faster than single lookups, because the memory accesses of several lookups overlap.
  void findMany(Lookup* lookups, size_t count) const;

  // Adds or replaces a row. A null value marks a deletion.
  void set(const uint8_t* key, size_t keySize, const uint8_t* value, size_t valueSize);

  // Sets the rows of records (see `walk`). Returns false when the bytes are not records.
  bool setRecords(const uint8_t* records, size_t size);

  // Appends a packed value for each key in `records`: `u32 length ‖ value`. The length is kDeletedValue for a deletion and
  // kUnknownValue for an unknown key, both without a value. Returns the number of unknown keys, or -1 when the bytes are
  // not records.
  ptrdiff_t readRecords(const uint8_t* records, size_t size, std::vector<uint8_t>* out) const;

  // Looks up the key of each record and calls `visit(key, size, value)` with the result of `find`, in the order of the
  // records, until it returns false. Faster than calls of `find`. `records` must be records.
  template <typename Visit>
  void findAll(const uint8_t* records, size_t size, const Visit& visit) const {
    Record some[kRecordsAtOnce];
    bool isWhole = true;
    for (const uint8_t *at = records, *end = records + size; isWhole && at < end;) {
      const size_t count = readAhead(&at, end, some, &isWhole);
      for (size_t i = 0; i < count; i++) {
        const uint8_t* value = nullptr;
        const int64_t found = find(some[i].key, some[i].keySize, some[i].hash, &value);
        if (!visit(some[i].key, found, value)) return;
      }
    }
  }

  void clear();

  uint64_t usedBytes() const { return units_ * kUnitBytes + count_ * kRowBytes; }
  size_t count() const { return count_; }

  // Declares that a row of this type (first byte of the key) is added only if the layers below have no row with its key.
  // If such a row is deleted before the next `clear`, iterations leave it out.
  void declareNew(uint8_t kind) { isNewKind_[kind] = true; }

  // Records are `u32 length of the key ‖ u32 length of the value, or kDeletedValue ‖ key ‖ value`, little endian.

  // Starts an iteration over all rows in the order of their keys, so that LevelDB inserts neighbours one after the other
  // and its table files do not overlap. The table must not change until the iteration ends.
  void beginWalk();
  // Writes the next records, as many as fit in `capacity`, and returns the number of bytes. Returns 0 at the end, and when
  // no record fits; then `needed` is the size required.
  size_t walk(uint8_t* out, size_t capacity, size_t* needed);

  // Keys from `gte` up to but not including `lt`. Only the first rows with `maxRows` values are wanted, or the last ones if
  // `isReverse`; deletions do not count.
  struct Range {
    const uint8_t* gte;
    size_t gteSize;
    const uint8_t* lt;
    size_t ltSize;
    bool isReverse;
    size_t maxRows;
  };
  // Writes to `out` the records of a range, ascending, and returns their number. Rows of the same type (first byte of the
  // key) that are not sorted yet are compared one by one.
  size_t range(const Range& range, std::vector<uint8_t>* out) const;
  // Sorts the rows of a kind (first byte of the key). The cost depends on the rows added since the last sort.
  void sortKind(size_t kind) { settle(&orders_[kind]); }
  bool isSorted(size_t kind) const { return orders_[kind].fresh.empty(); }

 private:
  static constexpr size_t kUnitBytes = 8;
  // Memory that a row uses in addition to its segment, in bytes: hash slot, position and order.
  static constexpr size_t kRowBytes = 24;
  static constexpr unsigned kSegmentBits = 18;
  static constexpr uint32_t kNone = UINT32_MAX;
  // Flag in the stored key length: the layers below have no row with this key (`declareNew`).
  static constexpr uint32_t kNew = 1u << 30;

  struct Row {
    uint32_t units;
    uint32_t valueSize;
    uint32_t keySizeFlags;
    uint32_t number;

    uint32_t keySize() const { return keySizeFlags & ~kNew; }
    // Whether neither this table nor the layers below have a row with this key.
    bool isForgotten() const { return (keySizeFlags & kNew) != 0 && valueSize == kDeletedValue; }
    uint8_t* key() { return reinterpret_cast<uint8_t*>(this + 1); }
    const uint8_t* key() const { return reinterpret_cast<const uint8_t*>(this + 1); }
    uint8_t* value() { return key() + keySize(); }
    size_t capacity() const { return units * kUnitBytes - sizeof(Row) - keySize(); }
  };

  struct Slot {
    uint32_t number;
    uint32_t hash;
  };

  // A record with the hash of its key. The value follows the key.
  struct Record {
    const uint8_t* key;
    uint32_t keySize;
    uint32_t storedSize;
    uint32_t hash;
  };
  // Number of records that are looked up together, so that their prefetches overlap.
  static constexpr size_t kRecordsAtOnce = 16;

  struct Segment {
    HugeBytes bytes;
    // In units.
    uint32_t size = 0;
    uint32_t used = 0;
  };

  // The rows of one type (first byte of the key): sorted runs of row numbers, the longest run first, and the row numbers
  // that are not sorted yet.
  struct Order {
    std::vector<std::vector<uint32_t>> runs;
    std::vector<uint32_t> fresh;
  };

  uint32_t hashOf(const uint8_t* key, size_t size) const;
  // Reads records from `*at` on, advances `*at`, and prefetches the hash slots of the records. Returns the number of records.
  // Sets `isWhole` to false when the bytes are not records.
  size_t readAhead(const uint8_t** at, const uint8_t* end, Record* records, bool* isWhole) const;
  // Prefetches the memory that lookups of keys with these hashes read.
  void prefetch(const uint32_t* hashes, size_t count) const;
  int64_t find(const uint8_t* key, size_t keySize, uint32_t hash, const uint8_t** value) const;
  void set(const uint8_t* key, size_t keySize, uint32_t hash, const uint8_t* value, size_t valueSize);
  Row& at(uint32_t place) const;
  Row& row(uint32_t number) const { return at(places_[number]); }
  // The slot of the key, or the empty slot where it would be inserted.
  size_t slotOf(const uint8_t* key, size_t size, uint32_t hash) const;
  void grow();
  // Allocates space for a row at the end.
  uint32_t append(uint32_t units);
  void addSegment(uint32_t units);
  void settle(Order* order);
  // Sorts the rows of the iteration that have the same two first bytes as the next one.
  void sortAhead();
  // Row numbers of a range, ascending.
  std::vector<uint32_t> numbersIn(const Range& range) const;
  bool less(uint32_t a, uint32_t b) const;
  bool isBelow(uint32_t number, const uint8_t* key, size_t size) const;

  // In the order of filling; the last one is being filled.
  std::vector<Segment> segments_;
  // Empty segments kept for the next filling, and the number of segments that the last filling used.
  std::vector<HugeBytes> spare_;
  size_t lastSegments_ = 0;
  uint64_t units_ = 0;
  size_t count_ = 0;

  std::vector<Slot, HugePages<Slot>> slots_;
  // Position of each row, by row number.
  std::vector<uint32_t, HugePages<uint32_t>> places_;

  // Row numbers of the iteration, grouped by the first two bytes of their keys; the number of rows that were returned; the
  // number of rows that are in their final order.
  std::vector<uint32_t> walk_;
  size_t walked_ = 0;
  size_t sorted_ = 0;
  bool isNewKind_[256] = {};

  // Rows in sorted order by row type (first byte of the key). Types over which no code iterates are never sorted.
  std::vector<Order> orders_;

  uint64_t salt_[3];
};

}  // namespace lbc
