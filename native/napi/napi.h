// Thin helpers over Node-API: reading arguments, making results, throwing. No knowledge of blocks or coins.
// No helper throws C++ exceptions (the addon is compiled without them). A helper that fails throws a JavaScript error and
// returns false or nullptr; its caller must then return nullptr.
#pragma once

#define NAPI_VERSION 8
#include <node_api.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace lbc {

// A view of memory that JavaScript owns. It is valid while the JavaScript value that it was read from is reachable.
struct Span {
  const uint8_t* data = nullptr;
  size_t size = 0;
};

napi_value throwError(napi_env env, const char* message);
napi_value throwTypeError(napi_env env, const char* message);

// Fetches exactly `count` arguments (missing ones are `undefined`); `self` may be null.
bool readArguments(napi_env env, napi_callback_info info, size_t count, napi_value* arguments,
                   napi_value* self = nullptr);

// Reads the arguments of a method, and the C++ object that `wrapObject` has attached to `this`. `what` is the object's
// name in the TypeError.
template <typename Object>
Object* readCall(napi_env env, napi_callback_info info, const char* what, size_t count, napi_value* arguments) {
  napi_value self;
  void* object = nullptr;
  if (!readArguments(env, info, count, arguments, &self)) return nullptr;
  if (napi_unwrap(env, self, &object) != napi_ok) throwTypeError(env, what);
  return static_cast<Object*>(object);
}

// Attaches a C++ object to `self`, which owns the object from then on. Returns `self`.
template <typename Object>
napi_value wrapObject(napi_env env, napi_value self, Object* object, const char* failure) {
  const auto finalize = [](napi_env, void* data, void*) { delete static_cast<Object*>(data); };
  if (napi_wrap(env, self, object, finalize, nullptr, nullptr) == napi_ok) return self;
  delete object;
  return throwError(env, failure);
}

// Reads a Uint8Array (Buffers included). `what` is the name of the value in the TypeError.
bool readBytes(napi_env env, napi_value value, const char* what, Span* out);
// Reads a Uint8Array of exactly `size` bytes.
bool readFixedBytes(napi_env env, napi_value value, size_t size, const char* what, const uint8_t** out);
bool readUint32(napi_env env, napi_value value, const char* what, uint32_t* out);
bool readInt32(napi_env env, napi_value value, const char* what, int32_t* out);
// Reads a number from 0 to 2^53. Negative numbers become 0; larger numbers and Infinity become 2^53.
bool readSize(napi_env env, napi_value value, const char* what, uint64_t* out);
bool readBool(napi_env env, napi_value value, const char* what, bool* out);
bool readBigInt64(napi_env env, napi_value value, const char* what, int64_t* out);
bool isUndefined(napi_env env, napi_value value);
bool isNullish(napi_env env, napi_value value);

bool readProperty(napi_env env, napi_value object, const char* name, napi_value* out);
// Reads the property `name` of `object`, a typed array of type `type`. Sets `count` to the number of elements.
bool readTypedArray(napi_env env, napi_value object, const char* name, napi_typedarray_type type,
                    const void** data, size_t* count, napi_value* value = nullptr);

// Reads the property `packed` of an object, a Uint8Array (src/native/packed.ts). Returns false, without an error, if the
// object has no such property.
bool readPacked(napi_env env, napi_value object, Span* out, napi_value* value);

napi_value makeBuffer(napi_env env, const void* data, size_t size);
// Makes a Buffer that takes over the vector's memory. Makes a copy where the engine does not support external memory.
napi_value makeBufferOf(napi_env env, std::vector<uint8_t>&& bytes);
// Copies `size` bytes into `target`, a Uint8Array of this size, and returns it. If `target` is undefined, returns a new
// Buffer.
napi_value answerBytes(napi_env env, const uint8_t* data, size_t size, napi_value target);
// Creates a Buffer without initializing its memory. `data` receives the address of the memory.
napi_value makeEmptyBuffer(napi_env env, size_t size, uint8_t** data);
napi_value makeUint32Array(napi_env env, const uint32_t* data, size_t count);
// Makes a zeroed typed array with `count` elements of `elementSize` bytes.
napi_value makeTypedArray(napi_env env, napi_typedarray_type type, size_t count, size_t elementSize, void** data);
napi_value makeNumber(napi_env env, double value);
napi_value makeBool(napi_env env, bool value);
napi_value makeString(napi_env env, const char* text);
napi_value makeNull(napi_env env);
napi_value makeUndefined(napi_env env);
napi_value makeObject(napi_env env);
void setProperty(napi_env env, napi_value object, const char* name, napi_value value);
void setFunction(napi_env env, napi_value object, const char* name, napi_callback callback);

// `method` and `getter` describe class members. `setClass` registers the class as a property of `object`.
napi_property_descriptor method(const char* name, napi_callback callback);
napi_property_descriptor getter(const char* name, napi_callback callback);
void setClass(napi_env env, napi_value object, const char* name, napi_callback construct,
              const napi_property_descriptor* members, size_t count);

inline uint16_t readLE16(const uint8_t* p) { return static_cast<uint16_t>(p[0] | p[1] << 8); }

inline uint32_t readLE32(const uint8_t* p) {
  return static_cast<uint32_t>(p[0]) | static_cast<uint32_t>(p[1]) << 8 | static_cast<uint32_t>(p[2]) << 16 |
         static_cast<uint32_t>(p[3]) << 24;
}

inline uint64_t readLE64(const uint8_t* p) {
  return static_cast<uint64_t>(readLE32(p)) | static_cast<uint64_t>(readLE32(p + 4)) << 32;
}

inline void writeLE32(uint8_t* p, uint32_t v) {
  p[0] = static_cast<uint8_t>(v);
  p[1] = static_cast<uint8_t>(v >> 8);
  p[2] = static_cast<uint8_t>(v >> 16);
  p[3] = static_cast<uint8_t>(v >> 24);
}

inline void writeLE64(uint8_t* p, uint64_t v) {
  writeLE32(p, static_cast<uint32_t>(v));
  writeLE32(p + 4, static_cast<uint32_t>(v >> 32));
}

}  // namespace lbc
