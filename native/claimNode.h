// The hash of a node of the claim trie in the form with all claims, out of its packed slots
// (src/claimtrie/slots.ts). Source: lbrycrd `recursiveBinaryTreeHash`.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lbc {

// `claims` is the claims' half of the hash. False when `slots` are none.
bool claimNodeHash(const uint8_t* slots, size_t size, const uint8_t* claims, uint8_t* digest);

}  // namespace lbc
