// JavaScript bindings of the rows of indexes. Contracts: src/native/binding.ts.
#include <memory>

#include "blocks/indexRows.h"
#include "napi/addon.h"
#include "napi/job.h"
#include "napi/napi.h"

namespace lbc {

namespace {

constexpr size_t kSpentHolders = 5;
// Maximum capacity of a buffer that is reused, in bytes. Larger buffers are freed after use.
constexpr size_t kKeptBytes = 4u << 20;

// A block and the coins it spends, as passed by JavaScript.
struct Block {
  ParsedView view;
  SpentCoins spent;
  uint32_t height;
};

bool readSpent(napi_env env, napi_value resolved, size_t inputs, SpentCoins* spent, napi_value* keep) {
  const void *amounts, *heightCodes, *offsets, *lengths, *scripts;
  size_t amountCount, heightCount, offsetCount, lengthCount, scriptsSize;
  if (!readTypedArray(env, resolved, "amounts", napi_bigint64_array, &amounts, &amountCount, keep) ||
      !readTypedArray(env, resolved, "heightCodes", napi_uint32_array, &heightCodes, &heightCount, keep + 1) ||
      !readTypedArray(env, resolved, "scriptOffsets", napi_uint32_array, &offsets, &offsetCount, keep + 2) ||
      !readTypedArray(env, resolved, "scriptLengths", napi_uint32_array, &lengths, &lengthCount, keep + 3) ||
      !readTypedArray(env, resolved, "scripts", napi_uint8_array, &scripts, &scriptsSize, keep + 4)) {
    return false;
  }
  spent->amounts = static_cast<const int64_t*>(amounts);
  spent->heightCodes = static_cast<const uint32_t*>(heightCodes);
  spent->scriptOffsets = static_cast<const uint32_t*>(offsets);
  spent->scriptLengths = static_cast<const uint32_t*>(lengths);
  spent->scripts = static_cast<const uint8_t*>(scripts);
  bool consistent = amountCount == inputs && heightCount == inputs && offsetCount == inputs && lengthCount == inputs;
  for (size_t i = 0; consistent && i < inputs; i++) {
    consistent = spent->scriptOffsets[i] <= scriptsSize && spent->scriptLengths[i] <= scriptsSize - spent->scriptOffsets[i];
  }
  if (!consistent) throwError(env, "the resolved inputs do not belong to this block");
  return consistent;
}

// Reads (block, parsed, resolved, height); `keep` receives the JavaScript values to which the memory belongs.
bool readBlock(napi_env env, napi_callback_info info, Block* block, napi_value* keep) {
  napi_value arguments[4];
  return readArguments(env, info, 4, arguments) &&
         readParsed(env, arguments[0], arguments[1], &block->view, keep) &&
         readSpent(env, arguments[2], block->view.inputCount, &block->spent, keep + kParsedHolders) &&
         readUint32(env, arguments[3], "height", &block->height);
}

napi_value makeRows(napi_env env, const AddressRows& rows) {
  napi_value result = makeObject(env);
  setProperty(env, result, "records", makeBuffer(env, rows.records.data(), rows.records.size()));
  setProperty(env, result, "totals", makeBuffer(env, rows.totals.data(), rows.totals.size()));
  return result;
}

napi_value jsAddressRows(napi_env env, napi_callback_info info) {
  static thread_local AddressRows rows;
  napi_value keep[kParsedHolders + kSpentHolders];
  Block block;
  if (!readBlock(env, info, &block, keep)) return nullptr;
  rows.records.clear();
  rows.totals.clear();
  addressRows(block.view, block.spent, block.height, &rows);
  napi_value result = makeRows(env, rows);
  if (rows.records.capacity() > kKeptBytes) rows = AddressRows();
  return result;
}

napi_value jsAddressRowsAside(napi_env env, napi_callback_info info) {
  napi_value keep[kParsedHolders + kSpentHolders], kept;
  Block block;
  if (!readBlock(env, info, &block, keep)) return nullptr;
  napi_create_array(env, &kept);
  for (uint32_t i = 0; i < kParsedHolders + kSpentHolders; i++) napi_set_element(env, kept, i, keep[i]);
  auto rows = std::make_shared<AddressRows>();
  return startJob(
      env, "lbcnode:addressRows",
      [rows, block] {
        addressRows(block.view, block.spent, block.height, rows.get());
        return Outcome();
      },
      [rows](napi_env env) {
        napi_value result = makeObject(env);
        setProperty(env, result, "records", makeBufferOf(env, std::move(rows->records)));
        setProperty(env, result, "totals", makeBufferOf(env, std::move(rows->totals)));
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
