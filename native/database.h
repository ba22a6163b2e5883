// LevelDB as the node wants it: every block of a table and every record of a log is compared with its checksum before
// anyone sees a byte of it, table files are read and not mapped, and rows travel in packed form. Knows no Node-API.
//
// Packed rows: `u32 length of the key ‖ u32 length of the value, or 0xffffffff for a deletion ‖ key ‖ value`
// (src/store/rows/rowRecords.ts). Packed values: `u32 length, or 0xffffffff where there is no row ‖ value`. Little endian.
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
  // LevelDB's cache of blocks out of table files.
  uint64_t cacheBytes = 8 << 20;
  // What is written goes into a table file from here on.
  uint64_t writeBufferBytes = 4 << 20;
  // A table file is full from here on.
  uint64_t fileBytes = 2 << 20;
  // Table files that are kept open.
  int openFiles = 1000;
};

struct KeyBounds {
  // Inclusive and exclusive.
  std::string gte, lt;
  bool isReverse = false;
};

using Bytes = std::vector<uint8_t>;

class Database {
 public:
  // Makes the database where there is none.
  static leveldb::Status open(const std::string& path, const DatabaseOptions& options, std::unique_ptr<Database>* out);
  // Waits for LevelDB's background work. No iterator may be left.
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Appends the packed value of the key.
  leveldb::Status get(const leveldb::Slice& key, bool fillCache, Bytes* out) const;
  // A view at the rows as they are now; the caller deletes it before the database.
  leveldb::Iterator* iterate(bool fillCache) const;
  // The puts and deletes of packed rows as one atomic batch. Corruption when they are no packed rows.
  leveldb::Status write(const std::vector<std::pair<const uint8_t*, size_t>>& pieces, bool isSynced);
  // Deletes all rows of the range, in several batches.
  leveldb::Status deleteRange(const KeyBounds& bounds);
  void compact(const std::string& gte, const std::string& lt);
  uint64_t approximateSize(const std::string& gte, const std::string& lt) const;
  std::string property(const std::string& name) const;
  // Number of the newest put or delete; each has one more than the one before it.
  uint64_t sequence() const;

 private:
  Database() = default;
  std::unique_ptr<leveldb::Cache> cache_;
  std::unique_ptr<const leveldb::FilterPolicy> filter_;
  std::unique_ptr<leveldb::Logger> log_;
  std::unique_ptr<leveldb::DB> db_;
};

// A walk over a range: where it stands, and whether it is over.
class RangeWalk {
 public:
  RangeWalk(const Database& database, KeyBounds bounds, bool fillCache);

  // Appends packed rows: at most `maxRows`, and none that begins behind `maxBytes` of them or when `isLate` says so
  // (asked after each row). Sets `isDone` when there are no more.
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
