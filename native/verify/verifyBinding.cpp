// JavaScript bindings of signature verification: batches on worker threads, the curve operations, and the state of one
// environment (cache, threads, callback to its event loop).
#include <algorithm>

#include "blocks/parse.h"
#include "coins/resolved.h"
#include "napi/addon.h"
#include "napi/napi.h"
#include "verify/ecdsa.h"
#include "verify/sighash.h"
#include "verify/verifyPool.h"

namespace lbc {

namespace {

constexpr size_t kHolders = kParsedHolders + kResolvedHolders;

// A verification job with the promise that it settles.
struct PendingJob : VerifyJob {
  napi_deferred deferred = nullptr;
  napi_ref holders[kHolders] = {};
};

struct Environment {
  SignatureCache cache;
  napi_threadsafe_function finished = nullptr;
  size_t pending = 0;  // jobs with an open promise; used only on the environment's thread
  VerifyPool pool;

  Environment()
      : pool([this](VerifyJob* job) { napi_call_threadsafe_function(finished, job, napi_tsfn_nonblocking); }) {}
};

Environment* environmentOf(napi_env env) {
  void* data = nullptr;
  napi_get_instance_data(env, &data);
  return static_cast<Environment*>(data);
}

napi_value makeReport(napi_env env, VerifyJob& job) {
  std::vector<uint32_t>& undecided = job.undecided;
  std::sort(undecided.begin(), undecided.end());
  // An input with several signatures may occur more than once in the list.
  undecided.erase(std::unique(undecided.begin(), undecided.end()), undecided.end());
  napi_value report = makeObject(env);
  setProperty(env, report, "undecided", makeUint32Array(env, undecided.data(), undecided.size()));
  setProperty(env, report, "checked", makeNumber(env, job.checked));
  setProperty(env, report, "cacheHits", makeNumber(env, job.cacheHits));
  return report;
}

// Runs on the thread of the environment for each finished job.
void settle(napi_env env, napi_value, void* context, void* data) {
  PendingJob* job = static_cast<PendingJob*>(data);
  Environment* environment = static_cast<Environment*>(context);
  // A missing environment means that the process is ending, so that no code awaits the promise.
  if (env) {
    napi_handle_scope scope;
    napi_open_handle_scope(env, &scope);
    napi_resolve_deferred(env, job->deferred, makeReport(env, *job));
    for (napi_ref holder : job->holders) napi_delete_reference(env, holder);
    if (--environment->pending == 0) napi_unref_threadsafe_function(env, environment->finished);
    napi_close_handle_scope(env, scope);
  }
  delete job;
}

bool readOptionalSize(napi_env env, napi_value object, const char* name, uint64_t* out) {
  napi_value value;
  return readProperty(env, object, name, &value) &&
         (isUndefined(env, value) || readSize(env, value, name, out));
}

// Reads the VerifyJob of src/native/binding.ts into the job; `values` receives the JavaScript values that the caller must
// protect from garbage collection.
bool readJob(napi_env env, napi_value object, VerifyJob* job, napi_value* values) {
  napi_value block, parsed, resolved, flags, cacheResults;
  VerifyBatch& batch = job->batch;
  ResolvedView spent;
  if (!readProperty(env, object, "block", &block) || !readProperty(env, object, "parsed", &parsed) ||
      !readProperty(env, object, "resolved", &resolved) || !readProperty(env, object, "flags", &flags) ||
      !readProperty(env, object, "cacheResults", &cacheResults) ||
      !readParsed(env, block, parsed, &batch.view, values) || !readUint32(env, flags, "flags", &batch.flags) ||
      !readResolved(env, resolved, batch.view.inputCount, &spent, values + kParsedHolders)) {
    return false;
  }
  batch.amounts = spent.amounts;
  batch.scriptOffsets = spent.scriptOffsets;
  batch.scriptLengths = spent.scriptLengths;
  batch.status = spent.status;
  batch.scripts = spent.scripts;
  batch.cacheResults = false;
  if (!isUndefined(env, cacheResults) && !readBool(env, cacheResults, "cacheResults", &batch.cacheResults)) {
    return false;
  }
  const size_t inputs = batch.view.inputCount;
  bool consistent = true;
  // The transactions must cover all inputs, in order and without gaps.
  size_t covered = 0;
  for (size_t t = 0; consistent && t < batch.view.txCount; t++) {
    consistent = batch.view.txs[t].firstInput == covered;
    covered += batch.view.txs[t].inputCount;
  }
  if (!consistent || covered != inputs) {
    throwError(env, "the resolved inputs do not belong to this block");
    return false;
  }
  uint64_t first = 0;
  uint64_t count = UINT64_MAX;
  if (!readOptionalSize(env, object, "firstInput", &first) || !readOptionalSize(env, object, "count", &count)) {
    return false;
  }
  job->firstInput = static_cast<size_t>(std::min<uint64_t>(first, inputs));
  job->endInput = job->firstInput + static_cast<size_t>(std::min<uint64_t>(count, inputs - job->firstInput));
  return true;
}

// Sets the fields of a job that come from the environment (cache, flags) instead of the call's arguments.
void equip(napi_env env, VerifyJob& job) {
  job.batch.cache = &environmentOf(env)->cache;
  job.batch.midstates.reset(new TxMidstate[job.batch.view.txCount]);
}

napi_value jsVerifyInputsHere(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  napi_value values[kHolders];
  VerifyJob job;
  if (!readArguments(env, info, 1, arguments) || !readJob(env, arguments[0], &job, values)) return nullptr;
  equip(env, job);
  verifyHere(job);
  return makeReport(env, job);
}

napi_value jsVerifyInputs(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  napi_value values[kHolders];
  if (!readArguments(env, info, 1, arguments)) return nullptr;
  std::unique_ptr<PendingJob> job(new PendingJob());
  if (!readJob(env, arguments[0], job.get(), values)) return nullptr;
  Environment* environment = environmentOf(env);
  napi_value promise;
  if (napi_create_promise(env, &job->deferred, &promise) != napi_ok) return throwError(env, "out of memory");
  if (job->firstInput == job->endInput) {
    napi_resolve_deferred(env, job->deferred, makeReport(env, *job));
    return promise;
  }
  equip(env, *job);
  for (size_t i = 0; i < kHolders; i++) napi_create_reference(env, values[i], 1, &job->holders[i]);
  if (environment->pending++ == 0) napi_ref_threadsafe_function(env, environment->finished);
  environment->pool.submit(job.release());
  return promise;
}

napi_value jsSetVerifyThreads(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  uint64_t count;
  if (!readArguments(env, info, 1, arguments) || !readSize(env, arguments[0], "count", &count)) return nullptr;
  // Limits the number of threads to 16, as Core does.
  environmentOf(env)->pool.setThreads(static_cast<size_t>(std::min<uint64_t>(count, 16)));
  return makeUndefined(env);
}

napi_value jsSignatureCacheUsage(napi_env env, napi_callback_info) {
  const SignatureCache& cache = environmentOf(env)->cache;
  napi_value result = makeObject(env);
  setProperty(env, result, "maxBytes", makeNumber(env, static_cast<double>(cache.maxBytes())));
  setProperty(env, result, "insertions", makeNumber(env, static_cast<double>(cache.insertions())));
  return result;
}

napi_value jsSetSignatureCacheBytes(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  uint64_t bytes;
  if (!readArguments(env, info, 1, arguments) || !readSize(env, arguments[0], "bytes", &bytes)) return nullptr;
  Environment* environment = environmentOf(env);
  environment->pool.stop();
  environment->cache.resize(bytes);
  environment->pool.resume();
  return makeUndefined(env);
}

napi_value jsSignatureHash(napi_env env, napi_callback_info info) {
  napi_value arguments[7];
  ParsedView view;
  uint32_t input;
  Span scriptCode;
  int32_t hashType;
  int64_t amount;
  bool witness;
  if (!readArguments(env, info, 7, arguments) || !readParsed(env, arguments[0], arguments[1], &view) ||
      !readUint32(env, arguments[2], "inputNumber", &input) ||
      !readBytes(env, arguments[3], "scriptCode", &scriptCode) ||
      !readInt32(env, arguments[4], "hashType", &hashType) ||
      !readBigInt64(env, arguments[5], "amount", &amount) || !readBool(env, arguments[6], "witness", &witness)) {
    return nullptr;
  }
  if (view.txCount != 1 || input >= view.txs[0].inputCount) return throwError(env, "no such input");
  uint8_t digest[32];
  TxMidstate midstate;
  if (witness) {
    witnessSighash(view, view.txs[0], &midstate, input, scriptCode.data, scriptCode.size, amount,
                   static_cast<uint32_t>(hashType), digest);
  } else {
    legacySighash(view, view.txs[0], input, scriptCode.data, scriptCode.size, static_cast<uint32_t>(hashType),
                  digest);
  }
  return makeBuffer(env, digest, sizeof digest);
}

napi_value jsVerify(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  const uint8_t* hash;
  Span signature, key;
  if (!readArguments(env, info, 3, arguments) || !readFixedBytes(env, arguments[0], 32, "hash", &hash) ||
      !readBytes(env, arguments[1], "derSignature", &signature) || !readBytes(env, arguments[2], "publicKey", &key)) {
    return nullptr;
  }
  if (!hasPublicKeySize(key.data, key.size)) return makeBool(env, false);
  SignatureCache& cache = environmentOf(env)->cache;
  const SignatureCache::Key cacheKey = cache.keyOf(hash, signature.data, signature.size, key.data, key.size);
  if (cache.contains(cacheKey, false)) return makeBool(env, true);
  const bool valid = verifySignature(hash, signature.data, signature.size, key.data, key.size);
  if (valid) cache.insert(cacheKey);
  return makeBool(env, valid);
}

}  // namespace

void registerVerification(napi_env env, napi_value exports) {
  Environment* environment = new Environment();
  auto finalize = [](napi_env, void* data, void*) { delete static_cast<Environment*>(data); };
  napi_set_instance_data(env, environment, finalize, nullptr);
  napi_create_threadsafe_function(env, nullptr, nullptr, makeString(env, "lbcnode signature verification"), 0, 1,
                                  nullptr, nullptr, environment, settle, &environment->finished);
  // Unreferenced, so that an idle addon does not prevent the process from ending.
  napi_unref_threadsafe_function(env, environment->finished);
  // Cleanup hooks run in reverse order of registration. The threads must end before the function that they call is
  // released.
  napi_add_env_cleanup_hook(
      env, [](void* data) { static_cast<Environment*>(data)->pool.stop(); }, environment);

  setFunction(env, exports, "setVerifyThreads", jsSetVerifyThreads);
  setFunction(env, exports, "setSignatureCacheBytes", jsSetSignatureCacheBytes);
  setFunction(env, exports, "signatureCacheUsage", jsSignatureCacheUsage);
  setFunction(env, exports, "verifyInputs", jsVerifyInputs);
  setFunction(env, exports, "verifyInputsHere", jsVerifyInputsHere);
  setFunction(env, exports, "signatureHash", jsSignatureHash);

  napi_value ecdsa = makeObject(env);
  registerEcdsa(env, ecdsa);
  setFunction(env, ecdsa, "verify", jsVerify);
  setProperty(env, exports, "ecdsa", ecdsa);
}

}  // namespace lbc
