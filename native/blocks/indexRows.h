// Rows that a block adds to the transaction index and the address index, as memtable records. The JavaScript bindings are
// in indexRowsBinding.cpp. Fallbacks: src/index/txIndex.ts and src/index/addressWalk.ts, which document the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "blocks/parse.h"

namespace lbc {

// Length of the key under which a script is stored, in bytes.
constexpr size_t kScriptKeySize = 16;

// Computes the key under which a script is stored. Returns false for an unspendable script.
bool scriptKeyOf(const uint8_t* script, size_t size, uint8_t* key);

// The coins that a block spends. Index: number of the input within the block. Every script is a range of `scripts`.
struct SpentCoins {
  const int64_t* amounts = nullptr;
  const uint32_t* heightCodes = nullptr;
  const uint32_t* scriptOffsets = nullptr;
  const uint32_t* scriptLengths = nullptr;
  const uint8_t* scripts = nullptr;
};

constexpr size_t kTotalsRecord = 8 + 1 + kScriptKeySize + 28;

struct AddressRows {
  // Rows of histories and unspent outputs. They must be applied in this order.
  std::vector<uint8_t> records;
  // Records of the totals of each script that the block affects, kTotalsRecord bytes each. They contain the amounts that
  // the block adds. A value is received i64 ‖ spent i64 ‖ transactions u32 ‖ outputs u32 ‖ spent outputs u32.
  std::vector<uint8_t> totals;
};

// Appends the rows of a block to `out`. The inputs in `view` must be in the order of the transactions.
void addressRows(const ParsedView& view, const SpentCoins& spent, uint32_t height, AddressRows* out);

// Appends the rows of the transaction index. `wtxids` contains 32 bytes for each transaction.
void txRows(const ParsedView& view, const uint8_t* wtxids, uint32_t height, std::vector<uint8_t>* records);

}  // namespace lbc
