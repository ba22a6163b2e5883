// JavaScript class that wraps BlockWork, and the packing of a block's claim operations. Contract: NativeBlockClaims of
// src/native/addonTypes/claims.ts.
#include "claims/blockWork.h"
#include "napi/addon.h"
#include "napi/latin1Key.h"
#include "napi/napi.h"
#include "store/databaseBinding.h"
#include "store/rowCacheBinding.h"
#include "store/sharedRows.h"

namespace lbc {

namespace {

using Table = std::shared_ptr<SharedTable>;

// Size of the part of the result before the records.
constexpr size_t kResultHead = kSlotHashSize + 1 + 4;

// Memory that is kept from block to block.
struct BoundWork {
  ClaimTrie trie;
  BlockResult result;
};

bool readTable(napi_env env, napi_value value, Memtable** out) {
  void* object = nullptr;
  if (napi_unwrap(env, value, &object) != napi_ok) {
    throwTypeError(env, "not a memtable");
    return false;
  }
  *out = &(*static_cast<Table*>(object))->rows();
  return true;
}

bool readCache(napi_env env, napi_value value, RowCache** out) {
  std::shared_ptr<RowCache> cache;
  if (!readRowCache(env, value, &cache)) return false;
  *out = cache.get();
  return true;
}

bool readLayers(napi_env env, const napi_value* arguments, RowLayers* out) {
  if (!readTable(env, arguments[0], &out->overlay) || !readCache(env, arguments[1], &out->names) ||
      !readCache(env, arguments[2], &out->items) || !readCache(env, arguments[3], &out->nodes)) {
    return false;
  }
  if (isNullish(env, arguments[4])) return true;
  void* object = nullptr;
  if (napi_unwrap(env, arguments[4], &object) != napi_ok) {
    throwTypeError(env, "not a database");
    return false;
  }
  out->database = static_cast<OpenDatabase*>(object)->database.get();
  if (out->database) return true;
  throwNotOpen(env);
  return false;
}

bool readRules(napi_env env, napi_value value, BlockRules* rules) {
  const uint8_t* numbers;
  if (!readFixedBytes(env, value, 16, "rules", &numbers)) return false;
  rules->height = readLE32(numbers);
  rules->normalizationForkHeight = readLE32(numbers + 4);
  rules->supportDelay = readLE32(numbers + 8);
  rules->allClaims = numbers[12] != 0;
  rules->watchesTakeovers = numbers[13] != 0;
  rules->watchesRemovals = numbers[14] != 0;
  rules->countsMetadata = numbers[15] != 0;
  return true;
}

// Calls the JavaScript function that normalizes a name. Returns false, without an exception, if it throws.
bool callNormalize(napi_env env, napi_value function, const std::string& name, std::string* normalized) {
  napi_value argument, self, answer;
  Latin1Key text;
  if (napi_get_undefined(env, &self) != napi_ok ||
      napi_create_string_latin1(env, name.data(), name.size(), &argument) != napi_ok) {
    return false;
  }
  if (napi_call_function(env, self, function, 1, &argument, &answer) == napi_ok && text.read(env, answer)) {
    normalized->assign(reinterpret_cast<const char*>(text.data()), text.size());
    return true;
  }
  bool isPending = false;
  if (napi_is_exception_pending(env, &isPending) == napi_ok && isPending) napi_get_and_clear_last_exception(env, &answer);
  return false;
}

napi_value construct(napi_env env, napi_callback_info info) {
  napi_value self;
  if (!readArguments(env, info, 0, nullptr, &self)) return nullptr;
  return wrapObject(env, self, new BoundWork, "the claim work could not be created");
}

// (overlay, names?, items?, nodes?, database?, rules, notePrefix, idleBits, normalize, operations, describes) => root ‖ u8 whether
// there are notes ‖ u32 size of the records ‖ records ‖ changes if `describes`; null if the fallback must connect the block
napi_value connect(napi_env env, napi_callback_info info) {
  napi_value arguments[11];
  RowLayers layers;
  BlockRules rules;
  Latin1Key notePrefix;
  Span idle, operations;
  BoundWork* bound = readCall<BoundWork>(env, info, "not a claim work", 11, arguments);
  if (!bound || !readLayers(env, arguments, &layers) || !readRules(env, arguments[5], &rules) ||
      !notePrefix.read(env, arguments[6]) || !readBytes(env, arguments[7], "idleBits", &idle) ||
      !readBytes(env, arguments[9], "operations", &operations) ||
      !readBool(env, arguments[10], "describes", &bound->result.describes)) {
    return nullptr;
  }
  if (idle.size != kIdleBytes) return throwTypeError(env, "the filter of idle names has a wrong size");
  BlockSources sources;
  sources.rows = &layers;
  sources.normalize = [&](const std::string& name, std::string* normalized) {
    return callNormalize(env, arguments[8], name, normalized);
  };
  sources.idleBits = const_cast<uint8_t*>(idle.data);
  sources.notePrefix.assign(reinterpret_cast<const char*>(notePrefix.data()), notePrefix.size());
  constexpr size_t kKeptBytes = 1 << 20;
  BlockResult& result = bound->result;
  if (result.records.capacity() > kKeptBytes) result.records = {};
  result.records.assign(kResultHead, 0);
  result.hasNotes = false;
  result.changes.clear();
  BlockWork work(rules, &sources, &bound->trie);
  if (!work.connect(operations, &result)) return makeNull(env);
  memcpy(result.records.data(), result.root, kSlotHashSize);
  result.records[kSlotHashSize] = result.hasNotes ? 1 : 0;
  writeLE32(result.records.data() + kSlotHashSize + 1, static_cast<uint32_t>(result.records.size() - kResultHead));
  result.records.insert(result.records.end(), result.changes.begin(), result.changes.end());
  return makeBuffer(env, result.records.data(), result.records.size());
}

// (block, parsed, resolved) => packed operations
napi_value jsClaimOperations(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  ParsedView view;
  ResolvedView spent;
  if (!readArguments(env, info, 3, arguments) || !readParsed(env, arguments[0], arguments[1], &view) ||
      !readResolved(env, arguments[2], view.inputCount, &spent)) {
    return nullptr;
  }
  if (!spent.heightCodes) return throwTypeError(env, "the inputs have no heights");
  static thread_local std::vector<uint8_t> packed;
  packed.clear();
  packClaimOperations(view, spent, &packed);
  return makeBuffer(env, packed.data(), packed.size());
}

}  // namespace

void registerBlockWork(napi_env env, napi_value exports) {
  const napi_property_descriptor members[] = {method("connect", connect)};
  setClass(env, exports, "BlockClaims", construct, members, sizeof members / sizeof members[0]);
  setFunction(env, exports, "claimOperations", jsClaimOperations);
}

}  // namespace lbc
