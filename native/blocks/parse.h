// The offset table of a block or a transaction: layout, parser, and the view through which other parts read a table passed
// by JavaScript. Layout constants are those of src/primitives/blockLayout.ts; fallback: src/primitives/blockScan.ts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "napi/napi.h"

namespace lbc {

struct TxRow {
  uint32_t start;
  uint32_t end;
  uint32_t strippedSize;
  uint32_t firstInput;
  uint32_t inputCount;
  uint32_t firstOutput;
  uint32_t outputCount;
  uint32_t flags;
  uint32_t lockTime;
  uint32_t version;
  uint32_t legacySigops;
  uint32_t claimOutputs;

  bool hasWitness() const { return flags & 1; }
  bool isCoinbase() const { return flags & 2; }
};
static_assert(sizeof(TxRow) == 12 * 4, "TX_STRIDE");

constexpr uint32_t kTxHasWitness = 1;
constexpr uint32_t kTxIsCoinbase = 2;
constexpr uint32_t kTxEmptyMarker = 4;

struct InputRow {
  uint32_t prevout;
  uint32_t script;
  uint32_t scriptLength;
  uint32_t sequence;
  uint32_t witness;
  uint32_t witnessEnd;
};
static_assert(sizeof(InputRow) == 6 * 4, "INPUT_STRIDE");

struct OutputRow {
  uint32_t value;
  uint32_t script;
  uint32_t scriptLength;
  uint32_t claimKind;
};
static_assert(sizeof(OutputRow) == 4 * 4, "OUTPUT_STRIDE");

// The offset table of a block or a transaction during parsing.
struct ParsedTables {
  // Maximum number of rows whose memory stays allocated for the next block.
  static constexpr size_t kKeptRows = 1 << 17;

  std::vector<TxRow> txs;
  std::vector<InputRow> inputs;
  std::vector<OutputRow> outputs;
  std::vector<uint8_t> txids;
  std::vector<uint8_t> wtxids;
  uint64_t strippedSize = 0;
  uint64_t size = 0;

  void clear() {
    txs.clear();
    inputs.clear();
    outputs.clear();
    txids.clear();
    wtxids.clear();
    strippedSize = 0;
    size = 0;
  }

  // Frees the memory if the last block had very many transactions, inputs or outputs.
  void release() {
    if (txs.capacity() + inputs.capacity() + outputs.capacity() > kKeptRows) *this = ParsedTables();
  }
};

// Header of the packed tables. The rows of transactions, inputs and outputs follow, then all txids, then all wtxids. For
// JavaScript, one buffer is several times cheaper than a buffer for each table. src/native/packed.ts reads this format.
struct PackedTablesHead {
  uint32_t txCount;
  uint32_t inputCount;
  uint32_t outputCount;
  uint32_t isMutated;
  uint32_t consumed;
  uint32_t size;
  uint32_t strippedSize;
  uint32_t unused;
  uint8_t root[32];
  uint8_t witnessRoot[32];
};
static_assert(sizeof(PackedTablesHead) == 96, "the head of packed tables");

// Values computed over the whole block or transaction.
struct ParsedSummary {
  uint32_t consumed = 0;
  uint8_t root[32] = {};
  uint8_t witnessRoot[32] = {};
  bool isMutated = false;
};

// Parses a block or a transaction. Returns an error message, empty when the bytes are valid.
std::string parse(const Span& bytes, bool isBlock, ParsedTables* tables, ParsedSummary* summary);

// A block and its offset table, as passed by JavaScript. Every offset lies within the block.
struct ParsedView {
  const uint8_t* block = nullptr;
  size_t blockSize = 0;
  const TxRow* txs = nullptr;
  size_t txCount = 0;
  const InputRow* inputs = nullptr;
  size_t inputCount = 0;
  const OutputRow* outputs = nullptr;
  size_t outputCount = 0;
  const uint8_t* txids = nullptr;

  const uint8_t* prevout(size_t input) const { return block + inputs[input].prevout; }
  const uint8_t* txid(size_t tx) const { return txids + 32 * tx; }
  const uint8_t* outputScript(const OutputRow& output) const { return block + output.script; }
};

// Size of an outpoint: txid and output number.
constexpr size_t kOutpointSize = 36;

// Reads the tables of `parsed` without checking that the offsets in them are within a block. `holders` (may be null)
// receives the values that keep the memory alive.
bool readTables(napi_env env, napi_value parsed, ParsedView* view, napi_value* holders = nullptr);
constexpr size_t kTablesHolders = 4;

// Reads the arguments `block` and `parsed`. Checks that all offsets are within the block, so that later accesses need no
// checks. `holders` (may be null) receives the block and the values of `readTables`.
bool readParsed(napi_env env, napi_value block, napi_value parsed, ParsedView* view,
                napi_value* holders = nullptr);
constexpr size_t kParsedHolders = 1 + kTablesHolders;

}  // namespace lbc
