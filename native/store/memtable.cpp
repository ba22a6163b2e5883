#include "store/memtable.h"

#include <algorithm>
#include <cstring>

#include "hash/saltedHash.h"
#include "napi/napi.h"

namespace lbc {

namespace {

constexpr size_t kMinSlots = 64;
// Number of row types. The first byte of a key is the type.
constexpr size_t kKinds = 256;
// Size of the head of a record, before its key.
constexpr size_t kRecordHead = 8;
// Size in bytes of a cache line of the processor.
constexpr size_t kCacheLine = 64;
// Number of lines that are prefetched of a row. Most nodes of the claim trie are shorter.
constexpr size_t kPrefetchedLines = 4;
constexpr uint32_t kSegmentUnits = 1u << 18;
// Fraction of a long value by which it may grow before its row moves.
constexpr size_t kRoomShare = 8;
constexpr size_t kLongValue = 256;

int compare(const uint8_t* a, size_t aSize, const uint8_t* b, size_t bSize) {
  const int order = memcmp(a, b, std::min(aSize, bSize));
  if (order != 0) return order;
  return aSize < bSize ? -1 : aSize > bSize ? 1 : 0;
}

// The first two bytes of a key as a number that has the order of the keys.
size_t groupOf(const uint8_t* key, size_t size) { return size == 0 ? 0 : size == 1 ? key[0] << 8 : key[0] << 8 | key[1]; }

// The eight bytes after the first two, in the same way. Missing bytes count as zeros, so different keys may have the same number.
uint64_t startOf(const uint8_t* key, size_t size) {
  uint64_t start = 0;
  for (size_t i = 2; i < 10; i++) start = start << 8 | (i < size ? key[i] : 0);
  return start;
}

}  // namespace

Memtable::Memtable() {
  drawSalts(salt_);
  orders_.resize(kKinds);
}

uint32_t Memtable::hashOf(const uint8_t* key, size_t size) const {
  const uint64_t hash = hashOfKey(salt_, key, size);
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

Memtable::Row& Memtable::at(uint32_t place) const {
  const Segment& segment = segments_[place >> kSegmentBits];
  const size_t unit = place & ((1u << kSegmentBits) - 1);
  return *reinterpret_cast<Row*>(segment.bytes.get() + unit * kUnitBytes);
}

size_t Memtable::slotOf(const uint8_t* key, size_t size, uint32_t hash) const {
  const size_t mask = slots_.size() - 1;
  for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    if (slots_[slot].number == kNone) return slot;
    if (slots_[slot].hash != hash) continue;
    const Row& found = row(slots_[slot].number);
    if (found.keySize() == size && memcmp(found.key(), key, size) == 0) return slot;
  }
}

int64_t Memtable::find(const uint8_t* key, size_t keySize, const uint8_t** value) const {
  return count_ == 0 ? kUnknown : find(key, keySize, hashOf(key, keySize), value);
}

int64_t Memtable::find(const uint8_t* key, size_t keySize, uint32_t hash, const uint8_t** value) const {
  if (count_ == 0) return kUnknown;
  const size_t slot = slotOf(key, keySize, hash);
  if (slots_[slot].number == kNone) return kUnknown;
  Row& found = row(slots_[slot].number);
  if (found.valueSize == kDeletedValue) return kDeleted;
  *value = found.value();
  return found.valueSize;
}

void Memtable::prefetch(const uint32_t* hashes, size_t count) const {
  if (slots_.empty()) return;
  const size_t mask = slots_.size() - 1;
  for (size_t i = 0; i < count; i++) __builtin_prefetch(&slots_[hashes[i] & mask]);
  uint32_t numbers[kRecordsAtOnce];
  for (size_t i = 0; i < count; i++) {
    size_t slot = hashes[i] & mask;
    while (slots_[slot].number != kNone && slots_[slot].hash != hashes[i]) slot = (slot + 1) & mask;
    numbers[i] = slots_[slot].number;
    if (numbers[i] != kNone) __builtin_prefetch(&places_[numbers[i]]);
  }
  for (size_t i = 0; i < count; i++) {
    if (numbers[i] == kNone) continue;
    // The bytes after the end of a row are only prefetched, not read.
    const uint8_t* start = reinterpret_cast<const uint8_t*>(&row(numbers[i]));
    for (size_t line = 0; line < kPrefetchedLines; line++) __builtin_prefetch(start + line * kCacheLine);
  }
}

void Memtable::findMany(Lookup* lookups, size_t count) const {
  uint32_t hashes[kRecordsAtOnce];
  for (size_t start = 0; start < count; start += kRecordsAtOnce) {
    const size_t some = std::min(kRecordsAtOnce, count - start);
    for (size_t i = 0; i < some; i++) hashes[i] = hashOf(lookups[start + i].key, lookups[start + i].keySize);
    prefetch(hashes, some);
    for (size_t i = 0; i < some; i++) {
      Lookup& lookup = lookups[start + i];
      lookup.length = find(lookup.key, lookup.keySize, hashes[i], &lookup.value);
    }
  }
}

void Memtable::grow() {
  auto old = std::move(slots_);
  slots_.assign(std::max(kMinSlots, old.size() * 2), Slot{kNone, 0});
  const size_t mask = slots_.size() - 1;
  for (const Slot& moved : old) {
    if (moved.number == kNone) continue;
    size_t slot = moved.hash & mask;
    while (slots_[slot].number != kNone) slot = (slot + 1) & mask;
    slots_[slot] = moved;
  }
}

void Memtable::set(const uint8_t* key, size_t keySize, const uint8_t* value, size_t valueSize) {
  set(key, keySize, hashOf(key, keySize), value, valueSize);
}

void Memtable::set(const uint8_t* key, size_t keySize, uint32_t hash, const uint8_t* value, size_t valueSize) {
  if ((count_ + 1) * 4 > slots_.size() * 3) grow();
  const size_t slot = slotOf(key, keySize, hash);
  const bool isNew = slots_[slot].number == kNone;
  const uint32_t storedSize = value ? static_cast<uint32_t>(valueSize) : kDeletedValue;
  const size_t needed = value ? valueSize : 0;
  if (!isNew) {
    Row& known = row(slots_[slot].number);
    if (needed <= known.capacity()) {
      known.valueSize = storedSize;
      if (needed > 0) memcpy(known.value(), value, needed);
      return;
    }
  }
  const size_t room = needed < kLongValue ? needed : needed + needed / kRoomShare;
  const uint32_t units = static_cast<uint32_t>((sizeof(Row) + keySize + room + kUnitBytes - 1) / kUnitBytes);
  const uint32_t place = append(units);
  const uint32_t number = isNew ? static_cast<uint32_t>(places_.size()) : slots_[slot].number;
  uint32_t flags = isNew && value && keySize > 0 && isNewKind_[key[0]] ? kNew : 0;
  if (isNew) {
    places_.push_back(place);
    slots_[slot] = Slot{number, hash};
    count_++;
    orders_[keySize == 0 ? 0 : key[0]].fresh.push_back(number);
  } else {
    flags = row(number).keySizeFlags & kNew;
    places_[number] = place;
  }
  Row& made = at(place);
  made = Row{units, storedSize, static_cast<uint32_t>(keySize) | flags, number};
  memcpy(made.key(), key, keySize);
  if (needed > 0) memcpy(made.value(), value, needed);
}

size_t Memtable::readAhead(const uint8_t** at, const uint8_t* end, Record* records, bool* isWhole) const {
  size_t count = 0;
  while (count < kRecordsAtOnce && *at < end) {
    const size_t left = static_cast<size_t>(end - *at);
    if (left < kRecordHead) {
      *isWhole = false;
      break;
    }
    const uint8_t* key = *at + kRecordHead;
    const uint32_t keySize = readLE32(*at), storedSize = readLE32(*at + 4);
    const size_t valueSize = storedSize == kDeletedValue ? 0 : storedSize;
    if (keySize > left - kRecordHead || valueSize > left - kRecordHead - keySize) {
      *isWhole = false;
      break;
    }
    *at = key + keySize + valueSize;
    records[count++] = Record{key, keySize, storedSize, hashOf(key, keySize)};
  }
  uint32_t hashes[kRecordsAtOnce];
  for (size_t i = 0; i < count; i++) hashes[i] = records[i].hash;
  prefetch(hashes, count);
  return count;
}

bool Memtable::setRecords(const uint8_t* records, size_t size) {
  Record some[kRecordsAtOnce];
  bool isWhole = true;
  for (const uint8_t *at = records, *end = records + size; isWhole && at < end;) {
    const size_t count = readAhead(&at, end, some, &isWhole);
    for (size_t i = 0; i < count; i++) {
      const Record& record = some[i];
      const bool isDeletion = record.storedSize == kDeletedValue;
      set(record.key, record.keySize, record.hash, isDeletion ? nullptr : record.key + record.keySize,
          isDeletion ? 0 : record.storedSize);
    }
  }
  return isWhole;
}

ptrdiff_t Memtable::readRecords(const uint8_t* records, size_t size, std::vector<uint8_t>* out) const {
  Record some[kRecordsAtOnce];
  bool isWhole = true;
  ptrdiff_t unknown = 0;
  for (const uint8_t *at = records, *end = records + size; isWhole && at < end;) {
    const size_t count = readAhead(&at, end, some, &isWhole);
    for (size_t i = 0; i < count; i++) {
      const uint8_t* value = nullptr;
      const int64_t found = find(some[i].key, some[i].keySize, some[i].hash, &value);
      if (found == kUnknown) unknown++;
      const size_t start = out->size();
      out->resize(start + 4 + (found > 0 ? static_cast<size_t>(found) : 0));
      writeLE32(out->data() + start, found == kUnknown   ? kUnknownValue
                                     : found == kDeleted ? kDeletedValue
                                                         : static_cast<uint32_t>(found));
      if (found > 0) memcpy(out->data() + start + 4, value, static_cast<size_t>(found));
    }
  }
  return isWhole ? unknown : -1;
}

uint32_t Memtable::append(uint32_t units) {
  if (segments_.empty() || segments_.back().used + units > segments_.back().size) addSegment(std::max(units, kSegmentUnits));
  Segment& segment = segments_.back();
  const uint32_t place = static_cast<uint32_t>(segments_.size() - 1) << kSegmentBits | segment.used;
  segment.used += units;
  units_ += units;
  return place;
}

void Memtable::addSegment(uint32_t units) {
  segments_.emplace_back();
  Segment& segment = segments_.back();
  segment.size = units;
  if (units == kSegmentUnits && !spare_.empty()) {
    segment.bytes = std::move(spare_.back());
    spare_.pop_back();
  } else {
    segment.bytes = makeHugeBytes(units * kUnitBytes);
  }
}

void Memtable::clear() {
  const size_t took = segments_.size();
  for (Segment& segment : segments_)
    if (segment.size == kSegmentUnits) spare_.push_back(std::move(segment.bytes));
  segments_.clear();
  units_ = 0;
  // Number of empty segments that stay allocated: the smaller of the numbers that the last two fillings used.
  if (spare_.size() > std::min(took, lastSegments_)) spare_.resize(std::min(took, lastSegments_));
  lastSegments_ = took;
  std::fill(slots_.begin(), slots_.end(), Slot{kNone, 0});
  places_.clear();
  count_ = 0;
  walk_.clear();
  walked_ = sorted_ = 0;
  for (Order& order : orders_) order = Order();
}

namespace {

// Writes a row to `out`, which must be large enough. Returns the number of bytes.
template <typename Row>
size_t writeRecord(Row& row, uint8_t* out) {
  const uint32_t keySize = row.keySize();
  const size_t valueSize = row.valueSize == Memtable::kDeletedValue ? 0 : row.valueSize;
  writeLE32(out, keySize);
  writeLE32(out + 4, row.valueSize);
  memcpy(out + kRecordHead, row.key(), keySize);
  memcpy(out + kRecordHead + keySize, row.value(), valueSize);
  return kRecordHead + keySize + valueSize;
}

template <typename Row>
size_t recordSize(const Row& row) {
  return kRecordHead + row.keySize() + (row.valueSize == Memtable::kDeletedValue ? 0 : row.valueSize);
}

}  // namespace

void Memtable::beginWalk() {
  constexpr size_t kGroups = 1 << 16;
  std::vector<uint32_t> starts(kGroups + 1, 0);
  const auto isWalked = [&](uint32_t number) { return !row(number).isForgotten(); };
  for (uint32_t number = 0; number < places_.size(); number++) {
    if (isWalked(number)) starts[groupOf(row(number).key(), row(number).keySize()) + 1]++;
  }
  for (size_t group = 0; group < kGroups; group++) starts[group + 1] += starts[group];
  walk_.resize(starts[kGroups]);
  for (uint32_t number = 0; number < places_.size(); number++) {
    if (isWalked(number)) walk_[starts[groupOf(row(number).key(), row(number).keySize())]++] = number;
  }
  walked_ = sorted_ = 0;
}

void Memtable::sortAhead() {
  struct Entry {
    uint64_t start;
    uint32_t number;
  };
  const auto groupAt = [&](size_t at) { return groupOf(row(walk_[at]).key(), row(walk_[at]).keySize()); };
  const size_t group = groupAt(sorted_);
  std::vector<Entry> entries;
  for (size_t at = sorted_; at < walk_.size() && groupAt(at) == group; at++) {
    const Row& next = row(walk_[at]);
    entries.push_back(Entry{startOf(next.key(), next.keySize()), walk_[at]});
  }
  std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    return a.start != b.start ? a.start < b.start : less(a.number, b.number);
  });
  for (const Entry& entry : entries) walk_[sorted_++] = entry.number;
}

size_t Memtable::walk(uint8_t* out, size_t capacity, size_t* needed) {
  size_t written = 0;
  *needed = 0;
  for (; walked_ < walk_.size(); walked_++) {
    if (walked_ == sorted_) sortAhead();
    Row& next = row(walk_[walked_]);
    const size_t size = recordSize(next);
    if (size > capacity - written) {
      if (written == 0) *needed = size;
      return written;
    }
    written += writeRecord(next, out + written);
  }
  return written;
}

bool Memtable::less(uint32_t a, uint32_t b) const {
  const Row& left = row(a);
  const Row& right = row(b);
  return compare(left.key(), left.keySize(), right.key(), right.keySize()) < 0;
}

bool Memtable::isBelow(uint32_t number, const uint8_t* key, size_t size) const {
  const Row& found = row(number);
  return compare(found.key(), found.keySize(), key, size) < 0;
}

// The new rows are sorted as a run, which is merged with earlier runs that are less than twice as long.
void Memtable::settle(Order* order) {
  if (order->fresh.empty()) return;
  const auto before = [&](uint32_t a, uint32_t b) { return less(a, b); };
  std::vector<uint32_t> run = std::move(order->fresh);
  order->fresh.clear();
  std::sort(run.begin(), run.end(), before);
  std::vector<std::vector<uint32_t>>& runs = order->runs;
  while (!runs.empty() && runs.back().size() < 2 * run.size()) {
    std::vector<uint32_t> merged(runs.back().size() + run.size());
    std::merge(runs.back().begin(), runs.back().end(), run.begin(), run.end(), merged.begin(), before);
    run = std::move(merged);
    runs.pop_back();
  }
  runs.push_back(std::move(run));
}

std::vector<uint32_t> Memtable::numbersIn(const Range& range) const {
  // Sorted lists of row numbers that are not taken yet.
  struct Rest {
    const uint32_t* from;
    const uint32_t* to;
  };
  const auto isBelowGte = [&](uint32_t number, int) { return isBelow(number, range.gte, range.gteSize); };
  const auto isBelowLt = [&](uint32_t number, int) { return isBelow(number, range.lt, range.ltSize); };
  std::vector<Rest> lists;
  std::vector<uint32_t> fresh;
  const size_t last = range.ltSize == 0 ? 0 : range.lt[0];
  for (size_t kind = range.gteSize == 0 ? 0 : range.gte[0]; kind <= last; kind++) {
    for (const std::vector<uint32_t>& run : orders_[kind].runs) {
      const auto from = std::lower_bound(run.begin(), run.end(), 0, isBelowGte);
      const auto to = std::lower_bound(from, run.end(), 0, isBelowLt);
      if (from != to) lists.push_back(Rest{&*from, &*from + (to - from)});
    }
    for (const uint32_t number : orders_[kind].fresh) {
      if (!isBelowGte(number, 0) && isBelowLt(number, 0)) fresh.push_back(number);
    }
  }
  std::sort(fresh.begin(), fresh.end(), [&](uint32_t a, uint32_t b) { return less(a, b); });
  if (!fresh.empty()) lists.push_back(Rest{fresh.data(), fresh.data() + fresh.size()});
  // The top of the heap has the next row.
  const auto isAfter = [&](const Rest& a, const Rest& b) {
    return range.isReverse ? less(a.to[-1], b.to[-1]) : less(*b.from, *a.from);
  };
  std::make_heap(lists.begin(), lists.end(), isAfter);
  std::vector<uint32_t> found;
  for (size_t rows = 0; rows < range.maxRows && !lists.empty();) {
    std::pop_heap(lists.begin(), lists.end(), isAfter);
    Rest& next = lists.back();
    const uint32_t number = range.isReverse ? *--next.to : *next.from++;
    found.push_back(number);
    if (row(number).valueSize != kDeletedValue) rows++;
    if (next.from == next.to) {
      lists.pop_back();
    } else {
      std::push_heap(lists.begin(), lists.end(), isAfter);
    }
  }
  if (range.isReverse) std::reverse(found.begin(), found.end());
  return found;
}

size_t Memtable::range(const Range& range, std::vector<uint8_t>* out) const {
  const std::vector<uint32_t> found = numbersIn(range);
  size_t size = 0;
  for (const uint32_t number : found) size += recordSize(row(number));
  out->resize(size);
  size_t written = 0;
  for (const uint32_t number : found) written += writeRecord(row(number), out->data() + written);
  return found.size();
}

}  // namespace lbc
