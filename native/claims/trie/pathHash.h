// Hash function of tables whose keys are paths of the claim trie.
#pragma once

#include <cstring>
#include <string_view>

#include "hash/saltedHash.h"

namespace lbc {

struct PathHash {
  size_t operator()(std::string_view path) const {
    struct Salts {
      uint64_t words[3];
      Salts() { drawSalts(words); }
    };
    static const Salts salts;
    const uint8_t* at = reinterpret_cast<const uint8_t*>(path.data());
    size_t left = path.size();
    uint64_t hash = salts.words[0] ^ left;
    for (; left >= 8; left -= 8, at += 8) hash = fold(hash ^ word(at), salts.words[1]);
    uint64_t last = 0;
    if (left > 0) memcpy(&last, at, left);
    return static_cast<size_t>(fold(hash ^ last, salts.words[2]));
  }
};

}  // namespace lbc
