// Compact binary codec of the claim rows, as in src/store/claims/rows/rowCodec.ts: numbers in little-endian base 128, texts
// as bytes. Also the parts of keys, as in src/store/claims/rows/claimKeys.ts.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "napi/napi.h"

namespace lbc {

constexpr size_t kClaimIdSize = 20;
constexpr size_t kTxidSize = 32;
constexpr size_t kPointSize = 36;

using ClaimId = std::array<uint8_t, kClaimIdSize>;
// Outpoint: txid in wire order, and the output number in big-endian order.
using Point = std::array<uint8_t, kPointSize>;

inline uint32_t pointIndex(const Point& point) {
  const uint8_t* n = point.data() + kTxidSize;
  return static_cast<uint32_t>(n[0]) << 24 | static_cast<uint32_t>(n[1]) << 16 | static_cast<uint32_t>(n[2]) << 8 | n[3];
}

// Reads a row. After a read past the end `isBad` is true, and all reads return zero.
class RowDecoder {
 public:
  RowDecoder(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}

  bool isDone() const { return at_ == end_; }
  bool isBad() const { return isBad_; }
  size_t left() const { return static_cast<size_t>(end_ - at_); }

  uint8_t byte() {
    if (at_ == end_) return fail();
    return *at_++;
  }

  uint64_t number() {
    uint64_t value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      if (at_ == end_) return fail();
      const uint8_t byte = *at_++;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return fail();
  }

  uint32_t height() {
    const uint64_t value = number();
    return value > UINT32_MAX ? fail() : static_cast<uint32_t>(value);
  }

  std::string text(size_t size) {
    if (size > left()) {
      fail();
      return {};
    }
    at_ += size;
    return std::string(reinterpret_cast<const char*>(at_ - size), size);
  }

  template <size_t Size>
  void copy(std::array<uint8_t, Size>* out, size_t size = Size) {
    if (size > left()) {
      fail();
      out->fill(0);
      return;
    }
    memcpy(out->data(), at_, size);
    at_ += size;
  }

  Point point() {
    Point point;
    copy(&point, kTxidSize);
    const uint32_t n = height();
    for (int i = 0; i < 4; i++) point[kTxidSize + static_cast<size_t>(i)] = static_cast<uint8_t>(n >> (24 - 8 * i));
    return point;
  }

 private:
  uint8_t fail() {
    isBad_ = true;
    at_ = end_;
    return 0;
  }

  const uint8_t* at_;
  const uint8_t* end_;
  bool isBad_ = false;
};

inline void putNumber(std::string* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>((value & 0x7f) | 0x80));
  out->push_back(static_cast<char>(value));
}

template <size_t Size>
void putBytes(std::string* out, const std::array<uint8_t, Size>& bytes, size_t size = Size) {
  out->append(reinterpret_cast<const char*>(bytes.data()), size);
}

inline void putPoint(std::string* out, const Point& point) {
  putBytes(out, point, kTxidSize);
  putNumber(out, pointIndex(point));
}

inline void putText(std::string* out, const std::string& text) {
  putNumber(out, text.size());
  out->append(text);
}

inline void putBE32(std::string* out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out->push_back(static_cast<char>(value >> shift));
}

// Starts a key: the row type, the length of the name, and the name.
inline std::string nameInKey(char kind, const std::string& name) {
  std::string key(1, kind);
  if (name.size() < 255) {
    key.push_back(static_cast<char>(name.size()));
  } else {
    key.push_back('\xff');
    key.push_back(static_cast<char>(name.size() >> 8));
    key.push_back(static_cast<char>(name.size()));
  }
  return key.append(name);
}

inline std::string heightKey(char kind, uint32_t height) {
  std::string key(1, kind);
  putBE32(&key, height);
  return key;
}

// Appends a record (src/store/rows/rowRecords.ts): a put, or a deletion if `value` is null.
inline void appendRow(std::vector<uint8_t>* records, const std::string& key, const std::string* value) {
  const size_t at = records->size();
  const size_t size = value ? value->size() : 0;
  records->resize(at + 8 + key.size() + size);
  uint8_t* to = records->data() + at;
  writeLE32(to, static_cast<uint32_t>(key.size()));
  writeLE32(to + 4, value ? static_cast<uint32_t>(size) : UINT32_MAX);
  memcpy(to + 8, key.data(), key.size());
  if (size > 0) memcpy(to + 8 + key.size(), value->data(), size);
}

}  // namespace lbc
