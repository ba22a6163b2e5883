// Computes the hash of a claim trie node, in the variant that commits to all claims, from the node's packed slots
// (src/claimtrie/slots.ts). Source: lbrycrd `recursiveBinaryTreeHash`.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lbc {

// Computes the hash of a claim trie node. `claims` is the hash of the node's claims, which is hashed together with the
// merkle root over the children. Returns false when the bytes of `slots` are malformed.
bool claimNodeHash(const uint8_t* slots, size_t size, const uint8_t* claims, uint8_t* digest);

}  // namespace lbc
