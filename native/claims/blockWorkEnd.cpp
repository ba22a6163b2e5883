// The end of a block: due items, owners and takeovers. As in src/claimtrie/blockEnd.ts and src/store/claims/workStore.ts.
#include <algorithm>

#include "claims/blockWork.h"

namespace lbc {

namespace {

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

}  // namespace

void BlockWork::processDue() {
  std::vector<std::string> names;
  for (const DueEntry& entry : due_) {
    addInvolvedNames(entry.name, &names);
    names.push_back(entry.name);
  }
  load(names);
  std::vector<ClaimItem*> entering;
  for (const DueEntry& entry : due_) {
    ClaimItem* due = findItem(entry.name, entry.since, entry.point);
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
  if (!declined_) settleRemovedNodes();
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

void BlockWork::settleRemovedNodes() {
  std::vector<std::string> paths;
  for (const std::string_view path : trie_.takeRemovedPaths()) {
    const std::string text(path);
    if (namesByKey_.count(text) > 0 || mayBeIdle(text)) paths.push_back(text);
  }
  for (const std::string& path : paths) findName(path);
  for (const std::string& path : paths) {
    Name& name = findName(path);
    if (!path.empty() && name.state.claims.empty() && name.state.takeover != rules_.height) setTakeover(&name, 0);
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
