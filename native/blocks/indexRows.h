// Rows that a block adds to the transaction index and the address index, as memtable records. The JavaScript bindings are
// in indexRowsBinding.cpp. Fallbacks: src/index/txIndex.ts and src/index/addressWalk.ts, which document the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "blocks/parse.h"
#include "coins/resolved.h"

namespace lbc {

// Length of the key under which a script is stored, in bytes.
constexpr size_t kScriptKeySize = 16;

// Computes the key under which a script is stored. Returns false for an unspendable script.
bool scriptKeyOf(const uint8_t* script, size_t size, uint8_t* key);

// Size of the value of a totals record: received i64 ‖ spent i64 ‖ transactions u32 ‖ outputs u32 ‖ spent outputs u32.
constexpr size_t kTotalsSize = 28;

// Size of a totals record: sizes, key and value.
constexpr size_t kTotalsRecord = 8 + 1 + kScriptKeySize + kTotalsSize;

// Appends the rows of a block to `records`: first the rows of histories and unspent outputs, which must be applied in this
// order, then a record of kTotalsRecord bytes for each script that the block affects. These totals contain only what the
// block adds. Returns the position of the first of them. The inputs in `view` must be in the order of the transactions.
size_t addressRows(const ParsedView& view, const ResolvedView& spent, uint32_t height, std::vector<uint8_t>* records);

// Adds the stored totals of a script, kTotalsSize bytes, to those of a record, in place.
void addTotals(uint8_t* record, const uint8_t* stored);

// Appends the rows of the transaction index. `wtxids` contains 32 bytes for each transaction.
void txRows(const ParsedView& view, const uint8_t* wtxids, uint32_t height, std::vector<uint8_t>* records);

}  // namespace lbc
