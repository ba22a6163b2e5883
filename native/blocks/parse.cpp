// Parser of blocks and transactions into offset tables. Rules: those of Core 0.17's `UnserializeTransaction`.
#include "blocks/parse.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "blocks/script.h"
#include "hash/hashes.h"
#include "hash/sha256.h"
#include "napi/addon.h"
#include "napi/job.h"

namespace lbc {

namespace {

// Core's MAX_SIZE. A greater length makes the bytes invalid.
constexpr uint64_t kMaxCompactSize = 0x02000000;

class Parser {
 public:
  Parser(const uint8_t* data, size_t size, ParsedTables* tables) : data_(data), size_(size), tables_(tables) {}

  const char* error() const { return error_; }
  uint32_t offset() const { return at_; }

  bool block() {
    uint64_t count;
    if (!skip(kHeaderSize) || !compactSize(&count)) return false;
    tables_->strippedSize = tables_->size = at_;
    for (uint64_t i = 0; i < count; i++) {
      if (!transaction()) return false;
    }
    return true;
  }

  bool transaction() {
    TxRow row = {};
    row.start = at_;
    row.firstInput = static_cast<uint32_t>(tables_->inputs.size());
    row.firstOutput = static_cast<uint32_t>(tables_->outputs.size());
    if (!u32(&row.version)) return false;
    uint32_t bodyAt = at_;
    uint8_t marker = 0;
    if (!inputList(&row)) return false;
    if (tables_->inputs.size() > row.firstInput) {
      if (!outputList(&row)) return false;
    } else {
      if (!u8(&marker)) return false;
      // A flag of 0 means a transaction without inputs and outputs: the two bytes (marker and flag) are its empty lists.
      if (marker != 0) {
        bodyAt = at_;
        if (!inputList(&row) || !outputList(&row)) return false;
      }
    }
    const uint32_t bodyEnd = at_;
    bool hasWitness = false;
    if ((marker & 1) && !witnesses(row.firstInput, &hasWitness)) return false;
    if (marker & ~1) return fail("Unknown transaction optional data");
    const uint32_t lockTimeAt = at_;
    if (!u32(&row.lockTime)) return false;

    row.end = at_;
    row.inputCount = static_cast<uint32_t>(tables_->inputs.size()) - row.firstInput;
    row.outputCount = static_cast<uint32_t>(tables_->outputs.size()) - row.firstOutput;
    row.strippedSize = 4 + (bodyEnd - bodyAt) + 4;
    if (hasWitness) {
      row.flags |= kTxHasWitness;
    } else if (marker) {
      row.flags |= kTxEmptyMarker;
    }
    if (row.inputCount == 1 && isNullOutpoint(data_ + tables_->inputs[row.firstInput].prevout)) {
      row.flags |= kTxIsCoinbase;
    }
    tables_->strippedSize += row.strippedSize;
    tables_->size += hasWitness ? row.end - row.start : row.strippedSize;

    const size_t idAt = tables_->txids.size();
    tables_->txids.resize(idAt + 32);
    tables_->wtxids.resize(idAt + 32);
    uint8_t* id = tables_->txids.data() + idAt;
    uint8_t* witnessId = tables_->wtxids.data() + idAt;
    Sha256 hash;
    if (marker) {
      hash.write(data_ + row.start, 4).write(data_ + bodyAt, bodyEnd - bodyAt).write(data_ + lockTimeAt, 4);
    } else {
      hash.write(data_ + row.start, row.end - row.start);
    }
    finishDouble(hash, id);
    if (hasWitness) {
      sha256d(data_ + row.start, row.end - row.start, witnessId);
    } else {
      memcpy(witnessId, id, 32);
    }
    tables_->txs.push_back(row);
    return true;
  }

 private:
  bool fail(const char* message) {
    snprintf(error_, sizeof error_, "%s", message);
    return false;
  }

  bool skip(uint64_t count) {
    const size_t left = size_ - at_;
    if (count > left) {
      snprintf(error_, sizeof error_, "end of data: %llu bytes wanted at %u, %zu left",
               static_cast<unsigned long long>(count), at_, left);
      return false;
    }
    at_ += static_cast<uint32_t>(count);
    return true;
  }

  bool u8(uint8_t* value) {
    if (!skip(1)) return false;
    *value = data_[at_ - 1];
    return true;
  }

  bool u32(uint32_t* value) {
    if (!skip(4)) return false;
    *value = readLE32(data_ + at_ - 4);
    return true;
  }

  bool compactSize(uint64_t* value) {
    uint8_t first;
    if (!u8(&first)) return false;
    *value = first;
    if (first < 253) return true;
    const unsigned width = first == 253 ? 2 : first == 254 ? 4 : 8;
    if (!skip(width)) return false;
    const uint8_t* p = data_ + at_ - width;
    *value = width == 2 ? readLE16(p) : width == 4 ? readLE32(p) : readLE64(p);
    const uint64_t smallest = width == 2 ? 253 : width == 4 ? 0x10000 : 0x100000000;
    if (*value < smallest) return fail("non-canonical ReadCompactSize()");
    if (*value > kMaxCompactSize) return fail("ReadCompactSize(): size too large");
    return true;
  }

  bool inputList(TxRow* tx) {
    uint64_t count;
    if (!compactSize(&count)) return false;
    for (uint64_t i = 0; i < count; i++) {
      InputRow row = {};
      uint64_t length;
      row.prevout = at_;
      if (!skip(32) || !skip(4) || !compactSize(&length)) return false;
      row.script = at_;
      if (!skip(length)) return false;
      row.scriptLength = static_cast<uint32_t>(length);
      tx->legacySigops += countLegacySigops(data_ + row.script, row.scriptLength);
      if (!u32(&row.sequence)) return false;
      tables_->inputs.push_back(row);
    }
    return true;
  }

  bool outputList(TxRow* tx) {
    uint64_t count;
    if (!compactSize(&count)) return false;
    for (uint64_t i = 0; i < count; i++) {
      OutputRow row = {};
      uint64_t length;
      row.value = at_;
      if (!skip(8) || !compactSize(&length)) return false;
      row.script = at_;
      if (!skip(length)) return false;
      row.scriptLength = static_cast<uint32_t>(length);
      row.claimKind = claimKind(data_ + row.script, row.scriptLength);
      if (row.claimKind != 0) tx->claimOutputs++;
      tx->legacySigops += countLegacySigops(data_ + row.script, row.scriptLength);
      tables_->outputs.push_back(row);
    }
    return true;
  }

  bool witnesses(size_t firstInput, bool* any) {
    for (size_t i = firstInput; i < tables_->inputs.size(); i++) {
      InputRow& row = tables_->inputs[i];
      row.witness = at_;
      uint64_t items;
      if (!compactSize(&items)) return false;
      for (uint64_t item = 0; item < items; item++) {
        uint64_t length;
        if (!compactSize(&length) || !skip(length)) return false;
      }
      row.witnessEnd = at_;
      if (items > 0) *any = true;
    }
    return true;
  }

  static bool isNullOutpoint(const uint8_t* outpoint) {
    for (int i = 0; i < 32; i++) {
      if (outpoint[i] != 0) return false;
    }
    return readLE32(outpoint + 32) == UINT32_MAX;
  }

  const uint8_t* data_;
  size_t size_;
  ParsedTables* tables_;
  uint32_t at_ = 0;
  char error_[112] = {};
};

}  // namespace

std::string parse(const Span& bytes, bool isBlock, ParsedTables* tables, ParsedSummary* summary) {
  if (bytes.size >= UINT32_MAX) return "ReadCompactSize(): size too large";
  tables->clear();
  Parser parser(bytes.data, bytes.size, tables);
  if (!(isBlock ? parser.block() : parser.transaction())) return parser.error();
  summary->consumed = parser.offset();
  const size_t count = tables->txs.size();
  // Space for the merkle root computation, with one extra leaf for duplication.
  std::vector<uint8_t> ids;
  ids.reserve(32 * count + 32);
  ids.assign(tables->txids.begin(), tables->txids.end());
  ids.resize(32 * count + 32);
  merkleRoot(ids.data(), count, summary->root, &summary->isMutated);
  std::copy(tables->wtxids.begin(), tables->wtxids.end(), ids.begin());
  if (count > 0) memset(ids.data(), 0, 32);
  merkleRoot(ids.data(), count, summary->witnessRoot, nullptr);
  return "";
}

namespace {

template <typename Row>
void drop(napi_env, void*, void* vector) {
  delete static_cast<std::vector<Row>*>(vector);
}

// Moves the vector's memory into a Uint32Array, to avoid copying large tables.
template <typename Row>
napi_value moveToArray(napi_env env, std::vector<Row>* rows) {
  if (rows->empty()) return makeUint32Array(env, nullptr, 0);
  const size_t size = rows->size() * sizeof(Row);
  auto* kept = new std::vector<Row>(std::move(*rows));
  napi_value memory, array = nullptr;
  if (napi_create_external_arraybuffer(env, kept->data(), size, drop<Row>, kept, &memory) != napi_ok) {
    delete kept;
    return throwError(env, "out of memory");
  }
  napi_create_typedarray(env, napi_uint32_array, size / sizeof(uint32_t), memory, 0, &array);
  return array;
}

// Moves the vector's memory into a Buffer, to avoid copying.
napi_value moveToBuffer(napi_env env, std::vector<uint8_t>* bytes) {
  if (bytes->empty()) return makeBuffer(env, nullptr, 0);
  auto* kept = new std::vector<uint8_t>(std::move(*bytes));
  napi_value buffer;
  if (napi_create_external_buffer(env, kept->size(), kept->data(), drop<uint8_t>, kept, &buffer) == napi_ok)
    return buffer;
  delete kept;
  return throwError(env, "out of memory");
}

// Makes a ParsedBlock of src/native/binding.ts, without the packed tables.
napi_value makeParsed(napi_env env, const ParsedTables& tables, const ParsedSummary& summary) {
  napi_value result = makeObject(env);
  setProperty(env, result, "txCount", makeNumber(env, static_cast<double>(tables.txs.size())));
  setProperty(env, result, "merkleRoot", makeBuffer(env, summary.root, sizeof summary.root));
  setProperty(env, result, "mutated", makeBool(env, summary.isMutated));
  setProperty(env, result, "witnessMerkleRoot", makeBuffer(env, summary.witnessRoot, sizeof summary.witnessRoot));
  setProperty(env, result, "consumedBytes", makeNumber(env, summary.consumed));
  setProperty(env, result, "sizeBytes", makeNumber(env, static_cast<double>(tables.size)));
  setProperty(env, result, "strippedSizeBytes", makeNumber(env, static_cast<double>(tables.strippedSize)));
  setProperty(env, result, "weight", makeNumber(env, static_cast<double>(tables.strippedSize * 3 + tables.size)));
  return result;
}

size_t packedSize(const PackedTablesHead& head) {
  return sizeof(PackedTablesHead) + (sizeof(TxRow) + 64) * static_cast<size_t>(head.txCount) +
         sizeof(InputRow) * static_cast<size_t>(head.inputCount) +
         sizeof(OutputRow) * static_cast<size_t>(head.outputCount);
}

template <typename Row>
uint8_t* putRows(uint8_t* to, const std::vector<Row>& rows) {
  const size_t size = rows.size() * sizeof(Row);
  if (size > 0) memcpy(to, rows.data(), size);
  return to + size;
}

napi_value makePacked(napi_env env, const ParsedTables& tables, const ParsedSummary& summary) {
  PackedTablesHead head = {};
  head.txCount = static_cast<uint32_t>(tables.txs.size());
  head.inputCount = static_cast<uint32_t>(tables.inputs.size());
  head.outputCount = static_cast<uint32_t>(tables.outputs.size());
  head.isMutated = summary.isMutated;
  head.consumed = summary.consumed;
  head.size = static_cast<uint32_t>(tables.size);
  head.strippedSize = static_cast<uint32_t>(tables.strippedSize);
  memcpy(head.root, summary.root, sizeof head.root);
  memcpy(head.witnessRoot, summary.witnessRoot, sizeof head.witnessRoot);
  uint8_t* at = nullptr;
  napi_value packed = makeEmptyBuffer(env, packedSize(head), &at);
  if (!packed) return nullptr;
  memcpy(at, &head, sizeof head);
  at = putRows(at + sizeof head, tables.txs);
  at = putRows(at, tables.inputs);
  at = putRows(at, tables.outputs);
  at = putRows(at, tables.txids);
  putRows(at, tables.wtxids);
  return packed;
}

napi_value parseHere(napi_env env, napi_callback_info info, bool isBlock) {
  static thread_local ParsedTables tables;
  napi_value arguments[1];
  Span bytes;
  ParsedSummary summary;
  if (!readArguments(env, info, 1, arguments) || !readBytes(env, arguments[0], "bytes", &bytes)) return nullptr;
  const std::string error = parse(bytes, isBlock, &tables, &summary);
  if (!error.empty()) {
    tables.release();
    return throwError(env, error.c_str());
  }
  napi_value result = makePacked(env, tables, summary);
  tables.release();
  return result;
}

// (bytes) => Promise of the result of `parseBlock`. The bytes must not change before the promise settles.
napi_value jsParseBlockAside(napi_env env, napi_callback_info info) {
  struct Work {
    ParsedTables tables;
    ParsedSummary summary;
  };
  napi_value arguments[1];
  Span bytes;
  if (!readArguments(env, info, 1, arguments) || !readBytes(env, arguments[0], "bytes", &bytes)) return nullptr;
  auto work = std::make_shared<Work>();
  return startJob(
      env, "lbcnode:parseBlock",
      [work, bytes] {
        const std::string error = parse(bytes, true, &work->tables, &work->summary);
        return error.empty() ? Outcome() : Outcome::failed(error);
      },
      [work](napi_env env) {
        ParsedTables& tables = work->tables;
        napi_value result = makeParsed(env, tables, work->summary);
        setProperty(env, result, "txs", moveToArray(env, &tables.txs));
        setProperty(env, result, "inputs", moveToArray(env, &tables.inputs));
        setProperty(env, result, "outputs", moveToArray(env, &tables.outputs));
        setProperty(env, result, "txids", moveToBuffer(env, &tables.txids));
        setProperty(env, result, "wtxids", moveToBuffer(env, &tables.wtxids));
        return result;
      },
      arguments[0]);
}

napi_value jsParseBlock(napi_env env, napi_callback_info info) { return parseHere(env, info, true); }
napi_value jsParseTx(napi_env env, napi_callback_info info) { return parseHere(env, info, false); }

// Parses the transaction at the start of the bytes. Writes its txid and wtxid to `ids` and returns its length, or 0 when
// the transaction is invalid.
napi_value jsScanTx(napi_env env, napi_callback_info info) {
  static thread_local ParsedTables tables;
  napi_value arguments[2];
  Span bytes;
  const uint8_t* ids;
  if (!readArguments(env, info, 2, arguments) || !readBytes(env, arguments[0], "bytes", &bytes) ||
      !readFixedBytes(env, arguments[1], 64, "ids", &ids)) {
    return nullptr;
  }
  if (bytes.size >= UINT32_MAX) return throwError(env, "ReadCompactSize(): size too large");
  tables.clear();
  Parser parser(bytes.data, bytes.size, &tables);
  if (!parser.transaction()) {
    tables.release();
    return makeNumber(env, 0);
  }
  memcpy(const_cast<uint8_t*>(ids), tables.txids.data(), 32);
  memcpy(const_cast<uint8_t*>(ids) + 32, tables.wtxids.data(), 32);
  tables.release();
  return makeNumber(env, parser.offset());
}

// Whether `size` bytes at `at` lie within a block of `blockSize`.
bool within(size_t blockSize, uint32_t at, uint64_t size) { return at <= blockSize && size <= blockSize - at; }

bool fits(const ParsedView& view) {
  for (size_t i = 0; i < view.txCount; i++) {
    const TxRow& tx = view.txs[i];
    if (!within(view.inputCount, tx.firstInput, tx.inputCount)) return false;
    if (!within(view.outputCount, tx.firstOutput, tx.outputCount)) return false;
    if (tx.start > tx.end || tx.end > view.blockSize) return false;
  }
  for (size_t i = 0; i < view.inputCount; i++) {
    const InputRow& input = view.inputs[i];
    if (!within(view.blockSize, input.prevout, kOutpointSize)) return false;
    if (!within(view.blockSize, input.script, input.scriptLength)) return false;
    if (input.witness > input.witnessEnd || input.witnessEnd > view.blockSize) return false;
  }
  for (size_t i = 0; i < view.outputCount; i++) {
    const OutputRow& output = view.outputs[i];
    if (!within(view.blockSize, output.value, 8)) return false;
    if (!within(view.blockSize, output.script, output.scriptLength)) return false;
  }
  return true;
}

// Sets `view` to the packed tables. Returns false when the bytes are not packed tables.
bool viewPacked(const uint8_t* data, size_t size, ParsedView* view) {
  PackedTablesHead head;
  if (size < sizeof head || reinterpret_cast<uintptr_t>(data) % alignof(TxRow) != 0) return false;
  memcpy(&head, data, sizeof head);
  if (size != packedSize(head)) return false;
  view->txCount = head.txCount;
  view->inputCount = head.inputCount;
  view->outputCount = head.outputCount;
  view->txs = reinterpret_cast<const TxRow*>(data + sizeof head);
  view->inputs = reinterpret_cast<const InputRow*>(view->txs + view->txCount);
  view->outputs = reinterpret_cast<const OutputRow*>(view->inputs + view->inputCount);
  view->txids = reinterpret_cast<const uint8_t*>(view->outputs + view->outputCount);
  return true;
}

bool refuseTables(napi_env env) {
  throwError(env, "the offset table does not belong to this block");
  return false;
}

}  // namespace

bool readTables(napi_env env, napi_value parsed, ParsedView* view, napi_value* holders) {
  napi_value unused[kTablesHolders];
  napi_value* keep = holders ? holders : unused;
  Span packed;
  if (readPacked(env, parsed, &packed, keep)) {
    for (size_t i = 1; i < kTablesHolders; i++) keep[i] = keep[0];
    return viewPacked(packed.data, packed.size, view) || refuseTables(env);
  }
  const void *txs, *inputs, *outputs, *txids;
  size_t txWords, inputWords, outputWords, idBytes;
  if (!readTypedArray(env, parsed, "txs", napi_uint32_array, &txs, &txWords, keep) ||
      !readTypedArray(env, parsed, "inputs", napi_uint32_array, &inputs, &inputWords, keep + 1) ||
      !readTypedArray(env, parsed, "outputs", napi_uint32_array, &outputs, &outputWords, keep + 2) ||
      !readTypedArray(env, parsed, "txids", napi_uint8_array, &txids, &idBytes, keep + 3)) {
    return false;
  }
  view->txs = static_cast<const TxRow*>(txs);
  view->txCount = txWords / 12;
  view->inputs = static_cast<const InputRow*>(inputs);
  view->inputCount = inputWords / 6;
  view->outputs = static_cast<const OutputRow*>(outputs);
  view->outputCount = outputWords / 4;
  view->txids = static_cast<const uint8_t*>(txids);
  return idBytes == view->txCount * 32 || refuseTables(env);
}

bool readParsed(napi_env env, napi_value block, napi_value parsed, ParsedView* view, napi_value* holders) {
  Span bytes;
  if (holders) holders[0] = block;
  if (!readBytes(env, block, "block", &bytes) ||
      !readTables(env, parsed, view, holders ? holders + 1 : nullptr)) {
    return false;
  }
  view->block = bytes.data;
  view->blockSize = bytes.size;
  return fits(*view) || refuseTables(env);
}

void registerParsing(napi_env env, napi_value exports) {
  setFunction(env, exports, "parseBlock", jsParseBlock);
  setFunction(env, exports, "parseBlockAside", jsParseBlockAside);
  setFunction(env, exports, "parseTx", jsParseTx);
  setFunction(env, exports, "scanTx", jsScanTx);
}

}  // namespace lbc
