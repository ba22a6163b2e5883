// Connecting and disconnecting a block on a coin table: finding the coins it needs, resolving its inputs, spending and
// creating coins. The contracts are those of src/store/cache/coinTable.ts. No JavaScript here.
#pragma once

#include <cstdint>
#include <vector>

#include "blocks/parse.h"
#include "coins/coinTable.h"

namespace lbc {

// Appends each outpoint that the block needs and the table does not contain. Each outpoint is appended once.
// `checkOutputs` includes the outputs that the block creates.
void findMissing(CoinTable& table, const ParsedView& view, bool checkOutputs, std::vector<uint8_t>* out);

// Columns of ResolvedInputs, zeroed by the caller, with a row for every input of the block.
struct ResolvedColumns {
  uint32_t* heightCodes;
  int64_t* amounts;
  uint32_t* scriptOffsets;
  uint32_t* scriptLengths;
  uint8_t* status;
  uint8_t* claimKinds;
};

void resolveInputs(CoinTable& table, const ParsedView& view, uint32_t height, bool checkOutputs,
                   const ResolvedColumns& columns, std::vector<uint8_t>* scripts,
                   std::vector<uint32_t>* duplicates);

// Applies a block to the table. Returns null, or an error message, which shows a bug of the caller; the table is then
// partly changed.
const char* applyBlock(CoinTable& table, const ParsedView& view, uint32_t height);
const char* revertBlock(CoinTable& table, const ParsedView& view, const uint8_t* undo, size_t undoSize,
                        uint32_t height, bool* clean);

// The record header of an undo blob: u32 height code, i64 amount, u32 script length.
constexpr size_t kUndoHeader = 16;

}  // namespace lbc
