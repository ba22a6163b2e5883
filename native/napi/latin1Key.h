// Reads the bytes of a row's key from a JavaScript value: a string with one code unit per byte, or bytes.
#pragma once

#include <string>

#include "napi/napi.h"

namespace lbc {

class Latin1Key {
 public:
  bool read(napi_env env, napi_value value) {
    napi_valuetype type;
    if (napi_typeof(env, value, &type) != napi_ok) return false;
    if (type != napi_string) return readBytes(env, value, "key", &span_);
    size_t size;
    // The call writes a zero byte after the last character. A string that fills the short buffer may have been truncated.
    if (napi_get_value_string_latin1(env, value, short_, sizeof short_, &size) != napi_ok) return false;
    span_ = {reinterpret_cast<const uint8_t*>(short_), size};
    if (size + 1 < sizeof short_) return true;
    napi_get_value_string_latin1(env, value, nullptr, 0, &size);
    long_.resize(size + 1);
    napi_get_value_string_latin1(env, value, &long_[0], size + 1, &size);
    span_ = {reinterpret_cast<const uint8_t*>(long_.data()), size};
    return true;
  }

  const uint8_t* data() const { return span_.data; }
  size_t size() const { return span_.size; }

 private:
  char short_[320];
  std::string long_;
  Span span_;
};

}  // namespace lbc
