// The coins that a block spends, as returned by `CoinTable.resolve` and passed back by JavaScript: `ResolvedInputs` of
// src/native/binding.ts.
#pragma once

#include <cstdint>
#include <vector>

#include "napi/napi.h"

namespace lbc {

// Columns with a row for every input of the block.
struct ResolvedView {
  size_t count = 0;
  const uint32_t* heightCodes = nullptr;
  const int64_t* amounts = nullptr;
  const uint32_t* scriptOffsets = nullptr;
  const uint32_t* scriptLengths = nullptr;
  const uint8_t* status = nullptr;
  const uint8_t* scripts = nullptr;
  size_t scriptsSize = 0;
};

constexpr size_t kResolvedHolders = 6;

// Reads the columns of `count` inputs and checks that every script lies within `scripts`. `holders` (may be null) receives
// the values that keep the memory alive.
bool readResolved(napi_env env, napi_value resolved, size_t count, ResolvedView* view, napi_value* holders = nullptr);

// Header of the packed columns. Amounts, height codes, script offsets and script lengths follow, then the numbers of
// duplicate outputs, status bytes, types of claims, and scripts. src/native/packed.ts reads this format.
struct PackedResolvedHead {
  uint32_t count;
  uint32_t scriptsSize;
  uint32_t duplicateCount;
  uint32_t unused;
};
static_assert(sizeof(PackedResolvedHead) == 16, "the head of packed inputs");

// Columns that can be written. Their memory is reused for the next block.
class ResolvedColumnsMemory {
 public:
  // Resizes the columns to `count` inputs and sets all values to zero.
  void reset(size_t count);

  uint32_t* heightCodes() { return reinterpret_cast<uint32_t*>(amounts() + count_); }
  int64_t* amounts() { return reinterpret_cast<int64_t*>(words_.data()); }
  uint32_t* scriptOffsets() { return heightCodes() + count_; }
  uint32_t* scriptLengths() { return scriptOffsets() + count_; }
  uint8_t* status() { return bytes_.data(); }
  uint8_t* claimKinds() { return bytes_.data() + count_; }

  std::vector<uint8_t> scripts;
  std::vector<uint32_t> duplicates;

  // Returns all columns in packed form.
  napi_value pack(napi_env env);

 private:
  size_t count_ = 0;
  std::vector<uint64_t> words_;
  std::vector<uint8_t> bytes_;
};

}  // namespace lbc
