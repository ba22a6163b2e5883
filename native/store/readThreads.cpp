#include "store/readThreads.h"

#include <thread>

namespace lbc {

namespace {

// Number of threads besides that of the caller. A disk serves several reads in the time of one.
constexpr size_t kThreads = 3;
// Minimum number of reads for which other threads are woken. Waking one takes as long as some reads from the page cache.
constexpr size_t kMinReads = 8;

}  // namespace

ReadThreads& ReadThreads::shared() {
  // Never destroyed, because its threads still wait when the process ends.
  static ReadThreads* const threads = new ReadThreads();
  return *threads;
}

void ReadThreads::start() {
  isStarted_ = true;
  for (size_t i = 0; i < kThreads; i++) std::thread([this] { work(); }).detach();
}

void ReadThreads::readNext() {
  for (size_t number = next_++; number < count_; number = next_++) (*read_)(number);
}

void ReadThreads::run(size_t count, const std::function<void(size_t)>& read) {
  std::unique_lock<std::mutex> alone(caller_, std::defer_lock);
  if (count < kMinReads || !alone.try_lock()) {
    for (size_t number = 0; number < count; number++) read(number);
    return;
  }
  if (!isStarted_) start();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    read_ = &read;
    count_ = count;
    next_ = 0;
  }
  wake_.notify_all();
  readNext();
  std::unique_lock<std::mutex> lock(mutex_);
  finished_.wait(lock, [this] { return working_ == 0; });
  read_ = nullptr;
}

void ReadThreads::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return read_ != nullptr && next_ < count_; });
    working_++;
    lock.unlock();
    readNext();
    lock.lock();
    if (--working_ == 0) finished_.notify_one();
  }
}

}  // namespace lbc
