#include "claims/claimItem.h"

#include "hash/hashes.h"

namespace lbc {

namespace {

constexpr uint8_t kKindMask = 3;
constexpr uint8_t kOtherName = 4;
constexpr uint8_t kRefiled = 8;
constexpr uint8_t kNumbered = 16;
constexpr uint8_t kActive = 32;
constexpr int kRemovalShift = 6;

}  // namespace

ClaimId claimIdAt(const Point& point) {
  ClaimId id;
  hash160(point.data(), point.size(), id.data());
  return id;
}

std::string itemKey(const std::string& name, uint32_t since, const Point& point) {
  std::string key = nameInKey('i', name);
  putBE32(&key, since);
  putBytes(&key, point);
  return key;
}

std::string itemIdentity(const std::string& name, uint32_t since, const Point& point) {
  std::string identity;
  identity.reserve(4 + kPointSize + name.size());
  putBE32(&identity, since);
  putBytes(&identity, point);
  return identity.append(name);
}

bool parseItem(const uint8_t* row, size_t size, ClaimItem* item) {
  RowDecoder in(row, size);
  const uint8_t flags = in.byte();
  item->kind = flags & kKindMask;
  item->height = item->since - ((flags & kRefiled) != 0 ? in.height() : 0);
  item->amount = in.number();
  item->txOffset = in.height();
  item->dueHeight = item->height + in.height();
  item->activated = (flags & kActive) != 0 ? item->dueHeight - in.height() : 0;
  item->removal = flags >> kRemovalShift;
  item->removed = item->removal == 0 ? 0 : item->since + in.height();
  item->ordinal = (flags & kNumbered) != 0 ? in.height() : 0;
  if (item->kind == kNewClaim) item->claimId = claimIdAt(item->point);
  else in.copy(&item->claimId);
  item->rawName = (flags & kOtherName) != 0 ? in.text(in.left()) : item->name;
  item->isNew = item->isChanged = false;
  return !in.isBad() && item->kind <= kSupport;
}

std::string formatItem(const ClaimItem& item) {
  std::string row;
  row.push_back(static_cast<char>(item.kind | (item.rawName == item.name ? 0 : kOtherName) |
                                  (item.since == item.height ? 0 : kRefiled) | (item.ordinal == 0 ? 0 : kNumbered) |
                                  (item.activated == 0 ? 0 : kActive) | (item.removal << kRemovalShift)));
  if (item.since != item.height) putNumber(&row, item.since - item.height);
  putNumber(&row, item.amount);
  putNumber(&row, item.txOffset);
  putNumber(&row, item.dueHeight - item.height);
  if (item.activated != 0) putNumber(&row, item.dueHeight - item.activated);
  if (item.removal != 0) putNumber(&row, item.removed - item.since);
  if (item.ordinal != 0) putNumber(&row, item.ordinal);
  if (item.kind != kNewClaim) putBytes(&row, item.claimId);
  if (item.rawName != item.name) row.append(item.rawName);
  return row;
}

}  // namespace lbc
