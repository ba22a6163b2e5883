#include "claims/trie/claimNode.h"

#include <cstdio>
#include <cstring>
#include <vector>

#include "claims/trie/nodeNote.h"
#include "claims/trie/slots.h"
#include "hash/hashes.h"
#include "hash/sha256.h"
#include "napi/addon.h"
#include "napi/latin1Key.h"
#include "napi/napi.h"

namespace lbc {

namespace {

constexpr size_t kHashSize = 32;
constexpr size_t kPointSize = 36;
// Values that are hashed instead of a merkle root over the children or over the claims when a node has none.
constexpr uint8_t kNoChildren[kHashSize] = {2};
constexpr uint8_t kNoClaims[kHashSize] = {3};

bool pairedHash(const uint8_t* slots, size_t size, const uint8_t* claims, uint8_t* digest) {
  // Reused buffer for the leaves of the merkle tree: sized for the widest node so far, plus one leaf.
  static thread_local std::vector<uint8_t> leaves;
  leaves.clear();
  SlotView slot;
  for (size_t at = 0; at < size;) {
    if (!nextSlot(slots, size, &at, &slot)) return false;
    leaves.insert(leaves.end(), slot.hash, slot.hash + kHashSize);
  }
  uint8_t halves[2 * kHashSize];
  if (leaves.empty()) {
    memcpy(halves, kNoChildren, kHashSize);
  } else {
    const size_t count = leaves.size() / kHashSize;
    leaves.resize(leaves.size() + kHashSize);
    merkleRoot(leaves.data(), count, halves, nullptr);
  }
  memcpy(halves + kHashSize, claims ? claims : kNoClaims, kHashSize);
  sha256dPairs(digest, halves, 1);
  return true;
}

// Each byte of an edge after the first is hashed with the hash below it, the last byte first.
void completeEdge(const SlotView& slot, uint8_t* digest) {
  uint8_t message[1 + kHashSize];
  memcpy(digest, slot.hash, kHashSize);
  for (size_t i = slot.edgeSize - 1; i >= 1; i--) {
    message[0] = slot.edge[i];
    memcpy(message + 1, digest, kHashSize);
    sha256d(message, sizeof message, digest);
  }
}

bool oldHash(const uint8_t* slots, size_t size, const uint8_t* claims, uint8_t* digest) {
  Sha256 hash;
  SlotView slot;
  for (size_t at = 0; at < size;) {
    if (!nextSlot(slots, size, &at, &slot)) return false;
    uint8_t part[1 + kHashSize];
    part[0] = slot.edge[0];
    completeEdge(slot, part + 1);
    hash.write(part, sizeof part);
  }
  if (claims) hash.write(claims, kHashSize);
  finishDouble(hash, digest);
  return true;
}

// Reads the arguments `slots`, `claims` (null for none) and `allClaims`, and computes the hash of the node.
bool hashArguments(napi_env env, const napi_value* arguments, Span* slots, uint8_t* digest) {
  const uint8_t* claims = nullptr;
  bool allClaims;
  if (!readBytes(env, arguments[0], "slots", slots) ||
      (!isNullish(env, arguments[1]) && !readFixedBytes(env, arguments[1], kHashSize, "claims", &claims)) ||
      !readBool(env, arguments[2], "allClaims", &allClaims)) {
    return false;
  }
  if (claimNodeHash(slots->data, slots->size, claims, allClaims, digest)) return true;
  throwTypeError(env, "slots are malformed");
  return false;
}

// (slots, claims, allClaims, target?) => hash
napi_value jsClaimNodeHash(napi_env env, napi_callback_info info) {
  napi_value arguments[4];
  Span slots;
  uint8_t digest[kHashSize];
  if (!readArguments(env, info, 4, arguments) || !hashArguments(env, arguments, &slots, digest)) return nullptr;
  return answerBytes(env, digest, sizeof digest, arguments[3]);
}

// (slots, claims, allClaims, parentSlots, first) => whether the parent has a slot whose edge begins with the byte `first`.
// Writes the hash and the leaf flag of the node to this slot.
napi_value jsClaimNodeHashInto(napi_env env, napi_callback_info info) {
  napi_value arguments[5];
  Span slots, parent;
  uint32_t first;
  uint8_t digest[kHashSize];
  if (!readArguments(env, info, 5, arguments) || !readBytes(env, arguments[3], "parentSlots", &parent) ||
      !readUint32(env, arguments[4], "first", &first) || !hashArguments(env, arguments, &slots, digest)) {
    return nullptr;
  }
  SlotView slot;
  for (size_t at = 0; at < parent.size;) {
    if (!nextSlot(parent.data, parent.size, &at, &slot)) return throwTypeError(env, "slots are malformed");
    if (slot.edge[0] != first) continue;
    uint8_t* head = const_cast<uint8_t*>(parent.data) + slot.head;
    *head = static_cast<uint8_t>((*head & ~1) | (slots.size == 0 ? 1 : 0));
    memcpy(const_cast<uint8_t*>(slot.hash), digest, kHashSize);
    return makeBool(env, true);
  }
  return makeBool(env, false);
}

// (before, after, place, target) => size of the note that was written to `target`; 0 without a changed slot
napi_value jsClaimNodeNote(napi_env env, napi_callback_info info) {
  napi_value arguments[4];
  Span before, after, target;
  uint32_t place;
  if (!readArguments(env, info, 4, arguments) || !readBytes(env, arguments[0], "before", &before) ||
      !readBytes(env, arguments[1], "after", &after) || !readUint32(env, arguments[2], "place", &place) ||
      !readBytes(env, arguments[3], "target", &target)) {
    return nullptr;
  }
  static thread_local NodeNote note;
  note.clear();
  if (!note.compare(before, after)) return throwTypeError(env, "slots are malformed");
  if (target.size < NodeNote::room(before.size)) return throwTypeError(env, "target is too small for the note");
  if (note.partBytes() == 0) return makeNumber(env, 0);
  return makeNumber(env, static_cast<double>(note.write(before, place, const_cast<uint8_t*>(target.data))));
}

bool readPoint(napi_env env, napi_value value, Latin1Key* point) {
  if (!point->read(env, value)) return false;
  if (point->size() == kPointSize) return true;
  throwTypeError(env, "an outpoint has 36 bytes");
  return false;
}

// (point, takeover, target?) => H(H(txid) || H(decimal text of the output number) || H(takeover height))
napi_value jsClaimValueHash(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  Latin1Key point;
  uint32_t takeover;
  if (!readArguments(env, info, 3, arguments) || !readPoint(env, arguments[0], &point) ||
      !readUint32(env, arguments[1], "takeover", &takeover)) {
    return nullptr;
  }
  const uint8_t* n = point.data() + kHashSize;
  char text[16];
  const int length = snprintf(text, sizeof text, "%lu",
                              static_cast<unsigned long>(n[0]) << 24 | static_cast<unsigned long>(n[1]) << 16 |
                                  static_cast<unsigned long>(n[2]) << 8 | static_cast<unsigned long>(n[3]));
  const uint8_t height[8] = {0,
                             0,
                             0,
                             0,
                             static_cast<uint8_t>(takeover >> 24),
                             static_cast<uint8_t>(takeover >> 16),
                             static_cast<uint8_t>(takeover >> 8),
                             static_cast<uint8_t>(takeover)};
  uint8_t hashes[3 * kHashSize];
  sha256d(point.data(), kHashSize, hashes);
  sha256d(reinterpret_cast<const uint8_t*>(text), static_cast<size_t>(length), hashes + kHashSize);
  sha256d(height, sizeof height, hashes + 2 * kHashSize);
  uint8_t digest[kHashSize];
  sha256d(hashes, sizeof hashes, digest);
  return answerBytes(env, digest, sizeof digest, arguments[2]);
}

// (point) => Hash160 of the outpoint, as a string with one character for each byte
napi_value jsClaimIdAtPoint(napi_env env, napi_callback_info info) {
  napi_value argument, result;
  Latin1Key point;
  if (!readArguments(env, info, 1, &argument) || !readPoint(env, argument, &point)) return nullptr;
  uint8_t digest[20];
  hash160(point.data(), point.size(), digest);
  if (napi_create_string_latin1(env, reinterpret_cast<const char*>(digest), sizeof digest, &result) != napi_ok) {
    return throwError(env, "out of memory");
  }
  return result;
}

}  // namespace

bool claimNodeHash(const uint8_t* slots, size_t size, const uint8_t* claims, bool allClaims, uint8_t* digest) {
  return allClaims ? pairedHash(slots, size, claims, digest) : oldHash(slots, size, claims, digest);
}

void registerClaimNode(napi_env env, napi_value exports) {
  setFunction(env, exports, "claimNodeHash", jsClaimNodeHash);
  setFunction(env, exports, "claimNodeHashInto", jsClaimNodeHashInto);
  setFunction(env, exports, "claimNodeNote", jsClaimNodeNote);
  setFunction(env, exports, "claimValueHash", jsClaimValueHash);
  setFunction(env, exports, "claimIdAtPoint", jsClaimIdAtPoint);
}

}  // namespace lbc
