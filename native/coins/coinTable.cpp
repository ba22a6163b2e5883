#include "coins/coinTable.h"

#include <cstdlib>
#include <cstring>

#include "hash/saltedHash.h"
#include "napi/napi.h"

namespace lbc {

namespace {

// First byte of the key of a coin row: `PREFIX.coin` of src/store/rows/keys.ts.
constexpr uint8_t kRowKind = 'C';
constexpr size_t kKeySize = 1 + 36;
// Lengths of key and value, and the key: see src/store/rows/rowRecords.ts.
constexpr size_t kRecordHeader = 8 + kKeySize;
constexpr size_t kRowHeader = 12;
constexpr uint32_t kDeletedValue = UINT32_MAX;

// Size of a heap block as glibc allocates it: a header, and sizes in steps of 16 bytes.
inline size_t heapBytes(size_t size) { return size + 8 <= 32 ? 32 : (size + 8 + 15) & ~static_cast<size_t>(15); }

inline uint8_t* heapScript(const uint8_t* field) {
  uint8_t* pointer;
  memcpy(&pointer, field, sizeof pointer);
  return pointer;
}

}  // namespace

int64_t CoinTable::Entry::amountValue() const { return static_cast<int64_t>(readLE64(amount)); }

void CoinTable::Entry::copyScript(uint8_t* out) const {
  switch (scriptForm) {
    case kPubkeyHash:
      out[0] = OP_DUP;
      out[1] = OP_HASH160;
      out[2] = 20;
      memcpy(out + 3, script, 20);
      out[23] = OP_EQUALVERIFY;
      out[24] = OP_CHECKSIG;
      return;
    case kScriptHash:
      out[0] = OP_HASH160;
      out[1] = 20;
      memcpy(out + 2, script, 20);
      out[22] = OP_EQUAL;
      return;
    case kWitnessKeyHash:
      out[0] = OP_0;
      out[1] = 20;
      memcpy(out + 2, script, 20);
      return;
    case kHeap:
      memcpy(out, heapScript(script), scriptLength);
      return;
    default:
      if (scriptLength > 0) memcpy(out, script, scriptLength);
  }
}

CoinTable::CoinTable() { drawSalts(salt_); }

CoinTable::~CoinTable() { clear(); }

uint64_t CoinTable::hashTxid(const uint8_t* txid) const {
  return fold(word(txid) ^ salt_[0], word(txid + 8) ^ salt_[1]) ^
         fold(word(txid + 16) ^ salt_[2], word(txid + 24) ^ salt_[3]);
}

uint64_t CoinTable::hashOutput(uint64_t txidHash, uint32_t index) const {
  return fold(txidHash ^ salt_[4], index * 0x9e3779b97f4a7c15 ^ salt_[5]);
}

uint64_t CoinTable::hashOutpoint(const uint8_t* outpoint) const {
  return hashOutput(hashTxid(outpoint), readLE32(outpoint + 32));
}

void CoinTable::prefetchBucket(uint64_t hash) const {
  if (bucketCount_ > 0) __builtin_prefetch(&bucket(bucketOf(hash)));
}

void CoinTable::prefetchEntry(uint64_t hash) const {
  if (bucketCount_ == 0) return;
  const uint32_t head = bucket(bucketOf(hash));
  if (head == kNoEntry) return;
  // Loads the second cache line too, because an entry usually spans two cache lines.
  const char* entry = reinterpret_cast<const char*>(&at(head));
  __builtin_prefetch(entry);
  __builtin_prefetch(entry + sizeof(Entry) - 1);
}

uint32_t CoinTable::find(const uint8_t* outpoint, uint64_t hash) const {
  if (bucketCount_ == 0) return kNoEntry;
  for (uint32_t i = bucket(bucketOf(hash)); i != kNoEntry; i = at(i).next) {
    if (memcmp(at(i).key, outpoint, 36) == 0) return i;
  }
  return kNoEntry;
}

uint32_t CoinTable::insert(const uint8_t* outpoint, uint64_t hash) {
  if (entryCount_ >= bucketCount_) splitBucket();
  uint32_t slot = freeSlots_;
  if (slot != kNoEntry) {
    freeSlots_ = at(slot).next;
  } else {
    if (slotCount_ == chunks_.size() * kChunkSize) {
      chunks_.push_back(static_cast<Entry*>(calloc(kChunkSize, sizeof(Entry))));
      if (!chunks_.back()) abort();
    }
    slot = slotCount_++;
  }
  Entry& entry = at(slot);
  memcpy(entry.key, outpoint, 36);
  uint32_t& head = bucket(bucketOf(hash));
  entry.next = head;
  head = slot;
  entry.scriptForm = kInline;
  entry.scriptLength = 0;
  entry.flags = static_cast<uint8_t>((entry.flags & kListed) | kUsed | kRecent);
  entryCount_++;
  return slot;
}

void CoinTable::erase(uint32_t slot) {
  Entry& entry = at(slot);
  freeScript(entry);
  uint32_t* link = &bucket(bucketOf(hashOutpoint(entry.key)));
  while (*link != slot) link = &at(*link).next;
  *link = entry.next;
  entry.next = freeSlots_;
  entry.flags &= kListed;
  freeSlots_ = slot;
  entryCount_--;
}

void CoinTable::splitBucket() {
  if (bucketCount_ == segments_.size() * kSegmentSize) {
    segments_.push_back(static_cast<uint32_t*>(malloc(kSegmentSize * sizeof(uint32_t))));
    if (!segments_.back()) abort();
  }
  const uint32_t added = bucketCount_++;
  bucket(added) = kNoEntry;
  if (added == 0) {
    lowBuckets_ = 1;
    return;
  }
  if (bucketCount_ > 2 * lowBuckets_) lowBuckets_ *= 2;
  // The table has grown by one bucket, so one more bit of the hash selects the bucket. Each entry of the split bucket
  // either stays or moves to the added bucket.
  uint32_t i = bucket(added - lowBuckets_);
  bucket(added - lowBuckets_) = kNoEntry;
  while (i != kNoEntry) {
    Entry& entry = at(i);
    const uint32_t next = entry.next;
    uint32_t& head = bucket(bucketOf(hashOutpoint(entry.key)));
    entry.next = head;
    head = i;
    i = next;
  }
}

void CoinTable::freeScript(Entry& entry) {
  if (entry.scriptForm == kHeap) {
    free(heapScript(entry.script));
    scriptBytes_ -= heapBytes(entry.scriptLength);
  }
  entry.scriptForm = kInline;
  entry.scriptLength = 0;
}

void CoinTable::setCoin(Entry& entry, const Coin& coin) {
  freeScript(entry);
  entry.heightCode = coin.heightCode;
  writeLE64(entry.amount, static_cast<uint64_t>(coin.amount));
  entry.scriptLength = static_cast<uint16_t>(coin.scriptLength);
  const uint8_t* s = coin.script;
  const size_t n = coin.scriptLength;
  if (n == 25 && s[0] == OP_DUP && s[1] == OP_HASH160 && s[2] == 20 && s[23] == OP_EQUALVERIFY &&
      s[24] == OP_CHECKSIG) {
    entry.scriptForm = kPubkeyHash;
    memcpy(entry.script, s + 3, 20);
  } else if (n == 23 && s[0] == OP_HASH160 && s[1] == 20 && s[22] == OP_EQUAL) {
    entry.scriptForm = kScriptHash;
    memcpy(entry.script, s + 2, 20);
  } else if (n == 22 && s[0] == OP_0 && s[1] == 20) {
    entry.scriptForm = kWitnessKeyHash;
    memcpy(entry.script, s + 2, 20);
  } else if (n <= sizeof entry.script) {
    entry.scriptForm = kInline;
    if (n > 0) memcpy(entry.script, s, n);
  } else {
    entry.scriptForm = kHeap;
    uint8_t* memory = static_cast<uint8_t*>(malloc(n));
    if (!memory) abort();
    memcpy(memory, s, n);
    memcpy(entry.script, &memory, sizeof memory);
    scriptBytes_ += heapBytes(n);
  }
}

void CoinTable::uncount(const Entry& entry) {
  if (!(entry.flags & kDirty)) return;
  dirtyCount_--;
  dirtyBytes_ -= kRecordHeader + (entry.live() ? kRowHeader + entry.scriptLength : 0);
}

void CoinTable::count(const Entry& entry) {
  if (!(entry.flags & kDirty)) return;
  dirtyCount_++;
  dirtyBytes_ += kRecordHeader + (entry.live() ? kRowHeader + entry.scriptLength : 0);
}

void CoinTable::list(uint32_t slot) {
  Entry& entry = at(slot);
  if (entry.flags & kListed) return;
  entry.flags |= kListed;
  dirty_.push_back(slot);
}

void CoinTable::load(const uint8_t* outpoint, const Coin* coin) {
  const uint64_t hash = hashOutpoint(outpoint);
  if (find(outpoint, hash) != kNoEntry) return;
  Entry& entry = at(insert(outpoint, hash));
  if (coin) {
    setCoin(entry, *coin);
    entry.flags |= kLive;
  } else {
    entry.flags |= kFresh;
  }
}

bool CoinTable::add(const uint8_t* outpoint, uint64_t hash, const Coin& coin, bool possibleOverwrite) {
  uint32_t slot = find(outpoint, hash);
  if (slot == kNoEntry) {
    slot = insert(outpoint, hash);
  } else if (!possibleOverwrite && at(slot).live()) {
    return false;
  }
  Entry& entry = at(slot);
  uncount(entry);
  // A new coin is marked fresh only if its entry was clean. If the entry was spent and dirty, the database still has the
  // old coin.
  if (!possibleOverwrite && !(entry.flags & kDirty)) entry.flags |= kFresh;
  setCoin(entry, coin);
  entry.flags |= kLive | kDirty | kRecent;
  count(entry);
  list(slot);
  return true;
}

void CoinTable::spend(uint32_t slot) {
  Entry& entry = at(slot);
  uncount(entry);
  if (entry.flags & kFresh) {
    erase(slot);
    return;
  }
  freeScript(entry);
  entry.flags = static_cast<uint8_t>((entry.flags & ~kLive) | kDirty | kRecent);
  count(entry);
  list(slot);
}

bool CoinTable::takeDirty(size_t maxBytes, std::vector<uint8_t>* out) {
  if (dirtyCount_ == 0) return false;
  while (!dirty_.empty() && dirtyCount_ > 0) {
    const uint32_t slot = dirty_.back();
    Entry& entry = at(slot);
    if (entry.flags & kDirty) {
      const size_t rowSize = entry.live() ? kRowHeader + entry.scriptLength : 0;
      const size_t before = out->size();
      if (before > 0 && before + kRecordHeader + rowSize > maxBytes) return true;
      out->resize(before + kRecordHeader + rowSize);
      uint8_t* record = out->data() + before;
      writeLE32(record, kKeySize);
      writeLE32(record + 4, entry.live() ? static_cast<uint32_t>(rowSize) : kDeletedValue);
      record[8] = kRowKind;
      memcpy(record + 9, entry.key, 36);
      uncount(entry);
      if (entry.live()) {
        writeLE32(record + kRecordHeader, entry.heightCode);
        memcpy(record + kRecordHeader + 4, entry.amount, 8);
        entry.copyScript(record + kRecordHeader + kRowHeader);
        entry.flags &= static_cast<uint8_t>(~(kDirty | kFresh));
      } else {
        erase(slot);
      }
    }
    dirty_.pop_back();
    entry.flags &= static_cast<uint8_t>(~kListed);
  }
  return true;
}

void CoinTable::trim(uint64_t targetBytes, uint64_t maxVisits) {
  // Limits the visits to two per slot: the first visit of a recently used entry only clears its flag.
  const uint64_t rounds = 2 * static_cast<uint64_t>(slotCount_);
  if (maxVisits > rounds) maxVisits = rounds;
  for (uint64_t visit = 0; visit < maxVisits && usageBytes() > targetBytes; visit++) {
    if (hand_ >= slotCount_) hand_ = 0;
    const uint32_t slot = hand_++;
    Entry& entry = at(slot);
    if (!(entry.flags & kUsed) || (entry.flags & kDirty)) continue;
    if (entry.live() && (entry.flags & kRecent)) {
      entry.flags &= static_cast<uint8_t>(~kRecent);
    } else {
      erase(slot);
    }
  }
}

void CoinTable::clear() {
  for (uint32_t i = 0; i < slotCount_; i++) {
    if (at(i).scriptForm == kHeap) free(heapScript(at(i).script));
  }
  for (Entry* chunk : chunks_) free(chunk);
  for (uint32_t* segment : segments_) free(segment);
  chunks_.clear();
  segments_.clear();
  std::vector<uint32_t>().swap(dirty_);
  slotCount_ = 0;
  freeSlots_ = kNoEntry;
  entryCount_ = 0;
  bucketCount_ = 0;
  lowBuckets_ = 0;
  dirtyCount_ = 0;
  dirtyBytes_ = 0;
  scriptBytes_ = 0;
  hand_ = 0;
}

uint64_t CoinTable::usageBytes() const {
  return static_cast<uint64_t>(entryCount_) * sizeof(Entry) + scriptBytes_ +
         static_cast<uint64_t>(bucketCount_) * sizeof(uint32_t) + dirty_.capacity() * sizeof(uint32_t);
}

}  // namespace lbc
