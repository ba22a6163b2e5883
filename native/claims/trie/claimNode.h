// Computes hashes of the claim trie from packed slots (src/claimtrie/slots.ts) and outpoints. Source: lbrycrd
// `recursiveMerkleHash`, `completeHash`, `recursiveBinaryTreeHash`, `getValueHash`.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lbc {

// Computes the hash of a claim trie node. `claims` is the hash of the node's claims; null if it has none. `allClaims` selects
// the form: that of the fork that commits to all claims, or the older one. Returns false when the bytes of `slots` are malformed.
bool claimNodeHash(const uint8_t* slots, size_t size, const uint8_t* claims, bool allClaims, uint8_t* digest);

}  // namespace lbc
