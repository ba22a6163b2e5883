// Reads the packed edges from a claim trie node to its children. The layout is described in src/claimtrie/slots.ts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lbc {

constexpr size_t kSlotHashSize = 32;
// First byte of a node's row if the hash of its claims follows.
constexpr uint8_t kClaimsFlag = 1;
// Root of an empty trie.
constexpr uint8_t kEmptyRoot[kSlotHashSize] = {1};

struct SlotView {
  size_t head;  // offset of the number before the edge
  const uint8_t* edge;
  size_t edgeSize;
  const uint8_t* hash;
  bool isLeaf;
};

inline uint8_t byteAt(std::string_view text, size_t at) { return static_cast<uint8_t>(text[at]); }

// Reads the slot at `*at` and advances `*at` past it. Returns false when the bytes end early.
inline bool nextSlot(const uint8_t* slots, size_t size, size_t* at, SlotView* slot) {
  slot->head = *at;
  // A slot starts with a variable-length number: twice the length of its edge, plus one if the slot is a leaf.
  size_t head = 0;
  for (int shift = 0;; shift += 7) {
    if (*at >= size || shift > 21) return false;
    const uint8_t byte = slots[(*at)++];
    head |= static_cast<size_t>(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  slot->isLeaf = (head & 1) != 0;
  slot->edgeSize = head >> 1;
  if (slot->edgeSize == 0 || size - *at < slot->edgeSize + kSlotHashSize) return false;
  slot->edge = slots + *at;
  slot->hash = slot->edge + slot->edgeSize;
  *at += slot->edgeSize + kSlotHashSize;
  return true;
}

}  // namespace lbc
