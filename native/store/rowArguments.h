// Arguments of the methods that the JavaScript classes of Memtable and RowCache have in common.
#pragma once

#include <cstring>

#include "napi/latin1Key.h"
#include "napi/napi.h"

namespace lbc {

// Reads an argument: a buffer to which the result is written.
inline bool readTarget(napi_env env, napi_value value, uint8_t** data, size_t* size) {
  Span target;
  if (!readBytes(env, value, "target", &target)) return false;
  *data = const_cast<uint8_t*>(target.data);
  *size = target.size;
  return true;
}

// Arguments (key, target, at): looks up a key and copies its value to `target` from the position `at`, if it fits. Returns the
// result of `Rows::find` as a number.
template <typename Rows>
napi_value readRow(napi_env env, Rows* rows, const napi_value* arguments) {
  Latin1Key key;
  uint8_t* target;
  size_t room;
  uint32_t at;
  if (!key.read(env, arguments[0]) || !readTarget(env, arguments[1], &target, &room) ||
      !readUint32(env, arguments[2], "at", &at)) {
    return nullptr;
  }
  const uint8_t* value;
  const int64_t size = rows->find(key.data(), key.size(), &value);
  if (size > 0 && at <= room && static_cast<size_t>(size) <= room - at) {
    memcpy(target + at, value, static_cast<size_t>(size));
  }
  return makeNumber(env, static_cast<double>(size));
}

// Arguments (key, value | null) of a method that sets a row. `value()` is null for a deletion.
class RowArguments {
 public:
  bool read(napi_env env, const napi_value* arguments) {
    if (!key.read(env, arguments[0])) return false;
    if (isNullish(env, arguments[1])) return true;
    if (!readBytes(env, arguments[1], "value", &span_)) return false;
    static const uint8_t nothing = 0;
    value_ = span_.size == 0 ? &nothing : span_.data;
    return true;
  }

  const uint8_t* value() const { return value_; }
  size_t size() const { return value_ ? span_.size : 0; }

  Latin1Key key;

 private:
  Span span_;
  const uint8_t* value_ = nullptr;
};

}  // namespace lbc
