#include "verify/verifyPool.h"

#include <algorithm>

namespace lbc {

namespace {

// Number of inputs that a thread takes from a job at a time. Large enough that the cost of the lock is negligible. Small
// enough (about 600 µs of work) that the threads finish a job at about the same time.
constexpr size_t kShare = 16;

// Verifies inputs `first` to `end` of the job, skipping those of coinbases.
void verifyShare(VerifyJob& job, size_t first, size_t end) {
  const ParsedView& view = job.batch.view;
  std::vector<uint32_t> undecided;
  uint32_t checked = 0;
  uint32_t cacheHits = 0;
  // Finds the last transaction whose inputs begin at or before `first`.
  const TxRow* at = std::upper_bound(view.txs, view.txs + view.txCount, first,
                                     [](size_t input, const TxRow& tx) { return input < tx.firstInput; });
  size_t tx = static_cast<size_t>(at - view.txs) - 1;
  for (size_t input = first; input < end; input++) {
    while (input >= static_cast<size_t>(view.txs[tx].firstInput) + view.txs[tx].inputCount) tx++;
    if (view.txs[tx].isCoinbase()) continue;
    checked++;
    if (!verifyInput(job.batch, tx, input, &cacheHits)) undecided.push_back(static_cast<uint32_t>(input));
  }
  const std::lock_guard<std::mutex> guard(job.mutex);
  job.undecided.insert(job.undecided.end(), undecided.begin(), undecided.end());
  job.checked += checked;
  job.cacheHits += cacheHits;
}

}  // namespace

void verifyHere(VerifyJob& job) {
  for (size_t first = job.firstInput; first < job.endInput; first += kShare) {
    verifyShare(job, first, std::min(first + kShare, job.endInput));
  }
}

void VerifyPool::setThreads(size_t count) {
  stop();
  threadCount_ = std::max<size_t>(count, 1);
  resume();
}

void VerifyPool::resume() {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (threads_.empty() && !queue_.empty()) start();
}

void VerifyPool::submit(VerifyJob* job) {
  job->nextInput = job->firstInput;
  job->unfinished = job->endInput - job->firstInput;
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    queue_.push_back(job);
    if (threads_.empty()) start();
  }
  // The threads are notified after the lock is released, so that woken threads can take the lock immediately.
  wake_.notify_all();
}

void VerifyPool::start() {
  if (threadCount_ == 0) threadCount_ = std::max(1u, std::thread::hardware_concurrency());
  for (size_t i = 0; i < threadCount_; i++) threads_.emplace_back([this] { work(); });
}

void VerifyPool::stop() {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  stopping_ = false;
}

void VerifyPool::work() {
  for (;;) {
    VerifyJob* job;
    size_t first, end;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (stopping_) return;
      job = queue_.front();
      first = job->nextInput;
      end = std::min(first + kShare, job->endInput);
      job->nextInput = end;
      if (end == job->endInput) queue_.pop_front();
    }
    verifyShare(*job, first, end);
    if (job->unfinished.fetch_sub(end - first) == end - first) done_(job);
  }
}

}  // namespace lbc
