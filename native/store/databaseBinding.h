// Shared code of the JavaScript classes over a database: the native object, keys and bounds as arguments, LevelDB errors.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "napi/job.h"
#include "napi/napi.h"
#include "store/database.h"
#include "store/sharedRows.h"

namespace lbc {

// The native object behind a JavaScript `Database`.
struct OpenDatabase {
  std::string path;
  DatabaseOptions options;
  std::shared_ptr<Database> database;
  // Handle through which other threads access the database.
  std::shared_ptr<SharedDatabase> shared = std::make_shared<SharedDatabase>();
  ~OpenDatabase() { shared->set(nullptr); }
};

// The functions throw a JavaScript error and return null.
napi_value throwStatus(napi_env env, const leveldb::Status& status);
napi_value throwNotOpen(napi_env env);

// Runs `work` on another thread. The promise settles according to the LevelDB status that `work` returns.
napi_value startDatabaseJob(napi_env env, const char* name, std::function<leveldb::Status()> work,
                            std::function<napi_value(napi_env)> result, napi_value kept = nullptr);

napi_value bytesOf(napi_env env, const Bytes& bytes);

// Each function returns false after throwing a JavaScript error.
bool readKey(napi_env env, napi_value value, std::string* out);
bool readBounds(napi_env env, napi_value gte, napi_value lt, KeyBounds* out);
bool readBounds(napi_env env, napi_value gte, napi_value lt, napi_value isReverse, KeyBounds* out);

// Registers the classes of databaseViews.cpp.
void registerDatabaseViews(napi_env env, napi_value exports);

}  // namespace lbc
