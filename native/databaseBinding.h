// What the JavaScript classes over a database share: the object behind them, keys and bounds as arguments, failures of LevelDB.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "database.h"
#include "job.h"
#include "napi.h"
#include "sharedRows.h"

namespace lbc {

// What is behind a JavaScript `Database`.
struct OpenDatabase {
  std::string path;
  DatabaseOptions options;
  std::shared_ptr<Database> database;
  // The same for other threads.
  std::shared_ptr<SharedDatabase> shared = std::make_shared<SharedDatabase>();
  ~OpenDatabase() { shared->set(nullptr); }
};

// Both throw and answer null.
napi_value throwStatus(napi_env env, const leveldb::Status& status);
napi_value throwNotOpen(napi_env env);

// The promise of what LevelDB says of work on another thread.
napi_value startDatabaseJob(napi_env env, const char* name, std::function<leveldb::Status()> work,
                            std::function<napi_value(napi_env)> result, napi_value kept = nullptr);

napi_value bytesOf(napi_env env, const Bytes& bytes);

// False if they threw.
bool readKey(napi_env env, napi_value value, std::string* out);
bool readBounds(napi_env env, napi_value gte, napi_value lt, KeyBounds* out);
bool readBounds(napi_env env, napi_value gte, napi_value lt, napi_value isReverse, KeyBounds* out);

// Registers the classes of databaseViews.cpp.
void registerDatabaseViews(napi_env env, napi_value exports);

}  // namespace lbc
