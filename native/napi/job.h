// Runs work on the thread pool and settles a promise with its outcome.
#pragma once

#include <functional>
#include <string>

#include "napi/napi.h"

namespace lbc {

// Outcome of work on another thread. An error has a message; it also has a code if callers distinguish such errors.
struct Outcome {
  bool isOk = true;
  std::string code, message;

  static Outcome failed(std::string message, std::string code = "") {
    return {false, std::move(code), std::move(message)};
  }
};

// Runs `work` on another thread, then `result` (may be empty) on the calling thread. Returns the promise. Both functions
// must own the objects they refer to; `kept`, if present, is protected from garbage collection until the promise settles.
napi_value startJob(napi_env env, const char* name, std::function<Outcome()> work,
                    std::function<napi_value(napi_env)> result, napi_value kept = nullptr);

// Creates a JavaScript Error with the message and code of the outcome.
napi_value makeError(napi_env env, const Outcome& outcome);

}  // namespace lbc
