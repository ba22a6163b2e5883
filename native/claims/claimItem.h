// One claim or support as it is stored, and its row. Like src/claimtrie/item.ts and src/store/claims/rows/itemRow.ts.
#pragma once

#include <cstdint>
#include <string>

#include "claims/rowCodec.h"

namespace lbc {

enum ItemKind : uint8_t { kNewClaim = 0, kUpdate = 1, kSupport = 2 };
constexpr uint8_t kSpentRemoval = 1;

struct ClaimItem {
  std::string name;
  uint32_t since = 0;
  Point point = {};
  uint8_t kind = kNewClaim;
  ClaimId claimId = {};
  uint64_t amount = 0;
  uint32_t height = 0;
  uint32_t txOffset = 0;
  uint32_t dueHeight = 0;
  uint32_t activated = 0;
  uint32_t removed = 0;
  uint8_t removal = 0;
  std::string rawName;
  uint32_t ordinal = 0;
  bool isNew = false;
  // Whether the row must be written.
  bool isChanged = false;

  bool isSupport() const { return kind == kSupport; }
  bool isPending() const { return removed == 0 && activated == 0; }
};

// The id of the claim that was created at an outpoint.
ClaimId claimIdAt(const Point& point);

// Key of the row of an item (claim or support).
std::string itemKey(const std::string& name, uint32_t since, const Point& point);

// Identifies an item in memory.
std::string itemIdentity(const std::string& name, uint32_t since, const Point& point);

// Reads a row into `item`, whose name, `since` and point are set. Returns false when the row is malformed.
bool parseItem(const uint8_t* row, size_t size, ClaimItem* item);
std::string formatItem(const ClaimItem& item);

}  // namespace lbc
