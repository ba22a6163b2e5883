// Wrapper around LevelDB. It verifies the checksum of every table block and log record before use. It reads table files
// instead of mapping them. Rows cross the interface in packed form. This file does not use Node-API.
//
// Packed rows: `u32 length of the key ‖ u32 length of the value, or 0xffffffff for a deletion ‖ key ‖ value`
// (src/store/rows/rowRecords.ts). Packed values: `u32 length, or 0xffffffff for a missing row ‖ value`. Little endian.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "leveldb/db.h"

namespace leveldb {
class Cache;
class FilterPolicy;
}  // namespace leveldb

namespace lbc {

struct DatabaseOptions {
  // Size of LevelDB's cache of table blocks in bytes.
  uint64_t cacheBytes = 8 << 20;
  // Number of bytes in the write buffer at which LevelDB writes them to a table file.
  uint64_t writeBufferBytes = 4 << 20;
  // Maximum size of a table file in bytes.
  uint64_t fileBytes = 2 << 20;
  // Maximum number of open table files.
  int openFiles = 1000;
  // First bytes of the keys of rows that are read by ranges only. The tables have no bloom filters for them, because a filter
  // helps only reads of single keys and stays in memory while its table is open.
  std::string rangeKinds;
};

struct KeyBounds {
  // Lower bound (inclusive) and upper bound (exclusive) of the keys.
  std::string gte, lt;
  bool isReverse = false;
};

using Bytes = std::vector<uint8_t>;

class Database {
 public:
  // Opens a database. Creates it if it does not exist.
  static leveldb::Status open(const std::string& path, const DatabaseOptions& options, std::unique_ptr<Database>* out);
  // Waits for LevelDB's background work. All iterators must be deleted before.
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Appends the packed value of the key to `out`.
  leveldb::Status get(const leveldb::Slice& key, bool fillCache, Bytes* out) const;
  // Iterator over a snapshot of the rows; the caller deletes it before the database.
  leveldb::Iterator* iterate(bool fillCache) const;
  // Writes packed rows (puts and deletes) as one atomic batch. Returns a Corruption status when the bytes are not packed
  // rows.
  leveldb::Status write(const std::vector<std::pair<const uint8_t*, size_t>>& pieces, bool isSynced);
  // Deletes all rows of the range, in several batches.
  leveldb::Status deleteRange(const KeyBounds& bounds);
  void compact(const std::string& gte, const std::string& lt);
  uint64_t approximateSize(const std::string& gte, const std::string& lt) const;
  std::string property(const std::string& name) const;
  // Sequence number of the newest put or delete; each one increments it by one.
  uint64_t sequence() const;

 private:
  Database() = default;
  std::unique_ptr<leveldb::Cache> cache_;
  std::unique_ptr<const leveldb::FilterPolicy> filter_;
  std::unique_ptr<leveldb::Logger> log_;
  std::unique_ptr<leveldb::DB> db_;
};

// Iterates over the rows of a range. Keeps the position and knows whether the end is reached.
class RangeWalk {
 public:
  RangeWalk(const Database& database, KeyBounds bounds, bool fillCache);

  // Appends at most `maxRows` packed rows to `out`. Stops once more than `maxBytes` are written, or when `isLate` returns
  // true (called after each row). `isDone` is true when the range has no further rows.
  leveldb::Status read(size_t maxRows, size_t maxBytes, const std::function<bool()>& isLate, Bytes* out);
  bool isDone() const { return isDone_; }

 private:
  bool isInside() const;

  KeyBounds bounds_;
  std::unique_ptr<leveldb::Iterator> iterator_;
  bool isDone_ = false;
  bool isPlaced_ = false;
};

}  // namespace lbc
