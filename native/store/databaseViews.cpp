// JavaScript classes that wrap RangeWalk and RowView (rows for reading by other threads). Contract: NativeDatabaseWalk and
// NativeRowView of src/native/binding.ts.
#include <limits>

#include "napi/latin1Key.h"
#include "napi/sharedObjectRegistry.h"
#include "store/databaseBinding.h"

namespace lbc {

namespace {

struct OpenWalk {
  // Reference that keeps the database alive until the iteration is destroyed.
  std::shared_ptr<Database> database;
  std::unique_ptr<RangeWalk> walk;
  ~OpenWalk() { walk.reset(); }
};

// Stores in the first byte whether the iteration over the range is at its end (1) or not (0). The rows follow this byte.
napi_value walked(napi_env env, Bytes* rows, bool isDone) {
  (*rows)[0] = isDone ? 1 : 0;
  return bytesOf(env, *rows);
}

// Creates an iteration over a range of rows. Arguments: (database, gte, lt, reverse).
napi_value constructWalk(napi_env env, napi_callback_info info) {
  napi_value self, arguments[4];
  void* object = nullptr;
  KeyBounds bounds;
  if (!readArguments(env, info, 4, arguments, &self)) return nullptr;
  if (napi_unwrap(env, arguments[0], &object) != napi_ok) return throwTypeError(env, "not a database");
  auto* handle = static_cast<OpenDatabase*>(object);
  if (!handle->database) {
    throwNotOpen(env);
    return nullptr;
  }
  if (!readBounds(env, arguments[1], arguments[2], arguments[3], &bounds)) return nullptr;
  auto* walk = new OpenWalk();
  walk->database = handle->database;
  walk->walk.reset(new RangeWalk(*walk->database, std::move(bounds), false));
  return wrapObject(env, self, new std::shared_ptr<OpenWalk>(walk), "the walk could not be made");
}

// (maxRows, maxBytes) => Promise of a result in the format of `rangeNow`. Only one call may run at a time.
napi_value nextRows(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  uint32_t maxRows, maxBytes;
  auto* handle = readCall<std::shared_ptr<OpenWalk>>(env, info, "not a walk", 2, arguments);
  if (!handle || !readUint32(env, arguments[0], "maxRows", &maxRows) ||
      !readUint32(env, arguments[1], "maxBytes", &maxBytes)) {
    return nullptr;
  }
  if (!*handle) return throwError(env, "the walk is over");
  std::shared_ptr<OpenWalk> walk = *handle;
  auto rows = std::make_shared<Bytes>(1);
  auto isDone = std::make_shared<bool>(false);
  return startDatabaseJob(
      env, "lbcnode:nextRows",
      [walk, rows, isDone, maxRows, maxBytes] {
        const leveldb::Status status = walk->walk->read(maxRows, maxBytes, [] { return false; }, rows.get());
        *isDone = walk->walk->isDone();
        return status;
      },
      [rows, isDone](napi_env env) { return walked(env, rows.get(), *isDone); });
}

napi_value closeWalk(napi_env env, napi_callback_info info) {
  auto* handle = readCall<std::shared_ptr<OpenWalk>>(env, info, "not a walk", 0, nullptr);
  if (!handle) return nullptr;
  handle->reset();
  return makeUndefined(env);
}

// Read access of another thread to rows: a memtable over a database.
struct RowView {
  std::shared_ptr<SharedTable> rows;
  std::shared_ptr<SharedDatabase> database;
};

// Creates a view of a memtable over a database. Arguments: (rows, database), the numbers under which both are shared with
// other threads.
napi_value constructView(napi_env env, napi_callback_info info) {
  napi_value self, arguments[2];
  uint32_t rows, database;
  if (!readArguments(env, info, 2, arguments, &self) || !readUint32(env, arguments[0], "rows", &rows) ||
      !readUint32(env, arguments[1], "database", &database)) {
    return nullptr;
  }
  std::unique_ptr<RowView> view(new RowView());
  view->rows = std::static_pointer_cast<SharedTable>(attach(SharedKind::kRows, rows));
  view->database = std::static_pointer_cast<SharedDatabase>(attach(SharedKind::kDatabase, database));
  if (!view->rows || !view->database) return throwError(env, "the rows are not shared any more");
  return wrapObject(env, self, view.release(), "the view could not be made");
}

RowView* readView(napi_env env, napi_callback_info info, size_t count, napi_value* arguments) {
  return readCall<RowView>(env, info, "not a view of rows", count, arguments);
}

napi_value viewChanges(napi_env env, napi_callback_info info) {
  RowView* view = readView(env, info, 0, nullptr);
  return view ? makeNumber(env, static_cast<double>(view->rows->changes())) : nullptr;
}

// Appends the packed value of a key. A key unknown to the table is looked up in the database: a row leaves the table only
// after the database has it.
leveldb::Status lookUp(RowView* view, const Latin1Key& key, bool* isOpen, Bytes* out) {
  const size_t start = out->size();
  out->resize(start + sizeof(uint32_t));
  const int64_t size = view->rows->look(key.data(), key.size(), out);
  if (size != Memtable::kUnknown) {
    writeLE32(out->data() + start, size < 0 ? UINT32_MAX : static_cast<uint32_t>(size));
    return leveldb::Status::OK();
  }
  out->resize(start);
  const leveldb::Slice slice(reinterpret_cast<const char*>(key.data()), key.size());
  return view->database->with([&](Database* database) {
    *isOpen = database != nullptr;
    return database ? database->get(slice, true, out) : leveldb::Status::OK();
  });
}

// Reads rows: (keys) => packed values
napi_value viewGetMany(napi_env env, napi_callback_info info) {
  napi_value argument;
  uint32_t count;
  RowView* view = readView(env, info, 1, &argument);
  if (!view) return nullptr;
  if (napi_get_array_length(env, argument, &count) != napi_ok) return throwTypeError(env, "keys must be an array");
  Bytes values;
  for (uint32_t i = 0; i < count; i++) {
    napi_handle_scope scope;
    napi_value element;
    Latin1Key key;
    napi_open_handle_scope(env, &scope);
    const bool isRead = napi_get_element(env, argument, i, &element) == napi_ok && key.read(env, element);
    napi_close_handle_scope(env, scope);
    if (!isRead) return nullptr;
    bool isOpen = true;
    const leveldb::Status status = lookUp(view, key, &isOpen, &values);
    if (!status.ok()) return throwStatus(env, status);
    if (!isOpen) return throwNotOpen(env);
  }
  return bytesOf(env, values);
}

// (gte, lt, reverse, maxRows) => u32 size of the memtable's records ‖ these records, ascending, deletions included ‖ rows
// of the database in the format of `rangeNow`. The memtable returns the records up to that with the last of `maxRows` values.
// The database returns `maxRows` plus the number of memtable records, because each record may hide a row.
napi_value viewRange(napi_env env, napi_callback_info info) {
  napi_value arguments[4];
  KeyBounds bounds;
  uint32_t maxRows;
  RowView* view = readView(env, info, 4, arguments);
  if (!view || !readBounds(env, arguments[0], arguments[1], arguments[2], &bounds) ||
      !readUint32(env, arguments[3], "maxRows", &maxRows)) {
    return nullptr;
  }
  const auto bytesIn = [](const std::string& key) { return reinterpret_cast<const uint8_t*>(key.data()); };
  Bytes own;
  const size_t hidden = view->rows->lookRange(
      Memtable::Range{bytesIn(bounds.gte), bounds.gte.size(), bytesIn(bounds.lt), bounds.lt.size(), bounds.isReverse, maxRows},
      &own);
  Bytes answer(sizeof(uint32_t));
  writeLE32(answer.data(), static_cast<uint32_t>(own.size()));
  answer.insert(answer.end(), own.begin(), own.end());
  const size_t doneAt = answer.size();
  answer.push_back(0);
  bool isOpen = true;
  const leveldb::Status status = view->database->with([&](Database* database) {
    isOpen = database != nullptr;
    if (!database) return leveldb::Status::OK();
    RangeWalk walk(*database, std::move(bounds), true);
    const leveldb::Status read = walk.read(
        maxRows + hidden, std::numeric_limits<size_t>::max(), [] { return false; }, &answer);
    answer[doneAt] = walk.isDone() ? 1 : 0;
    return read;
  });
  if (!status.ok()) return throwStatus(env, status);
  if (!isOpen) return throwNotOpen(env);
  return bytesOf(env, answer);
}

}  // namespace

void registerDatabaseViews(napi_env env, napi_value exports) {
  const napi_property_descriptor walkMembers[] = {method("next", nextRows), method("close", closeWalk)};
  setClass(env, exports, "DatabaseWalk", constructWalk, walkMembers, sizeof walkMembers / sizeof walkMembers[0]);
  const napi_property_descriptor viewMembers[] = {
      getter("changes", viewChanges), method("getMany", viewGetMany), method("range", viewRange)};
  setClass(env, exports, "RowView", constructView, viewMembers, sizeof viewMembers / sizeof viewMembers[0]);
}

}  // namespace lbc
