// Rows by their key in packed memory: the write-back overlay of the database, and with a bound the cache of rows that
// were written recently. Pure data structure: it knows neither what rows mean nor JavaScript (see memtableBinding.cpp).
//
// Memory: rows one behind the other in segments, `u32 size in units of 8 bytes ‖ u32 length of the value ‖ u32 length of
// the key ‖ u32 number of the row ‖ key ‖ value`; a row that outgrows its place moves to the end and leaves it empty. A
// hash table of 8 bytes a slot finds the number of a row, a vector its place. With a bound, when there is no room left, a
// mostly empty segment is compacted; else the oldest one goes, and rows of it that were asked for since they
// came there move to the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace lbc {

class Memtable {
 public:
  // What `find` answers instead of a length.
  static constexpr int64_t kUnknown = -1;
  static constexpr int64_t kDeleted = -2;
  // Length that stands for a deletion in records.
  static constexpr uint32_t kDeletedValue = UINT32_MAX;
  // In packed values: the key is unknown.
  static constexpr uint32_t kUnknownValue = UINT32_MAX - 1;

  // 0 sets no bound.
  explicit Memtable(uint64_t maxBytes);
  Memtable(const Memtable&) = delete;
  Memtable& operator=(const Memtable&) = delete;

  // Length of the value, which is good until the next change. Without a bound this changes nothing.
  int64_t find(const uint8_t* key, size_t keySize, const uint8_t** value);

  // A null value marks a deletion. With a bound a row that no segment has room for is forgotten instead.
  void set(const uint8_t* key, size_t keySize, const uint8_t* value, size_t valueSize);

  // Sets the rows of records (see `walk`), with a `kind` from 0 on those whose keys begin with that byte; false when the
  // bytes are no records.
  bool setRecords(int kind, const uint8_t* records, size_t size);

  // Packs the values of the keys of records: `u32 length ‖ value` one behind the other, without a value kDeletedValue for a
  // deletion and kUnknownValue where nothing is known of the key. Answers how many these are, -1 when the bytes are no
  // records.
  ptrdiff_t readRecords(const uint8_t* records, size_t size, std::vector<uint8_t>* out);

  void clear();

  uint64_t usedBytes() const { return units_ * kUnitBytes + count_ * kRowBytes; }
  size_t count() const { return count_; }
  bool isBounded() const { return maxBytes_ > 0; }

  // Records are `u32 length of the key ‖ u32 length of the value, or kDeletedValue ‖ key ‖ value`, little endian. The
  // following are for tables without a bound.

  // Starts a walk over all rows, by the first byte of their key. Nothing may change until its end.
  void beginWalk();
  // The next records, as many as `capacity` has room for: their bytes; 0 at the end, and when there is no room for one,
  // then `needed` says how much that is.
  size_t walk(uint8_t* out, size_t capacity, size_t* needed);

  // Makes `out` the records of the keys from `gte` up to but not including `lt`, ascending; how many. Of kinds that are not
  // sorted all rows that were added since are looked at.
  size_t range(const uint8_t* gte, size_t gteSize, const uint8_t* lt, size_t ltSize, std::vector<uint8_t>* out) const;
  // Puts the rows of a kind, the first byte of their keys, in order: a question costs what was added, not all.
  void sortKind(size_t kind) { settle(&orders_[kind]); }
  bool isSorted(size_t kind) const { return orders_[kind].fresh.empty(); }

 private:
  static constexpr size_t kUnitBytes = 8;
  // Slot, place and order of a row.
  static constexpr size_t kRowBytes = 24;
  static constexpr unsigned kSegmentBits = 17;
  static constexpr uint32_t kNone = UINT32_MAX;
  // In the length of the key: the row was asked for since it came to its place.
  static constexpr uint32_t kAsked = 1u << 31;

  struct Row {
    uint32_t units;
    uint32_t valueSize;
    uint32_t keySizeAsked;
    uint32_t number;

    uint32_t keySize() const { return keySizeAsked & ~kAsked; }
    uint8_t* key() { return reinterpret_cast<uint8_t*>(this + 1); }
    const uint8_t* key() const { return reinterpret_cast<const uint8_t*>(this + 1); }
    uint8_t* value() { return key() + keySize(); }
    size_t capacity() const { return units * kUnitBytes - sizeof(Row) - keySize(); }
  };

  struct Slot {
    uint32_t number;
    uint32_t hash;
  };

  // A record with the hash of its key; the value is behind the key.
  struct Record {
    const uint8_t* key;
    uint32_t keySize;
    uint32_t storedSize;
    uint32_t hash;
  };
  // Records that are looked up together.
  static constexpr size_t kRecordsAtOnce = 16;

  struct Segment {
    std::unique_ptr<uint8_t[]> bytes;
    // In units.
    uint32_t size = 0;
    uint32_t used = 0;
    // Left empty by rows that moved or went.
    uint32_t dead = 0;
  };

  // The rows of one kind in the order of their keys: sorted runs of numbers, the longest first, and those that wait.
  struct Order {
    std::vector<std::vector<uint32_t>> runs;
    std::vector<uint32_t> fresh;
  };

  uint32_t hashOf(const uint8_t* key, size_t size) const;
  // Reads some records from the place on, which moves behind them, with a `kind` from 0 on only those whose keys begin with
  // that byte, and has what they lead to fetched meanwhile: how many. `isWhole` is set to false if bytes are no records.
  size_t readAhead(int kind, const uint8_t** at, const uint8_t* end, Record* records, bool* isWhole) const;
  int64_t find(const uint8_t* key, size_t keySize, uint32_t hash, const uint8_t** value);
  void set(const uint8_t* key, size_t keySize, uint32_t hash, const uint8_t* value, size_t valueSize);
  Row& at(uint32_t place) const;
  Row& row(uint32_t number) const { return at(places_[number]); }
  // The slot of the key, or the empty one where it belongs.
  size_t slotOf(const uint8_t* key, size_t size, uint32_t hash) const;
  void grow();
  // A number without a place.
  uint32_t takeNumber();
  void erase(size_t slot);
  // Room for a row at the end.
  uint32_t append(uint32_t units);
  void addSegment(uint32_t units);
  void freeSegment(uint32_t segment);
  // The row at this place is there no more.
  void leave(uint32_t place);
  void moveToEnd(uint32_t place);
  // Makes room in a table with a bound, moving as many units as `mayMove` has left.
  void makeRoom(uint32_t* mayMove);
  // The segment, by its position in `filled_`, with the most empty space, if packing it again gains enough; else -1.
  ptrdiff_t sparsest() const;
  // Keeps rows that were asked for, as many units of them as `mayMove` has left.
  void evictOldest(uint32_t* mayMove);
  void settle(Order* order);
  bool less(uint32_t a, uint32_t b) const;
  bool isBelow(uint32_t number, const uint8_t* key, size_t size) const;

  const uint64_t maxBytes_;
  uint32_t segmentUnits_;
  std::vector<Segment> segments_;
  std::vector<uint32_t> freeSegments_;
  // In the order of their filling; the last one is being filled.
  std::deque<uint32_t> filled_;
  // Memory of segments of the usual size, kept for the next filling, and how many the last one took.
  std::vector<std::unique_ptr<uint8_t[]>> spare_;
  size_t lastSegments_ = 0;
  uint64_t units_ = 0;
  // Of these, in all segments.
  uint64_t dead_ = 0;
  size_t count_ = 0;

  std::vector<Slot> slots_;
  // By number; kNone for one that is free.
  std::vector<uint32_t> places_;
  std::vector<uint32_t> freeNumbers_;

  std::vector<uint32_t> walk_;
  size_t walked_ = 0;

  // By the first byte of the key; without a bound. What no one walks is never sorted.
  std::vector<Order> orders_;

  uint64_t salt_[3];
};

}  // namespace lbc
