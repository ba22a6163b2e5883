#include "claims/claimTrie.h"

#include <algorithm>
#include <cstring>

#include "claims/claimNode.h"
#include "claims/nodeNote.h"
#include "hash/sha256.h"

namespace lbc {

namespace {

constexpr uint8_t kClaimsFlag = 1;
constexpr uint8_t kNoHash[kSlotHashSize] = {};
// Is hashed in place of the claims hash if a node has no claims.
constexpr uint8_t kNoClaims[kSlotHashSize] = {3};
constexpr uint8_t kEmptyRoot[kSlotHashSize] = {1};
constexpr uint32_t kGolden = 0x9e3779b1;

// Appends a slot to `out`.
void packSlot(const uint8_t* edge, size_t edgeSize, const uint8_t* hash, bool isLeaf, std::vector<uint8_t>* out) {
  size_t head = edgeSize * 2 + (isLeaf ? 1 : 0);
  for (; head >= 0x80; head >>= 7) out->push_back(static_cast<uint8_t>((head & 0x7f) | 0x80));
  out->push_back(static_cast<uint8_t>(head));
  out->insert(out->end(), edge, edge + edgeSize);
  out->insert(out->end(), hash, hash + kSlotHashSize);
}

const uint8_t* bytesOf(std::string_view text) { return reinterpret_cast<const uint8_t*>(text.data()); }

uint8_t byteAt(std::string_view text, size_t at) { return static_cast<uint8_t>(text[at]); }

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

uint8_t* Arena::allocate(size_t size) {
  if (size > kChunkBytes) {
    large_.emplace_back(new uint8_t[size]);
    return large_.back().get();
  }
  if (chunk_ < chunks_.size() && used_ + size > kChunkBytes) {
    chunk_++;
    used_ = 0;
  }
  if (chunk_ == chunks_.size()) chunks_.emplace_back(new uint8_t[kChunkBytes]);
  uint8_t* memory = chunks_[chunk_].get() + used_;
  used_ += size;
  return memory;
}

const uint8_t* Arena::copy(const void* data, size_t size) {
  uint8_t* memory = allocate(size);
  if (size > 0) memcpy(memory, data, size);
  return memory;
}

void Arena::clear() {
  large_.clear();
  // Memory that only a large block needed is freed.
  constexpr size_t kKept = 16;
  if (chunks_.size() > kKept) chunks_.resize(kKept);
  chunk_ = used_ = 0;
}

void ClaimTrie::reset() {
  constexpr size_t kKeptNodes = 4096;
  if (nodes_.size() > kKeptNodes) nodes_.resize(kKeptNodes);
  nodeCount_ = 0;
  root_ = nullptr;
  records_.clear();
  dirty_.clear();
  dirtyCount_ = 0;
  unhashed_.clear();
  removed_.clear();
  vanished_.clear();
  cursors_.clear();
  waiting_.clear();
  asked_.clear();
  wanted_.clear();
  leaves_.clear();
  knownLeaves_.clear();
  arena_.clear();
}

std::string_view ClaimTrie::keep(std::string_view text) {
  return {reinterpret_cast<const char*>(arena_.copy(text.data(), text.size())), text.size()};
}

ClaimTrie::Node* ClaimTrie::make(std::string_view path, Node* parent, const Record* record) {
  if (nodeCount_ == nodes_.size()) nodes_.emplace_back(new Node);
  Node* node = nodes_[nodeCount_++].get();
  node->path = path;
  node->parent = nullptr;
  node->slots = record ? const_cast<uint8_t*>(record->slots) : nullptr;
  node->size = record ? record->size : 0;
  node->isOwn = false;
  node->children.clear();
  node->hasClaims = node->hasHash = record && record->claims;
  if (node->hasHash) memcpy(node->hash, record->claims, kSlotHashSize);
  node->dirty = node->isGone = node->unhashed = false;
  if (parent) adopt(parent, node);
  return node;
}

void ClaimTrie::adopt(Node* parent, Node* child) {
  child->parent = parent;
  parent->children.push_back(child);
}

ClaimTrie::Node* ClaimTrie::childOf(const Node* node, uint8_t first) const {
  const size_t depth = node->path.size();
  for (Node* child : node->children)
    if (byteAt(child->path, depth) == first) return child;
  return nullptr;
}

void ClaimTrie::drop(Node* parent, const Node* child) {
  auto& children = parent->children;
  children.erase(std::find(children.begin(), children.end(), child));
}

// Finds the slot whose edge begins with `first`, or the position at which it would be inserted.
ClaimTrie::SlotPosition ClaimTrie::seek(const Node* node, uint8_t first) {
  SlotPosition position = {};
  for (size_t at = 0; at < node->size;) {
    position.at = at;
    nextSlot(node->slots, node->size, &at, &position.slot);
    position.end = at;
    if (position.slot.edge[0] < first) continue;
    position.isThere = position.slot.edge[0] == first;
    return position;
  }
  position.at = position.end = node->size;
  return position;
}

size_t ClaimTrie::commonLength(const SlotView& slot, std::string_view name, size_t depth) {
  const size_t most = std::min(slot.edgeSize, name.size() - depth);
  size_t length = 0;
  while (length < most && slot.edge[length] == byteAt(name, depth + length)) length++;
  return length;
}

void ClaimTrie::begin(std::string_view name) {
  name = keep(name);
  if (root_) cursors_.push_back({name, root_});
  else waiting_.push_back(name);
}

void ClaimTrie::want(std::string_view path, Node* parent) {
  if (asked_.emplace(path, parent).second) wanted_.push_back(path);
}

void ClaimTrie::addLeafOnPath(std::string_view path) {
  if (knownLeaves_.insert(path).second) leaves_.push_back(path);
}

// Continues to load one path. Returns true when a further row is needed.
bool ClaimTrie::advance(Cursor* cursor) {
  const std::string_view name = cursor->name;
  for (;;) {
    Node* node = cursor->node;
    const size_t depth = node->path.size();
    // The node was a leaf before. A leaf has no row, so no row contains its claims hash.
    if (node->hasClaims && !node->hasHash && depth < name.size()) addLeafOnPath(node->path);
    if (depth == name.size()) return false;
    const SlotPosition position = seek(node, byteAt(name, depth));
    if (!position.isThere || commonLength(position.slot, name, depth) < position.slot.edgeSize) return false;
    Node* child = childOf(node, position.slot.edge[0]);
    if (!child) {
      const std::string_view path = name.substr(0, depth + position.slot.edgeSize);
      if (position.slot.isLeaf) {
        if (path.size() < name.size()) addLeafOnPath(path);
        return false;
      }
      want(path, node);
      return true;
    }
    cursor->node = child;
  }
}

const ClaimTrie::Paths& ClaimTrie::load(const Rows& rows) {
  Paths round;
  for (;;) {
    wanted_.clear();
    if (!root_) {
      if (waiting_.empty()) return wanted_;
      wanted_.push_back({});
    } else {
      size_t still = 0;
      for (size_t i = 0; i < cursors_.size(); i++)
        if (advance(&cursors_[i])) cursors_[still++] = cursors_[i];
      cursors_.resize(still);
    }
    round.swap(wanted_);
    wanted_.clear();
    if (round.empty()) return wanted_;
    for (const std::string_view path : round) {
      const uint8_t* row;
      size_t size;
      // A malformed row is read again by the caller, which reports it.
      if (!rows(path, &row, &size) || !supply(path, row, size)) wanted_.push_back(path);
    }
    if (!wanted_.empty() || cursors_.empty()) return wanted_;
  }
}

ClaimTrie::Paths ClaimTrie::takeLeaves() {
  Paths leaves;
  leaves.swap(leaves_);
  knownLeaves_.clear();
  return leaves;
}

bool ClaimTrie::supply(std::string_view path, const uint8_t* row, size_t size) {
  Record record;
  if (row) {
    const size_t slotsAt = size > 0 && row[0] == kClaimsFlag ? 1 + kSlotHashSize : 1;
    if (size < slotsAt) return false;
    SlotView slot;
    for (size_t at = slotsAt; at < size;)
      if (!nextSlot(row, size, &at, &slot)) return false;
    const uint8_t* kept = arena_.copy(row, size);
    record = {kept + slotsAt, size - slotsAt, slotsAt > 1 ? kept + 1 : nullptr, true};
  }
  path = keep(path);
  const Record* known = &records_.insert_or_assign(path, record).first->second;
  if (path.empty()) {
    if (root_) return true;
    root_ = make(path, nullptr, known);
    for (const std::string_view name : waiting_) cursors_.push_back({name, root_});
    waiting_.clear();
    return true;
  }
  const auto asked = asked_.find(path);
  if (asked == asked_.end()) return true;
  Node* parent = asked->second;
  asked_.erase(asked);
  make(path, parent, known);
  return true;
}

bool ClaimTrie::top() {
  if (root_) return true;
  const Record* known = record({});
  if (known) root_ = make({}, nullptr, known);
  return known != nullptr;
}

const ClaimTrie::Record* ClaimTrie::record(std::string_view path) {
  const auto known = records_.find(path);
  if (known != records_.end()) return &known->second;
  missing_ = std::string(path);
  return nullptr;
}

ClaimTrie::Node* ClaimTrie::makeChild(Node* parent, const SlotView& slot, std::string_view name) {
  const std::string_view path = name.substr(0, parent->path.size() + slot.edgeSize);
  const Record* known = nullptr;
  if (!slot.isLeaf && !(known = record(path))) return nullptr;
  Node* child = make(keep(path), parent, known);
  if (slot.isLeaf) child->hasClaims = true;
  return child;
}

ClaimTrie::Place ClaimTrie::find(std::string_view name, Node** found, SlotPosition* position, size_t* common) {
  if (!top()) return Place::kMissing;
  Node* node = root_;
  for (;;) {
    *found = node;
    const size_t depth = node->path.size();
    if (depth == name.size()) return Place::kExact;
    *position = seek(node, byteAt(name, depth));
    if (!position->isThere) return Place::kGap;
    *common = commonLength(position->slot, name, depth);
    if (*common < position->slot.edgeSize) return Place::kSplit;
    Node* child = childOf(node, position->slot.edge[0]);
    if (!child) child = makeChild(node, position->slot, name);
    if (!child) return Place::kMissing;
    node = child;
  }
}

ClaimTrie::Answer ClaimTrie::isNode(std::string_view name) {
  Node* node;
  SlotPosition position;
  size_t common;
  const Place place = find(name, &node, &position, &common);
  if (place == Place::kMissing) return Answer::kMissing;
  const bool is = place == Place::kExact && (!name.empty() || node->hasClaims || node->size > 0);
  return is ? Answer::kYes : Answer::kNo;
}

ClaimTrie::Answer ClaimTrie::knowsNode(std::string_view name) {
  if (!top()) return Answer::kMissing;
  Node* node = root_;
  for (;;) {
    const size_t depth = node->path.size();
    if (depth == name.size())
      return !name.empty() || node->hasClaims || node->size > 0 ? Answer::kYes : Answer::kNo;
    const SlotPosition position = seek(node, byteAt(name, depth));
    if (!position.isThere) return Answer::kNo;
    const size_t end = depth + position.slot.edgeSize;
    if (commonLength(position.slot, name, depth) < position.slot.edgeSize) return Answer::kNo;
    Node* child = childOf(node, position.slot.edge[0]);
    if (!child && (position.slot.isLeaf || end == name.size())) return end == name.size() ? Answer::kYes : Answer::kNo;
    if (!child) child = makeChild(node, position.slot, name);
    if (!child) return Answer::kMissing;
    node = child;
  }
}

ClaimTrie::Answer ClaimTrie::childPaths(std::string_view name, Paths* paths) {
  Node* node;
  SlotPosition position;
  size_t common;
  const Place place = find(name, &node, &position, &common);
  if (place == Place::kMissing) return Answer::kMissing;
  if (place != Place::kExact) return Answer::kYes;
  SlotView slot;
  for (size_t at = 0; at < node->size;) {
    nextSlot(node->slots, node->size, &at, &slot);
    uint8_t* path = arena_.allocate(name.size() + slot.edgeSize);
    if (!name.empty()) memcpy(path, name.data(), name.size());
    memcpy(path + name.size(), slot.edge, slot.edgeSize);
    paths->emplace_back(reinterpret_cast<const char*>(path), name.size() + slot.edgeSize);
  }
  return Answer::kYes;
}

ClaimTrie::Answer ClaimTrie::storedPath(std::string_view name, Paths* paths) {
  const Record* known = record({});
  if (!known) return Answer::kMissing;
  if (!known->exists) return Answer::kYes;
  size_t depth = 0;
  for (;;) {
    paths->push_back(name.substr(0, depth));
    if (!known || !known->exists || depth == name.size()) return Answer::kYes;
    const uint8_t first = byteAt(name, depth);
    SlotView slot;
    bool isThere = false;
    for (size_t at = 0; at < known->size && !isThere;) {
      nextSlot(known->slots, known->size, &at, &slot);
      isThere = slot.edge[0] == first;
    }
    if (!isThere || commonLength(slot, name, depth) < slot.edgeSize) return Answer::kYes;
    depth += slot.edgeSize;
    // No row is needed below a leaf or below the name itself.
    known = nullptr;
    if (slot.isLeaf || depth == name.size()) continue;
    known = record(name.substr(0, depth));
    if (known) continue;
    paths->clear();
    return Answer::kMissing;
  }
}

void ClaimTrie::splice(Node* node, size_t from, size_t to, const uint8_t* piece, size_t size) {
  const size_t total = node->size - (to - from) + size;
  uint8_t* slots = arena_.allocate(total);
  if (from > 0) memcpy(slots, node->slots, from);
  if (size > 0) memcpy(slots + from, piece, size);
  if (node->size > to) memcpy(slots + from + size, node->slots + to, node->size - to);
  node->slots = slots;
  node->size = total;
  node->isOwn = true;
}

void ClaimTrie::claim(Node* node) {
  node->hasClaims = true;
  node->hasHash = false;
  if (!node->unhashed) {
    node->unhashed = true;
    unhashed_.push_back(node);
  }
  markDirty(node);
}

void ClaimTrie::markDirty(Node* from) {
  for (Node* node = from; node && !node->dirty; node = node->parent) {
    node->dirty = true;
    dirty_.push_back(node);
    dirtyCount_++;
    // The node was a leaf and gets a child. A leaf has no row, so its claims hash must be computed.
    if (node->hasClaims && !node->hasHash && !node->unhashed) {
      node->unhashed = true;
      unhashed_.push_back(node);
    }
  }
}

ClaimTrie::Answer ClaimTrie::insert(std::string_view name) {
  Node* node;
  SlotPosition position;
  size_t common;
  switch (find(name, &node, &position, &common)) {
    case Place::kMissing:
      return Answer::kMissing;
    case Place::kSplit:
      part(node, position, common, keep(name));
      break;
    case Place::kGap:
      addLeaf(node, position, keep(name));
      break;
    case Place::kExact:
      claim(node);
  }
  return Answer::kYes;
}

// Splits the slot and inserts a node where the names branch.
void ClaimTrie::part(Node* parent, const SlotPosition& position, size_t common, std::string_view name) {
  const SlotView& slot = position.slot;
  Node* lower = childOf(parent, slot.edge[0]);
  if (lower) drop(parent, lower);
  Node* middle = make(name.substr(0, parent->path.size() + common), parent, nullptr);
  std::vector<uint8_t> piece;
  packSlot(slot.edge + common, slot.edgeSize - common, slot.hash, slot.isLeaf, &piece);
  splice(middle, 0, 0, piece.data(), piece.size());
  if (lower) adopt(middle, lower);
  piece.clear();
  packSlot(slot.edge, common, kNoHash, false, &piece);
  splice(parent, position.at, position.end, piece.data(), piece.size());
  const size_t depth = middle->path.size();
  if (depth == name.size()) claim(middle);
  else addLeaf(middle, seek(middle, byteAt(name, depth)), name);
}

void ClaimTrie::addLeaf(Node* parent, const SlotPosition& position, std::string_view name) {
  std::vector<uint8_t> piece;
  const size_t depth = parent->path.size();
  packSlot(bytesOf(name) + depth, name.size() - depth, kNoHash, true, &piece);
  splice(parent, position.at, position.at, piece.data(), piece.size());
  claim(make(name, parent, nullptr));
}

ClaimTrie::Answer ClaimTrie::remove(std::string_view name) {
  Node* node;
  SlotPosition position;
  size_t common;
  const Place place = find(name, &node, &position, &common);
  if (place == Place::kMissing) return Answer::kMissing;
  if (place != Place::kExact || !node->hasClaims) return Answer::kNo;
  node->hasClaims = node->hasHash = false;
  if (node->unhashed) unhashed_.erase(std::find(unhashed_.begin(), unhashed_.end(), node));
  node->unhashed = false;
  markDirty(node);
  while (node->parent && !node->hasClaims) {
    SlotView slot;
    size_t end = 0;
    if (node->size > 0) nextSlot(node->slots, node->size, &end, &slot);
    if (end < node->size) break;
    Node* parent = node->parent;
    const bool merges = node->size > 0;
    cutOut(node, parent);
    if (node->dirty && !node->isGone) dirtyCount_--;
    node->isGone = true;
    removed_.push_back(node->path);
    vanished_.push_back(node->path);
    if (merges) break;
    node = parent;
  }
  return Answer::kYes;
}

// Removes a node. If it has one child, the child's edge is attached to the parent.
void ClaimTrie::cutOut(Node* node, Node* parent) {
  const size_t depth = parent->path.size();
  std::vector<uint8_t> piece;
  SlotView slot;
  size_t at = 0;
  if (node->size > 0) {
    nextSlot(node->slots, node->size, &at, &slot);
    std::string edge(node->path.substr(depth));
    edge.append(reinterpret_cast<const char*>(slot.edge), slot.edgeSize);
    packSlot(bytesOf(edge), edge.size(), slot.hash, slot.isLeaf, &piece);
  }
  const SlotPosition position = seek(parent, byteAt(node->path, depth));
  splice(parent, position.at, position.end, piece.data(), piece.size());
  drop(parent, node);
  for (Node* child : node->children) adopt(parent, child);
}

ClaimTrie::Answer ClaimTrie::touch(std::string_view name) {
  Node* node;
  SlotPosition position;
  size_t common;
  const Place place = find(name, &node, &position, &common);
  if (place == Place::kMissing) return Answer::kMissing;
  if (place != Place::kExact) return Answer::kNo;
  claim(node);
  return Answer::kYes;
}

ClaimTrie::Paths ClaimTrie::takeVanished() {
  Paths vanished;
  vanished.swap(vanished_);
  return vanished;
}

ClaimTrie::Paths ClaimTrie::unhashed() const {
  Paths paths;
  for (const Node* node : unhashed_)
    if (node->unhashed) paths.push_back(node->path);
  return paths;
}

bool ClaimTrie::setHashes(const uint8_t* hashes, size_t size) {
  size_t at = 0;
  for (Node* node : unhashed_) {
    if (!node->unhashed) continue;
    if (size - at < kSlotHashSize) return false;
    memcpy(node->hash, hashes + at, kSlotHashSize);
    at += kSlotHashSize;
    node->hasHash = true;
    node->unhashed = false;
  }
  unhashed_.clear();
  return at == size;
}

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
    putRows(target, node->path, beforeOf(node->path), node, hasNotes, records);
    if (!removed_.empty()) changed.insert(node->path);
  }
  for (const std::string_view path : removed_)
    if (changed.insert(path).second) putRows(target, path, beforeOf(path), nullptr, hasNotes, records);
  return true;
}

}  // namespace lbc
