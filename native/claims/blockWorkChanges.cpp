// What a block changed, for the claim index: the events of its log, the outputs that it created and spent, weights of claims,
// and totals. Decoded by src/store/claims/ordinaryChanges.ts.
#include <set>

#include "claims/blockWork.h"

namespace lbc {

namespace {

constexpr uint8_t kOtherName = 4;

// Appends an item in its state at the end of the block.
void putItem(const ClaimItem& item, std::string* out) {
  const bool hasOtherName = item.rawName != item.name;
  out->push_back(static_cast<char>(item.kind | (hasOtherName ? kOtherName : 0)));
  putText(out, item.name);
  putNumber(out, item.since);
  putBytes(out, item.point);
  putBytes(out, item.claimId);
  for (const uint64_t number : {item.amount, uint64_t{item.height}, uint64_t{item.txOffset}, uint64_t{item.dueHeight},
                                uint64_t{item.activated}, uint64_t{item.removed}, uint64_t{item.removal},
                                uint64_t{item.ordinal}}) {
    putNumber(out, number);
  }
  if (hasOtherName) putText(out, item.rawName);
}

}  // namespace

// The claims whose weights are described.
struct BlockWork::Weighed {
  // Outpoints of the claims that the block created.
  std::set<Point> points;
  // Ids of claims whose supports the block changed.
  std::set<ClaimId> supported;
  // All ids for which supports without an active claim are described.
  std::set<ClaimId> ids;
};

void BlockWork::describe(std::string* out) {
  putNumber(out, totals_.names);
  putNumber(out, totals_.claims);
  putNumber(out, totals_.amount);
  putNumber(out, totals_.controllingAmount);
  Weighed weighed;
  putNumber(out, events_.size());
  for (const Event& event : events_) {
    out->push_back(static_cast<char>(event.op));
    if (event.op == Op::kTakeover) {
      putText(out, event.name->name);
      continue;
    }
    const ClaimItem& item = *event.item;
    putItem(item, out);
    if (item.isSupport()) weighed.supported.insert(item.claimId);
    else if (event.op == Op::kCreate) weighed.points.insert(item.point);
    weighed.ids.insert(item.claimId);
  }
  std::vector<const ClaimItem*> fleeting;
  for (const ClaimItem* item : ownSpends_)
    if (!item->isSupport()) fleeting.push_back(item);
  putNumber(out, fleeting.size());
  for (const ClaimItem* item : fleeting) {
    putBytes(out, item->claimId);
    putText(out, matchName(item->rawName));
    putBytes(out, item->point);
  }
  putNumber(out, names_.size());
  for (Name& name : names_) putWeights(&name, weighed, out);
}

// The number of items of a name, its active claims in `weighed`, and its sums of supports without an active claim.
void BlockWork::putWeights(Name* name, const Weighed& weighed, std::string* out) {
  NameState& state = name->state;
  putText(out, name->name);
  putNumber(out, state.alive);
  std::vector<ActiveClaim*> claims;
  for (ActiveClaim& claim : state.claims) {
    const bool isCreated = weighed.points.count(claim.point) > 0;
    if (isCreated || (!weighed.supported.empty() && weighed.supported.count(claim.claimId()) > 0)) claims.push_back(&claim);
  }
  putNumber(out, claims.size());
  for (ActiveClaim* claim : claims) {
    putBytes(out, claim->point);
    putBytes(out, claim->claimId());
    putNumber(out, claim->amount);
    putNumber(out, claim->height);
    putNumber(out, claim->since);
    putNumber(out, claim->effective);
    out->push_back(claim->isOriginal ? 1 : 0);
  }
  std::vector<ClaimId> ids;
  for (const ClaimId& id : weighed.ids)
    if (state.dangling.count(id) > 0) ids.push_back(id);
  putNumber(out, ids.size());
  for (const ClaimId& id : ids) {
    putBytes(out, id);
    putNumber(out, state.dangling.at(id));
  }
}

}  // namespace lbc
