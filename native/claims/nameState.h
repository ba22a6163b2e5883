// The current state of one name, and its row. Like src/claimtrie/nameState.ts and src/store/claims/rows/nameRow.ts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "claims/claimItem.h"

namespace lbc {

// Amounts and sums at or above this value are left to the fallback, so that no sum overflows.
constexpr uint64_t kMostAmount = static_cast<uint64_t>(1) << 60;

struct ActiveClaim {
  Point point = {};
  uint64_t amount = 0;
  uint32_t height = 0;
  uint32_t since = 0;
  uint64_t effective = 0;
  bool isOriginal = false;
  bool hasId = false;
  ClaimId id = {};

  const ClaimId& claimId() {
    if (!hasId) id = claimIdAt(point);
    hasId = true;
    return id;
  }
};

// The share of one name in the totals of the trie.
struct ClaimTotals {
  uint64_t names = 0;
  uint64_t claims = 0;
  uint64_t amount = 0;
  uint64_t controllingAmount = 0;
};

// Functions that return a bool return false when the state contradicts itself or an amount is too large.
class NameState {
 public:
  uint32_t takeover = 0;
  // Best first.
  std::vector<ActiveClaim> claims;
  // Sums of the active supports for claim ids without an active claim.
  std::map<ClaimId, uint64_t> dangling;
  // Number of pending items by due height, in the order of insertion.
  std::vector<std::pair<uint32_t, uint32_t>> pending;
  uint32_t alive = 0;
  uint32_t sinceSnapshot = 0;

  bool parse(const uint8_t* row, size_t size);
  std::string format();
  bool isBlank() const { return takeover == 0 && alive == 0 && sinceSnapshot == 0; }
  ClaimTotals totals() const;

  ActiveClaim* find(const Point& point);
  bool countPending(uint32_t dueHeight, bool adds);
  // Adds or subtracts `amount` of the supports of a claim. `moved` receives whether the order of the claims changed.
  bool changeSupport(const ClaimId& claimId, uint64_t amount, bool adds, bool* moved);
  bool addClaim(const ClaimItem& item);
  bool removeClaim(const Point& point);

 private:
  // Moves the claim to its position. Returns whether it moved.
  bool settle(size_t from);
};

}  // namespace lbc
