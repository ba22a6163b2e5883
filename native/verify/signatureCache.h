// Set of signatures known to be valid, stored as salted hashes. Its size is limited. All threads may use it. Source: Core
// script/sigcache.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "hash/sha256.h"

namespace lbc {

class SignatureCache {
 public:
  using Key = std::array<uint8_t, 32>;

  SignatureCache();
  ~SignatureCache();
  SignatureCache(const SignatureCache&) = delete;
  SignatureCache& operator=(const SignatureCache&) = delete;

  // Removes all entries and sets the size limit. No thread may use the cache during the call.
  void resize(uint64_t bytes);

  // The salt is secret, so an attacker cannot create two signatures with the same cache key.
  Key keyOf(const uint8_t* hash, const uint8_t* signature, size_t signatureSize, const uint8_t* publicKey,
            size_t publicKeySize) const;

  // Size limit in bytes, and number of signatures inserted since the last `resize`.
  uint64_t maxBytes() const { return bucketCount_ * sizeof(Bucket); }
  uint64_t insertions() const { return insertions_.load(std::memory_order_relaxed); }
  // Whether no signature was inserted since the last `resize`.
  bool isUnused() const { return insertions() == 0; }

  // Whether the signature is in the cache. With `erase`, a signature that is found is removed.
  bool contains(const Key& key, bool erase);
  // Inserts a key. May evict another key of the same bucket.
  void insert(const Key& key);

 private:
  static constexpr size_t kWays = 4;
  static constexpr size_t kLocks = 64;

  struct Bucket {
    Key ways[kWays];  // zero: empty
  };

  // The hash table of the cache; null before the first insertion.
  Bucket* buckets() const { return buckets_.load(std::memory_order_acquire); }
  // Allocates the buckets. Returns null when memory is insufficient.
  Bucket* allocate();
  size_t placeOf(const Key& key) const;

  Sha256 salted_;
  // Allocated by the first insertion, because most threads that load the addon verify no signatures.
  std::atomic<Bucket*> buckets_{nullptr};
  std::mutex allocation_;
  uint64_t bucketCount_ = 0;
  std::atomic<uint64_t> insertions_{0};
  mutable std::mutex locks_[kLocks];
};

}  // namespace lbc
