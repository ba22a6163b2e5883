#include "claims/trie/merkleCache.h"

#include <cstring>

#include "hash/hashes.h"
#include "hash/sha256.h"

namespace lbc {

namespace {

constexpr size_t kHashSize = 32;

// Number of hashes of all levels over `count` leaves.
size_t sizeOfLevels(size_t count) {
  size_t total = 0;
  for (; count > 1; count = (count + 1) / 2) total += count + (count & 1);
  return total + 1;
}

}  // namespace

void MerkleCache::root(std::string_view path, const uint8_t* leaves, size_t count, uint8_t* root) {
  if (count < kMinLeaves) {
    uint8_t few[kHashSize * (kMinLeaves + 1)];
    memcpy(few, leaves, count * kHashSize);
    merkleRoot(few, count, root, nullptr);
    return;
  }
  const size_t size = sizeOfLevels(count) * kHashSize;
  std::string key(path);
  auto found = trees_.find(key);
  if (found != trees_.end() && found->second.count != count) {
    bytes_ -= found->second.hashes.size();
    trees_.erase(found);
    found = trees_.end();
  }
  if (found == trees_.end()) {
    // Evicts entries in the order of the hash table, which is arbitrary. An eviction affects only speed.
    while (bytes_ + size > kMaxBytes && !trees_.empty()) {
      bytes_ -= trees_.begin()->second.hashes.size();
      trees_.erase(trees_.begin());
    }
    found = trees_.emplace(std::move(key), Tree()).first;
  }
  Tree& tree = found->second;
  const bool isSame = tree.count == count;
  if (!isSame) {
    bytes_ += size;
    tree.count = count;
    tree.hashes.resize(size);
  }
  uint8_t* level = tree.hashes.data();
  changed_.clear();
  for (size_t i = 0; i < count; i++) {
    if (isSame && memcmp(level + i * kHashSize, leaves + i * kHashSize, kHashSize) == 0) continue;
    memcpy(level + i * kHashSize, leaves + i * kHashSize, kHashSize);
    changed_.push_back(static_cast<uint32_t>(i));
  }
  for (size_t left = count; left > 1; left = (left + 1) / 2) {
    if (left & 1) memcpy(level + left * kHashSize, level + (left - 1) * kHashSize, kHashSize);
    uint8_t* above = level + (left + (left & 1)) * kHashSize;
    size_t parents = 0;
    for (size_t i = 0; i < changed_.size(); i++) {
      const uint32_t parent = changed_[i] / 2;
      if (parents == 0 || changed_[parents - 1] != parent) changed_[parents++] = parent;
    }
    changed_.resize(parents);
    // Adjacent pairs are hashed in one call.
    for (size_t i = 0; i < parents;) {
      size_t end = i + 1;
      while (end < parents && changed_[end] == changed_[end - 1] + 1) end++;
      sha256dPairs(above + changed_[i] * kHashSize, level + 2 * changed_[i] * kHashSize, end - i);
      i = end;
    }
    level = above;
  }
  memcpy(root, level, kHashSize);
}

}  // namespace lbc
