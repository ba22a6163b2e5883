// Work for a thread of the pool, and the promise of its outcome.
#pragma once

#include <functional>
#include <string>

#include "napi.h"

namespace lbc {

// How work on another thread ended: an error has a message, and a code where callers distinguish errors.
struct Outcome {
  bool isOk = true;
  std::string code, message;

  static Outcome failed(std::string message, std::string code = "") {
    return {false, std::move(code), std::move(message)};
  }
};

// Answers the promise. Runs `work` on another thread, then `result` (may be empty) on that of the caller. What both refer to
// must be owned by them; `kept`, where given, is not collected meanwhile.
napi_value startJob(napi_env env, const char* name, std::function<Outcome()> work,
                    std::function<napi_value(napi_env)> result, napi_value kept = nullptr);

// An Error with the outcome's message and code.
napi_value makeError(napi_env env, const Outcome& outcome);

}  // namespace lbc
