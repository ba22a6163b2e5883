// What a block reads: rows, names, items, and the nodes of the trie on the paths of its names.
#include <algorithm>

#include "claims/blockWork.h"

namespace lbc {

namespace {

uint32_t idleBit(const std::string& name) {
  uint32_t hash = 0x811c9dc5;
  for (const char byte : name) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x01000193;
  return (hash ^ (hash >> 15)) & ((1u << 24) - 1);
}

}  // namespace

bool BlockWork::read(const std::string& key, std::string* row) {
  bool failed = false;
  const bool exists = sources_.rows->read(key, row, &failed);
  if (failed) decline();
  return exists && !failed;
}

bool BlockWork::readMany(const std::vector<std::string>& keys, std::vector<Memtable::Lookup>* lookups) {
  lookups->clear();
  for (const std::string& key : keys) {
    Memtable::Lookup lookup;
    lookup.key = reinterpret_cast<const uint8_t*>(key.data());
    lookup.keySize = key.size();
    lookups->push_back(lookup);
  }
  return require(sources_.rows->readMany(lookups->data(), lookups->size()));
}

std::string BlockWork::normalize(const std::string& name) {
  bool hasUpper = false;
  for (const char byte : name) {
    if (static_cast<uint8_t>(byte) >= 0x80) {
      std::string normalized;
      require(sources_.normalize(name, &normalized));
      return normalized;
    }
    hasUpper |= byte >= 'A' && byte <= 'Z';
  }
  if (!hasUpper) return name;
  std::string lower = name;
  for (char& byte : lower)
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte + 0x20);
  return lower;
}

bool BlockWork::readSummary() {
  std::string row;
  hasSummary_ = read("k", &row);
  if (!hasSummary_) {
    memcpy(root_, kEmptyRoot, sizeof root_);
    return !declined_;
  }
  RowDecoder in(reinterpret_cast<const uint8_t*>(row.data()), row.size());
  std::array<uint8_t, kSlotHashSize> root;
  in.copy(&root);
  memcpy(root_, root.data(), sizeof root_);
  totals_.names = in.number();
  totals_.claims = in.number();
  totals_.amount = in.number();
  totals_.controllingAmount = in.number();
  return !in.isBad() && totals_.amount < kMostAmount && totals_.controllingAmount < kMostAmount;
}

bool BlockWork::readDue(uint32_t height, std::vector<DueEntry>* entries) {
  std::string row;
  if (!read(heightKey('q', height), &row)) return false;
  RowDecoder in(reinterpret_cast<const uint8_t*>(row.data()), row.size());
  while (!in.isDone()) {
    DueEntry entry;
    entry.name = in.text(in.number());
    entry.since = in.height();
    entry.txOffset = in.height();
    entry.point = in.point();
    entries->push_back(std::move(entry));
  }
  require(!in.isBad());
  return true;
}

bool BlockWork::isOlder(const DueEntry& a, const DueEntry& b) {
  if (a.since != b.since) return a.since < b.since;
  if (a.txOffset != b.txOffset) return a.txOffset < b.txOffset;
  return pointIndex(a.point) < pointIndex(b.point);
}

BlockWork::Name& BlockWork::findName(const std::string& name) {
  const auto known = namesByKey_.find(name);
  if (known != namesByKey_.end()) return *known->second;
  std::string row;
  const bool exists = read("n" + name, &row);
  return addName(name, exists ? reinterpret_cast<const uint8_t*>(row.data()) : nullptr, row.size());
}

// `row` is null if the name has no row.
BlockWork::Name& BlockWork::addName(const std::string& name, const uint8_t* row, size_t size) {
  names_.emplace_back();
  Name& added = names_.back();
  added.name = name;
  NameState& state = added.state;
  if (row) {
    require(state.parse(row, size));
    added.totals = state.totals();
  }
  added.wasCrowded = state.alive >= kCrowdedItems;
  added.hadClaims = !state.claims.empty();
  if (added.hadClaims) added.ownerId = state.claims[0].claimId();
  added.takeover = state.takeover;
  namesByKey_[name] = &added;
  return added;
}

ClaimItem* BlockWork::findItem(const std::string& name, uint32_t since, const Point& point) {
  const std::string key = itemIdentity(name, since, point);
  const auto known = itemsByKey_.find(key);
  if (known != itemsByKey_.end()) return known->second;
  std::string row;
  const bool exists = read(itemKey(name, since, point), &row);
  return keepItem(name, since, point, exists ? reinterpret_cast<const uint8_t*>(row.data()) : nullptr, row.size());
}

// `row` is null if the item has no row.
ClaimItem* BlockWork::keepItem(const std::string& name, uint32_t since, const Point& point, const uint8_t* row, size_t size) {
  ClaimItem* found = nullptr;
  if (row) {
    items_.emplace_back();
    found = &items_.back();
    found->name = name;
    found->since = since;
    found->point = point;
    require(parseItem(row, size, found));
  }
  itemsByKey_[itemIdentity(name, since, point)] = found;
  return found;
}

// Loads the items that the transactions spend together. Without this, `removeSpent` reads them one by one.
void BlockWork::loadSpent(const std::vector<ClaimTransaction>& transactions) {
  if (!rules_.matchesNormalized()) return;
  struct Spent {
    std::string name;
    uint32_t since;
    const Point* point;
  };
  std::vector<Spent> wanted;
  std::vector<std::string> keys;
  std::unordered_set<std::string> known;
  for (const ClaimTransaction& transaction : transactions) {
    for (const ClaimOperation& spend : transaction.spends) {
      if (!counts(spend) || spend.coinHeight == rules_.height) continue;
      std::string name = normalize(spend.name);
      if (!known.insert(itemIdentity(name, spend.coinHeight, spend.point)).second) continue;
      keys.push_back(itemKey(name, spend.coinHeight, spend.point));
      wanted.push_back({std::move(name), spend.coinHeight, &spend.point});
    }
  }
  std::vector<Memtable::Lookup> rows;
  if (declined_ || !readMany(keys, &rows)) return;
  for (size_t i = 0; i < wanted.size(); i++) {
    const bool exists = rows[i].length >= 0;
    keepItem(wanted[i].name, wanted[i].since, *wanted[i].point, exists ? rows[i].value : nullptr,
             exists ? static_cast<size_t>(rows[i].length) : 0);
  }
}

void BlockWork::addItem(ClaimItem* item) { itemsByKey_[itemIdentity(item->name, item->since, item->point)] = item; }

bool BlockWork::mayBeIdle(const std::string& name) const {
  const uint32_t bit = idleBit(name);
  return (sources_.idleBits[bit >> 3] & (1 << (bit & 7))) != 0;
}

void BlockWork::addIdle(const std::string& name) {
  constexpr size_t kRowBytes = 256;
  const uint32_t bit = idleBit(name);
  sources_.idleBits[bit >> 3] = static_cast<uint8_t>(sources_.idleBits[bit >> 3] | (1 << (bit & 7)));
  const uint32_t number = (bit >> 3) / kRowBytes;
  const std::string key = {'f', static_cast<char>(number >> 8), static_cast<char>(number)};
  put(key, std::string(reinterpret_cast<const char*>(sources_.idleBits + number * kRowBytes), kRowBytes));
}

// Names whose state may be needed if `name` occurs in a script (`namesInvolved`).
void BlockWork::addInvolvedNames(const std::string& name, std::vector<std::string>* names) {
  const uint32_t fork = rules_.normalizationForkHeight;
  if (!rules_.matchesNormalized()) {
    names->push_back(name);
    if (rules_.height + kMaxDelay <= fork) return;
    std::string normalized = normalize(name);
    if (normalized != name) names->push_back(std::move(normalized));
    return;
  }
  std::string normalized = normalize(name);
  std::string twice = normalize(normalized);
  names->push_back(normalized);
  if (twice != normalized) names->push_back(std::move(twice));
}

bool BlockWork::supplyMissing(const std::string& path) {
  std::string row;
  if (read((rules_.allClaims ? "t1" : "t0") + path, &row))
    return require(trie_.supply(path, reinterpret_cast<const uint8_t*>(row.data()), row.size()));
  return require(path.empty() && totals_.names == 0) && require(trie_.supply(path, nullptr, 0));
}

bool BlockWork::isNode(const std::string& name) {
  return callTrie([&] { return trie_.isNode(name); });
}

std::vector<std::string> BlockWork::storedPath(const std::string& name) {
  ClaimTrie::Paths paths;
  callTrie([&] { return trie_.storedPath(name, &paths); });
  return {paths.begin(), paths.end()};
}

// Loads the names and the nodes on their paths (`WorkStore.load`).
void BlockWork::load(const std::vector<std::string>& involved) {
  std::vector<std::string> names;
  std::unordered_set<std::string> known;
  for (const std::string& name : involved)
    if (known.insert(name).second) names.push_back(name);
  if (names.empty()) return;
  loadTrie(names);
  if (declined_) return;
  const ClaimTrie::Paths found = trie_.takeLeaves();
  const std::vector<std::string> leaves(found.begin(), found.end());
  loadNames(names);
  loadNames(leaves);
}

void BlockWork::loadTrie(const std::vector<std::string>& names) {
  for (const std::string& name : names) trie_.begin(name);
  std::vector<std::string> keys;
  std::vector<Memtable::Lookup> lookups;
  const auto find = [&](const ClaimTrie::Paths& paths, std::vector<ClaimTrie::Row>* rows) {
    keys.resize(paths.size());
    for (size_t i = 0; i < paths.size(); i++) keys[i].assign(rules_.allClaims ? "t1" : "t0").append(paths[i]);
    if (!readMany(keys, &lookups)) return;
    for (size_t i = 0; i < paths.size(); i++)
      if (lookups[i].length >= 0) (*rows)[i] = {lookups[i].value, static_cast<size_t>(lookups[i].length), true};
  };
  while (!declined_) {
    const ClaimTrie::Paths wanted = trie_.load(find);
    if (wanted.empty()) return;
    for (const std::string_view path : wanted)
      if (!declined_) supplyMissing(std::string(path));
  }
}

void BlockWork::loadNames(const std::vector<std::string>& names) {
  std::vector<std::string> keys;
  std::vector<const std::string*> added;
  std::vector<bool> mayHaveRow;
  for (const std::string& name : names) {
    if (namesByKey_.count(name) > 0) continue;
    added.push_back(&name);
    mayHaveRow.push_back(mayBeIdle(name) || callTrie([&] { return trie_.knowsNode(name); }));
    if (mayHaveRow.back()) keys.push_back("n" + name);
  }
  std::vector<Memtable::Lookup> lookups;
  if (declined_ || !readMany(keys, &lookups)) return;
  size_t at = 0;
  for (size_t i = 0; i < added.size(); i++) {
    Memtable::Lookup row;
    if (mayHaveRow[i]) row = lookups[at++];
    addName(*added[i], row.length >= 0 ? row.value : nullptr, row.length >= 0 ? static_cast<size_t>(row.length) : 0);
  }
}

ClaimItem* BlockWork::storedItem(const std::string& text, uint32_t coinHeight, const Point& point) {
  if (coinHeight != rules_.height) return findItem(text, coinHeight, point);
  const auto own = itemsByKey_.find(itemIdentity(text, coinHeight, point));
  return own == itemsByKey_.end() ? nullptr : own->second;
}

ClaimItem* BlockWork::activeSupport(const std::string& text, uint32_t coinHeight, const Point& point) {
  const auto isActive = [](const ClaimItem* found) { return found && found->removed == 0 && found->activated != 0; };
  ClaimItem* found = storedItem(text, coinHeight, point);
  if (isActive(found)) return found;
  const uint32_t fork = rules_.normalizationForkHeight;
  if (rules_.height <= fork || coinHeight > fork) return nullptr;
  ClaimItem* refiled = findItem(text, fork, point);
  return isActive(refiled) ? refiled : nullptr;
}

std::vector<ClaimItem*> BlockWork::loadPending(const std::vector<Name*>& names) {
  std::vector<ClaimItem*> items;
  std::vector<uint32_t> heights;
  std::vector<DueEntry> entries, all;
  std::unordered_set<std::string> waiting;
  for (const Name* name : names) {
    if (name->state.pending.empty()) continue;
    waiting.insert(name->name);
    for (const auto& [due, count] : name->state.pending)
      if (std::find(heights.begin(), heights.end(), due) == heights.end()) heights.push_back(due);
  }
  for (const uint32_t height : heights) readDue(height, &all);
  for (DueEntry& entry : all)
    if (waiting.count(entry.name) > 0) entries.push_back(std::move(entry));
  std::stable_sort(entries.begin(), entries.end(), isOlder);
  for (const DueEntry& entry : entries) {
    ClaimItem* found = findItem(entry.name, entry.since, entry.point);
    if (found && found->isPending()) items.push_back(found);
  }
  return items;
}

}  // namespace lbc
