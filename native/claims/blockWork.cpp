#include "claims/blockWork.h"

#include <algorithm>

namespace lbc {

namespace {

// Number of blocks of ownership that add one block of delay. As in src/claimtrie/rules.ts.
constexpr uint32_t kDelayFactor = 32;
// Approximate maximum number of changed items. As MANY_CHANGES of src/store/claims/connect.ts.
constexpr size_t kManyChanges = 2000;

uint32_t proportionalDelay(uint32_t ownedBlocks) { return std::min(ownedBlocks / kDelayFactor, kMaxDelay); }

void remove(std::vector<ClaimItem*>* items, const ClaimItem* item) {
  const auto at = std::find(items->begin(), items->end(), item);
  if (at != items->end()) items->erase(at);
}

}  // namespace

bool BlockWork::connect(const Span& operations, BlockResult* result) {
  result_ = result;
  std::vector<ClaimTransaction> transactions;
  if (!readClaimOperations(operations, &transactions) || !readSummary()) return false;
  hasDue_ = readDue(rules_.height, &due_);
  memcpy(result->root, root_, sizeof root_);
  if (transactions.empty() && !hasDue_) {
    if (result->describes) describe(&result->changes);
    return !declined_;
  }
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
  if (result->describes) describe(&result->changes);
  return !declined_;
}

void BlockWork::processTransactions(const std::vector<ClaimTransaction>& transactions) {
  std::vector<std::string> names;
  for (const ClaimTransaction& transaction : transactions) {
    for (const ClaimOperation& spend : transaction.spends) addInvolvedNames(spend.name, &names);
    for (const ClaimOperation& output : transaction.outputs) {
      // lbcd counts such supports, which the fallback records.
      require(!output.hasMetadata || rules_.countsMetadata);
      addInvolvedNames(output.name, &names);
    }
  }
  load(names);
  if (!declined_) loadSpent(transactions);
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
  const Name& owned = findName(text);
  if (!owned.state.claims.empty()) return rules_.height - owned.state.takeover;
  return owned.hadClaims && !isNode(text) ? rules_.height - owned.takeover : 0;
}

uint32_t BlockWork::delayOf(const std::string& text, const ClaimOperation& output) {
  const Name& owned = findName(text);
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
  const ActiveClaim* claim = findName(text).state.find(spend.point);
  if (!claim) return nullptr;
  ClaimItem* active = findItem(text, claim->since, spend.point);
  if (!require(active != nullptr)) return nullptr;
  end(active);
  return active;
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
  Name& name = findName(item->name);
  addItem(item);
  name.state.countPending(item->dueHeight, true);
  name.state.alive++;
  name.changed = true;
  name.newPending.push_back(item);
  if (item->dueHeight == rules_.height) newDue_.push_back(item);
  if (!item->isSupport()) claimIndex_[item->claimId] = item->rawName;
}

void BlockWork::unqueue(ClaimItem* item) {
  Name& name = findName(item->name);
  require(name.state.countPending(item->dueHeight, false));
  name.changed = true;
  if (item->isNew) {
    remove(&name.newPending, item);
    remove(&newDue_, item);
  } else if (item->dueHeight != rules_.height) {
    auto& removed = dueRemoved_[item->dueHeight];
    if (std::find(removed.begin(), removed.end(), item) == removed.end()) removed.push_back(item);
  }
}

void BlockWork::spendPending(ClaimItem* item) {
  unqueue(item);
  findName(item->name).state.alive--;
  if (item->isNew) itemsByKey_[itemIdentity(item->name, item->since, item->point)] = nullptr;
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
  Name& name = findName(item->name);
  item->ordinal = name.nextOrdinal++;
  name.state.sinceSnapshot++;
  name.changed = true;
  events_.push_back({Op::kCreate, item, nullptr});
}

void BlockWork::enter(ClaimItem* item) {
  Name& name = findName(item->name);
  name.changed = true;
  if (item->isSupport()) {
    bool moved;
    if (isNode(item->name)) requestCheck(&name);
    require(name.state.changeSupport(item->claimId, item->amount, true, &moved));
    name.claimsChanged |= moved;
    return;
  }
  if (name.state.claims.empty()) {
    if (rules_.watchesTakeovers && takeoverFlags_.count(item->name) > 0 && !isNode(item->name))
      takeoverFlags_[item->name] = true;
    callTrie([&] { return trie_.insert(item->name); });
  }
  require(name.state.addClaim(*item));
  name.claimsChanged = true;
  requestCheck(&name);
}

void BlockWork::leave(ClaimItem* item) {
  Name& name = findName(item->name);
  name.changed = true;
  if (item->isSupport()) {
    bool moved;
    if (isNode(item->name)) requestCheck(&name);
    require(name.state.changeSupport(item->claimId, item->amount, false, &moved));
    name.claimsChanged |= moved;
    return;
  }
  require(name.state.removeClaim(item->point));
  name.claimsChanged = true;
  requestCheck(&name);
  if (!name.state.claims.empty()) return;
  ClaimTrie::Paths found;
  callTrie([&] { return trie_.childPaths(item->name, &found); });
  const std::vector<std::string> children(found.begin(), found.end());
  for (const std::string& child : children) noteLoad(child);
  require(callTrie([&] { return trie_.remove(item->name); }));
  if (!children.empty() && rules_.watchesRemovals) removalFlags_.insert(item->name);
}

void BlockWork::end(ClaimItem* item) {
  leave(item);
  findName(item->name).state.alive--;
  close(item);
  if (!item->isSupport()) claimIndex_[item->claimId] = std::nullopt;
}

void BlockWork::noteLoad(const std::string& text) {
  if (!rules_.watchesTakeovers) return;
  for (std::string& node : storedPath(text)) expanded_.insert(std::move(node));
}

void BlockWork::noteSupport(const std::string& text) {
  if (!rules_.watchesTakeovers || takeoverFlags_.count(text) > 0) return;
  if (!findName(text).hadClaims) return;
  if (!isNode(text) || !isLoaded(text)) takeoverFlags_[text] = false;
}

bool BlockWork::isLoaded(const std::string& text) {
  const std::vector<std::string> path = storedPath(text);
  const size_t back = text.empty() ? 1 : 2;
  return path.size() >= back && expanded_.count(path[path.size() - back]) > 0;
}

}  // namespace lbc
