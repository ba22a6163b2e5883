// Verifies standard forms of inputs natively. The result is "valid" or "undecided", never "invalid": inputs of other
// forms, and inputs that fail, are left to the interpreter of src/script.
#pragma once

#include <cstdint>
#include <memory>

#include "blocks/parse.h"
#include "verify/sighash.h"
#include "verify/signatureCache.h"

namespace lbc {

// Core's SCRIPT_VERIFY_* bits that this file uses. `kKnownFlags` contains all flags that Core 0.17 defines.
constexpr uint32_t kVerifyP2sh = 1u << 0;
constexpr uint32_t kVerifyStrictEnc = 1u << 1;
constexpr uint32_t kVerifyLowS = 1u << 3;
constexpr uint32_t kVerifyCleanStack = 1u << 8;
constexpr uint32_t kVerifyWitness = 1u << 11;
constexpr uint32_t kVerifyWitnessPubkeyType = 1u << 15;
constexpr uint32_t kKnownFlags = (1u << 17) - 1;

// State shared by all inputs of one batch. The memory belongs to JavaScript and outlives the batch.
struct VerifyBatch {
  ParsedView view;
  const int64_t* amounts;
  const uint32_t* scriptOffsets;
  const uint32_t* scriptLengths;
  const uint8_t* status;
  const uint8_t* scripts;
  uint32_t flags;
  bool cacheResults;
  SignatureCache* cache;
  std::unique_ptr<TxMidstate[]> midstates;  // one element for each transaction
};

// Whether an input is certainly valid. `input` is the number of the input within the block. `tx` is the number of its
// transaction. Increments `cacheHits` on cache hits.
bool verifyInput(VerifyBatch& batch, size_t tx, size_t input, uint32_t* cacheHits);

}  // namespace lbc
