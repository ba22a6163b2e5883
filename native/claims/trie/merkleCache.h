// Merkle roots over the children of wide nodes of the claim trie. A block changes few children of a node near the root, so the
// hashes between leaves and root are cached, and only those above changed leaves are computed again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lbc {

class MerkleCache {
 public:
  // Computes the merkle root of `count` leaves of 32 bytes, at least one. `path` is the path of the node and the
  // key of its cached tree. The result does not depend on it.
  void root(std::string_view path, const uint8_t* leaves, size_t count, uint8_t* root);

 private:
  // Limit of the bytes of all cached trees, without the overhead of the table.
  static constexpr size_t kMaxBytes = 4 << 20;
  // Minimum number of children of a node whose tree is cached. Arbitrary.
  static constexpr size_t kMinLeaves = 8;

  // The levels of a tree, the leaves first. A level with an odd number of hashes, except the last one, has its last hash twice.
  struct Tree {
    size_t count = 0;
    std::vector<uint8_t> hashes;
  };

  std::unordered_map<std::string, Tree> trees_;
  size_t bytes_ = 0;
  // Positions in a level whose hashes changed; reused.
  std::vector<uint32_t> changed_;
};

}  // namespace lbc
