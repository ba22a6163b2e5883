// Decodes the claims in the row of a name into offsets, and finds the position of a claim in the order of age. Fallbacks:
// src/store/claims/namePlaces.ts, src/util/standardSort.ts.
#include <algorithm>
#include <vector>

#include "napi/addon.h"

namespace lbc {

namespace {

constexpr uint8_t kRefiled = 2;
constexpr uint8_t kHasId = 4;
constexpr size_t kTxidSize = 32;
constexpr size_t kIdSize = 20;
// Factor that combines height and output number into the age of a claim. Must equal MOST_OUTPUTS of namePlaces.ts.
constexpr double kMostOutputs = 4194304;
// Ranges of at most this length are not partitioned further. Source: `_S_threshold` of libstdc++.
constexpr size_t kThreshold = 16;

struct RowCursor {
  Span row;
  size_t at;

  // Reads a variable-length number. Returns false past the end of the row and for numbers that a row never contains.
  bool number(uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 49; shift += 7) {
      if (at >= row.size) return false;
      const uint8_t byte = row.data[at++];
      *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool skipNumber() {
    while (at < row.size)
      if (row.data[at++] < 0x80) return true;
    return false;
  }

  bool skip(size_t size) {
    if (size > row.size - at) return false;
    at += size;
    return true;
  }
};

struct NameClaims {
  uint32_t* starts;
  uint32_t* txids;
  uint32_t* outputs;
  uint32_t* ids;
  double* ages;
};

bool readClaims(RowCursor* cursor, uint32_t count, const NameClaims& out) {
  for (uint32_t bid = 0; bid < count; bid++) {
    out.starts[bid] = static_cast<uint32_t>(cursor->at);
    if (cursor->at >= cursor->row.size) return false;
    const uint8_t flags = cursor->row.data[cursor->at++];
    uint64_t height, n;
    if (!cursor->number(&height)) return false;
    if ((flags & kRefiled) != 0 && !cursor->skipNumber()) return false;
    out.txids[bid] = static_cast<uint32_t>(cursor->at);
    if (!cursor->skip(kTxidSize) || !cursor->number(&n)) return false;
    out.outputs[bid] = static_cast<uint32_t>(n);
    out.ages[bid] = static_cast<double>(height) * kMostOutputs + static_cast<double>(n);
    if ((flags & kHasId) != 0) {
      out.ids[bid] = static_cast<uint32_t>(cursor->at);
      if (!cursor->skip(kIdSize)) return false;
    }
    if (!cursor->skipNumber() || !cursor->skipNumber()) return false;
  }
  return true;
}

// (row, at, count) -> { end, starts, txids, outputs, ids, ages }; null for a row that is cut short.
napi_value jsNameClaims(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  RowCursor cursor;
  uint32_t at, count;
  if (!readArguments(env, info, 3, arguments) || !readBytes(env, arguments[0], "row", &cursor.row) ||
      !readUint32(env, arguments[1], "at", &at) || !readUint32(env, arguments[2], "count", &count)) {
    return nullptr;
  }
  if (at > cursor.row.size || count > cursor.row.size) return makeNull(env);
  cursor.at = at;
  NameClaims claims;
  void* data = nullptr;
  napi_value result = makeObject(env);
  const auto column = [&](const char* name, uint32_t** values) {
    napi_value array = makeTypedArray(env, napi_uint32_array, count, sizeof(uint32_t), &data);
    if (array == nullptr) return false;
    setProperty(env, result, name, array);
    *values = static_cast<uint32_t*>(data);
    return true;
  };
  if (!column("starts", &claims.starts) || !column("txids", &claims.txids) ||
      !column("outputs", &claims.outputs) || !column("ids", &claims.ids)) {
    return nullptr;
  }
  napi_value ages = makeTypedArray(env, napi_float64_array, count, sizeof(double), &data);
  if (ages == nullptr) return nullptr;
  setProperty(env, result, "ages", ages);
  claims.ages = static_cast<double*>(data);
  if (!readClaims(&cursor, count, claims)) return makeNull(env);
  setProperty(env, result, "end", makeNumber(env, static_cast<double>(cursor.at)));
  return result;
}

size_t medianOf(const std::vector<double>& items, size_t a, size_t b, size_t c) {
  const double first = items[a], second = items[b], third = items[c];
  if (first < second) return second < third ? b : first < third ? c : a;
  return first < third ? a : second < third ? c : b;
}

// Position of an item after sorting (see `standardPlace` of standardSort.ts); -1 if the whole list must be sorted.
int64_t placeOf(std::vector<double> items, size_t place) {
  size_t first = 0, last = items.size();
  int depth = 0;
  for (size_t rest = last; rest > 1; rest >>= 1) depth += 2;
  const auto exchange = [&](size_t a, size_t b) {
    std::swap(items[a], items[b]);
    if (place == a) place = b;
    else if (place == b) place = a;
  };
  for (; last - first > kThreshold; depth--) {
    if (depth == 0) return -1;
    exchange(first, medianOf(items, first + 1, first + ((last - first) >> 1), last - 1));
    size_t low = first + 1, high = last;
    const double bound = items[first];
    for (;;) {
      while (items[low] < bound) low++;
      high--;
      while (bound < items[high]) high--;
      if (low >= high) break;
      exchange(low, high);
      low++;
    }
    if (place >= low) first = low;
    else last = low;
  }
  const double number = items[place];
  size_t result = first;
  for (size_t i = first; i < last; i++)
    if (items[i] < number || (items[i] == number && i < place)) result++;
  return static_cast<int64_t>(result);
}

// (numbers in a Float64Array, index) => position after sorting; -1 if the whole list must be sorted
napi_value jsStandardPlace(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  uint32_t of;
  napi_typedarray_type type;
  size_t count;
  void* data;
  if (!readArguments(env, info, 2, arguments) || !readUint32(env, arguments[1], "of", &of)) return nullptr;
  if (napi_get_typedarray_info(env, arguments[0], &type, &count, &data, nullptr, nullptr) != napi_ok ||
      type != napi_float64_array || of >= count) {
    return throwTypeError(env, "numbers must be a Float64Array with an element at the index");
  }
  const double* numbers = static_cast<const double*>(data);
  return makeNumber(env, static_cast<double>(placeOf(std::vector<double>(numbers, numbers + count), of)));
}

}  // namespace

void registerNameRow(napi_env env, napi_value exports) {
  setFunction(env, exports, "nameClaims", jsNameClaims);
  setFunction(env, exports, "standardPlace", jsStandardPlace);
}

}  // namespace lbc
