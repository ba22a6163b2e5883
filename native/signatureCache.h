// Signatures known to be valid, by a salted hash. Bounded, safe from any thread. Source: Core script/sigcache.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "sha256.h"

namespace lbc {

class SignatureCache {
 public:
  using Key = std::array<uint8_t, 32>;

  SignatureCache();

  // Forgets everything. No thread may use the cache meanwhile.
  void resize(uint64_t bytes);

  // The salt is secret: no one outside can make two signatures meet.
  Key keyOf(const uint8_t* hash, const uint8_t* signature, size_t signatureSize, const uint8_t* publicKey,
            size_t publicKeySize) const;

  // No signature was inserted since the last `resize`.
  bool isUnused() const { return !used_.load(std::memory_order_relaxed); }

  // Whether the signature is known; with `erase` it is forgotten by that.
  bool contains(const Key& key, bool erase);
  // May displace another one of the same bucket.
  void insert(const Key& key);

 private:
  static constexpr size_t kWays = 4;
  static constexpr size_t kLocks = 64;

  struct Bucket {
    Key ways[kWays];  // zero: empty
  };

  Bucket& bucketOf(const Key& key) const;
  std::mutex& lockOf(const Bucket& bucket) const;

  Sha256 salted_;
  std::unique_ptr<Bucket[], void (*)(void*)> buckets_;
  uint64_t bucketCount_ = 0;
  std::atomic<bool> used_{false};
  mutable std::mutex locks_[kLocks];
};

}  // namespace lbc
