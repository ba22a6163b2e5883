// Encodes addresses: Base58Check, and Bech32 for witness programs. Sources: Bitcoin Core base58.cpp, bech32.cpp (BIP173).
#include <cstring>
#include <string>
#include <vector>

#include "hash/sha256.h"
#include "napi/addon.h"
#include "napi/napi.h"

namespace lbc {

namespace {

constexpr char kBase58Digits[] = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
// Digits are computed in groups, because a division is slow: 58^5 fits into 32 bits.
constexpr uint64_t kGroup = 58ull * 58 * 58 * 58 * 58;
constexpr size_t kGroupDigits = 5;
constexpr size_t kChecksumBytes = 4;
// Encoding takes quadratic time. Extended keys have 78 bytes.
constexpr size_t kMaxPayload = 128;

std::string encodeBase58(const uint8_t* data, size_t size) {
  size_t zeros = 0;
  while (zeros < size && data[zeros] == 0) zeros++;
  std::vector<uint32_t> groups;
  for (size_t i = zeros; i < size; i++) {
    uint64_t carry = data[i];
    for (uint32_t& group : groups) {
      carry += static_cast<uint64_t>(group) << 8;
      group = static_cast<uint32_t>(carry % kGroup);
      carry /= kGroup;
    }
    if (carry > 0) groups.push_back(static_cast<uint32_t>(carry));
  }
  std::string out(zeros, kBase58Digits[0]);
  for (size_t n = groups.size(); n-- > 0;) {
    char digits[kGroupDigits];
    uint32_t rest = groups[n];
    for (size_t at = kGroupDigits; at-- > 0; rest /= 58) digits[at] = kBase58Digits[rest % 58];
    size_t first = 0;
    // The number has no leading zeros.
    if (n + 1 == groups.size()) {
      while (digits[first] == kBase58Digits[0]) first++;
    }
    out.append(digits + first, kGroupDigits - first);
  }
  return out;
}

constexpr char kBech32Digits[] = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
constexpr size_t kBech32ChecksumDigits = 6;
// Source: BIP173.
constexpr size_t kMaxProgram = 40;
constexpr size_t kMaxPrefix = 83;

uint32_t addToChecksum(uint32_t checksum, uint8_t digit) {
  constexpr uint32_t kGenerator[] = {0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3};
  const uint32_t top = checksum >> 25;
  uint32_t next = (checksum & 0x1ffffff) << 5 ^ digit;
  for (int i = 0; i < 5; i++) {
    if (top >> i & 1) next ^= kGenerator[i];
  }
  return next;
}

std::string encodeBech32(const std::string& prefix, uint8_t version, const uint8_t* program, size_t size) {
  std::vector<uint8_t> values{version};
  uint32_t bits = 0, held = 0;
  for (size_t i = 0; i < size; i++) {
    bits = (bits << 8 | program[i]) & 0xfff;
    for (held += 8; held >= 5;) values.push_back(bits >> (held -= 5) & 31);
  }
  if (held > 0) values.push_back(bits << (5 - held) & 31);
  uint32_t checksum = 1;
  for (const char c : prefix) checksum = addToChecksum(checksum, static_cast<uint8_t>(c) >> 5);
  checksum = addToChecksum(checksum, 0);
  for (const char c : prefix) checksum = addToChecksum(checksum, c & 31);
  std::string out = prefix + '1';
  for (const uint8_t value : values) {
    checksum = addToChecksum(checksum, value);
    out += kBech32Digits[value];
  }
  for (size_t i = 0; i < kBech32ChecksumDigits; i++) checksum = addToChecksum(checksum, 0);
  checksum ^= 1;
  for (size_t i = kBech32ChecksumDigits; i-- > 0;) out += kBech32Digits[checksum >> (5 * i) & 31];
  return out;
}

napi_value makeText(napi_env env, const std::string& text) {
  napi_value value;
  if (napi_create_string_latin1(env, text.data(), text.size(), &value) != napi_ok) return nullptr;
  return value;
}

// (payload) => Base58 of the payload and the first bytes of its double SHA-256
napi_value jsBase58Check(napi_env env, napi_callback_info info) {
  napi_value argument;
  Span payload;
  if (!readArguments(env, info, 1, &argument) || !readBytes(env, argument, "payload", &payload)) return nullptr;
  if (payload.size > kMaxPayload) return throwTypeError(env, "the payload is too long");
  uint8_t bytes[kMaxPayload + kChecksumBytes];
  uint8_t digest[32];
  if (payload.size > 0) memcpy(bytes, payload.data, payload.size);
  sha256d(payload.data, payload.size, digest);
  memcpy(bytes + payload.size, digest, kChecksumBytes);
  return makeText(env, encodeBase58(bytes, payload.size + kChecksumBytes));
}

// (prefix, version, program) => address of a witness program
napi_value jsWitnessAddress(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  char prefix[kMaxPrefix + 1];
  size_t length;
  uint32_t version;
  Span program;
  if (!readArguments(env, info, 3, arguments)) return nullptr;
  // A longer text would be truncated to this length.
  if (napi_get_value_string_latin1(env, arguments[0], prefix, sizeof prefix, &length) != napi_ok || length >= kMaxPrefix) {
    return throwTypeError(env, "prefix must be a short string");
  }
  if (!readUint32(env, arguments[1], "version", &version) || !readBytes(env, arguments[2], "program", &program)) {
    return nullptr;
  }
  if (version > 16 || program.size > kMaxProgram) return throwTypeError(env, "this is not a witness program");
  return makeText(env, encodeBech32(std::string(prefix, length), static_cast<uint8_t>(version), program.data, program.size));
}

}  // namespace

void registerAddresses(napi_env env, napi_value exports) {
  setFunction(env, exports, "base58Check", jsBase58Check);
  setFunction(env, exports, "witnessAddress", jsWitnessAddress);
}

}  // namespace lbc
