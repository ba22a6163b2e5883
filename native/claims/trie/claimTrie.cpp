#include "claims/trie/claimTrie.h"

#include <algorithm>
#include <cstring>

namespace lbc {

namespace {

constexpr uint8_t kNoHash[kSlotHashSize] = {};

// Appends a slot to `out`.
void packSlot(const uint8_t* edge, size_t edgeSize, const uint8_t* hash, bool isLeaf, std::vector<uint8_t>* out) {
  size_t head = edgeSize * 2 + (isLeaf ? 1 : 0);
  for (; head >= 0x80; head >>= 7) out->push_back(static_cast<uint8_t>((head & 0x7f) | 0x80));
  out->push_back(static_cast<uint8_t>(head));
  out->insert(out->end(), edge, edge + edgeSize);
  out->insert(out->end(), hash, hash + kSlotHashSize);
}

const uint8_t* bytesOf(std::string_view text) { return reinterpret_cast<const uint8_t*>(text.data()); }

}  // namespace

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
  newlyRemoved_.clear();
  cursors_.clear();
  waiting_.clear();
  requested_.clear();
  wanted_.clear();
  leaves_.clear();
  knownLeaves_.clear();
  arena_.clear();
}

std::string_view ClaimTrie::copyPath(std::string_view text) {
  return {reinterpret_cast<const char*>(arena_.copy(text.data(), text.size())), text.size()};
}

ClaimTrie::Node* ClaimTrie::make(std::string_view path, Node* parent, const Record* record) {
  if (nodeCount_ == nodes_.size()) nodes_.emplace_back(new Node);
  Node* node = nodes_[nodeCount_++].get();
  node->path = path;
  node->parent = nullptr;
  node->record = record;
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
  parent->children.push_back({byteAt(child->path, parent->path.size()), child});
}

ClaimTrie::Node* ClaimTrie::childOf(const Node* node, uint8_t first) const {
  for (const Child& child : node->children)
    if (child.first == first) return child.node;
  return nullptr;
}

void ClaimTrie::drop(Node* parent, const Node* child) {
  auto& children = parent->children;
  children.erase(std::find_if(children.begin(), children.end(), [&](const Child& other) { return other.node == child; }));
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
  name = copyPath(name);
  if (root_) cursors_.push_back({name, root_});
  else waiting_.push_back(name);
}

void ClaimTrie::request(std::string_view path, Node* parent) {
  if (requested_.emplace(path, parent).second) wanted_.push_back(path);
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
      request(path, node);
      return true;
    }
    cursor->node = child;
  }
}

const ClaimTrie::Paths& ClaimTrie::load(const Rows& rows) {
  Paths round;
  std::vector<Row> found;
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
    found.assign(round.size(), Row());
    rows(round, &found);
    for (size_t i = 0; i < round.size(); i++) {
      // A malformed row is read again by the caller, which reports it.
      if (!found[i].isFound || !addRecord(round[i], found[i].data, found[i].size)) wanted_.push_back(round[i]);
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
  return addRecord(copyPath(path), row, size);
}

bool ClaimTrie::addRecord(std::string_view path, const uint8_t* row, size_t size) {
  Record record;
  if (row) {
    const size_t slotsAt = size > 0 && row[0] == kClaimsFlag ? 1 + kSlotHashSize : 1;
    if (size < slotsAt) return false;
    SlotView slot = {};
    for (size_t at = slotsAt; at < size;)
      if (!nextSlot(row, size, &at, &slot)) return false;
    const uint8_t* kept = arena_.copy(row, size);
    record = {kept + slotsAt, size - slotsAt, slotsAt > 1 ? kept + 1 : nullptr, true};
  }
  const Record* known = &records_.insert_or_assign(path, record).first->second;
  if (path.empty()) {
    if (root_) return true;
    root_ = make(path, nullptr, known);
    for (const std::string_view name : waiting_) cursors_.push_back({name, root_});
    waiting_.clear();
    return true;
  }
  const auto request = requested_.find(path);
  if (request == requested_.end()) return true;
  Node* parent = request->second;
  requested_.erase(request);
  make(path, parent, known);
  return true;
}

bool ClaimTrie::loadRoot() {
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
  Node* child = make(copyPath(path), parent, known);
  if (slot.isLeaf) child->hasClaims = true;
  return child;
}

ClaimTrie::Place ClaimTrie::find(std::string_view name, Node** found, SlotPosition* position, size_t* common) {
  if (!loadRoot()) return Place::kMissing;
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
  if (!loadRoot()) return Answer::kMissing;
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
  SlotView slot = {};
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
    SlotView slot = {};
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

void ClaimTrie::markClaimsChanged(Node* node) {
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
      split(node, position, common, copyPath(name));
      break;
    case Place::kGap:
      addLeaf(node, position, copyPath(name));
      break;
    case Place::kExact:
      markClaimsChanged(node);
  }
  return Answer::kYes;
}

// Splits the slot and inserts a node where the names branch.
void ClaimTrie::split(Node* parent, const SlotPosition& position, size_t common, std::string_view name) {
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
  if (depth == name.size()) markClaimsChanged(middle);
  else addLeaf(middle, seek(middle, byteAt(name, depth)), name);
}

void ClaimTrie::addLeaf(Node* parent, const SlotPosition& position, std::string_view name) {
  std::vector<uint8_t> piece;
  const size_t depth = parent->path.size();
  packSlot(bytesOf(name) + depth, name.size() - depth, kNoHash, true, &piece);
  splice(parent, position.at, position.at, piece.data(), piece.size());
  markClaimsChanged(make(name, parent, nullptr));
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
    SlotView slot = {};
    size_t end = 0;
    if (node->size > 0) nextSlot(node->slots, node->size, &end, &slot);
    if (end < node->size) break;
    Node* parent = node->parent;
    const bool merges = node->size > 0;
    detach(node, parent);
    if (node->dirty && !node->isGone) dirtyCount_--;
    node->isGone = true;
    removed_.push_back(node->path);
    newlyRemoved_.push_back(node->path);
    if (merges) break;
    node = parent;
  }
  return Answer::kYes;
}

// Removes a node. If it has one child, the child's edge is attached to the parent.
void ClaimTrie::detach(Node* node, Node* parent) {
  const size_t depth = parent->path.size();
  std::vector<uint8_t> piece;
  SlotView slot = {};
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
  for (const Child& child : node->children) adopt(parent, child.node);
}

ClaimTrie::Answer ClaimTrie::touch(std::string_view name) {
  Node* node;
  SlotPosition position;
  size_t common;
  const Place place = find(name, &node, &position, &common);
  if (place == Place::kMissing) return Answer::kMissing;
  if (place != Place::kExact) return Answer::kNo;
  markClaimsChanged(node);
  return Answer::kYes;
}

ClaimTrie::Paths ClaimTrie::takeRemovedPaths() {
  Paths paths;
  paths.swap(newlyRemoved_);
  return paths;
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

}  // namespace lbc
