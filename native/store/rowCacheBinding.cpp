// JavaScript class that wraps RowCache. Contract: NativeRowCache of src/native/addonTypes/stores.ts.
#include "napi/addon.h"
#include "napi/napi.h"
#include "store/rowArguments.h"
#include "store/rowCacheBinding.h"

namespace lbc {

bool readRowCache(napi_env env, napi_value value, std::shared_ptr<RowCache>* out) {
  out->reset();
  if (isNullish(env, value)) return true;
  void* object = nullptr;
  if (napi_unwrap(env, value, &object) != napi_ok) {
    throwTypeError(env, "not a row cache");
    return false;
  }
  *out = *static_cast<std::shared_ptr<RowCache>*>(object);
  return true;
}

namespace {

using Cache = std::shared_ptr<RowCache>;

RowCache* readCall(napi_env env, napi_callback_info info, size_t count, napi_value* arguments) {
  Cache* cache = lbc::readCall<Cache>(env, info, "not a row cache", count, arguments);
  return cache ? cache->get() : nullptr;
}

// Reads an argument: a size limit greater than 0.
bool readLimit(napi_env env, napi_value value, uint64_t* maxBytes) {
  if (!readSize(env, value, "maxBytes", maxBytes)) return false;
  if (*maxBytes > 0) return true;
  throwError(env, "a row cache needs a size limit");
  return false;
}

napi_value construct(napi_env env, napi_callback_info info) {
  napi_value self, argument;
  uint64_t maxBytes;
  if (!readArguments(env, info, 1, &argument, &self) || !readLimit(env, argument, &maxBytes)) return nullptr;
  return wrapObject(env, self, new Cache(std::make_shared<RowCache>(maxBytes)), "the row cache could not be created");
}

napi_value getSizeBytes(napi_env env, napi_callback_info info) {
  RowCache* cache = readCall(env, info, 0, nullptr);
  return cache ? makeNumber(env, static_cast<double>(cache->usedBytes())) : nullptr;
}

napi_value getCount(napi_env env, napi_callback_info info) {
  RowCache* cache = readCall(env, info, 0, nullptr);
  return cache ? makeNumber(env, static_cast<double>(cache->count())) : nullptr;
}

// (key, target, at)
napi_value read(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  RowCache* cache = readCall(env, info, 3, arguments);
  return cache ? readRow(env, cache, arguments) : nullptr;
}

// (key, value | null)
napi_value set(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  RowArguments row;
  RowCache* cache = readCall(env, info, 2, arguments);
  if (!cache || !row.read(env, arguments)) return nullptr;
  cache->set(row.key.data(), row.key.size(), row.value(), row.size());
  return makeUndefined(env);
}

// (kind, records)
napi_value setRecords(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  uint32_t kind;
  Span records;
  RowCache* cache = readCall(env, info, 2, arguments);
  if (!cache || !readUint32(env, arguments[0], "kind", &kind) || !readBytes(env, arguments[1], "records", &records)) {
    return nullptr;
  }
  if (cache->setRecords(static_cast<uint8_t>(kind), records.data, records.size)) return makeUndefined(env);
  return throwError(env, "malformed row records were passed to a row cache");
}

napi_value clear(napi_env env, napi_callback_info info) {
  RowCache* cache = readCall(env, info, 0, nullptr);
  if (!cache) return nullptr;
  cache->clear();
  return makeUndefined(env);
}

// (maxBytes)
napi_value resize(napi_env env, napi_callback_info info) {
  napi_value argument;
  uint64_t maxBytes;
  RowCache* cache = readCall(env, info, 1, &argument);
  if (!cache || !readLimit(env, argument, &maxBytes)) return nullptr;
  cache->resize(maxBytes);
  return makeUndefined(env);
}

}  // namespace

void registerRowCache(napi_env env, napi_value exports) {
  const napi_property_descriptor members[] = {
      getter("sizeBytes", getSizeBytes), getter("count", getCount), method("read", read),     method("set", set),
      method("setRecords", setRecords),  method("clear", clear),    method("resize", resize),
  };
  setClass(env, exports, "RowCache", construct, members, sizeof members / sizeof members[0]);
}

}  // namespace lbc
