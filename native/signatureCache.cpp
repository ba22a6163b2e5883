#include "signatureCache.h"

#include <cstdlib>
#include <cstring>
#include <random>

namespace lbc {

namespace {

// Half of Core's default for -maxsigcachesize.
constexpr uint64_t kDefaultBytes = 16 << 20;

const SignatureCache::Key kEmpty = {};

uint64_t wordOf(const SignatureCache::Key& key, size_t at) {
  uint64_t word;
  memcpy(&word, key.data() + at, sizeof word);
  return word;
}

}  // namespace

SignatureCache::SignatureCache() : buckets_(nullptr, free) {
  std::random_device random;
  // A whole block of salt, so that its compression is done once.
  uint8_t salt[64];
  for (uint8_t& byte : salt) byte = static_cast<uint8_t>(random());
  salted_.write(salt, sizeof salt);
  resize(kDefaultBytes);
}

void SignatureCache::resize(uint64_t bytes) {
  bucketCount_ = bytes / sizeof(Bucket);
  // Zeroed memory which the system hands out page by page, when it is used.
  buckets_.reset(bucketCount_ > 0 ? static_cast<Bucket*>(calloc(bucketCount_, sizeof(Bucket))) : nullptr);
  if (!buckets_) bucketCount_ = 0;
  used_ = false;
}

SignatureCache::Key SignatureCache::keyOf(const uint8_t* hash, const uint8_t* signature, size_t signatureSize,
                                          const uint8_t* publicKey, size_t publicKeySize) const {
  Key key;
  Sha256 hasher = salted_;
  hasher.write(hash, 32).write(publicKey, publicKeySize).write(signature, signatureSize).finish(key.data());
  return key;
}

SignatureCache::Bucket& SignatureCache::bucketOf(const Key& key) const {
  return buckets_[wordOf(key, 0) % bucketCount_];
}

std::mutex& SignatureCache::lockOf(const Bucket& bucket) const {
  return locks_[static_cast<size_t>(&bucket - buckets_.get()) % kLocks];
}

bool SignatureCache::contains(const Key& key, bool erase) {
  if (bucketCount_ == 0) return false;
  Bucket& bucket = bucketOf(key);
  const std::lock_guard<std::mutex> guard(lockOf(bucket));
  for (Key& way : bucket.ways) {
    if (way == key) {
      if (erase) way = kEmpty;
      return true;
    }
  }
  return false;
}

void SignatureCache::insert(const Key& key) {
  if (bucketCount_ == 0) return;
  if (isUnused()) used_ = true;
  Bucket& bucket = bucketOf(key);
  const std::lock_guard<std::mutex> guard(lockOf(bucket));
  Key* victim = &bucket.ways[wordOf(key, 8) % kWays];
  for (Key& way : bucket.ways) {
    if (way == key) return;
    if (way == kEmpty) victim = &way;
  }
  *victim = key;
}

}  // namespace lbc
