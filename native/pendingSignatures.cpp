#include "pendingSignatures.h"

#include <cstring>

namespace lbc {

void PendingSignatures::add(uint32_t input, const uint8_t* hash, const uint8_t* signature, size_t signatureSize,
                            const uint8_t* key, size_t keySize, const SignatureCache::Key& cacheKey) {
  SignatureCheck check;
  memcpy(check.hash, hash, sizeof check.hash);
  check.signature = signature;
  check.signatureSize = signatureSize;
  check.key = key;
  check.keySize = keySize;
  checks_.push_back(check);
  origins_.push_back({input, cacheKey});
}

void PendingSignatures::settle(SignatureCache* cache, std::vector<uint32_t>* undecided) {
  verifySignatures(checks_.data(), checks_.size());
  for (size_t i = 0; i < checks_.size(); i++) {
    if (!checks_[i].isValid) {
      undecided->push_back(origins_[i].input);
    } else if (cache) {
      cache->insert(origins_[i].cacheKey);
    }
  }
  checks_.clear();
  origins_.clear();
}

}  // namespace lbc
