// Access to the row cache behind a JavaScript object.
#pragma once

#include <node_api.h>

#include <memory>

#include "store/rowCache.h"

namespace lbc {

// Reads an argument that is a row cache of the addon; null if it is null or undefined. Throws if it is another value.
bool readRowCache(napi_env env, napi_value value, std::shared_ptr<RowCache>* out);

}  // namespace lbc
