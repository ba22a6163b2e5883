#include "claims/nameState.h"

#include <algorithm>

namespace lbc {

namespace {

constexpr uint8_t kOriginal = 1;
constexpr uint8_t kRefiled = 2;
constexpr uint8_t kHasId = 4;
// Minimum number of claims of a name whose row contains the ids of all claims.
constexpr size_t kManyClaims = 16;

bool isBetter(const ActiveClaim& a, const ActiveClaim& b) {
  if (a.effective != b.effective) return a.effective > b.effective;
  if (a.height != b.height) return a.height < b.height;
  return a.point < b.point;
}

bool readClaim(RowDecoder* in, ActiveClaim* claim) {
  const uint8_t flags = in->byte();
  claim->isOriginal = (flags & kOriginal) != 0;
  claim->height = in->height();
  claim->since = (flags & kRefiled) != 0 ? in->height() : claim->height;
  claim->point = in->point();
  claim->hasId = (flags & kHasId) != 0;
  if (claim->hasId) in->copy(&claim->id);
  claim->amount = in->number();
  const uint64_t support = in->number();
  if (claim->amount >= kMostAmount || support >= kMostAmount) return false;
  claim->effective = claim->amount + support;
  return !in->isBad();
}

}  // namespace

bool NameState::parse(const uint8_t* row, size_t size) {
  RowDecoder in(row, size);
  takeover = in.height();
  alive = in.height();
  sinceSnapshot = in.height();
  const uint64_t count = in.number();
  if (count > size) return false;
  claims.resize(count);
  for (ActiveClaim& claim : claims)
    if (!readClaim(&in, &claim)) return false;
  if (in.isBad()) return false;
  if (in.isDone()) return true;
  for (uint64_t left = in.number(); left > 0 && !in.isBad(); left--) {
    ClaimId id;
    in.copy(&id);
    const uint64_t sum = in.number();
    if (sum >= kMostAmount) return false;
    dangling[id] = sum;
  }
  while (!in.isDone()) {
    const uint32_t due = in.height();
    pending.emplace_back(due, in.height());
  }
  return !in.isBad();
}

std::string NameState::format() {
  std::string row;
  putNumber(&row, takeover);
  putNumber(&row, alive);
  putNumber(&row, sinceSnapshot);
  putNumber(&row, claims.size());
  for (ActiveClaim& claim : claims) {
    const bool withId = !claim.isOriginal || claims.size() >= kManyClaims;
    row.push_back(static_cast<char>((claim.isOriginal ? kOriginal : 0) | (claim.since == claim.height ? 0 : kRefiled) |
                                    (withId ? kHasId : 0)));
    putNumber(&row, claim.height);
    if (claim.since != claim.height) putNumber(&row, claim.since);
    putPoint(&row, claim.point);
    if (withId) putBytes(&row, claim.claimId());
    putNumber(&row, claim.amount);
    putNumber(&row, claim.effective - claim.amount);
  }
  if (dangling.empty() && pending.empty()) return row;
  putNumber(&row, dangling.size());
  for (const auto& [id, sum] : dangling) {
    putBytes(&row, id);
    putNumber(&row, sum);
  }
  auto sorted = pending;
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [due, count] : sorted) {
    putNumber(&row, due);
    putNumber(&row, count);
  }
  return row;
}

ClaimTotals NameState::totals() const {
  ClaimTotals totals;
  if (claims.empty()) return totals;
  totals.names = 1;
  totals.claims = claims.size();
  for (const ActiveClaim& claim : claims) totals.amount += claim.amount;
  totals.controllingAmount = claims[0].amount;
  return totals;
}

ActiveClaim* NameState::find(const Point& point) {
  for (ActiveClaim& claim : claims)
    if (claim.point == point) return &claim;
  return nullptr;
}

bool NameState::countPending(uint32_t dueHeight, bool adds) {
  for (auto at = pending.begin(); at != pending.end(); ++at) {
    if (at->first != dueHeight) continue;
    if (adds) at->second++;
    else if (--at->second == 0) pending.erase(at);
    return true;
  }
  if (adds) pending.emplace_back(dueHeight, 1);
  return adds;
}

bool NameState::settle(size_t from) {
  const auto begin = claims.begin();
  const auto at = begin + static_cast<ptrdiff_t>(from);
  const auto before = std::lower_bound(begin, at, *at, isBetter);
  if (before != at) {
    std::rotate(before, at, at + 1);
    return true;
  }
  const auto after = std::lower_bound(at + 1, claims.end(), *at, isBetter);
  if (after == at + 1) return false;
  std::rotate(at, at + 1, after);
  return true;
}

bool NameState::changeSupport(const ClaimId& claimId, uint64_t amount, bool adds, bool* moved) {
  *moved = false;
  if (amount == 0) return true;
  if (amount >= kMostAmount) return false;
  for (size_t i = 0; i < claims.size(); i++) {
    ActiveClaim& claim = claims[i];
    if (claim.claimId() != claimId) continue;
    if (!adds && claim.effective - claim.amount < amount) return false;
    claim.effective = adds ? claim.effective + amount : claim.effective - amount;
    if (claim.effective >= kMostAmount) return false;
    *moved = settle(i);
    return true;
  }
  uint64_t& sum = dangling[claimId];
  if (!adds && sum < amount) return false;
  sum = adds ? sum + amount : sum - amount;
  if (sum >= kMostAmount) return false;
  if (sum == 0) dangling.erase(claimId);
  return true;
}

bool NameState::addClaim(const ClaimItem& item) {
  ActiveClaim claim;
  claim.point = item.point;
  claim.amount = claim.effective = item.amount;
  claim.height = item.height;
  claim.since = item.since;
  claim.isOriginal = item.kind == kNewClaim;
  claim.hasId = true;
  claim.id = item.claimId;
  const auto support = dangling.find(item.claimId);
  if (support != dangling.end()) {
    claim.effective += support->second;
    dangling.erase(support);
  }
  if (item.amount >= kMostAmount || claim.effective >= kMostAmount) return false;
  claims.push_back(claim);
  settle(claims.size() - 1);
  return true;
}

bool NameState::removeClaim(const Point& point) {
  ActiveClaim* claim = find(point);
  if (!claim) return false;
  const uint64_t support = claim->effective - claim->amount;
  if (support != 0) dangling[claim->claimId()] = support;
  claims.erase(claims.begin() + (claim - claims.data()));
  return true;
}

}  // namespace lbc
