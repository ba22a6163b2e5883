#include "verify/signatureCache.h"

#include <cstdlib>
#include <cstring>
#include <random>

namespace lbc {

namespace {

// Default size limit of the cache: half of Core's default for -maxsigcachesize.
constexpr uint64_t kDefaultBytes = 16 << 20;

const SignatureCache::Key kEmpty = {};

uint64_t wordOf(const SignatureCache::Key& key, size_t at) {
  uint64_t word;
  memcpy(&word, key.data() + at, sizeof word);
  return word;
}

}  // namespace

SignatureCache::SignatureCache() {
  std::random_device random;
  // The salt fills a whole SHA-256 block, so it is compressed only once.
  uint8_t salt[64];
  for (uint8_t& byte : salt) byte = static_cast<uint8_t>(random());
  salted_.write(salt, sizeof salt);
  resize(kDefaultBytes);
}

SignatureCache::~SignatureCache() { free(buckets()); }

void SignatureCache::resize(uint64_t bytes) {
  free(buckets_.exchange(nullptr));
  bucketCount_ = bytes / sizeof(Bucket);
  insertions_ = 0;
}

SignatureCache::Bucket* SignatureCache::allocate() {
  const std::lock_guard<std::mutex> guard(allocation_);
  // Zeroed memory. The system allocates each page when it is first used.
  if (!buckets()) {
    buckets_.store(static_cast<Bucket*>(calloc(bucketCount_, sizeof(Bucket))), std::memory_order_release);
  }
  return buckets();
}

SignatureCache::Key SignatureCache::keyOf(const uint8_t* hash, const uint8_t* signature, size_t signatureSize,
                                          const uint8_t* publicKey, size_t publicKeySize) const {
  Key key;
  Sha256 hasher = salted_;
  hasher.write(hash, 32).write(publicKey, publicKeySize).write(signature, signatureSize).finish(key.data());
  return key;
}

size_t SignatureCache::placeOf(const Key& key) const { return wordOf(key, 0) % bucketCount_; }

bool SignatureCache::contains(const Key& key, bool erase) {
  Bucket* all = buckets();
  if (!all) return false;
  const size_t place = placeOf(key);
  const std::lock_guard<std::mutex> guard(locks_[place % kLocks]);
  for (Key& way : all[place].ways) {
    if (way == key) {
      if (erase) way = kEmpty;
      return true;
    }
  }
  return false;
}

void SignatureCache::insert(const Key& key) {
  if (bucketCount_ == 0) return;
  Bucket* all = buckets();
  if (!all && !(all = allocate())) return;
  insertions_.fetch_add(1, std::memory_order_relaxed);
  const size_t place = placeOf(key);
  const std::lock_guard<std::mutex> guard(locks_[place % kLocks]);
  Bucket& bucket = all[place];
  Key* victim = &bucket.ways[wordOf(key, 8) % kWays];
  for (Key& way : bucket.ways) {
    if (way == key) return;
    if (way == kEmpty) victim = &way;
  }
  *victim = key;
}

}  // namespace lbc
