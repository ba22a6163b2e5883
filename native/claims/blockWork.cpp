#include "claims/blockWork.h"

#include <algorithm>

namespace lbc {

namespace {

// Number of blocks of ownership that add one block of delay, and the maximum delay. As in src/claimtrie/rules.ts.
constexpr uint32_t kDelayFactor = 32;
constexpr uint32_t kMaxDelay = 4032;
// Approximate maximum number of changed items. As MANY_CHANGES of src/store/claims/connect.ts.
constexpr size_t kManyChanges = 2000;
// Minimum number of items of a name whose supports are indexed by rows. As CROWDED_ITEMS of supportRows.ts.
constexpr uint32_t kCrowdedItems = 64;
constexpr uint8_t kEmptyRoot[kSlotHashSize] = {1};

uint32_t proportionalDelay(uint32_t ownedBlocks) { return std::min(ownedBlocks / kDelayFactor, kMaxDelay); }

std::string keyOf(const std::string& name, uint32_t since, const Point& point) {
  std::string key;
  key.reserve(4 + kPointSize + name.size());
  putBE32(&key, since);
  putBytes(&key, point);
  return key.append(name);
}

uint32_t idleBit(const std::string& name) {
  uint32_t hash = 0x811c9dc5;
  for (const char byte : name) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x01000193;
  return (hash ^ (hash >> 15)) & ((1u << 24) - 1);
}

void remove(std::vector<ClaimItem*>* items, const ClaimItem* item) {
  const auto at = std::find(items->begin(), items->end(), item);
  if (at != items->end()) items->erase(at);
}

// Adds an item to the changes `to` of the queue. If it is in the opposite changes `from`, it is only removed from them.
void moveItem(ClaimItem* item, std::map<uint32_t, std::vector<ClaimItem*>>* from,
              std::map<uint32_t, std::vector<ClaimItem*>>* to) {
  const auto known = from->find(item->dueHeight);
  if (known != from->end()) {
    auto& items = known->second;
    const auto at = std::find(items.begin(), items.end(), item);
    if (at != items.end()) {
      items.erase(at);
      return;
    }
  }
  (*to)[item->dueHeight].push_back(item);
}

void addUnique(std::vector<std::string>* names, std::unordered_set<std::string>* known, const std::string& name) {
  if (known->insert(name).second) names->push_back(name);
}

}  // namespace

bool BlockWork::read(const std::string& key, std::string* row) {
  bool failed = false;
  const bool exists = sources_.read(key, row, &failed);
  if (failed) decline();
  return exists && !failed;
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

bool BlockWork::connect(const Span& operations, BlockResult* result) {
  result_ = result;
  std::vector<ClaimTransaction> transactions;
  if (!readClaimOperations(operations, &transactions) || !readSummary()) return false;
  hasDue_ = readDue(rules_.height, &due_);
  memcpy(result->root, root_, sizeof root_);
  if (transactions.empty() && !hasDue_) return !declined_;
  if (!hasSummary_ || transactions.size() + due_.size() > kManyChanges) return false;
  trie_.reset();
  processTransactions(transactions);
  if (!declined_) noteFleeting();
  if (!declined_) processDue();
  if (!declined_) settle();
  if (!declined_) hashClaims();
  if (!declined_) putItems();
  if (!declined_) putDue();
  for (size_t i = 0; i < names_.size() && !declined_; i++) putName(&names_[i]);
  if (declined_) return false;
  putLog();
  putNodes();
  if (hasDue_) drop(heightKey('q', rules_.height));
  putSummary();
  memcpy(result->root, root_, sizeof root_);
  return !declined_;
}

BlockWork::Name& BlockWork::name(const std::string& name) {
  const auto known = namesByKey_.find(name);
  return known == namesByKey_.end() ? addName(name, true) : *known->second;
}

BlockWork::Name& BlockWork::addName(const std::string& name, bool mayHaveRow) {
  names_.emplace_back();
  Name& added = names_.back();
  added.name = name;
  std::string row;
  NameState& state = added.state;
  if (mayHaveRow && read("n" + name, &row)) {
    require(state.parse(reinterpret_cast<const uint8_t*>(row.data()), row.size()));
    added.totals = state.totals();
  }
  added.wasCrowded = state.alive >= kCrowdedItems;
  added.hadClaims = !state.claims.empty();
  if (added.hadClaims) added.ownerId = state.claims[0].claimId();
  added.takeover = state.takeover;
  namesByKey_[name] = &added;
  return added;
}

ClaimItem* BlockWork::item(const std::string& name, uint32_t since, const Point& point) {
  const std::string key = keyOf(name, since, point);
  const auto known = itemsByKey_.find(key);
  if (known != itemsByKey_.end()) return known->second;
  ClaimItem* found = nullptr;
  std::string row;
  if (read(itemKey(name, since, point), &row)) {
    items_.emplace_back();
    found = &items_.back();
    found->name = name;
    found->since = since;
    found->point = point;
    require(parseItem(reinterpret_cast<const uint8_t*>(row.data()), row.size(), found));
  }
  itemsByKey_[key] = found;
  return found;
}

void BlockWork::addItem(ClaimItem* item) { itemsByKey_[keyOf(item->name, item->since, item->point)] = item; }

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
void BlockWork::involve(const std::string& name, std::vector<std::string>* names) {
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
  return ask([&] { return trie_.isNode(name); });
}

std::vector<std::string> BlockWork::storedPath(const std::string& name) {
  ClaimTrie::Paths paths;
  ask([&] { return trie_.storedPath(name, &paths); });
  return {paths.begin(), paths.end()};
}

// Loads the names and the nodes on their paths (`WorkStore.load`).
void BlockWork::load(const std::vector<std::string>& names) {
  if (names.empty()) return;
  std::string row;
  for (const std::string& name : names) trie_.begin(name);
  const auto find = [&](std::string_view path, const uint8_t** data, size_t* size) {
    std::string key = rules_.allClaims ? "t1" : "t0";
    if (!read(key.append(path), &row)) return false;
    *data = reinterpret_cast<const uint8_t*>(row.data());
    *size = row.size();
    return true;
  };
  for (;;) {
    const ClaimTrie::Paths wanted = trie_.load(find);
    if (wanted.empty()) break;
    for (const std::string_view path : wanted)
      if (!supplyMissing(std::string(path))) return;
  }
  const ClaimTrie::Paths found = trie_.takeLeaves();
  const std::vector<std::string> leaves(found.begin(), found.end());
  std::vector<bool> mayHaveRow;
  for (const std::string& name : names) {
    const bool isKept = namesByKey_.count(name) > 0 || mayBeIdle(name);
    mayHaveRow.push_back(isKept || ask([&] { return trie_.knowsNode(name); }));
  }
  for (size_t i = 0; i < names.size(); i++)
    if (namesByKey_.count(names[i]) == 0) addName(names[i], mayHaveRow[i]);
  for (const std::string& leaf : leaves) name(leaf);
}

void BlockWork::processTransactions(const std::vector<ClaimTransaction>& transactions) {
  std::vector<std::string> involved, names;
  std::unordered_set<std::string> known;
  for (const ClaimTransaction& transaction : transactions) {
    for (const ClaimOperation& spend : transaction.spends) involve(spend.name, &involved);
    for (const ClaimOperation& output : transaction.outputs) {
      // lbcd counts such supports, which the fallback records.
      require(!output.hasMetadata || rules_.countsMetadata);
      involve(output.name, &involved);
    }
  }
  for (const std::string& name : involved) addUnique(&names, &known, name);
  load(names);
  for (const ClaimTransaction& transaction : transactions)
    if (!declined_) processTransaction(transaction);
}

bool BlockWork::counts(const ClaimOperation& operation) const {
  return operation.kind != kSupport || !operation.hasMetadata || rules_.countsMetadata;
}

void BlockWork::processTransaction(const ClaimTransaction& transaction) {
  Spent spent;
  const auto keyOfSpent = [&](const ClaimOperation& operation) {
    std::string key;
    putBytes(&key, operation.claimId);
    return key.append(matchName(operation.name));
  };
  for (const ClaimOperation& spend : transaction.spends) {
    const uint32_t fork = rules_.normalizationForkHeight;
    // The fallback records spends of supports that the normalization fork did not move.
    if (spend.kind == kSupport && spend.coinHeight < fork && rules_.height > fork)
      require(normalize(spend.name) == spend.name);
    ClaimItem* removed = counts(spend) ? removeSpent(spend) : nullptr;
    if (!removed) {
      unknownSpends_.push_back(spend.name);
      continue;
    }
    if (removed->isNew) ownSpends_.push_back(removed);
    if (spend.kind != kSupport) spent[keyOfSpent(spend)]++;
  }
  for (const ClaimOperation& output : transaction.outputs) {
    if (!counts(output)) continue;
    if (output.kind == kUpdate) {
      const auto left = spent.find(keyOfSpent(output));
      if (left == spent.end() || left->second == 0) continue;
      left->second--;
    }
    addOutput(transaction, output);
  }
}

std::string BlockWork::matchName(const std::string& name) {
  return rules_.matchesNormalized() ? normalize(name) : name;
}

std::string BlockWork::queueName(const std::string& name, uint32_t dueHeight) {
  const bool isNormalized = rules_.matchesNormalized() || dueHeight > rules_.normalizationForkHeight;
  return isNormalized ? normalize(name) : name;
}

uint32_t BlockWork::ownedBlocks(const std::string& text) {
  if (removalFlags_.erase(text) > 0) return 0;
  const Name& owned = name(text);
  if (!owned.state.claims.empty()) return rules_.height - owned.state.takeover;
  return owned.hadClaims && !isNode(text) ? rules_.height - owned.takeover : 0;
}

uint32_t BlockWork::delayOf(const std::string& text, const ClaimOperation& output) {
  const Name& owned = name(text);
  if (owned.hadClaims && owned.ownerId == output.claimId) return 0;
  if (output.kind == kSupport && rules_.supportDelay > 0) return rules_.supportDelay;
  return proportionalDelay(ownedBlocks(text));
}

void BlockWork::addOutput(const ClaimTransaction& transaction, const ClaimOperation& output) {
  const uint32_t dueHeight = rules_.height + delayOf(matchName(output.name), output);
  items_.emplace_back();
  ClaimItem* item = &items_.back();
  item->name = queueName(output.name, dueHeight);
  item->since = item->height = rules_.height;
  item->point = output.point;
  item->kind = output.kind;
  item->claimId = output.claimId;
  item->amount = output.amount;
  item->txOffset = transaction.txOffset;
  item->dueHeight = dueHeight;
  item->rawName = output.name;
  item->isNew = true;
  require(item->amount < kMostAmount);
  queueNew(item);
}

ClaimItem* BlockWork::removeSpent(const ClaimOperation& spend) {
  const std::string& raw = spend.name;
  std::string queue;
  if (rules_.matchesNormalized()) {
    removalFlags_.erase(raw);
    queue = normalize(raw);
  } else {
    queue = queueName(raw, spend.coinHeight + proportionalDelay(ownedBlocks(raw)));
  }
  ClaimItem* pending = storedItem(queue, spend.coinHeight, spend.point);
  if (pending && pending->isPending()) {
    spendPending(pending);
    return pending;
  }
  const std::string text = matchName(raw);
  if (spend.kind == kSupport) {
    ClaimItem* support = activeSupport(text, spend.coinHeight, spend.point);
    if (!support) return nullptr;
    noteSupport(text);
    noteLoad(text);
    end(support);
    return support;
  }
  noteLoad(text);
  const ActiveClaim* claim = name(text).state.find(spend.point);
  if (!claim) return nullptr;
  ClaimItem* active = item(text, claim->since, spend.point);
  if (!require(active != nullptr)) return nullptr;
  end(active);
  return active;
}

ClaimItem* BlockWork::storedItem(const std::string& text, uint32_t coinHeight, const Point& point) {
  if (coinHeight != rules_.height) return item(text, coinHeight, point);
  const auto own = itemsByKey_.find(keyOf(text, coinHeight, point));
  return own == itemsByKey_.end() ? nullptr : own->second;
}

ClaimItem* BlockWork::activeSupport(const std::string& text, uint32_t coinHeight, const Point& point) {
  const auto isActive = [](const ClaimItem* found) { return found && found->removed == 0 && found->activated != 0; };
  ClaimItem* found = storedItem(text, coinHeight, point);
  if (isActive(found)) return found;
  const uint32_t fork = rules_.normalizationForkHeight;
  if (rules_.height <= fork || coinHeight > fork) return nullptr;
  ClaimItem* refiled = item(text, fork, point);
  return isActive(refiled) ? refiled : nullptr;
}

// Rows for lbcd's view of the block (lbcdFleeting.ts).
void BlockWork::noteFleeting() {
  std::map<std::string, std::string> rows;
  for (const ClaimItem* item : ownSpends_) {
    constexpr uint8_t kHasDelay = 4;
    std::string& row = rows[matchName(item->rawName)];
    row.push_back(static_cast<char>(item->kind | kHasDelay));
    putNumber(&row, item->dueHeight - item->height);
    putBytes(&row, item->claimId);
    putNumber(&row, item->amount);
    putNumber(&row, item->txOffset);
    putText(&row, item->rawName);
    putPoint(&row, item->point);
  }
  for (const std::string& name : unknownSpends_) rows[matchName(name)];
  for (const auto& [name, row] : rows) {
    std::string key = nameInKey('g', name);
    putBE32(&key, rules_.height);
    put(key, row);
    put(heightKey('h', rules_.height) + name, {});
  }
}

void BlockWork::requestCheck(Name* name) { name->check = true; }

void BlockWork::queueNew(ClaimItem* item) {
  Name& of = name(item->name);
  addItem(item);
  of.state.countPending(item->dueHeight, true);
  of.state.alive++;
  of.changed = true;
  of.newPending.push_back(item);
  if (item->dueHeight == rules_.height) newDue_.push_back(item);
  if (!item->isSupport()) claimIndex_[item->claimId] = item->rawName;
}

void BlockWork::unqueue(ClaimItem* item) {
  Name& of = name(item->name);
  require(of.state.countPending(item->dueHeight, false));
  of.changed = true;
  if (item->isNew) {
    remove(&of.newPending, item);
    remove(&newDue_, item);
  } else if (item->dueHeight != rules_.height) {
    auto& removed = dueRemoved_[item->dueHeight];
    if (std::find(removed.begin(), removed.end(), item) == removed.end()) removed.push_back(item);
  }
}

void BlockWork::spendPending(ClaimItem* item) {
  unqueue(item);
  name(item->name).state.alive--;
  if (item->isNew) itemsByKey_[keyOf(item->name, item->since, item->point)] = nullptr;
  else close(item);
  if (!item->isSupport()) claimIndex_[item->claimId] = std::nullopt;
}

void BlockWork::close(ClaimItem* item) {
  item->removed = rules_.height;
  item->removal = kSpentRemoval;
  events_.push_back({Op::kSpend, item, nullptr});
}

void BlockWork::activate(ClaimItem* item) {
  unqueue(item);
  // The fallback moves items to other names.
  if (rules_.matchesNormalized()) require(normalize(item->name) == item->name);
  item->activated = rules_.height;
  if (item->isNew) recordCreation(item);
  else events_.push_back({Op::kActivate, item, nullptr});
  enter(item);
}

void BlockWork::recordCreation(ClaimItem* item) {
  Name& of = name(item->name);
  item->ordinal = of.nextOrdinal++;
  of.state.sinceSnapshot++;
  of.changed = true;
  events_.push_back({Op::kCreate, item, nullptr});
}

void BlockWork::enter(ClaimItem* item) {
  Name& of = name(item->name);
  of.changed = true;
  if (item->isSupport()) {
    bool moved;
    if (isNode(item->name)) requestCheck(&of);
    require(of.state.changeSupport(item->claimId, item->amount, true, &moved));
    of.claimsChanged |= moved;
    return;
  }
  if (of.state.claims.empty()) {
    if (rules_.watchesTakeovers && takeoverFlags_.count(item->name) > 0 && !isNode(item->name))
      takeoverFlags_[item->name] = true;
    ask([&] { return trie_.insert(item->name); });
  }
  require(of.state.addClaim(*item));
  of.claimsChanged = true;
  requestCheck(&of);
}

void BlockWork::leave(ClaimItem* item) {
  Name& of = name(item->name);
  of.changed = true;
  if (item->isSupport()) {
    bool moved;
    if (isNode(item->name)) requestCheck(&of);
    require(of.state.changeSupport(item->claimId, item->amount, false, &moved));
    of.claimsChanged |= moved;
    return;
  }
  require(of.state.removeClaim(item->point));
  of.claimsChanged = true;
  requestCheck(&of);
  if (!of.state.claims.empty()) return;
  ClaimTrie::Paths found;
  ask([&] { return trie_.childPaths(item->name, &found); });
  const std::vector<std::string> children(found.begin(), found.end());
  for (const std::string& child : children) noteLoad(child);
  require(ask([&] { return trie_.remove(item->name); }));
  if (!children.empty() && rules_.watchesRemovals) removalFlags_.insert(item->name);
}

void BlockWork::end(ClaimItem* item) {
  leave(item);
  name(item->name).state.alive--;
  close(item);
  if (!item->isSupport()) claimIndex_[item->claimId] = std::nullopt;
}

void BlockWork::noteLoad(const std::string& text) {
  if (!rules_.watchesTakeovers) return;
  for (std::string& node : storedPath(text)) expanded_.insert(std::move(node));
}

void BlockWork::noteSupport(const std::string& text) {
  if (!rules_.watchesTakeovers || takeoverFlags_.count(text) > 0) return;
  if (!name(text).hadClaims) return;
  if (!isNode(text) || !isLoaded(text)) takeoverFlags_[text] = false;
}

bool BlockWork::isLoaded(const std::string& text) {
  const std::vector<std::string> path = storedPath(text);
  const size_t back = text.empty() ? 1 : 2;
  return path.size() >= back && expanded_.count(path[path.size() - back]) > 0;
}

void BlockWork::processDue() {
  std::vector<std::string> names, involved;
  std::unordered_set<std::string> known;
  for (const DueEntry& entry : due_) {
    involve(entry.name, &involved);
    involved.push_back(entry.name);
  }
  for (const std::string& name : involved) addUnique(&names, &known, name);
  load(names);
  std::vector<ClaimItem*> entering;
  for (const DueEntry& entry : due_) {
    ClaimItem* due = item(entry.name, entry.since, entry.point);
    if (due && due->isPending()) entering.push_back(due);
  }
  entering.insert(entering.end(), newDue_.begin(), newDue_.end());
  for (const bool supports : {false, true})
    for (ClaimItem* item : entering)
      if (item->isSupport() == supports && item->removed == 0 && !declined_) activate(item);
}

bool BlockWork::ownerChanged(Name* name) {
  auto& claims = name->state.claims;
  return claims.empty() || !name->hadClaims || claims[0].claimId() != name->ownerId;
}

void BlockWork::settle() {
  struct Check {
    Name* name;
    bool happened;
  };
  std::vector<Check> checks;
  std::vector<Name*> happened;
  size_t waiting = 0;
  for (Name& name : names_) {
    if (!name.check) continue;
    name.check = false;
    checks.push_back({&name, ownerChanged(&name)});
    if (!checks.back().happened) continue;
    happened.push_back(&name);
    if (!name.state.pending.empty()) waiting++;
  }
  // The fallback checks the names in the order of the reference's hash set.
  if (!require(waiting <= 1)) return;
  const std::vector<ClaimItem*> pending = loadPending(happened);
  for (const Check& check : checks)
    if (!declined_) settleName(check.name, check.happened, pending);
  settleNew();
  if (!declined_) forgetVanished();
  settleOwners();
}

void BlockWork::settleName(Name* name, bool happened, const std::vector<ClaimItem*>& pending) {
  if (happened) {
    std::vector<ClaimItem*> waiting;
    for (ClaimItem* item : pending)
      if (item->name == name->name) waiting.push_back(item);
    waiting.insert(waiting.end(), name->newPending.begin(), name->newPending.end());
    for (const bool supports : {false, true})
      for (ClaimItem* item : waiting)
        if (item->isSupport() == supports && !declined_) activate(item);
  }
  const auto flag = takeoverFlags_.find(name->name);
  if (!happened && (flag == takeoverFlags_.end() || !flag->second)) setTakeover(name, name->takeover);
  else setTakeover(name, isNode(name->name) ? rules_.height : 0);
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
    ClaimItem* found = item(entry.name, entry.since, entry.point);
    if (found && found->isPending()) items.push_back(found);
  }
  return items;
}

void BlockWork::settleNew() {
  for (Name& name : names_) {
    for (ClaimItem* item : name.newPending) {
      recordCreation(item);
      item->isNew = false;
      moveItem(item, &dueRemoved_, &dueAdded_);
    }
    name.newPending.clear();
  }
  newDue_.clear();
}

void BlockWork::forgetVanished() {
  std::vector<std::string> paths;
  for (const std::string_view path : trie_.takeVanished()) {
    const std::string text(path);
    if (namesByKey_.count(text) > 0 || mayBeIdle(text)) paths.push_back(text);
  }
  for (const std::string& path : paths) name(path);
  for (const std::string& path : paths) {
    Name& of = name(path);
    if (!path.empty() && of.state.claims.empty() && of.state.takeover != rules_.height) setTakeover(&of, 0);
  }
}

void BlockWork::settleOwners() {
  for (const Name& name : names_) {
    const NameState& state = name.state;
    const bool hasClaims = !state.claims.empty();
    if (state.takeover == name.takeover && hasClaims == name.hadClaims) continue;
    events_.push_back({Op::kTakeover, nullptr, &name});
    std::string key = "w";
    for (const char byte : name.name) {
      key.push_back(byte);
      if (byte == 0) key.push_back('\xff');
    }
    key.append(2, '\0');
    putBE32(&key, rules_.height);
    std::string row(1, hasClaims ? 1 : 0);
    if (state.takeover != rules_.height) putNumber(&row, state.takeover);
    put(key, row);
  }
}

void BlockWork::setTakeover(Name* name, uint32_t takeover) {
  if (name->state.takeover == takeover) return;
  name->state.takeover = takeover;
  name->changed = name->claimsChanged = true;
}

}  // namespace lbc
