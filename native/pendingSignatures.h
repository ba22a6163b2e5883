// Signatures on which inputs depend, put off so that they are verified together.
#pragma once

#include <cstdint>
#include <vector>

#include "ecdsa.h"
#include "signatureCache.h"

namespace lbc {

class PendingSignatures {
 public:
  // Input `input` (running number) is valid only if this signature (without hash type byte) is. Signature and key must
  // stay in memory until `settle`.
  void add(uint32_t input, const uint8_t* hash, const uint8_t* signature, size_t signatureSize, const uint8_t* key,
           size_t keySize, const SignatureCache::Key& cacheKey);

  // Verifies what has been put off. For each signature that is not valid its input is appended to `undecided`, perhaps more
  // than once; valid signatures go to the cache unless it is null. Nothing is pending afterwards.
  void settle(SignatureCache* cache, std::vector<uint32_t>* undecided);

  size_t count() const { return checks_.size(); }

 private:
  struct Origin {
    uint32_t input;
    SignatureCache::Key cacheKey;
  };

  std::vector<SignatureCheck> checks_;
  std::vector<Origin> origins_;
};

}  // namespace lbc
