// JavaScript bindings of the rows of indexes. Contracts: src/native/binding.ts.
#include <chrono>
#include <memory>

#include "blocks/indexRows.h"
#include "napi/addon.h"
#include "napi/job.h"
#include "napi/napi.h"
#include "store/databaseBinding.h"

namespace lbc {

namespace {

// Maximum capacity of a buffer that is reused, in bytes. Larger buffers are freed after use.
constexpr size_t kKeptBytes = 4u << 20;

// A block and the coins it spends, as passed by JavaScript.
struct Block {
  ParsedView view;
  ResolvedView spent;
  uint32_t height;
};

// Where the stored totals of scripts are read. `database` is null if it has no rows.
struct TotalsSource {
  Memtable* overlay = nullptr;
  const Database* database = nullptr;
  uint32_t budgetMicros = 0;
  uint32_t slowMicros = 0;
};

// Reads the first four of `arguments`: (block, parsed, resolved, height). `keep` receives the JavaScript values to which the
// memory belongs.
bool readBlock(napi_env env, const napi_value* arguments, Block* block, napi_value* keep) {
  if (!readParsed(env, arguments[0], arguments[1], &block->view, keep) ||
      !readResolved(env, arguments[2], block->view.inputCount, &block->spent, keep + kParsedHolders) ||
      !readUint32(env, arguments[3], "height", &block->height)) {
    return false;
  }
  if (block->spent.heightCodes || block->view.inputCount == 0) return true;
  throwError(env, "the resolved inputs have no heights");
  return false;
}

// Reads (overlay, database?, budgetMicros, slowMicros).
bool readSource(napi_env env, const napi_value* arguments, TotalsSource* source) {
  void *table = nullptr, *database = nullptr;
  if (napi_unwrap(env, arguments[0], &table) != napi_ok) {
    throwTypeError(env, "not a memtable");
    return false;
  }
  source->overlay = &(*static_cast<std::shared_ptr<SharedTable>*>(table))->rows();
  if (!isNullish(env, arguments[1])) {
    if (napi_unwrap(env, arguments[1], &database) != napi_ok) {
      throwTypeError(env, "not a database");
      return false;
    }
    source->database = static_cast<OpenDatabase*>(database)->database.get();
    if (!source->database) {
      throwNotOpen(env);
      return false;
    }
  }
  return readUint32(env, arguments[2], "budgetMicros", &source->budgetMicros) &&
         readUint32(env, arguments[3], "slowMicros", &source->slowMicros);
}

// Reads an array of two 32-bit numbers, to which results are written.
bool readPlaces(napi_env env, napi_value value, uint32_t** places) {
  napi_typedarray_type type;
  size_t count;
  void* data;
  if (napi_get_typedarray_info(env, value, &type, &count, &data, nullptr, nullptr) == napi_ok &&
      type == napi_uint32_array && count == 2) {
    *places = static_cast<uint32_t*>(data);
    return true;
  }
  throwTypeError(env, "places must be a Uint32Array of two numbers");
  return false;
}

// Adds the stored totals to the totals records from `at` on. Stops after a slow read, at an error, or when the time is used
// up. Returns the position of the first record to which nothing was added. JavaScript reads the other totals, and reports
// errors with the name of the file.
size_t addStored(const TotalsSource& source, std::vector<uint8_t>* records, size_t at) {
  using Clock = std::chrono::steady_clock;
  static thread_local Bytes value;
  Clock::time_point now = Clock::now();
  const Clock::time_point deadline = now + std::chrono::microseconds(source.budgetMicros);
  // Bytes of a record before its key.
  constexpr size_t head = 8;
  source.overlay->findAll(
      records->data() + at, records->size() - at, [&](const uint8_t* key, int64_t size, const uint8_t* stored) {
        uint8_t* record = records->data() + at;
        if (size == static_cast<int64_t>(kTotalsSize)) addTotals(record, stored);
        if (size == Memtable::kUnknown && source.database) {
          value.clear();
          const leveldb::Slice wanted(reinterpret_cast<const char*>(key), kTotalsRecord - kTotalsSize - head);
          if (!source.database->get(wanted, true, &value).ok()) return false;
          if (value.size() == 4 + kTotalsSize) addTotals(record, value.data() + 4);
          const Clock::time_point before = now;
          now = Clock::now();
          at += kTotalsRecord;
          return now <= deadline && now - before < std::chrono::microseconds(source.slowMicros);
        }
        at += kTotalsRecord;
        return true;
      });
  return at;
}

// (block, parsed, resolved, height, overlay?, database?, budgetMicros, slowMicros, places) => records
napi_value jsAddressRows(napi_env env, napi_callback_info info) {
  static thread_local std::vector<uint8_t> records;
  napi_value arguments[9], keep[kParsedHolders + kResolvedHolders];
  Block block;
  TotalsSource source;
  uint32_t* places;
  if (!readArguments(env, info, 9, arguments) || !readBlock(env, arguments, &block, keep)) return nullptr;
  const bool isRead = !isNullish(env, arguments[4]);
  if (isRead && !readSource(env, arguments + 4, &source)) return nullptr;
  if (!readPlaces(env, arguments[8], &places)) return nullptr;
  records.clear();
  const size_t totalsAt = addressRows(block.view, block.spent, block.height, &records);
  places[0] = static_cast<uint32_t>(totalsAt);
  places[1] = static_cast<uint32_t>(isRead ? addStored(source, &records, totalsAt) : totalsAt);
  napi_value result = makeBuffer(env, records.data(), records.size());
  if (records.capacity() > kKeptBytes) records = {};
  return result;
}

napi_value jsAddressRowsAside(napi_env env, napi_callback_info info) {
  napi_value arguments[4], keep[kParsedHolders + kResolvedHolders], kept;
  Block block;
  if (!readArguments(env, info, 4, arguments) || !readBlock(env, arguments, &block, keep)) return nullptr;
  napi_create_array(env, &kept);
  for (uint32_t i = 0; i < kParsedHolders + kResolvedHolders; i++) napi_set_element(env, kept, i, keep[i]);
  struct Made {
    std::vector<uint8_t> records;
    size_t totalsAt;
  };
  auto made = std::make_shared<Made>();
  return startJob(
      env, "lbcnode:addressRows",
      [made, block] {
        made->totalsAt = addressRows(block.view, block.spent, block.height, &made->records);
        return Outcome();
      },
      [made](napi_env env) {
        napi_value result = makeObject(env);
        setProperty(env, result, "totalsAt", makeNumber(env, static_cast<double>(made->totalsAt)));
        setProperty(env, result, "records", makeBufferOf(env, std::move(made->records)));
        return result;
      },
      kept);
}

napi_value jsTxRows(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  ParsedView view;
  uint32_t height;
  const void* wtxids;
  size_t size;
  if (!readArguments(env, info, 3, arguments) || !readParsed(env, arguments[0], arguments[1], &view) ||
      !readTypedArray(env, arguments[1], "wtxids", napi_uint8_array, &wtxids, &size) ||
      !readUint32(env, arguments[2], "height", &height)) {
    return nullptr;
  }
  if (size != 32 * view.txCount) return throwError(env, "the offset table does not belong to this block");
  std::vector<uint8_t> records;
  txRows(view, static_cast<const uint8_t*>(wtxids), height, &records);
  return makeBuffer(env, records.data(), records.size());
}

napi_value jsScriptKey(napi_env env, napi_callback_info info) {
  napi_value argument;
  Span script;
  uint8_t key[kScriptKeySize];
  if (!readArguments(env, info, 1, &argument) || !readBytes(env, argument, "script", &script)) return nullptr;
  if (!scriptKeyOf(script.data, script.size, key)) return makeNull(env);
  napi_value text;
  napi_create_string_latin1(env, reinterpret_cast<const char*>(key), kScriptKeySize, &text);
  return text;
}

}  // namespace

void registerIndexRows(napi_env env, napi_value exports) {
  setFunction(env, exports, "addressRows", jsAddressRows);
  setFunction(env, exports, "addressRowsAside", jsAddressRowsAside);
  setFunction(env, exports, "txRows", jsTxRows);
  setFunction(env, exports, "scriptKey", jsScriptKey);
}

}  // namespace lbc
