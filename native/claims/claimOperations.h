// The claim operations of a block in packed form (src/store/claims/packedOperations.ts). All numbers are little endian:
//   transaction: u32 offset in the block ‖ txid ‖ u32 number of spends ‖ u32 number of outputs ‖ spends ‖ outputs
//   spend: outpoint ‖ u32 height of the coin ‖ operation
//   output: u32 output number ‖ operation
//   operation: u8 type ‖ u8 whether it is a support with metadata ‖ u64 amount ‖ claim id ‖ u32 length of the name ‖ name
// The claim id of an output that creates a claim is zero.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "blocks/parse.h"
#include "claims/claimItem.h"
#include "coins/resolved.h"

namespace lbc {

struct ClaimOperation {
  uint8_t kind = kNewClaim;
  bool hasMetadata = false;
  uint64_t amount = 0;
  ClaimId claimId = {};
  std::string name;
  Point point = {};
  // Only for a spend.
  uint32_t coinHeight = 0;
};

struct ClaimTransaction {
  uint32_t txOffset = 0;
  std::vector<ClaimOperation> spends;
  std::vector<ClaimOperation> outputs;
};

// Reads packed operations. Returns false when they are malformed.
bool readClaimOperations(const Span& packed, std::vector<ClaimTransaction>* transactions);

// Packs the claim operations of a block. Transactions without operations, and the coinbase, are left out. Fallback:
// src/chain/connect/blockClaims.ts.
void packClaimOperations(const ParsedView& block, const ResolvedView& spent, std::vector<uint8_t>* packed);

}  // namespace lbc
