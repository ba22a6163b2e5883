// Rows that a block adds to the transaction index and the address index, as memtable records. Pure: it knows neither the
// database nor JavaScript (see indexRowsBinding.cpp). Fallbacks: src/index/txIndex.ts and src/index/addressWalk.ts, which
// document the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "parse.h"

namespace lbc {

// Bytes of the key under which a script is filed.
constexpr size_t kScriptKeySize = 16;

// Computes the key under which a script is stored; false for an unspendable script.
bool scriptKeyOf(const uint8_t* script, size_t size, uint8_t* key);

// The coins that a block spends, by running input number; every script lies within `scripts`.
struct SpentCoins {
  const int64_t* amounts = nullptr;
  const uint32_t* heightCodes = nullptr;
  const uint32_t* scriptOffsets = nullptr;
  const uint32_t* scriptLengths = nullptr;
  const uint8_t* scripts = nullptr;
};

constexpr size_t kTotalsRecord = 8 + 1 + kScriptKeySize + 28;

struct AddressRows {
  // Rows of histories and unspent outputs. Their order matters.
  std::vector<uint8_t> records;
  // Rows of the sums of the scripts touched, each kTotalsRecord long: the amounts that the block adds. A value is
  // received i64 ‖ spent i64 ‖ transactions u32 ‖ outputs u32 ‖ spent outputs u32.
  std::vector<uint8_t> totals;
};

// Inputs in `view` are assigned to transactions in order.
void addressRows(const ParsedView& view, const SpentCoins& spent, uint32_t height, AddressRows* out);

// `wtxids` has 32 bytes a transaction.
void txRows(const ParsedView& view, const uint8_t* wtxids, uint32_t height, std::vector<uint8_t>* records);

}  // namespace lbc
