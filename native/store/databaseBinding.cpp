// The JavaScript class over Database. Contract: NativeDatabase of src/native/binding.ts.
//
// Reads whose rows are probably in memory run on the thread of the caller, within a time limit that the caller sets. All
// other work runs on the thread pool. The caller must not close the database while an operation is pending; the wrapper in
// src/store/leveldb/nativeLevelDb.ts ensures this.
#include <chrono>
#include <limits>

#include "store/databaseBinding.h"
#include "napi/addon.h"
#include "napi/latin1Key.h"
#include "napi/sharedObjectRegistry.h"
#include "util/crc32c.h"

namespace lbc {

namespace {

using Clock = std::chrono::steady_clock;

const char* codeOf(const leveldb::Status& status) {
  if (status.IsCorruption()) return "LEVEL_CORRUPTION";
  if (status.IsNotFound()) return "LEVEL_NOT_FOUND";
  if (!status.IsIOError()) return "LEVEL_STATUS";
  // LevelDB's error message when this or another process holds the lock.
  const std::string text = status.ToString();
  const bool isHeld = text.rfind("IO error: lock ", 0) == 0;
  return isHeld ? "LEVEL_LOCKED" : "LEVEL_IO_ERROR";
}

Outcome outcomeOf(const leveldb::Status& status) {
  return status.ok() ? Outcome() : Outcome::failed(status.ToString(), codeOf(status));
}

}  // namespace

napi_value throwStatus(napi_env env, const leveldb::Status& status) {
  napi_throw(env, makeError(env, outcomeOf(status)));
  return nullptr;
}

napi_value throwNotOpen(napi_env env) {
  napi_throw_error(env, "LEVEL_DATABASE_NOT_OPEN", "the database is not open");
  return nullptr;
}

napi_value startDatabaseJob(napi_env env, const char* name, std::function<leveldb::Status()> work,
                            std::function<napi_value(napi_env)> result, napi_value kept) {
  return startJob(
      env, name, [work = std::move(work)] { return outcomeOf(work()); }, std::move(result), kept);
}

napi_value bytesOf(napi_env env, const Bytes& bytes) { return makeBuffer(env, bytes.data(), bytes.size()); }

bool readKey(napi_env env, napi_value value, std::string* out) {
  Latin1Key key;
  if (!key.read(env, value)) return false;
  out->assign(reinterpret_cast<const char*>(key.data()), key.size());
  return true;
}

bool readBounds(napi_env env, napi_value gte, napi_value lt, KeyBounds* out) {
  return readKey(env, gte, &out->gte) && readKey(env, lt, &out->lt);
}

bool readBounds(napi_env env, napi_value gte, napi_value lt, napi_value isReverse, KeyBounds* out) {
  return readBounds(env, gte, lt, out) && readBool(env, isReverse, "reverse", &out->isReverse);
}

namespace {

// Reads the arguments of a method call and the database that `this` wraps. The database must be open.
OpenDatabase* readDatabase(napi_env env, napi_callback_info info, size_t count, napi_value* arguments) {
  OpenDatabase* self = readCall<OpenDatabase>(env, info, "not a database", count, arguments);
  if (self && !self->database) {
    throwNotOpen(env);
    return nullptr;
  }
  return self;
}

bool readKeys(napi_env env, napi_value value, std::vector<std::string>* out) {
  uint32_t count;
  if (napi_get_array_length(env, value, &count) != napi_ok) {
    throwTypeError(env, "keys must be an array");
    return false;
  }
  out->resize(count);
  for (uint32_t i = 0; i < count; i++) {
    napi_handle_scope scope;
    napi_value key;
    napi_open_handle_scope(env, &scope);
    const bool isRead = napi_get_element(env, value, i, &key) == napi_ok && readKey(env, key, &(*out)[i]);
    napi_close_handle_scope(env, scope);
    if (!isRead) return false;
  }
  return true;
}

// Reads the arguments (gte, lt) of a method call and the database that `this` wraps. The database must be open.
OpenDatabase* readRange(napi_env env, napi_callback_info info, KeyBounds* out) {
  napi_value arguments[2];
  OpenDatabase* handle = readDatabase(env, info, 2, arguments);
  return handle && readBounds(env, arguments[0], arguments[1], out) ? handle : nullptr;
}

bool readNumberProperty(napi_env env, napi_value object, const char* name, uint64_t* out) {
  napi_value value;
  return readProperty(env, object, name, &value) && readSize(env, value, name, out);
}

napi_value construct(napi_env env, napi_callback_info info) {
  napi_value self, arguments[2], rangeKinds;
  size_t size;
  uint64_t openFiles;
  std::unique_ptr<OpenDatabase> made(new OpenDatabase());
  DatabaseOptions& options = made->options;
  if (!readArguments(env, info, 2, arguments, &self)) return nullptr;
  if (napi_get_value_string_utf8(env, arguments[0], nullptr, 0, &size) != napi_ok) {
    return throwTypeError(env, "path must be a string");
  }
  made->path.resize(size + 1);
  napi_get_value_string_utf8(env, arguments[0], &made->path[0], size + 1, &size);
  made->path.resize(size);
  if (!readNumberProperty(env, arguments[1], "cacheBytes", &options.cacheBytes) ||
      !readNumberProperty(env, arguments[1], "writeBufferBytes", &options.writeBufferBytes) ||
      !readNumberProperty(env, arguments[1], "fileBytes", &options.fileBytes) ||
      !readNumberProperty(env, arguments[1], "openFiles", &openFiles) ||
      !readProperty(env, arguments[1], "rangeKinds", &rangeKinds) || !readKey(env, rangeKinds, &options.rangeKinds)) {
    return nullptr;
  }
  options.openFiles = static_cast<int>(openFiles);
  return wrapObject(env, self, made.release(), "the database could not be made");
}

napi_value open(napi_env env, napi_callback_info info) {
  napi_value arguments[1], self;
  if (!readArguments(env, info, 0, arguments, &self)) return nullptr;
  OpenDatabase* handle = readCall<OpenDatabase>(env, info, "not a database", 0, nullptr);
  if (!handle) return nullptr;
  if (handle->database) return throwError(env, "the database is open already");
  auto opened = std::make_shared<std::unique_ptr<Database>>();
  const std::string path = handle->path;
  const DatabaseOptions options = handle->options;
  return startDatabaseJob(
      env, "lbcnode:open", [=] { return Database::open(path, options, opened.get()); },
      [handle, opened](napi_env env) {
        handle->database = std::move(*opened);
        handle->shared->set(handle->database);
        return makeUndefined(env);
      },
      self);
}

napi_value close(napi_env env, napi_callback_info info) {
  OpenDatabase* handle = readDatabase(env, info, 0, nullptr);
  if (!handle) return nullptr;
  auto last = std::make_shared<std::shared_ptr<Database>>(std::move(handle->database));
  handle->database = nullptr;
  return startDatabaseJob(
      env, "lbcnode:close",
      [last, shared = handle->shared] {
        shared->set(nullptr);
        last->reset();
        return leveldb::Status::OK();
      },
      nullptr);
}

// () => number that identifies the database for other threads
napi_value share(napi_env env, napi_callback_info info) {
  OpenDatabase* handle = readCall<OpenDatabase>(env, info, "not a database", 0, nullptr);
  return handle ? makeNumber(env, publish(SharedKind::kDatabase, handle->shared)) : nullptr;
}

napi_value getSequence(napi_env env, napi_callback_info info) {
  OpenDatabase* handle = readDatabase(env, info, 0, nullptr);
  return handle ? makeNumber(env, static_cast<double>(handle->database->sequence())) : nullptr;
}

// Copies bytes into the caller's buffer if they fit. Returns the number of bytes, or its negative when they do not fit.
// Allocating a buffer for each result would cost more than reading the row.
napi_value handOver(napi_env env, const Bytes& bytes, const Span& target) {
  const double size = static_cast<double>(bytes.size());
  if (bytes.size() > target.size) return makeNumber(env, -size);
  memcpy(const_cast<uint8_t*>(target.data), bytes.data(), bytes.size());
  return makeNumber(env, size);
}

// (keys, fillCache, slowMicros, budgetMicros, target) => size of the packed values written to `target`. Reads the keys in
// order and stops at a slow read or when the time limit is reached.
napi_value getNow(napi_env env, napi_callback_info info) {
  napi_value arguments[5];
  bool fillCache;
  uint32_t slowMicros, budgetMicros, count;
  Span target;
  OpenDatabase* handle = readDatabase(env, info, 5, arguments);
  if (!handle || !readBool(env, arguments[1], "fillCache", &fillCache) ||
      !readUint32(env, arguments[2], "slowMicros", &slowMicros) ||
      !readUint32(env, arguments[3], "budgetMicros", &budgetMicros) ||
      !readBytes(env, arguments[4], "target", &target)) {
    return nullptr;
  }
  if (napi_get_array_length(env, arguments[0], &count) != napi_ok) return throwTypeError(env, "keys must be an array");
  static thread_local Bytes values;
  values.clear();
  Clock::time_point now = Clock::now();
  const Clock::time_point until = now + std::chrono::microseconds(budgetMicros);
  const Clock::duration slow = std::chrono::microseconds(slowMicros);
  for (uint32_t i = 0; i < count; i++) {
    napi_handle_scope scope;
    napi_value element;
    Latin1Key key;
    napi_open_handle_scope(env, &scope);
    const bool isRead = napi_get_element(env, arguments[0], i, &element) == napi_ok && key.read(env, element);
    napi_close_handle_scope(env, scope);
    if (!isRead) return nullptr;
    const leveldb::Slice slice(reinterpret_cast<const char*>(key.data()), key.size());
    const leveldb::Status status = handle->database->get(slice, fillCache, &values);
    if (!status.ok()) return throwStatus(env, status);
    const Clock::time_point before = now;
    now = Clock::now();
    if (now > until || now - before >= slow) break;
  }
  return handOver(env, values, target);
}

// (keys, fillCache) => Promise of the packed values of all keys
napi_value getMany(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  bool fillCache;
  auto keys = std::make_shared<std::vector<std::string>>();
  OpenDatabase* handle = readDatabase(env, info, 2, arguments);
  if (!handle || !readKeys(env, arguments[0], keys.get()) ||
      !readBool(env, arguments[1], "fillCache", &fillCache)) {
    return nullptr;
  }
  auto values = std::make_shared<Bytes>();
  return startDatabaseJob(
      env, "lbcnode:getMany",
      [database = handle->database, keys, values, fillCache] {
        for (const std::string& key : *keys) {
          const leveldb::Status status = database->get(key, fillCache, values.get());
          if (!status.ok()) return status;
        }
        return leveldb::Status::OK();
      },
      [values](napi_env env) { return bytesOf(env, *values); });
}

// Appends the packed values of all keys in `records`. `known` contains the values that a memtable found (see
// Memtable::readRecords); keys that are unknown to it are read from the database. `mayContinue` is called after each read
// and returns whether the next key may be read. `isWhole` receives whether all keys were read.
template <typename MayContinue>
leveldb::Status readUnknown(const Database& database, const Span& records, const Span& known, bool fillCache,
                            MayContinue mayContinue, bool* isWhole, Bytes* out) {
  *isWhole = true;
  constexpr uint32_t kDeletedValue = UINT32_MAX, kUnknownValue = UINT32_MAX - 1;
  const leveldb::Status mismatch = leveldb::Status::InvalidArgument("values that are not those of the records");
  size_t at = 0, valueAt = 0;
  while (at < records.size) {
    if (records.size - at < 8 || known.size - valueAt < 4) return mismatch;
    const uint8_t* head = records.data + at;
    const uint32_t keySize = readLE32(head), storedSize = readLE32(head + 4), length = readLE32(known.data + valueAt);
    const size_t valueSize = storedSize == kDeletedValue ? 0 : storedSize;
    at += 8;
    if (keySize > records.size - at || valueSize > records.size - at - keySize) return mismatch;
    at += keySize + valueSize;
    if (length == kUnknownValue) {
      const leveldb::Slice key(reinterpret_cast<const char*>(head + 8), keySize);
      const leveldb::Status status = database.get(key, fillCache, out);
      if (!status.ok()) return status;
      valueAt += 4;
      if (mayContinue()) continue;
      *isWhole = at == records.size;
      return status;
    }
    const size_t size = length == kDeletedValue ? 4 : 4 + static_cast<size_t>(length);
    if (size > known.size - valueAt) return mismatch;
    out->insert(out->end(), known.data + valueAt, known.data + valueAt + size);
    valueAt += size;
  }
  return leveldb::Status::OK();
}

// (records, known, fillCache) => Promise of the packed values of all keys in `records`
napi_value getUnknown(napi_env env, napi_callback_info info) {
  napi_value arguments[3], kept;
  Span records, known;
  bool fillCache;
  OpenDatabase* handle = readDatabase(env, info, 3, arguments);
  if (!handle || !readBytes(env, arguments[0], "records", &records) || !readBytes(env, arguments[1], "known", &known) ||
      !readBool(env, arguments[2], "fillCache", &fillCache)) {
    return nullptr;
  }
  napi_create_array(env, &kept);
  for (uint32_t i = 0; i < 2; i++) napi_set_element(env, kept, i, arguments[i]);
  auto values = std::make_shared<Bytes>();
  return startDatabaseJob(
      env, "lbcnode:getUnknown",
      [database = handle->database, records, known, values, fillCache] {
        bool isWhole;
        return readUnknown(*database, records, known, fillCache, [] { return true; }, &isWhole, values.get());
      },
      [values](napi_env env) { return bytesOf(env, *values); }, kept);
}

// (records, known, fillCache, slowMicros, budgetMicros) => packed values of all keys in `records`, or undefined after a slow
// read or when the time limit is reached.
napi_value getUnknownNow(napi_env env, napi_callback_info info) {
  napi_value arguments[5];
  Span records, known;
  bool fillCache, isWhole;
  uint32_t slowMicros, budgetMicros;
  OpenDatabase* handle = readDatabase(env, info, 5, arguments);
  if (!handle || !readBytes(env, arguments[0], "records", &records) || !readBytes(env, arguments[1], "known", &known) ||
      !readBool(env, arguments[2], "fillCache", &fillCache) ||
      !readUint32(env, arguments[3], "slowMicros", &slowMicros) ||
      !readUint32(env, arguments[4], "budgetMicros", &budgetMicros)) {
    return nullptr;
  }
  static thread_local Bytes values;
  values.clear();
  Clock::time_point now = Clock::now();
  const Clock::time_point until = now + std::chrono::microseconds(budgetMicros);
  const Clock::duration slow = std::chrono::microseconds(slowMicros);
  const auto mayContinue = [&] {
    const Clock::time_point before = now;
    now = Clock::now();
    return now <= until && now - before < slow;
  };
  const leveldb::Status status =
      readUnknown(*handle->database, records, known, fillCache, mayContinue, &isWhole, &values);
  if (!status.ok()) return throwStatus(env, status);
  return isWhole ? bytesOf(env, values) : makeUndefined(env);
}

// (gte, lt, reverse, maxRows, budgetMicros, target) => size of the result in `target`: one byte (1 if the result contains
// all requested rows) ‖ packed rows
napi_value rangeNow(napi_env env, napi_callback_info info) {
  napi_value arguments[6];
  KeyBounds bounds;
  uint32_t maxRows, budgetMicros;
  Span target;
  OpenDatabase* handle = readDatabase(env, info, 6, arguments);
  if (!handle || !readBounds(env, arguments[0], arguments[1], arguments[2], &bounds) ||
      !readUint32(env, arguments[3], "maxRows", &maxRows) ||
      !readUint32(env, arguments[4], "budgetMicros", &budgetMicros) ||
      !readBytes(env, arguments[5], "target", &target)) {
    return nullptr;
  }
  static thread_local Bytes rows;
  rows.assign(1, 0);
  const Clock::time_point until = Clock::now() + std::chrono::microseconds(budgetMicros);
  RangeWalk walk(*handle->database, std::move(bounds), true);
  size_t count = 0;
  const leveldb::Status status = walk.read(
      maxRows, std::numeric_limits<size_t>::max(),
      [&] {
        count++;
        return Clock::now() > until;
      },
      &rows);
  if (!status.ok()) return throwStatus(env, status);
  rows[0] = walk.isDone() || count == maxRows ? 1 : 0;
  return handOver(env, rows, target);
}

// (pieces, synced) => Promise. Writes the packed rows of all pieces as one atomic batch. The pieces must not change before
// the promise settles.
napi_value write(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  bool isSynced;
  uint32_t count;
  OpenDatabase* handle = readDatabase(env, info, 2, arguments);
  if (!handle || !readBool(env, arguments[1], "synced", &isSynced)) return nullptr;
  if (napi_get_array_length(env, arguments[0], &count) != napi_ok) {
    return throwTypeError(env, "pieces must be an array");
  }
  std::vector<std::pair<const uint8_t*, size_t>> pieces;
  for (uint32_t i = 0; i < count; i++) {
    napi_value element;
    Span piece;
    if (napi_get_element(env, arguments[0], i, &element) != napi_ok || !readBytes(env, element, "piece", &piece)) {
      return nullptr;
    }
    pieces.emplace_back(piece.data, piece.size);
  }
  return startDatabaseJob(
      env, "lbcnode:write",
      [database = handle->database, pieces, isSynced] { return database->write(pieces, isSynced); }, nullptr,
      arguments[0]);
}

// (gte, lt) => Promise
napi_value deleteRange(napi_env env, napi_callback_info info) {
  KeyBounds bounds;
  OpenDatabase* handle = readRange(env, info, &bounds);
  if (!handle) return nullptr;
  return startDatabaseJob(
      env, "lbcnode:deleteRange", [database = handle->database, bounds] { return database->deleteRange(bounds); },
      nullptr);
}

// (gte, lt) => Promise
napi_value compact(napi_env env, napi_callback_info info) {
  KeyBounds bounds;
  OpenDatabase* handle = readRange(env, info, &bounds);
  if (!handle) return nullptr;
  return startDatabaseJob(
      env, "lbcnode:compact",
      [database = handle->database, bounds] {
        database->compact(bounds.gte, bounds.lt);
        return leveldb::Status::OK();
      },
      nullptr);
}

// (gte, lt) => Promise<number>
napi_value approximateSize(napi_env env, napi_callback_info info) {
  KeyBounds bounds;
  OpenDatabase* handle = readRange(env, info, &bounds);
  if (!handle) return nullptr;
  auto size = std::make_shared<uint64_t>(0);
  return startDatabaseJob(
      env, "lbcnode:approximateSize",
      [database = handle->database, bounds, size] {
        *size = database->approximateSize(bounds.gte, bounds.lt);
        return leveldb::Status::OK();
      },
      [size](napi_env env) { return makeNumber(env, static_cast<double>(*size)); });
}

napi_value property(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  std::string name;
  OpenDatabase* handle = readDatabase(env, info, 1, arguments);
  if (!handle || !readKey(env, arguments[0], &name)) return nullptr;
  return makeString(env, handle->database->property(name).c_str());
}

napi_value jsCrc32c(napi_env env, napi_callback_info info) {
  napi_value argument;
  Span data;
  if (!readArguments(env, info, 1, &argument) || !readBytes(env, argument, "data", &data)) return nullptr;
  return makeNumber(env, leveldb::crc32c::Value(reinterpret_cast<const char*>(data.data), data.size));
}

}  // namespace

void registerDatabase(napi_env env, napi_value exports) {
  const napi_property_descriptor members[] = {
      method("open", open),
      method("close", close),
      method("share", share),
      getter("sequence", getSequence),
      method("getNow", getNow),
      method("getMany", getMany), method("getUnknown", getUnknown),
      method("getUnknownNow", getUnknownNow),
      method("rangeNow", rangeNow),
      method("write", write),
      method("deleteRange", deleteRange),
      method("compact", compact),
      method("approximateSize", approximateSize),
      method("property", property),
  };
  setFunction(env, exports, "crc32c", jsCrc32c);
  setClass(env, exports, "Database", construct, members, sizeof members / sizeof members[0]);
  registerDatabaseViews(env, exports);
}

}  // namespace lbc
