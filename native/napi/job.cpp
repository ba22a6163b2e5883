#include "napi/job.h"

#include <memory>

namespace lbc {

namespace {

class Job {
 public:
  Job(std::function<Outcome()> work, std::function<napi_value(napi_env)> result)
      : work_(std::move(work)), result_(std::move(result)) {}

  napi_value start(napi_env env, const char* name, napi_value kept) {
    napi_value promise, resource = makeString(env, name);
    if (kept) napi_create_reference(env, kept, 1, &kept_);
    if (napi_create_promise(env, &deferred_, &promise) != napi_ok ||
        napi_create_async_work(env, nullptr, resource, execute, complete, this, &handle_) != napi_ok ||
        napi_queue_async_work(env, handle_) != napi_ok) {
      return nullptr;
    }
    return promise;
  }

 private:
  static void execute(napi_env, void* data) {
    auto* job = static_cast<Job*>(data);
    job->outcome_ = job->work_();
    // Releases the captured objects on this thread, because releasing the last reference to a database waits for its
    // background work.
    job->work_ = nullptr;
  }

  static void complete(napi_env env, napi_status, void* data) {
    std::unique_ptr<Job> job(static_cast<Job*>(data));
    napi_value result = nullptr;
    if (job->outcome_.isOk) result = job->result_ ? job->result_(env) : makeUndefined(env);
    if (job->kept_) napi_delete_reference(env, job->kept_);
    napi_delete_async_work(env, job->handle_);
    if (!job->outcome_.isOk) {
      napi_reject_deferred(env, job->deferred_, makeError(env, job->outcome_));
      return;
    }
    napi_resolve_deferred(env, job->deferred_, result ? result : makeUndefined(env));
  }

  std::function<Outcome()> work_;
  std::function<napi_value(napi_env)> result_;
  Outcome outcome_;
  napi_deferred deferred_ = nullptr;
  napi_async_work handle_ = nullptr;
  napi_ref kept_ = nullptr;
};

}  // namespace

napi_value startJob(napi_env env, const char* name, std::function<Outcome()> work,
                    std::function<napi_value(napi_env)> result, napi_value kept) {
  std::unique_ptr<Job> job(new Job(std::move(work), std::move(result)));
  napi_value promise = job->start(env, name, kept);
  if (!promise) return throwError(env, "work for another thread could not be started");
  job.release();
  return promise;
}

napi_value makeError(napi_env env, const Outcome& outcome) {
  napi_value error = nullptr;
  napi_value code = outcome.code.empty() ? nullptr : makeString(env, outcome.code.c_str());
  napi_create_error(env, code, makeString(env, outcome.message.c_str()), &error);
  return error;
}

}  // namespace lbc
