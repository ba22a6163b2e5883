#include "coins/resolved.h"

namespace lbc {

namespace {

// Bytes in the columns for one input: amount, three 32-bit words, status, and type of claim.
constexpr size_t kWordBytes = 8 + 3 * 4;
constexpr size_t kRowBytes = kWordBytes + 2;
// Maximum number of rows whose memory stays allocated for the next block.
constexpr size_t kKeptRows = 1 << 17;

bool refuse(napi_env env) {
  throwError(env, "the resolved inputs do not belong to this block");
  return false;
}

// Sets `view` to the packed columns. Returns false when the bytes are not packed columns.
bool viewPacked(const Span& packed, ResolvedView* view) {
  PackedResolvedHead head;
  if (packed.size < sizeof head || reinterpret_cast<uintptr_t>(packed.data) % alignof(int64_t) != 0) return false;
  memcpy(&head, packed.data, sizeof head);
  const size_t count = head.count;
  if (packed.size != sizeof head + kRowBytes * count + 4 * static_cast<size_t>(head.duplicateCount) + head.scriptsSize)
    return false;
  view->count = count;
  view->amounts = reinterpret_cast<const int64_t*>(packed.data + sizeof head);
  view->heightCodes = reinterpret_cast<const uint32_t*>(view->amounts + count);
  view->scriptOffsets = view->heightCodes + count;
  view->scriptLengths = view->scriptOffsets + count;
  view->status = reinterpret_cast<const uint8_t*>(view->scriptLengths + count + head.duplicateCount);
  view->scripts = view->status + 2 * count;
  view->scriptsSize = head.scriptsSize;
  return true;
}

bool readColumns(napi_env env, napi_value resolved, ResolvedView* view, napi_value* keep) {
  const void *heightCodes, *amounts, *offsets, *lengths, *status, *scripts;
  size_t heightCount, offsetCount, lengthCount, statusCount;
  if (!readTypedArray(env, resolved, "amounts", napi_bigint64_array, &amounts, &view->count, keep) ||
      !readTypedArray(env, resolved, "scriptOffsets", napi_uint32_array, &offsets, &offsetCount, keep + 1) ||
      !readTypedArray(env, resolved, "scriptLengths", napi_uint32_array, &lengths, &lengthCount, keep + 2) ||
      !readTypedArray(env, resolved, "status", napi_uint8_array, &status, &statusCount, keep + 3) ||
      !readTypedArray(env, resolved, "scripts", napi_uint8_array, &scripts, &view->scriptsSize, keep + 4) ||
      !readTypedArray(env, resolved, "heightCodes", napi_uint32_array, &heightCodes, &heightCount, keep + 5)) {
    return false;
  }
  const size_t count = view->count;
  // The height codes may be missing, because the mempool passes none.
  if (offsetCount != count || lengthCount != count || statusCount != count || (heightCount != count && heightCount != 0))
    return refuse(env);
  view->amounts = static_cast<const int64_t*>(amounts);
  view->heightCodes = heightCount == count ? static_cast<const uint32_t*>(heightCodes) : nullptr;
  view->scriptOffsets = static_cast<const uint32_t*>(offsets);
  view->scriptLengths = static_cast<const uint32_t*>(lengths);
  view->status = static_cast<const uint8_t*>(status);
  view->scripts = static_cast<const uint8_t*>(scripts);
  return true;
}

template <typename Value>
uint8_t* put(uint8_t* to, const Value* from, size_t count) {
  if (count > 0) memcpy(to, from, count * sizeof(Value));
  return to + count * sizeof(Value);
}

}  // namespace

bool readResolved(napi_env env, napi_value resolved, size_t count, ResolvedView* view, napi_value* holders) {
  napi_value unused[kResolvedHolders];
  napi_value* keep = holders ? holders : unused;
  Span packed;
  if (readPacked(env, resolved, &packed, keep)) {
    for (size_t i = 1; i < kResolvedHolders; i++) keep[i] = keep[0];
    if (!viewPacked(packed, view)) return refuse(env);
  } else if (!readColumns(env, resolved, view, keep)) {
    return false;
  }
  if (view->count != count) return refuse(env);
  for (size_t i = 0; i < count; i++) {
    const size_t at = view->scriptOffsets[i];
    if (at > view->scriptsSize || view->scriptLengths[i] > view->scriptsSize - at) return refuse(env);
  }
  return true;
}

void ResolvedColumnsMemory::reset(size_t count) {
  if (count_ > kKeptRows) {
    words_ = {};
    bytes_ = {};
    scripts = {};
    duplicates = {};
  }
  count_ = count;
  words_.assign((kWordBytes * count + 7) / 8, 0);
  bytes_.assign(2 * count, 0);
  scripts.clear();
  duplicates.clear();
}

napi_value ResolvedColumnsMemory::pack(napi_env env) {
  const PackedResolvedHead head = {static_cast<uint32_t>(count_), static_cast<uint32_t>(scripts.size()),
                                   static_cast<uint32_t>(duplicates.size()), 0};
  uint8_t* at = nullptr;
  napi_value packed =
      makeEmptyBuffer(env, sizeof head + kRowBytes * count_ + 4 * duplicates.size() + scripts.size(), &at);
  if (!packed) return nullptr;
  at = put(at, &head, 1);
  at = put(at, reinterpret_cast<const uint8_t*>(words_.data()), kWordBytes * count_);
  at = put(at, duplicates.data(), duplicates.size());
  at = put(at, bytes_.data(), bytes_.size());
  put(at, scripts.data(), scripts.size());
  return packed;
}

}  // namespace lbc
