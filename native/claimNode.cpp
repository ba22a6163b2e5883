#include "claimNode.h"

#include <cstring>
#include <vector>

#include "addon.h"
#include "hashes.h"
#include "napi.h"
#include "sha256.h"

namespace lbc {

namespace {

constexpr size_t kHashSize = 32;
// Value that is hashed instead of the merkle root over the children when a node has none.
constexpr uint8_t kNoChildren[kHashSize] = {2};

// Returns the hash of the slot at `*at` and advances `*at` past the slot. Returns null when the bytes end early.
const uint8_t* nextChildHash(const uint8_t* slots, size_t size, size_t* at) {
  // A slot starts with a variable-length number: twice the length of its edge, plus one if the slot is a leaf.
  size_t head = 0;
  for (int shift = 0;; shift += 7) {
    if (*at >= size || shift > 21) return nullptr;
    const uint8_t byte = slots[(*at)++];
    head |= static_cast<size_t>(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  const size_t edge = head >> 1;
  if (edge == 0 || size - *at < edge + kHashSize) return nullptr;
  const uint8_t* hash = slots + *at + edge;
  *at += edge + kHashSize;
  return hash;
}

napi_value jsClaimNodeHash(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  Span slots;
  const uint8_t* claims;
  if (!readArguments(env, info, 3, arguments) || !readBytes(env, arguments[0], "slots", &slots) ||
      !readFixedBytes(env, arguments[1], kHashSize, "claims", &claims)) {
    return nullptr;
  }
  uint8_t digest[kHashSize];
  if (!claimNodeHash(slots.data, slots.size, claims, digest)) return throwTypeError(env, "slots are malformed");
  return answerBytes(env, digest, sizeof digest, arguments[2]);
}

}  // namespace

bool claimNodeHash(const uint8_t* slots, size_t size, const uint8_t* claims, uint8_t* digest) {
  // Reused buffer for the leaves of the merkle tree: sized for the widest node so far, plus one leaf.
  static thread_local std::vector<uint8_t> leaves;
  leaves.clear();
  for (size_t at = 0; at < size;) {
    const uint8_t* hash = nextChildHash(slots, size, &at);
    if (hash == nullptr) return false;
    leaves.insert(leaves.end(), hash, hash + kHashSize);
  }
  uint8_t halves[2 * kHashSize];
  if (leaves.empty()) {
    memcpy(halves, kNoChildren, kHashSize);
  } else {
    const size_t count = leaves.size() / kHashSize;
    leaves.resize(leaves.size() + kHashSize);
    merkleRoot(leaves.data(), count, halves, nullptr);
  }
  memcpy(halves + kHashSize, claims, kHashSize);
  sha256dPairs(digest, halves, 1);
  return true;
}

void registerClaimNode(napi_env env, napi_value exports) {
  setFunction(env, exports, "claimNodeHash", jsClaimNodeHash);
}

}  // namespace lbc
