#include "claims/claimNode.h"

#include <cstdio>
#include <cstring>
#include <vector>

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

struct SlotView {
  size_t head;  // offset of the number before the edge
  const uint8_t* edge;
  size_t edgeSize;
  const uint8_t* hash;
};

// Reads the slot at `*at` and advances `*at` past it. Returns false when the bytes end early.
bool nextSlot(const uint8_t* slots, size_t size, size_t* at, SlotView* slot) {
  slot->head = *at;
  // A slot starts with a variable-length number: twice the length of its edge, plus one if the slot is a leaf.
  size_t head = 0;
  for (int shift = 0;; shift += 7) {
    if (*at >= size || shift > 21) return false;
    const uint8_t byte = slots[(*at)++];
    head |= static_cast<size_t>(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  slot->edgeSize = head >> 1;
  if (slot->edgeSize == 0 || size - *at < slot->edgeSize + kHashSize) return false;
  slot->edge = slots + *at;
  slot->hash = slot->edge + slot->edgeSize;
  *at += slot->edgeSize + kHashSize;
  return true;
}

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

// The note that `claimNodeNote` writes (src/store/claims/rows/nodeNote.ts).
class NodeNote {
 public:
  // Compares the slots of both states, which are in ascending order. Returns false when the bytes are malformed.
  bool compare(const Span& before, const Span& after) {
    size_t oldAt = 0, nowAt = 0;
    SlotView old = {}, now = {};
    bool more = before.size > 0, moreNow = after.size > 0;
    if ((more && !nextSlot(before.data, before.size, &oldAt, &old)) ||
        (moreNow && !nextSlot(after.data, after.size, &nowAt, &now))) {
      return false;
    }
    while (more || moreNow) {
      const int order = !moreNow ? -1 : !more ? 1 : static_cast<int>(old.edge[0]) - static_cast<int>(now.edge[0]);
      if (order > 0) {
        if (goneCount_ == sizeof gone_) return false;
        gone_[goneCount_++] = now.edge[0];
      } else if (order < 0 || old.edgeSize != now.edgeSize || memcmp(old.edge, now.edge, old.edgeSize + kHashSize) != 0) {
        slots_.insert(slots_.end(), before.data + old.head, before.data + oldAt);
      }
      if (order <= 0) {
        more = oldAt < before.size;
        if (more && !nextSlot(before.data, before.size, &oldAt, &old)) return false;
      }
      if (order >= 0) {
        moreNow = nowAt < after.size;
        if (moreNow && !nextSlot(after.data, after.size, &nowAt, &now)) return false;
      }
    }
    return true;
  }

  size_t partBytes() const { return goneCount_ + slots_.size(); }

  // Both methods write the note and return its size.
  size_t writeWhole(const Span& before, uint8_t* target) const {
    target[0] = 1;
    if (before.size > 0) memcpy(target + 1, before.data, before.size);
    return 1 + before.size;
  }
  size_t writePart(uint8_t* target) const {
    target[0] = 0;
    target[1] = static_cast<uint8_t>(goneCount_);
    memcpy(target + 2, gone_, goneCount_);
    if (!slots_.empty()) memcpy(target + 2 + goneCount_, slots_.data(), slots_.size());
    return 2 + partBytes();
  }

  void clear() {
    goneCount_ = 0;
    slots_.clear();
  }

 private:
  uint8_t gone_[256];
  size_t goneCount_ = 0;
  std::vector<uint8_t> slots_;
};

// The whole node is stored if it takes at most this many times the bytes of the partial note.
constexpr size_t kCheapWhole = 2;

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
  const size_t part = note.partBytes();
  if (target.size < before.size + 2 + 256) return throwTypeError(env, "target is too small for the note");
  if (part == 0) return makeNumber(env, 0);
  uint8_t* out = const_cast<uint8_t*>(target.data);
  const bool isWhole = before.size <= kCheapWhole * part ||
                       static_cast<double>(place) * static_cast<double>(before.size) < static_cast<double>(part) * 4294967296.0;
  return makeNumber(env, static_cast<double>(isWhole ? note.writeWhole(before, out) : note.writePart(out)));
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
