// Threads that read rows together with a caller that waits for these rows, so that the waits for the disk overlap.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>

namespace lbc {

class ReadThreads {
 public:
  // The threads of this process. They are started at the first use and never end.
  static ReadThreads& shared();

  // Calls `read` once for each number below `count`, on the calling thread and on the others. Returns when all calls have
  // returned. If the threads work for another caller, all calls are made on the calling thread.
  void run(size_t count, const std::function<void(size_t)>& read);

 private:
  ReadThreads() = default;
  void start();
  void work();
  void readNext();

  std::mutex caller_;
  std::mutex mutex_;
  std::condition_variable wake_, finished_;
  // Guarded by `mutex_`: the job, which is null between jobs, and the number of threads that work on it.
  const std::function<void(size_t)>* read_ = nullptr;
  size_t working_ = 0;
  // Number of the next call, and number of calls.
  std::atomic<size_t> next_{0};
  size_t count_ = 0;
  bool isStarted_ = false;
};

}  // namespace lbc
