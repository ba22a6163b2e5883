// Unpacks the rows of a snapshot's piece into records, on another thread. Format: src/chain/snapshot/snapshotFormat.ts.
// Fallback: src/chain/snapshot/snapshotRows.ts.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hash/sha256.h"
#include "napi/addon.h"
#include "napi/job.h"

namespace lbc {

namespace {

constexpr size_t kChecksumSize = 8;
constexpr size_t kRowHead = 8;
constexpr size_t kCoinHead = 12;
// Largest number that a row contains. Source: `Number.MAX_SAFE_INTEGER`.
constexpr uint64_t kMostNumber = (uint64_t{1} << 53) - 1;
// Maximum size of the records of a piece. Must equal MOST_RECORD_BYTES of snapshotRows.ts.
constexpr size_t kMostRecordBytes = 256 << 20;
// Maximum number of bytes of a number and of an amount, as in `RowDecoder`.
constexpr int kMostNumberBytes = 9;
constexpr int kMostAmountBytes = 11;
constexpr char kTruncated[] = "a row is truncated";

__extension__ typedef unsigned __int128 Wide;

struct ScriptForm {
  size_t headSize;
  uint8_t head[3];
  size_t hashSize;
  size_t tailSize;
  uint8_t tail[2];
};

// Must equal SCRIPT_FORMS of snapshotFormat.ts.
constexpr ScriptForm kForms[] = {
    {3, {0x76, 0xa9, 0x14}, 20, 2, {0x88, 0xac}},
    {2, {0xa9, 0x14, 0}, 20, 1, {0x87, 0}},
    {2, {0x00, 0x14, 0}, 20, 0, {0, 0}},
    {2, {0x00, 0x20, 0}, 32, 0, {0, 0}},
};
constexpr size_t kFormCount = sizeof kForms / sizeof kForms[0];

struct Unpacked {
  std::vector<uint8_t> records;
  uint32_t rows = 0;
  // Offset of the last record.
  size_t lastAt = 0;
};

class Unpacker {
 public:
  Unpacker(Span payload, bool isCoins, const std::vector<std::string>& prefixes)
      : at_(payload.data + 1), end_(payload.data + payload.size), isCoins_(isCoins), prefixes_(prefixes) {}

  // Returns the error; null without an error.
  const char* run(Unpacked* out) {
    std::string key;
    while (at_ < end_) {
      uint64_t shared, rest;
      if (!number(&shared)) return kTruncated;
      if (shared > key.size()) return "a key of the snapshot is too short";
      if (!number(&rest) || rest > left()) return kTruncated;
      if (!isAscending(key, shared, rest)) return "a row is out of order";
      key.resize(shared);
      key.append(reinterpret_cast<const char*>(at_), rest);
      at_ += rest;
      if (!hasPrefix(key)) return "a row is out of order";
      out->lastAt = out->records.size();
      out->rows++;
      const char* error = isCoins_ ? coin(key, out) : row(key, out);
      if (error != nullptr) return error;
      if (out->records.size() > kMostRecordBytes) return "its rows are too large";
    }
    return nullptr;
  }

 private:
  uint64_t left() const { return static_cast<uint64_t>(end_ - at_); }

  // Reads a number of at most `most` bytes of 7 bits.
  bool wide(int most, Wide* value) {
    *value = 0;
    for (int shift = 0; at_ < end_ && shift < 7 * most; shift += 7) {
      *value |= static_cast<Wide>(*at_ & 0x7f) << shift;
      if (*at_++ < 0x80) return true;
    }
    return false;
  }

  bool number(uint64_t* value) {
    Wide read;
    if (!wide(kMostNumberBytes, &read) || read > kMostNumber) return false;
    *value = static_cast<uint64_t>(read);
    return true;
  }

  // Whether the next key is larger than the previous key. They have the first `shared` bytes in common.
  bool isAscending(const std::string& last, size_t shared, size_t rest) const {
    const size_t lastRest = last.size() - shared;
    const int order = memcmp(at_, last.data() + shared, rest < lastRest ? rest : lastRest);
    return order > 0 || (order == 0 && rest > lastRest);
  }

  bool hasPrefix(const std::string& key) const {
    for (const std::string& prefix : prefixes_)
      if (key.compare(0, prefix.size(), prefix) == 0) return true;
    return false;
  }

  // Appends a record without its value. Returns the place of the value.
  static uint8_t* record(const std::string& key, size_t valueSize, Unpacked* out) {
    const size_t start = out->records.size();
    out->records.resize(start + kRowHead + key.size() + valueSize);
    uint8_t* to = out->records.data() + start;
    writeLE32(to, static_cast<uint32_t>(key.size()));
    writeLE32(to + 4, static_cast<uint32_t>(valueSize));
    memcpy(to + kRowHead, key.data(), key.size());
    return to + kRowHead + key.size();
  }

  const char* row(const std::string& key, Unpacked* out) {
    uint64_t size;
    if (!number(&size) || size > left()) return kTruncated;
    if (size > 0) memcpy(record(key, size, out), at_, size);
    else record(key, 0, out);
    at_ += size;
    return nullptr;
  }

  const char* coin(const std::string& key, Unpacked* out) {
    Wide packed;
    uint64_t heightCode, amount, form;
    if (!number(&heightCode) || !wide(kMostAmountBytes, &packed) || !number(&form)) return kTruncated;
    if (heightCode > 0xffffffff || !unpackAmount(packed, &amount)) return "a coin of the snapshot is out of range";
    const ScriptForm* known = form < kFormCount ? &kForms[form] : nullptr;
    const uint64_t size = known ? known->hashSize : form - kFormCount;
    if (size > left()) return kTruncated;
    const size_t around = known ? known->headSize + known->tailSize : 0;
    uint8_t* to = record(key, kCoinHead + around + size, out);
    writeLE32(to, static_cast<uint32_t>(heightCode));
    writeLE64(to + 4, amount);
    to += kCoinHead;
    if (known) to = static_cast<uint8_t*>(memcpy(to, known->head, known->headSize)) + known->headSize;
    if (size > 0) memcpy(to, at_, size);
    if (known) memcpy(to + size, known->tail, known->tailSize);
    at_ += size;
    return nullptr;
  }

  // Source: Core compressor.cpp `DecompressAmount`. Returns false for amounts of more than 63 bits.
  static bool unpackAmount(Wide packed, uint64_t* amount) {
    Wide rest = 0;
    if (packed > 0) {
      rest = packed - 1;
      int zeros = static_cast<int>(rest % 10);
      rest /= 10;
      rest = zeros == 9 ? rest + 1 : rest / 9 * 10 + rest % 9 + 1;
      for (; zeros > 0; zeros--) rest *= 10;
    }
    *amount = static_cast<uint64_t>(rest);
    return rest <= INT64_MAX;
  }

  const uint8_t* at_;
  const uint8_t* const end_;
  const bool isCoins_;
  const std::vector<std::string>& prefixes_;
};

bool readPrefixes(napi_env env, napi_value list, std::vector<std::string>* out) {
  uint32_t count;
  if (napi_get_array_length(env, list, &count) != napi_ok) {
    throwTypeError(env, "prefixes must be an array");
    return false;
  }
  for (uint32_t i = 0; i < count; i++) {
    napi_value item;
    char text[64];
    size_t size;
    if (napi_get_element(env, list, i, &item) != napi_ok ||
        napi_get_value_string_latin1(env, item, text, sizeof text, &size) != napi_ok) {
      throwTypeError(env, "a prefix must be a string");
      return false;
    }
    out->emplace_back(text, size);
  }
  return true;
}

// (payload, checksum, isCoins, prefixes) => Promise<{ records, rows, lastAt }>
napi_value jsUnpackSnapshotRows(napi_env env, napi_callback_info info) {
  napi_value arguments[4];
  Span payload;
  const uint8_t* checksum;
  bool isCoins;
  std::vector<std::string> prefixes;
  if (!readArguments(env, info, 4, arguments) || !readBytes(env, arguments[0], "payload", &payload) ||
      !readFixedBytes(env, arguments[1], kChecksumSize, "checksum", &checksum) ||
      !readBool(env, arguments[2], "isCoins", &isCoins) || !readPrefixes(env, arguments[3], &prefixes)) {
    return nullptr;
  }
  if (payload.size == 0) return throwTypeError(env, "payload must not be empty");
  const std::string wanted(reinterpret_cast<const char*>(checksum), kChecksumSize);
  auto unpacked = std::make_shared<Unpacked>();
  return startJob(
      env, "unpackSnapshotRows",
      [payload, wanted, isCoins, prefixes, unpacked] {
        uint8_t digest[32];
        sha256(payload.data, payload.size, digest);
        const char* error = memcmp(digest, wanted.data(), kChecksumSize) != 0
                                ? "a checksum does not match"
                                : Unpacker(payload, isCoins, prefixes).run(unpacked.get());
        return error ? Outcome::failed(error, "SNAPSHOT_ROWS") : Outcome();
      },
      [unpacked](napi_env env) {
        napi_value result = makeObject(env);
        setProperty(env, result, "rows", makeNumber(env, unpacked->rows));
        setProperty(env, result, "lastAt", makeNumber(env, static_cast<double>(unpacked->lastAt)));
        setProperty(env, result, "records", makeBufferOf(env, std::move(unpacked->records)));
        return result;
      },
      arguments[0]);
}

}  // namespace

void registerSnapshotRows(napi_env env, napi_value exports) {
  setFunction(env, exports, "unpackSnapshotRows", jsUnpackSnapshotRows);
}

}  // namespace lbc
