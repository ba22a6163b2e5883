// What a block adds to the indexes of transactions and addresses, as the records that memtables take. Pure: it knows
// neither the database nor JavaScript (see indexRowsBinding.cpp). Fallbacks: src/index/txIndex.ts and
// src/index/addressWalk.ts, which tell what the rows mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "parse.h"

namespace lbc {

// Bytes of the key under which a script is filed.
constexpr size_t kScriptKeySize = 16;

// Under which key a script is filed; false for one that no one can ever spend.
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
  // Of histories and unspent outputs, in the order in which they count.
  std::vector<uint8_t> records;
  // Of the sums of the scripts that were touched, each kTotalsRecord long: what the block adds to them. A value is
  // received i64 ‖ spent i64 ‖ transactions u32 ‖ outputs u32 ‖ spent outputs u32.
  std::vector<uint8_t> totals;
};

// The inputs of `view` belong to its transactions in order.
void addressRows(const ParsedView& view, const SpentCoins& spent, uint32_t height, AddressRows* out);

// `wtxids` has 32 bytes a transaction.
void txRows(const ParsedView& view, const uint8_t* wtxids, uint32_t height, std::vector<uint8_t>* records);

}  // namespace lbc
