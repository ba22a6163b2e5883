// The write-back overlay and the database as other threads read them. Both belong to the thread that made them; it alone
// changes them, and reads the overlay without a lock. Other readers hold the lock shared, and the owner holds it alone
// while it changes something. The owner comes next however many read: none begins while it waits.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "database.h"
#include "memtable.h"

namespace lbc {

// A table of rows with its readers.
class SharedTable {
 public:
  explicit SharedTable(uint64_t maxBytes) : rows_(maxBytes) {}

  // The following are the owner's alone.

  Memtable& rows() { return rows_; }
  // Others may attach from here on. Until then nothing is locked.
  void share() { isShared_ = true; }
  bool isShared() const { return isShared_; }
  // Several changes that readers see all or none of, in one hold of the lock.
  void beginChange();
  void endChange();
  // As `Memtable::range`, which sorts what was added.
  void range(const uint8_t* gte, size_t gteSize, const uint8_t* lt, size_t ltSize, std::vector<uint8_t>* out);

  // One change: locks unless the owner does already.
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

  // The following are for every thread.

  // Grows with each `beginChange`, before anything of it can be seen.
  uint64_t changes() const { return changes_.load(std::memory_order_acquire); }
  // As `Memtable::find`; appends the value.
  int64_t look(const uint8_t* key, size_t keySize, std::vector<uint8_t>* out);
  // As `Memtable::range`; answers how many records.
  size_t lookRange(const uint8_t* gte, size_t gteSize, const uint8_t* lt, size_t ltSize, std::vector<uint8_t>* out);

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
  // Passed by readers on their way to the lock: a lock that is shared may starve a thread that wants it exclusively.
  std::mutex turn_;
  std::shared_mutex lock_;
  std::atomic<uint64_t> changes_{0};
  // Kinds of rows that readers walk: the owner keeps them in order from then on.
  std::atomic<bool> walked_[256] = {};
  bool isShared_ = false;
  bool isChanging_ = false;
};

// A database that may be closed and opened again while others are attached to it.
class SharedDatabase {
 public:
  // Waits until no one reads; no one begins to read what is about to be closed, or before it is open.
  void set(std::shared_ptr<Database> database) {
    isOpen_.store(false);
    const std::unique_lock<std::shared_mutex> alone(lock_);
    database_.swap(database);
    isOpen_.store(database_ != nullptr);
  }

  // What `read` answers, which keeps nothing of the database; it is handed null if that is closed.
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
