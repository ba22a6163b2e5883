// Functions with which the parts of the addon register their exports.
#pragma once

#include "napi/napi.h"

namespace lbc {

// Version of the interface between the addon and JavaScript. Must equal NATIVE_ABI of src/native/binding.ts.
constexpr uint32_t kAbi = 45;

void registerAddresses(napi_env env, napi_value exports);
void registerDatabase(napi_env env, napi_value exports);
void registerBlobs(napi_env env, napi_value exports);
void registerBlobCopy(napi_env env, napi_value exports);
void registerBlobMaking(napi_env env, napi_value exports);
void registerBlobStoring(napi_env env, napi_value exports);
void registerFileReads(napi_env env, napi_value exports);
void registerBlockWork(napi_env env, napi_value exports);
void registerClaimNode(napi_env env, napi_value exports);
void registerClaimTrie(napi_env env, napi_value exports);
void registerHeap(napi_env env, napi_value exports);
void registerHashing(napi_env env, napi_value exports);
void registerIndexRows(napi_env env, napi_value exports);
void registerNameRow(napi_env env, napi_value exports);
void registerParsing(napi_env env, napi_value exports);
void registerSnapshotRows(napi_env env, napi_value exports);
void registerPaymentScan(napi_env env, napi_value exports);
void registerCoinTable(napi_env env, napi_value exports);
void registerMemtable(napi_env env, napi_value exports);
void registerRowCache(napi_env env, napi_value exports);
// Adds the curve operations, `verify` excepted, to the object `ecdsa`.
void registerEcdsa(napi_env env, napi_value ecdsa);
void registerVerification(napi_env env, napi_value exports);

}  // namespace lbc
