// JavaScript class that wraps CoinTable, and functions for the undo data of a block. Contracts:
// src/store/cache/coinTable.ts.
#include <chrono>

#include "blocks/parse.h"
#include "coins/coinTable.h"
#include "coins/coinTableBlocks.h"
#include "coins/resolved.h"
#include "napi/addon.h"
#include "napi/napi.h"
#include "store/databaseBinding.h"
#include "store/sharedRows.h"

namespace lbc {

namespace {

constexpr size_t kRowHeader = 12;
// First byte of the key of a coin. As PREFIX.coin of src/store/rows/keys.ts.
constexpr uint8_t kCoinKind = 'C';

// Reads the arguments of a method call and the table that `this` wraps.
CoinTable* readCall(napi_env env, napi_callback_info info, size_t count, napi_value* arguments) {
  return lbc::readCall<CoinTable>(env, info, "not a coin table", count, arguments);
}

napi_value construct(napi_env env, napi_callback_info info) {
  napi_value self;
  if (!readArguments(env, info, 0, nullptr, &self)) return nullptr;
  return wrapObject(env, self, new CoinTable(), "the coin table could not be made");
}

napi_value getUsageBytes(napi_env env, napi_callback_info info) {
  CoinTable* table = readCall(env, info, 0, nullptr);
  return table ? makeNumber(env, static_cast<double>(table->usageBytes())) : nullptr;
}

napi_value getEntryCount(napi_env env, napi_callback_info info) {
  CoinTable* table = readCall(env, info, 0, nullptr);
  return table ? makeNumber(env, static_cast<double>(table->entryCount())) : nullptr;
}

napi_value getDirtyCount(napi_env env, napi_callback_info info) {
  CoinTable* table = readCall(env, info, 0, nullptr);
  return table ? makeNumber(env, static_cast<double>(table->dirtyCount())) : nullptr;
}

napi_value getDirtyBytes(napi_env env, napi_callback_info info) {
  CoinTable* table = readCall(env, info, 0, nullptr);
  return table ? makeNumber(env, static_cast<double>(table->dirtyBytes())) : nullptr;
}

napi_value missing(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  ParsedView view;
  bool checkOutputs;
  CoinTable* table = readCall(env, info, 3, arguments);
  if (!table || !readParsed(env, arguments[0], arguments[1], &view) ||
      !readBool(env, arguments[2], "checkOutputs", &checkOutputs)) {
    return nullptr;
  }
  std::vector<uint8_t> outpoints;
  findMissing(*table, view, checkOutputs, &outpoints);
  return makeBuffer(env, outpoints.data(), outpoints.size());
}

// Decodes a coin from its database row; false when the row is too short or the coin is not spendable.
bool readRow(const Span& row, CoinTable::Coin* coin) {
  if (row.size < kRowHeader) return false;
  coin->heightCode = readLE32(row.data);
  coin->amount = static_cast<int64_t>(readLE64(row.data + 4));
  coin->script = row.data + kRowHeader;
  coin->scriptLength = row.size - kRowHeader;
  return !isUnspendable(coin->script, coin->scriptLength);
}

napi_value load(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Span outpoints;
  uint32_t count = 0;
  CoinTable* table = readCall(env, info, 2, arguments);
  if (!table || !readBytes(env, arguments[0], "outpoints", &outpoints)) return nullptr;
  if (napi_get_array_length(env, arguments[1], &count) != napi_ok || outpoints.size != kOutpointSize * count) {
    return throwTypeError(env, "as many outpoints as values are needed");
  }
  for (uint32_t i = 0; i < count; i++) {
    napi_handle_scope scope;
    napi_open_handle_scope(env, &scope);
    napi_value value;
    bool good = napi_get_element(env, arguments[1], i, &value) == napi_ok;
    if (good && isNullish(env, value)) {
      table->load(outpoints.data + kOutpointSize * i, nullptr);
    } else if (good) {
      Span row;
      CoinTable::Coin coin;
      good = readBytes(env, value, "value", &row);
      if (good && !readRow(row, &coin)) {
        throwError(env, "a coin row of the database is corrupt");
        good = false;
      }
      if (good) table->load(outpoints.data + kOutpointSize * i, &coin);
    }
    napi_close_handle_scope(env, scope);
    if (!good) return nullptr;
  }
  return makeUndefined(env);
}

// Reads the row of a coin from the overlay, else from the database, and loads it into the table. `database` is null if it has no
// coins.
// Returns false if the row cannot be read.
bool loadRow(CoinTable* table, Memtable* overlay, const Database* database, const uint8_t* outpoint) {
  static thread_local Bytes packed;
  uint8_t key[1 + kOutpointSize];
  key[0] = kCoinKind;
  memcpy(key + 1, outpoint, kOutpointSize);
  Span row;
  const int64_t length = overlay->find(key, sizeof key, &row.data);
  if (length >= 0) row.size = static_cast<size_t>(length);
  if (length == Memtable::kUnknown && database) {
    packed.clear();
    const leveldb::Slice slice(reinterpret_cast<const char*>(key), sizeof key);
    if (!database->get(slice, true, &packed).ok()) return false;
    const bool exists = readLE32(packed.data()) != Memtable::kDeletedValue;
    row.data = exists ? packed.data() + 4 : nullptr;
    row.size = exists ? packed.size() - 4 : 0;
  } else if (length < 0) {
    row.data = nullptr;
  }
  CoinTable::Coin coin;
  if (row.data && !readRow(row, &coin)) return false;
  table->load(outpoint, row.data ? &coin : nullptr);
  return true;
}

// (block, parsed, checkOutputs, overlay, database?, budgetMicros, slowMicros) => outpoints that are still missing
napi_value loadFrom(napi_env env, napi_callback_info info) {
  napi_value arguments[7];
  ParsedView view;
  bool checkOutputs;
  uint32_t budgetMicros, slowMicros;
  void *tableObject = nullptr, *databaseObject = nullptr;
  CoinTable* table = readCall(env, info, 7, arguments);
  if (!table || !readParsed(env, arguments[0], arguments[1], &view) ||
      !readBool(env, arguments[2], "checkOutputs", &checkOutputs) ||
      !readUint32(env, arguments[5], "budgetMicros", &budgetMicros) ||
      !readUint32(env, arguments[6], "slowMicros", &slowMicros)) {
    return nullptr;
  }
  if (napi_unwrap(env, arguments[3], &tableObject) != napi_ok) return throwTypeError(env, "not a memtable");
  Memtable* overlay = &(*static_cast<std::shared_ptr<SharedTable>*>(tableObject))->rows();
  const Database* database = nullptr;
  if (!isNullish(env, arguments[4])) {
    if (napi_unwrap(env, arguments[4], &databaseObject) != napi_ok) return throwTypeError(env, "not a database");
    database = static_cast<OpenDatabase*>(databaseObject)->database.get();
    if (!database) return throwNotOpen(env);
  }
  using Clock = std::chrono::steady_clock;
  static thread_local std::vector<uint8_t> outpoints;
  outpoints.clear();
  findMissing(*table, view, checkOutputs, &outpoints);
  if (outpoints.empty()) return makeNull(env);
  Clock::time_point now = Clock::now();
  const Clock::time_point deadline = now + std::chrono::microseconds(budgetMicros);
  size_t at = 0;
  while (at < outpoints.size() && loadRow(table, overlay, database, outpoints.data() + at)) {
    at += kOutpointSize;
    const Clock::time_point before = now;
    now = Clock::now();
    if (now > deadline || now - before >= std::chrono::microseconds(slowMicros)) break;
  }
  if (at == outpoints.size()) return makeNull(env);
  return makeBuffer(env, outpoints.data() + at, outpoints.size() - at);
}

napi_value resolve(napi_env env, napi_callback_info info) {
  napi_value arguments[4];
  ParsedView view;
  uint32_t height;
  bool checkOutputs = true;
  CoinTable* table = readCall(env, info, 4, arguments);
  if (!table || !readParsed(env, arguments[0], arguments[1], &view) ||
      !readUint32(env, arguments[2], "height", &height) ||
      (!isUndefined(env, arguments[3]) && !readBool(env, arguments[3], "checkOutputs", &checkOutputs))) {
    return nullptr;
  }
  static thread_local ResolvedColumnsMemory memory;
  memory.reset(view.inputCount);
  ResolvedColumns columns;
  columns.heightCodes = memory.heightCodes();
  columns.amounts = memory.amounts();
  columns.scriptOffsets = memory.scriptOffsets();
  columns.scriptLengths = memory.scriptLengths();
  columns.status = memory.status();
  columns.claimKinds = memory.claimKinds();
  resolveInputs(*table, view, height, checkOutputs, columns, &memory.scripts, &memory.duplicates);
  return memory.pack(env);
}

napi_value apply(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  ParsedView view;
  uint32_t height;
  CoinTable* table = readCall(env, info, 3, arguments);
  if (!table || !readParsed(env, arguments[0], arguments[1], &view) ||
      !readUint32(env, arguments[2], "height", &height)) {
    return nullptr;
  }
  const char* problem = applyBlock(*table, view, height);
  return problem ? throwError(env, problem) : makeUndefined(env);
}

napi_value revert(napi_env env, napi_callback_info info) {
  napi_value arguments[4];
  ParsedView view;
  Span undo;
  uint32_t height;
  CoinTable* table = readCall(env, info, 4, arguments);
  if (!table || !readParsed(env, arguments[0], arguments[1], &view) ||
      !readBytes(env, arguments[2], "undo", &undo) || !readUint32(env, arguments[3], "height", &height)) {
    return nullptr;
  }
  bool clean;
  const char* problem = revertBlock(*table, view, undo.data, undo.size, height, &clean);
  return problem ? throwError(env, problem) : makeString(env, clean ? "ok" : "unclean");
}

napi_value get(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  const uint8_t* outpoint;
  CoinTable* table = readCall(env, info, 1, arguments);
  if (!table || !readFixedBytes(env, arguments[0], kOutpointSize, "outpoint", &outpoint)) return nullptr;
  const uint32_t slot = table->find(outpoint, table->hashOutpoint(outpoint));
  if (slot == kNoEntry) return makeUndefined(env);
  CoinTable::Entry& entry = table->at(slot);
  entry.flags |= CoinTable::kRecent;
  if (!entry.live()) return makeNull(env);
  napi_value result = makeObject(env);
  napi_value amount;
  napi_create_bigint_int64(env, entry.amountValue(), &amount);
  uint8_t* script = nullptr;
  napi_value scriptBuffer = makeEmptyBuffer(env, entry.scriptLength, &script);
  if (!scriptBuffer) return nullptr;
  entry.copyScript(script);
  setProperty(env, result, "heightCode", makeNumber(env, entry.heightCode));
  setProperty(env, result, "amount", amount);
  setProperty(env, result, "script", scriptBuffer);
  return result;
}

napi_value add(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  const uint8_t* outpoint;
  napi_value heightCode, amount, script;
  Span scriptBytes;
  CoinTable::Coin coin;
  bool possibleOverwrite;
  CoinTable* table = readCall(env, info, 3, arguments);
  if (!table || !readFixedBytes(env, arguments[0], kOutpointSize, "outpoint", &outpoint) ||
      !readProperty(env, arguments[1], "heightCode", &heightCode) ||
      !readProperty(env, arguments[1], "amount", &amount) ||
      !readProperty(env, arguments[1], "script", &script) ||
      !readUint32(env, heightCode, "heightCode", &coin.heightCode) ||
      !readBigInt64(env, amount, "amount", &coin.amount) || !readBytes(env, script, "script", &scriptBytes) ||
      !readBool(env, arguments[2], "possibleOverwrite", &possibleOverwrite)) {
    return nullptr;
  }
  coin.script = scriptBytes.data;
  coin.scriptLength = scriptBytes.size;
  if (isUnspendable(coin.script, coin.scriptLength)) return makeUndefined(env);
  if (!table->add(outpoint, table->hashOutpoint(outpoint), coin, possibleOverwrite)) {
    return throwError(env, "a new coin replaces an unspent one");
  }
  return makeUndefined(env);
}

napi_value spend(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  const uint8_t* outpoint;
  CoinTable* table = readCall(env, info, 1, arguments);
  if (!table || !readFixedBytes(env, arguments[0], kOutpointSize, "outpoint", &outpoint)) return nullptr;
  const uint32_t slot = table->find(outpoint, table->hashOutpoint(outpoint));
  const bool live = slot != kNoEntry && table->at(slot).live();
  if (live) table->spend(slot);
  return makeBool(env, live);
}

napi_value takeDirty(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  uint64_t maxBytes;
  CoinTable* table = readCall(env, info, 1, arguments);
  if (!table || !readSize(env, arguments[0], "maxBytes", &maxBytes)) return nullptr;
  std::vector<uint8_t> records;
  records.reserve(static_cast<size_t>(maxBytes < table->dirtyBytes() ? maxBytes : table->dirtyBytes()));
  if (!table->takeDirty(static_cast<size_t>(maxBytes), &records)) return makeNull(env);
  return makeBuffer(env, records.data(), records.size());
}

napi_value trim(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  uint64_t targetBytes;
  uint64_t maxVisits = UINT64_MAX;
  CoinTable* table = readCall(env, info, 2, arguments);
  if (!table || !readSize(env, arguments[0], "targetBytes", &targetBytes) ||
      (!isUndefined(env, arguments[1]) && !readSize(env, arguments[1], "maxVisits", &maxVisits))) {
    return nullptr;
  }
  table->trim(targetBytes, maxVisits);
  return makeUndefined(env);
}

napi_value clear(napi_env env, napi_callback_info info) {
  CoinTable* table = readCall(env, info, 0, nullptr);
  if (table) table->clear();
  return makeUndefined(env);
}

// (parsed, undo) => packed columns, or null if the undo data is malformed or belongs to another block
napi_value jsResolvedFromUndo(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  ParsedView view;
  Span undo;
  if (!readArguments(env, info, 2, arguments) || !readTables(env, arguments[0], &view) ||
      !readBytes(env, arguments[1], "undo", &undo)) {
    return nullptr;
  }
  static thread_local ResolvedColumnsMemory memory;
  memory.reset(view.inputCount);
  // The coinbase is the first transaction. It spends nothing, and the undo data contains no record for it.
  size_t input = view.txCount == 0 ? 0 : view.txs[0].inputCount;
  const uint8_t *at = undo.data, *end = undo.data + undo.size;
  for (; at < end; input++) {
    const size_t left = static_cast<size_t>(end - at);
    if (left < kUndoHeader || input >= view.inputCount) return makeNull(env);
    const uint32_t length = readLE32(at + 12);
    if (left - kUndoHeader < length) return makeNull(env);
    const uint8_t* script = at + kUndoHeader;
    memory.heightCodes()[input] = readLE32(at);
    memory.amounts()[input] = static_cast<int64_t>(readLE64(at + 4));
    memory.scriptOffsets()[input] = static_cast<uint32_t>(memory.scripts.size());
    memory.scriptLengths()[input] = length;
    memory.claimKinds()[input] = claimKind(script, length);
    memory.scripts.insert(memory.scripts.end(), script, script + length);
    at = script + length;
  }
  return input == view.inputCount ? memory.pack(env) : makeNull(env);
}

napi_value jsBuildUndo(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  ParsedView view;
  ResolvedView resolved;
  if (!readArguments(env, info, 2, arguments) || !readTables(env, arguments[0], &view) ||
      !readResolved(env, arguments[1], view.inputCount, &resolved)) {
    return nullptr;
  }
  if (view.inputCount > 0 && !resolved.heightCodes) return throwError(env, "undo data needs the heights of coins");
  std::vector<uint8_t> undo;
  undo.reserve(resolved.scriptsSize + kUndoHeader * resolved.count);
  for (size_t t = 0; t < view.txCount; t++) {
    const TxRow& tx = view.txs[t];
    if (tx.isCoinbase()) continue;
    const size_t end = static_cast<size_t>(tx.firstInput) + tx.inputCount;
    if (end > resolved.count) return throwError(env, "the resolved inputs do not belong to this block");
    for (size_t i = tx.firstInput; i < end; i++) {
      if (resolved.status[i] != 0) return throwError(env, "undo data of a block with missing coins");
      const size_t length = resolved.scriptLengths[i];
      const size_t at = undo.size();
      undo.resize(at + kUndoHeader + length);
      uint8_t* record = undo.data() + at;
      writeLE32(record, resolved.heightCodes[i]);
      writeLE64(record + 4, static_cast<uint64_t>(resolved.amounts[i]));
      writeLE32(record + 12, static_cast<uint32_t>(length));
      if (length > 0) memcpy(record + kUndoHeader, resolved.scripts + resolved.scriptOffsets[i], length);
    }
  }
  return makeBuffer(env, undo.data(), undo.size());
}

}  // namespace

void registerCoinTable(napi_env env, napi_value exports) {
  const napi_property_descriptor members[] = {
      getter("usageBytes", getUsageBytes), getter("entryCount", getEntryCount),
      getter("dirtyCount", getDirtyCount), getter("dirtyBytes", getDirtyBytes),
      method("missing", missing),          method("load", load),
      method("resolvePacked", resolve),    method("apply", apply),
      method("revert", revert),            method("get", get),
      method("add", add),                  method("spend", spend),
      method("takeDirty", takeDirty),      method("trim", trim),
      method("clear", clear),              method("loadFrom", loadFrom),
  };
  setClass(env, exports, "CoinTable", construct, members, sizeof members / sizeof members[0]);
  setFunction(env, exports, "buildUndo", jsBuildUndo);
  setFunction(env, exports, "resolvedFromUndo", jsResolvedFromUndo);
}

}  // namespace lbc
