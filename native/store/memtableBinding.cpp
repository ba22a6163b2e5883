// JavaScript class that wraps Memtable. Contract: NativeRows of src/native/binding.ts.
#include <vector>

#include "napi/addon.h"
#include "napi/latin1Key.h"
#include "napi/napi.h"
#include "napi/sharedObjectRegistry.h"
#include "store/rowArguments.h"
#include "store/sharedRows.h"

namespace lbc {

namespace {

using Table = std::shared_ptr<SharedTable>;

// Reads the arguments of a method call and the table that `this` wraps.
SharedTable* readShared(napi_env env, napi_callback_info info, size_t count, napi_value* arguments) {
  Table* table = lbc::readCall<Table>(env, info, "not a memtable", count, arguments);
  return table ? table->get() : nullptr;
}

Memtable* readCall(napi_env env, napi_callback_info info, size_t count, napi_value* arguments) {
  SharedTable* table = readShared(env, info, count, arguments);
  return table ? &table->rows() : nullptr;
}

napi_value construct(napi_env env, napi_callback_info info) {
  napi_value self;
  if (!readArguments(env, info, 0, nullptr, &self)) return nullptr;
  return wrapObject(env, self, new Table(std::make_shared<SharedTable>()), "the memtable could not be created");
}

napi_value getSizeBytes(napi_env env, napi_callback_info info) {
  Memtable* table = readCall(env, info, 0, nullptr);
  return table ? makeNumber(env, static_cast<double>(table->usedBytes())) : nullptr;
}

napi_value getCount(napi_env env, napi_callback_info info) {
  Memtable* table = readCall(env, info, 0, nullptr);
  return table ? makeNumber(env, static_cast<double>(table->count())) : nullptr;
}

napi_value getChanges(napi_env env, napi_callback_info info) {
  SharedTable* table = readShared(env, info, 0, nullptr);
  return table ? makeNumber(env, static_cast<double>(table->changes())) : nullptr;
}

// () => number with which other threads attach to the table
napi_value share(napi_env env, napi_callback_info info) {
  Table* table = lbc::readCall<Table>(env, info, "not a memtable", 0, nullptr);
  if (!table) return nullptr;
  (*table)->share();
  return makeNumber(env, publish(SharedKind::kRows, *table));
}

napi_value beginChange(napi_env env, napi_callback_info info) {
  SharedTable* table = readShared(env, info, 0, nullptr);
  if (!table) return nullptr;
  table->beginChange();
  return makeUndefined(env);
}

napi_value endChange(napi_env env, napi_callback_info info) {
  SharedTable* table = readShared(env, info, 0, nullptr);
  if (!table) return nullptr;
  table->endChange();
  return makeUndefined(env);
}

// (key, target, at)
napi_value read(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  Memtable* table = readCall(env, info, 3, arguments);
  return table ? readRow(env, table, arguments) : nullptr;
}

// (key, value | null)
napi_value set(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  RowArguments row;
  SharedTable* table = readShared(env, info, 2, arguments);
  if (!table || !row.read(env, arguments)) return nullptr;
  const SharedTable::Change change(table);
  table->rows().set(row.key.data(), row.key.size(), row.value(), row.size());
  return makeUndefined(env);
}

napi_value addRecords(napi_env env, napi_callback_info info) {
  napi_value argument;
  Span records;
  SharedTable* table = readShared(env, info, 1, &argument);
  if (!table || !readBytes(env, argument, "records", &records)) return nullptr;
  const SharedTable::Change change(table);
  if (table->rows().setRecords(records.data, records.size)) return makeUndefined(env);
  return throwError(env, "malformed row records were passed to a memtable");
}

napi_value readRecords(napi_env env, napi_callback_info info) {
  napi_value argument;
  Span records;
  Memtable* table = readCall(env, info, 1, &argument);
  if (!table || !readBytes(env, argument, "records", &records)) return nullptr;
  std::vector<uint8_t> values(sizeof(uint32_t));
  const ptrdiff_t unknown = table->readRecords(records.data, records.size, &values);
  if (unknown < 0) return throwError(env, "malformed row records were passed to a memtable");
  writeLE32(values.data(), static_cast<uint32_t>(unknown));
  return makeBuffer(env, values.data(), values.size());
}

napi_value declareNew(napi_env env, napi_callback_info info) {
  napi_value argument;
  Latin1Key kinds;
  Memtable* table = readCall(env, info, 1, &argument);
  if (!table || !kinds.read(env, argument)) return nullptr;
  for (size_t i = 0; i < kinds.size(); i++) table->declareNew(kinds.data()[i]);
  return makeUndefined(env);
}

napi_value clear(napi_env env, napi_callback_info info) {
  SharedTable* table = readShared(env, info, 0, nullptr);
  if (!table) return nullptr;
  const SharedTable::Change change(table);
  table->rows().clear();
  return makeUndefined(env);
}

napi_value beginWalk(napi_env env, napi_callback_info info) {
  SharedTable* table = readShared(env, info, 0, nullptr);
  if (!table) return nullptr;
  table->rows().beginWalk();
  return makeUndefined(env);
}

napi_value walk(napi_env env, napi_callback_info info) {
  napi_value argument;
  uint8_t* target;
  size_t room, needed;
  SharedTable* table = readShared(env, info, 1, &argument);
  if (!table || !readTarget(env, argument, &target, &room)) return nullptr;
  const size_t written = table->rows().walk(target, room, &needed);
  return makeNumber(env, written > 0 ? static_cast<double>(written) : -static_cast<double>(needed));
}

napi_value range(napi_env env, napi_callback_info info) {
  napi_value arguments[4];
  Latin1Key gte, lt;
  bool isReverse;
  uint32_t maxRows;
  SharedTable* table = readShared(env, info, 4, arguments);
  if (!table || !gte.read(env, arguments[0]) || !lt.read(env, arguments[1]) ||
      !readBool(env, arguments[2], "reverse", &isReverse) || !readUint32(env, arguments[3], "maxRows", &maxRows)) {
    return nullptr;
  }
  std::vector<uint8_t> records;
  table->range(Memtable::Range{gte.data(), gte.size(), lt.data(), lt.size(), isReverse, maxRows}, &records);
  // Usually no records are in the range, in which case no buffer is allocated.
  return records.empty() ? makeUndefined(env) : makeBuffer(env, records.data(), records.size());
}

}  // namespace

void registerMemtable(napi_env env, napi_value exports) {
  const napi_property_descriptor members[] = {
      getter("sizeBytes", getSizeBytes), getter("count", getCount), method("read", read),
      method("set", set),                method("addRecords", addRecords), method("readRecords", readRecords),
      method("clear", clear),            method("beginWalk", beginWalk), method("walk", walk),
      method("range", range),            getter("changes", getChanges), method("share", share),
      method("beginChange", beginChange), method("endChange", endChange), method("declareNew", declareNew),
  };
  setClass(env, exports, "Memtable", construct, members, sizeof members / sizeof members[0]);
}

}  // namespace lbc
