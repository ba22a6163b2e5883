// Reads committed rows through the layers of the store: rows that are not in the database yet, caches by row type, the database.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "store/database.h"
#include "store/memtable.h"
#include "store/rowCache.h"

namespace lbc {

class RowLayers {
 public:
  Memtable* overlay = nullptr;
  // Caches; null if the store has none.
  RowCache* names = nullptr;
  RowCache* items = nullptr;
  RowCache* nodes = nullptr;
  // Null if the database has no row of the types that are read.
  const Database* database = nullptr;

  // Reads a row. Returns false if there is none. Sets `failed` if it cannot be read, or if reads wait too long for the disk.
  bool read(const std::string& key, std::string* row, bool* failed);
  // Reads many rows of one type. The length of a row that does not exist is `Memtable::kDeleted`. The values are valid until
  // a table or cache changes or the layers are destroyed. Returns false where `read` sets `failed`.
  bool readMany(Memtable::Lookup* lookups, size_t count);

 private:
  using Clock = std::chrono::steady_clock;

  RowCache* cacheOf(uint8_t kind) const {
    return kind == 'n' ? names : kind == 'i' ? items : kind == 't' ? nodes : nullptr;
  }
  // Reads a packed row from the database. Sets `isSlow` if the row was not in memory.
  bool readPacked(const uint8_t* key, size_t keySize, Bytes* packed, std::atomic<bool>* isSlow) const;
  // Reads the rows at the positions `unknown_` from the database.
  bool readUnknown(Memtable::Lookup* lookups);

  // Time of calls that waited for the disk.
  Clock::duration waited_ = {};
  std::vector<Bytes> kept_;
  std::vector<size_t> unknown_;
  std::vector<Memtable::Lookup> rest_;
};

}  // namespace lbc
