// The write-back overlay and the database as other threads read them. Both belong to the thread that created them. Only
// this owner changes them, and it reads the overlay without a lock. Other readers hold the lock shared; the owner holds it
// exclusively during a change. The owner has priority: no reader starts while the owner waits.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "store/database.h"
#include "store/memtable.h"

namespace lbc {

// A memtable with the lock through which other threads read it.
class SharedTable {
 public:
  // Functions that only the owner may call.

  Memtable& rows() { return rows_; }
  // Allows other threads to attach to the table. Before this call no lock is taken.
  void share() { isShared_ = true; }
  bool isShared() const { return isShared_; }
  // Begin and end of a change. Everything in between becomes visible to readers together, under one exclusive lock.
  void beginChange();
  void endChange();
  // Appends the rows of a range as `Memtable::range` does, after sorting the rows that were added since the last sort.
  void range(const Memtable::Range& range, std::vector<uint8_t>* out);

  // Scope of one change: takes the lock unless the owner already holds it.
  class Change {
   public:
    explicit Change(SharedTable* table) : table_(table->isShared_ && !table->isChanging_ ? table : nullptr) {
      if (table_) table_->lock();
    }
    ~Change() {
      if (table_) table_->unlock();
    }
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

   private:
    SharedTable* const table_;
  };

  // Functions that any thread may call.

  // Incremented by each `beginChange`, before any part of the change is visible.
  uint64_t changes() const { return changes_.load(std::memory_order_acquire); }
  // Like `Memtable::find`, but appends the value to `out`.
  int64_t look(const uint8_t* key, size_t keySize, std::vector<uint8_t>* out);
  // Appends the rows of a range as `Memtable::range` does. Returns the number of records.
  size_t lookRange(const Memtable::Range& range, std::vector<uint8_t>* out);

 private:
  using ReadLock = std::shared_lock<std::shared_mutex>;

  void lock() {
    turn_.lock();
    lock_.lock();
  }
  void unlock() {
    lock_.unlock();
    turn_.unlock();
  }
  ReadLock lockForReading() {
    const std::lock_guard<std::mutex> turn(turn_);
    return ReadLock(lock_);
  }

  Memtable rows_;
  // Readers lock this mutex before `lock_`. Without it, a continuous stream of readers could keep the owner from locking
  // `lock_` exclusively.
  std::mutex turn_;
  std::shared_mutex lock_;
  std::atomic<uint64_t> changes_{0};
  // Row types (first byte of a key) over which readers iterate. The owner sorts rows of these types.
  std::atomic<bool> walked_[256] = {};
  bool isShared_ = false;
  bool isChanging_ = false;
};

// A database that may be closed and reopened while other threads are attached to it.
class SharedDatabase {
 public:
  // Replaces the database. Waits until no thread reads; no thread starts a read on a database that is being closed or is
  // not open yet.
  void set(std::shared_ptr<Database> database) {
    isOpen_.store(false);
    const std::unique_lock<std::shared_mutex> alone(lock_);
    database_.swap(database);
    isOpen_.store(database_ != nullptr);
  }

  // Calls `read` with the database, or with null if the database is closed, and returns its result. `read` must not keep a
  // reference to the database.
  template <typename Read>
  leveldb::Status with(const Read& read) {
    if (!isOpen_.load()) return read(nullptr);
    const std::shared_lock<std::shared_mutex> shared(lock_);
    return read(database_.get());
  }

 private:
  std::atomic<bool> isOpen_{false};
  std::shared_mutex lock_;
  std::shared_ptr<Database> database_;
};

}  // namespace lbc
