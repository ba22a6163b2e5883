// The note of a node's change in one block: the row from which the node before the block is restored. Source of the format:
// src/store/claims/rows/nodeNote.ts.
#pragma once

#include <cstring>
#include <vector>

#include "claims/trie/slots.h"
#include "napi/napi.h"

namespace lbc {

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
      } else if (order < 0 || old.edgeSize != now.edgeSize || memcmp(old.edge, now.edge, old.edgeSize + kSlotHashSize) != 0) {
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

  // Number of bytes of the changed slots; 0 without a change.
  size_t partBytes() const { return goneCount_ + slots_.size(); }

  // Size of the buffer that `write` needs.
  static size_t room(size_t beforeSize) { return beforeSize + 2 + 256; }

  // Writes the note and returns its size. `place` selects the blocks in which the whole node is stored.
  size_t write(const Span& before, uint32_t place, uint8_t* target) const {
    const size_t part = partBytes();
    const bool isWhole =
        before.size <= kCheapWhole * part ||
        static_cast<double>(place) * static_cast<double>(before.size) < static_cast<double>(part) * 4294967296.0;
    return isWhole ? writeWhole(before, target) : writePart(target);
  }

  void clear() {
    goneCount_ = 0;
    slots_.clear();
  }

 private:
  // The whole node is stored if it takes at most this many times the bytes of the partial note.
  static constexpr size_t kCheapWhole = 2;

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

  uint8_t gone_[256];
  size_t goneCount_ = 0;
  std::vector<uint8_t> slots_;
};

}  // namespace lbc
