// The end of a block: the hashes of the changed nodes, and the records of their rows and notes.
#include <algorithm>
#include <cstring>

#include "claims/trie/claimNode.h"
#include "claims/trie/claimTrie.h"
#include "claims/trie/nodeNote.h"
#include "hash/sha256.h"

namespace lbc {

namespace {

// Is hashed in place of the claims hash if a node has no claims.
constexpr uint8_t kNoClaims[kSlotHashSize] = {3};
constexpr uint32_t kGolden = 0x9e3779b1;

// A number that selects the blocks in which the whole node at `path` is stored.
uint32_t placeOf(std::string_view path, uint32_t height) {
  uint32_t place = 0;
  for (size_t i = 0; i < path.size(); i++) place = place * 31 + byteAt(path, i);
  return (place + height) * kGolden;
}

void appendBE32(uint32_t value, std::string* out) {
  for (int shift = 24; shift >= 0; shift -= 8) out->push_back(static_cast<char>(value >> shift));
}

void appendRecord(const std::string& key, const uint8_t* value, size_t size, std::vector<uint8_t>* out) {
  const size_t at = out->size();
  out->resize(at + 8 + key.size());
  writeLE32(out->data() + at, static_cast<uint32_t>(key.size()));
  writeLE32(out->data() + at + 4, value ? static_cast<uint32_t>(size) : UINT32_MAX);
  memcpy(out->data() + at + 8, key.data(), key.size());
  if (value) out->insert(out->end(), value, value + size);
}

}  // namespace

void ClaimTrie::putRows(const Target& target, std::string_view path, const Record& before, const Node* after, bool* hasNotes,
                        std::vector<uint8_t>* records) {
  static thread_local std::string key;
  static thread_local std::vector<uint8_t> value;
  static thread_local NodeNote note;
  const bool isThere = after && (after->size > 0 || (!after->parent && after->hasClaims));
  if (!before.exists && !isThere) return;
  key = target.nodePrefix;
  key.append(path);
  if (isThere) {
    value.assign(1, after->hasHash ? kClaimsFlag : 0);
    if (after->hasHash) value.insert(value.end(), after->hash, after->hash + kSlotHashSize);
    if (after->size > 0) value.insert(value.end(), after->slots, after->slots + after->size);
    appendRecord(key, value.data(), value.size(), records);
  } else {
    appendRecord(key, nullptr, 0, records);
  }
  const Span old = {before.slots, before.size};
  const Span now = isThere ? Span{after->slots, after->size} : Span{};
  if (old.data == now.data && old.size == now.size) return;
  note.clear();
  note.compare(old, now);
  if (note.partBytes() == 0) return;
  *hasNotes = true;
  key = target.notePrefix;
  if (path.size() < 255) {
    key.push_back(static_cast<char>(path.size()));
  } else {
    key.push_back('\xff');
    key.push_back(static_cast<char>(path.size() >> 8));
    key.push_back(static_cast<char>(path.size()));
  }
  key.append(path);
  appendBE32(target.height, &key);
  value.resize(NodeNote::room(old.size));
  appendRecord(key, value.data(), note.write(old, placeOf(path, target.height), value.data()), records);
}

// Computes the same hash as `claimNodeHash`, but below a wide node it hashes only the ancestors of changed children.
bool ClaimTrie::hashOf(const Node* node, bool allClaims, uint8_t* digest) {
  const uint8_t* claims = node->hasHash ? node->hash : nullptr;
  if (!allClaims || node->size == 0) return claimNodeHash(node->slots, node->size, claims, allClaims, digest);
  static thread_local std::vector<uint8_t> leaves;
  leaves.clear();
  SlotView slot;
  for (size_t at = 0; at < node->size;) {
    if (!nextSlot(node->slots, node->size, &at, &slot)) return false;
    leaves.insert(leaves.end(), slot.hash, slot.hash + kSlotHashSize);
  }
  uint8_t halves[2 * kSlotHashSize];
  merkle_.root(node->path, leaves.data(), leaves.size() / kSlotHashSize, halves);
  memcpy(halves + kSlotHashSize, claims ? claims : kNoClaims, kSlotHashSize);
  sha256dPairs(digest, halves, 1);
  return true;
}

bool ClaimTrie::finish(const Target& target, uint8_t* root, bool* hasNotes, std::vector<uint8_t>* records) {
  std::vector<Node*> order;
  for (Node* node : dirty_)
    if (!node->isGone) order.push_back(node);
  std::stable_sort(order.begin(), order.end(),
                   [](const Node* a, const Node* b) { return a->path.size() > b->path.size(); });
  for (Node* node : order) {
    Node* parent = node->parent;
    if (!parent) continue;
    if (!parent->isOwn) splice(parent, 0, 0, nullptr, 0);
    const SlotPosition position = seek(parent, byteAt(node->path, parent->path.size()));
    if (!position.isThere) return false;
    uint8_t digest[kSlotHashSize];
    if (!hashOf(node, target.allClaims, digest)) return false;
    uint8_t* head = parent->slots + position.at;
    *head = static_cast<uint8_t>((*head & ~1) | (node->size == 0 ? 1 : 0));
    memcpy(const_cast<uint8_t*>(position.slot.hash), digest, kSlotHashSize);
  }
  if (!root_ || (root_->size == 0 && !root_->hasHash)) memcpy(root, kEmptyRoot, kSlotHashSize);
  else if (!hashOf(root_, target.allClaims, root)) return false;

  *hasNotes = false;
  static const Record kNone = {};
  const auto beforeOf = [this](std::string_view path) -> const Record& {
    const auto known = records_.find(path);
    return known == records_.end() ? kNone : known->second;
  };
  std::unordered_set<std::string_view> changed;
  for (const Node* node : dirty_) {
    if (node->isGone) continue;
    // A node that was removed and made again has no record itself.
    const Record& before = node->record ? *node->record : removed_.empty() ? kNone : beforeOf(node->path);
    putRows(target, node->path, before, node, hasNotes, records);
    if (!removed_.empty()) changed.insert(node->path);
  }
  for (const std::string_view path : removed_)
    if (changed.insert(path).second) putRows(target, path, beforeOf(path), nullptr, hasNotes, records);
  return true;
}

}  // namespace lbc
