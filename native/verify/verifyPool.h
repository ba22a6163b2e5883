// The threads that verify batches of inputs. Independent of JavaScript: a finished job is passed to a callback on the
// thread that finished it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "verify/verify.h"

namespace lbc {

struct VerifyJob {
  VerifyBatch batch;
  // Range of inputs to verify, as numbers within the block. `endInput` is exclusive.
  size_t firstInput = 0;
  size_t endInput = 0;

  // Results, written by the threads; `undecided` is unsorted and may contain duplicates.
  std::mutex mutex;
  std::vector<uint32_t> undecided;
  uint32_t checked = 0;
  uint32_t cacheHits = 0;

  size_t nextInput = 0;               // protected by the mutex of the pool
  std::atomic<size_t> unfinished{0};  // inputs
};

// Runs the whole job on the calling thread. The job may have no inputs.
void verifyHere(VerifyJob& job);

class VerifyPool {
 public:
  using Done = std::function<void(VerifyJob*)>;

  explicit VerifyPool(Done done) : done_(std::move(done)) {}
  ~VerifyPool() { stop(); }

  // Sets the number of threads. A `count` of 0 counts as 1.
  void setThreads(size_t count);
  // Queues a job. The job must have inputs, and must exist until `done` is called with it.
  void submit(VerifyJob* job);
  // Ends all threads after the inputs that they are verifying. Queued jobs wait for `resume` or the next `submit`.
  void stop();
  void resume();

 private:
  void start();
  void work();

  Done done_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<VerifyJob*> queue_;
  std::vector<std::thread> threads_;
  size_t threadCount_ = 0;
  std::atomic<bool> stopping_{false};
};

}  // namespace lbc
