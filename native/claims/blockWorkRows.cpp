// The rows that a block writes: claims hashes, items, indexed supports, due items, names, log, nodes, totals.
#include <algorithm>
#include <cstdio>

#include "claims/blockWork.h"
#include "hash/hashes.h"
#include "hash/sha256.h"

namespace lbc {

namespace {

// As SNAPSHOT_ITEMS of queueRow.ts and CHUNK_BYTES of logRow.ts.
constexpr uint32_t kSnapshotItems = 64;
constexpr size_t kChunkBytes = 32 << 10;
constexpr uint8_t kSupportFlag = 8;
constexpr uint8_t kActiveFlag = 16;
constexpr uint8_t kNumberedFlag = 32;

// Hash of a claim (`valueHash` of src/claimtrie/claimsHash.ts).
void valueHash(const Point& point, uint32_t takeover, uint8_t* digest) {
  char text[16];
  const int length = snprintf(text, sizeof text, "%lu", static_cast<unsigned long>(pointIndex(point)));
  uint8_t height[8] = {};
  for (size_t i = 0; i < 4; i++) height[4 + i] = static_cast<uint8_t>(takeover >> (24 - 8 * i));
  uint8_t hashes[3 * kSlotHashSize];
  sha256d(point.data(), kTxidSize, hashes);
  sha256d(reinterpret_cast<const uint8_t*>(text), static_cast<size_t>(length), hashes + kSlotHashSize);
  sha256d(height, sizeof height, hashes + 2 * kSlotHashSize);
  sha256d(hashes, sizeof hashes, digest);
}

}  // namespace

void BlockWork::hashOf(Name* name, uint8_t* hash) {
  const auto& claims = name->state.claims;
  const uint32_t takeover = name->state.takeover;
  if (!require(!claims.empty())) return;
  if (!rules_.allClaims || claims.size() == 1) {
    valueHash(claims[0].point, takeover, hash);
    return;
  }
  // The merkle root needs space for one more leaf.
  std::vector<uint8_t> leaves((claims.size() + 1) * kSlotHashSize);
  for (size_t i = 0; i < claims.size(); i++) valueHash(claims[i].point, takeover, leaves.data() + i * kSlotHashSize);
  merkleRoot(leaves.data(), claims.size(), hash, nullptr);
}

void BlockWork::hashClaims() {
  for (size_t i = 0; i < names_.size(); i++) {
    const Name& name = names_[i];
    if (name.claimsChanged && !name.state.claims.empty()) require(callTrie([&] { return trie_.touch(name.name); }));
  }
  if (declined_) return;
  const ClaimTrie::Paths found = trie_.unhashed();
  std::vector<uint8_t> hashes(found.size() * kSlotHashSize);
  for (size_t i = 0; i < found.size() && !declined_; i++)
    hashOf(&findName(std::string(found[i])), hashes.data() + i * kSlotHashSize);
  if (!declined_) require(trie_.setHashes(hashes.data(), hashes.size()));
}

void BlockWork::putItems() {
  std::vector<ClaimItem*> changed;
  for (const Event& event : events_) {
    if (!event.item || event.item->isChanged) continue;
    event.item->isChanged = true;
    changed.push_back(event.item);
  }
  for (const ClaimItem* item : changed) put(itemKey(item->name, item->since, item->point), formatItem(*item));
  for (const Name& name : names_) {
    const uint32_t alive = name.state.alive;
    // The fallback writes snapshots.
    require(name.state.sinceSnapshot < std::max(kSnapshotItems, 2 * alive));
    if (name.changed && (alive >= kCrowdedItems || name.wasCrowded)) putSupportsOf(name, changed);
  }
}

// Changes the rows that index supports by claim (supportRows.ts). The fallback creates and deletes all rows of a name.
void BlockWork::putSupportsOf(const Name& name, const std::vector<ClaimItem*>& items) {
  const std::string prefix = nameInKey('u', name.name);
  std::string row;
  if (!read(prefix, &row)) {
    require(name.state.alive < kCrowdedItems);
    return;
  }
  RowDecoder in(reinterpret_cast<const uint8_t*>(row.data()), row.size());
  uint64_t count = in.number();
  if (!require(name.state.alive >= kCrowdedItems && !in.isBad())) return;
  bool isChanged = false;
  for (const ClaimItem* item : items) {
    if (!item->isSupport() || item->name != name.name) continue;
    std::string key = prefix;
    putBytes(&key, item->claimId);
    putBE32(&key, item->since);
    putBytes(&key, item->point);
    const bool isKnown = read(key, &row);
    const bool isStored = item->removed == 0;
    if (isStored && !isKnown) put(key, {}), count++;
    if (!isStored && isKnown) drop(key), count--;
    isChanged = true;
  }
  if (!isChanged) return;
  row.clear();
  putNumber(&row, count);
  put(prefix, row);
}

void BlockWork::putDue() {
  std::vector<uint32_t> heights;
  for (const auto& [height, items] : dueAdded_) heights.push_back(height);
  for (const auto& [height, items] : dueRemoved_)
    if (dueAdded_.count(height) == 0) heights.push_back(height);
  for (const uint32_t height : heights) {
    std::vector<DueEntry> stored, merged;
    readDue(height, &stored);
    const auto& removed = dueRemoved_[height];
    const auto& added = dueAdded_[height];
    for (DueEntry& entry : stored) {
      const auto isIt = [&](const ClaimItem* item) { return item->point == entry.point; };
      if (std::none_of(removed.begin(), removed.end(), isIt)) merged.push_back(std::move(entry));
    }
    for (const ClaimItem* item : added) merged.push_back({item->name, item->since, item->txOffset, item->point});
    if (!added.empty()) std::stable_sort(merged.begin(), merged.end(), isOlder);
    std::string row;
    for (const DueEntry& entry : merged) {
      putText(&row, entry.name);
      putNumber(&row, entry.since);
      putNumber(&row, entry.txOffset);
      putPoint(&row, entry.point);
    }
    if (merged.empty()) drop(heightKey('q', height));
    else put(heightKey('q', height), row);
  }
  for (const auto& [id, rawName] : claimIndex_) {
    const std::string key = "b" + std::string(id.rbegin(), id.rend());
    if (rawName) put(key, *rawName);
    else drop(key);
  }
}

void BlockWork::putName(Name* name) {
  if (!name->changed) return;
  NameState& state = name->state;
  const ClaimTotals now = state.totals();
  totals_.names += now.names - name->totals.names;
  totals_.claims += now.claims - name->totals.claims;
  totals_.amount += now.amount - name->totals.amount;
  totals_.controllingAmount += now.controllingAmount - name->totals.controllingAmount;
  require(totals_.amount < kMostAmount);
  if (state.isBlank()) drop("n" + name->name);
  else put("n" + name->name, state.format());
  if (state.claims.empty() && !state.isBlank()) addIdle(name->name);
}

void BlockWork::putEvent(const Event& event, std::string* out, std::unordered_map<std::string, size_t>* names) {
  const auto putName = [&](const std::string& name) {
    const auto [known, isNew] = names->emplace(name, names->size());
    putNumber(out, known->second);
    if (isNew) putText(out, name);
  };
  const uint8_t op = static_cast<uint8_t>(event.op);
  if (event.op == Op::kTakeover) {
    out->push_back(static_cast<char>(op));
    putName(event.name->name);
    putNumber(out, event.name->takeover);
    return;
  }
  const ClaimItem& item = *event.item;
  out->push_back(static_cast<char>(op | (item.isSupport() ? kSupportFlag : 0) |
                                   (event.op == Op::kCreate && item.activated != 0 ? kActiveFlag : 0) |
                                   (item.ordinal != 0 ? kNumberedFlag : 0)));
  putName(item.name);
  if (event.op != Op::kCreate) putNumber(out, rules_.height - item.since);
  if (item.ordinal != 0) putNumber(out, item.ordinal);
}

void BlockWork::putLog() {
  std::string chunk;
  std::unordered_map<std::string, size_t> names;
  uint32_t number = 0;
  const auto finish = [&] {
    if (chunk.empty()) return;
    std::string key = heightKey('e', rules_.height);
    key.push_back(static_cast<char>(number >> 8));
    key.push_back(static_cast<char>(number));
    put(key, chunk);
    number++;
    chunk.clear();
    names.clear();
  };
  for (const Event& event : events_) {
    putEvent(event, &chunk, &names);
    if (chunk.size() >= kChunkBytes) finish();
  }
  finish();
}

void BlockWork::putNodes() {
  if (trie_.dirtyCount() == 0) return;
  ClaimTrie::Target target;
  target.allClaims = rules_.allClaims;
  target.height = rules_.height;
  target.nodePrefix = rules_.allClaims ? "t1" : "t0";
  target.notePrefix = sources_.notePrefix;
  require(trie_.finish(target, root_, &result_->hasNotes, &result_->records));
}

void BlockWork::putSummary() {
  if (totals_.names == 0) {
    drop("k");
    return;
  }
  std::string row(reinterpret_cast<const char*>(root_), kSlotHashSize);
  putNumber(&row, totals_.names);
  putNumber(&row, totals_.claims);
  putNumber(&row, totals_.amount);
  putNumber(&row, totals_.controllingAmount);
  put("k", row);
}

}  // namespace lbc
