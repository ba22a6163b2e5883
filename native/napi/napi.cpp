#include "napi/napi.h"

#include <cstdio>
#include <utility>

namespace lbc {

napi_value throwError(napi_env env, const char* message) {
  napi_throw_error(env, nullptr, message);
  return nullptr;
}

napi_value throwTypeError(napi_env env, const char* message) {
  napi_throw_type_error(env, nullptr, message);
  return nullptr;
}

namespace {

bool failType(napi_env env, const char* what, const char* wanted) {
  char message[160];
  snprintf(message, sizeof message, "%s must be %s", what, wanted);
  throwTypeError(env, message);
  return false;
}

}  // namespace

bool readArguments(napi_env env, napi_callback_info info, size_t count, napi_value* arguments,
                   napi_value* self) {
  size_t given = count;
  if (napi_get_cb_info(env, info, &given, arguments, self, nullptr) == napi_ok) return true;
  throwError(env, "arguments could not be read");
  return false;
}

bool readBytes(napi_env env, napi_value value, const char* what, Span* out) {
  napi_typedarray_type type;
  void* data = nullptr;
  size_t size = 0;
  if (napi_get_typedarray_info(env, value, &type, &size, &data, nullptr, nullptr) != napi_ok ||
      type != napi_uint8_array) {
    return failType(env, what, "a Uint8Array");
  }
  out->data = static_cast<const uint8_t*>(data);
  out->size = size;
  return true;
}

bool readFixedBytes(napi_env env, napi_value value, size_t size, const char* what, const uint8_t** out) {
  Span span;
  if (!readBytes(env, value, what, &span)) return false;
  if (span.size != size) {
    char wanted[40];
    snprintf(wanted, sizeof wanted, "%zu bytes", size);
    return failType(env, what, wanted);
  }
  *out = span.data;
  return true;
}

bool readUint32(napi_env env, napi_value value, const char* what, uint32_t* out) {
  return napi_get_value_uint32(env, value, out) == napi_ok || failType(env, what, "a number");
}

bool readInt32(napi_env env, napi_value value, const char* what, int32_t* out) {
  return napi_get_value_int32(env, value, out) == napi_ok || failType(env, what, "a number");
}

bool readSize(napi_env env, napi_value value, const char* what, uint64_t* out) {
  constexpr double kLargest = 9007199254740992.0;
  double number = 0;
  if (napi_get_value_double(env, value, &number) != napi_ok) return failType(env, what, "a number");
  if (!(number > 0)) number = 0;
  *out = static_cast<uint64_t>(number < kLargest ? number : kLargest);
  return true;
}

bool readBool(napi_env env, napi_value value, const char* what, bool* out) {
  return napi_get_value_bool(env, value, out) == napi_ok || failType(env, what, "a boolean");
}

bool readBigInt64(napi_env env, napi_value value, const char* what, int64_t* out) {
  bool lossless = false;
  if (napi_get_value_bigint_int64(env, value, out, &lossless) != napi_ok || !lossless) {
    return failType(env, what, "a bigint of 64 bits");
  }
  return true;
}

bool isUndefined(napi_env env, napi_value value) {
  napi_valuetype type;
  return napi_typeof(env, value, &type) == napi_ok && type == napi_undefined;
}

bool isNullish(napi_env env, napi_value value) {
  napi_valuetype type;
  return napi_typeof(env, value, &type) == napi_ok && (type == napi_undefined || type == napi_null);
}

bool readProperty(napi_env env, napi_value object, const char* name, napi_value* out) {
  return napi_get_named_property(env, object, name, out) == napi_ok || failType(env, name, "present");
}

bool readTypedArray(napi_env env, napi_value object, const char* name, napi_typedarray_type type,
                    const void** data, size_t* count, napi_value* value) {
  napi_value property;
  if (!readProperty(env, object, name, &property)) return false;
  napi_typedarray_type found;
  void* memory = nullptr;
  if (napi_get_typedarray_info(env, property, &found, count, &memory, nullptr, nullptr) != napi_ok ||
      found != type) {
    return failType(env, name, "a typed array of the right kind");
  }
  *data = memory;
  if (value) *value = property;
  return true;
}

bool readPacked(napi_env env, napi_value object, Span* out, napi_value* value) {
  napi_typedarray_type type;
  void* data = nullptr;
  if (napi_get_named_property(env, object, "packed", value) != napi_ok ||
      napi_get_typedarray_info(env, *value, &type, &out->size, &data, nullptr, nullptr) != napi_ok ||
      type != napi_uint8_array) {
    return false;
  }
  out->data = static_cast<const uint8_t*>(data);
  return true;
}

napi_value makeBuffer(napi_env env, const void* data, size_t size) {
  uint8_t* memory = nullptr;
  napi_value buffer = makeEmptyBuffer(env, size, &memory);
  if (buffer && size > 0) memcpy(memory, data, size);
  return buffer;
}

napi_value makeBufferOf(napi_env env, std::vector<uint8_t>&& bytes) {
  if (bytes.empty()) return makeBuffer(env, nullptr, 0);
  auto* owned = new std::vector<uint8_t>(std::move(bytes));
  const auto release = [](napi_env, void*, void* hint) { delete static_cast<std::vector<uint8_t>*>(hint); };
  napi_value buffer;
  if (napi_create_external_buffer(env, owned->size(), owned->data(), release, owned, &buffer) == napi_ok) return buffer;
  buffer = makeBuffer(env, owned->data(), owned->size());
  delete owned;
  return buffer;
}

napi_value answerBytes(napi_env env, const uint8_t* data, size_t size, napi_value target) {
  if (isUndefined(env, target)) return makeBuffer(env, data, size);
  const uint8_t* memory;
  if (!readFixedBytes(env, target, size, "target", &memory)) return nullptr;
  memcpy(const_cast<uint8_t*>(memory), data, size);
  return target;
}

napi_value makeEmptyBuffer(napi_env env, size_t size, uint8_t** data) {
  napi_value buffer;
  void* memory = nullptr;
  if (napi_create_buffer(env, size, &memory, &buffer) != napi_ok) return throwError(env, "out of memory");
  *data = static_cast<uint8_t*>(memory);
  return buffer;
}

napi_value makeTypedArray(napi_env env, napi_typedarray_type type, size_t count, size_t elementSize,
                          void** data) {
  napi_value memory;
  napi_value array;
  if (napi_create_arraybuffer(env, count * elementSize, data, &memory) != napi_ok ||
      napi_create_typedarray(env, type, count, memory, 0, &array) != napi_ok) {
    return throwError(env, "out of memory");
  }
  return array;
}

napi_value makeUint32Array(napi_env env, const uint32_t* data, size_t count) {
  void* memory = nullptr;
  napi_value array = makeTypedArray(env, napi_uint32_array, count, sizeof(uint32_t), &memory);
  if (array && count > 0) memcpy(memory, data, count * sizeof(uint32_t));
  return array;
}

napi_value makeNumber(napi_env env, double value) {
  napi_value result;
  napi_create_double(env, value, &result);
  return result;
}

napi_value makeBool(napi_env env, bool value) {
  napi_value result;
  napi_get_boolean(env, value, &result);
  return result;
}

napi_value makeString(napi_env env, const char* text) {
  napi_value result;
  napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &result);
  return result;
}

napi_value makeNull(napi_env env) {
  napi_value result;
  napi_get_null(env, &result);
  return result;
}

napi_value makeUndefined(napi_env env) {
  napi_value result;
  napi_get_undefined(env, &result);
  return result;
}

napi_value makeObject(napi_env env) {
  napi_value result;
  napi_create_object(env, &result);
  return result;
}

void setProperty(napi_env env, napi_value object, const char* name, napi_value value) {
  napi_set_named_property(env, object, name, value);
}

void setFunction(napi_env env, napi_value object, const char* name, napi_callback callback) {
  napi_value function;
  if (napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, nullptr, &function) == napi_ok) {
    setProperty(env, object, name, function);
  }
}

napi_property_descriptor method(const char* name, napi_callback callback) {
  return {name, nullptr, callback, nullptr, nullptr, nullptr, napi_default_method, nullptr};
}

napi_property_descriptor getter(const char* name, napi_callback callback) {
  return {name, nullptr, nullptr, callback, nullptr, nullptr, napi_enumerable, nullptr};
}

void setClass(napi_env env, napi_value object, const char* name, napi_callback construct,
              const napi_property_descriptor* members, size_t count) {
  napi_value constructor;
  if (napi_define_class(env, name, NAPI_AUTO_LENGTH, construct, nullptr, count, members, &constructor) == napi_ok) {
    setProperty(env, object, name, constructor);
  }
}

}  // namespace lbc
