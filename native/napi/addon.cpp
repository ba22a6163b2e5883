// Entry point of the addon. All state stored between calls belongs to one environment (main or worker thread).
#include "napi/addon.h"

NAPI_MODULE_INIT() {
  using namespace lbc;
  setProperty(env, exports, "abi", makeNumber(env, kAbi));
  registerDatabase(env, exports);
  registerBlobs(env, exports);
  registerBlobCopy(env, exports);
  registerBlobMaking(env, exports);
  registerBlobStoring(env, exports);
  registerFileReads(env, exports);
  registerHeap(env, exports);
  registerHashing(env, exports);
  registerAddresses(env, exports);
  registerBlockWork(env, exports);
  registerClaimNode(env, exports);
  registerClaimTrie(env, exports);
  registerNameRow(env, exports);
  registerParsing(env, exports);
  registerSnapshotRows(env, exports);
  registerPaymentScan(env, exports);
  registerCoinTable(env, exports);
  registerMemtable(env, exports);
  registerRowCache(env, exports);
  registerIndexRows(env, exports);
#ifdef LBC_SECP256K1_BUNDLED
  setProperty(env, exports, "secp256k1", makeString(env, "bundled"));
#else
  setProperty(env, exports, "secp256k1", makeString(env, "system"));
#endif
  registerVerification(env, exports);
  return exports;
}
