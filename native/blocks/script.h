// The script rules that the parser, the coin table and the verifier share: ends of operations, legacy sigops, the claim
// prefix, unspendable scripts. Fallback: src/primitives/scriptScan.ts. Source: lbrycrd script/script.cpp, nameclaim.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lbc {

enum Opcode : uint8_t {
  OP_0 = 0x00,
  OP_PUSHDATA1 = 0x4c,
  OP_PUSHDATA2 = 0x4d,
  OP_PUSHDATA4 = 0x4e,
  OP_1NEGATE = 0x4f,
  OP_1 = 0x51,
  OP_16 = 0x60,
  OP_RETURN = 0x6a,
  OP_2DROP = 0x6d,
  OP_DROP = 0x75,
  OP_DUP = 0x76,
  OP_EQUAL = 0x87,
  OP_EQUALVERIFY = 0x88,
  OP_HASH160 = 0xa9,
  OP_CHECKSIG = 0xac,
  OP_CHECKSIGVERIFY = 0xad,
  OP_CHECKMULTISIG = 0xae,
  OP_CHECKMULTISIGVERIFY = 0xaf,
  OP_CLAIM_NAME = 0xb5,
  OP_SUPPORT_CLAIM = 0xb6,
  OP_UPDATE_CLAIM = 0xb7,
};

// Limits of this chain, which are not Bitcoin's (520 and 10,000). Source: lbrycrd script/script.h.
constexpr size_t kMaxScriptElementSize = 20000;
constexpr size_t kMaxScriptSize = 20005;
constexpr unsigned kMaxPubkeysPerMultisig = 20;

// One operation of a script: an opcode and its data.
struct Operation {
  uint8_t opcode;
  const uint8_t* data;  // bytes that a push puts on the stack; null for other opcodes
  size_t size;
};

// Reads the operation at `at` and advances `at` past it; false (with `at` undefined) when the operation is cut off.
inline bool nextOperation(const uint8_t*& at, const uint8_t* end, Operation* operation) {
  if (at >= end) return false;
  const uint8_t opcode = *at++;
  operation->opcode = opcode;
  operation->data = nullptr;
  operation->size = 0;
  if (opcode > OP_PUSHDATA4) return true;
  size_t size = opcode;
  if (opcode >= OP_PUSHDATA1) {
    const ptrdiff_t width = opcode == OP_PUSHDATA1 ? 1 : opcode == OP_PUSHDATA2 ? 2 : 4;
    if (end - at < width) return false;
    size = 0;
    for (ptrdiff_t i = width - 1; i >= 0; i--) size = size << 8 | at[i];
    at += width;
  }
  if (static_cast<size_t>(end - at) < size) return false;
  operation->data = at;
  operation->size = size;
  at += size;
  return true;
}

// Counts sigops with the inaccurate method of blocks. Bytes after a truncated push are not counted.
inline uint32_t countLegacySigops(const uint8_t* script, size_t size) {
  const uint8_t* at = script;
  const uint8_t* end = script + size;
  uint32_t count = 0;
  Operation operation;
  while (at < end && nextOperation(at, end, &operation)) {
    if (operation.opcode == OP_CHECKSIG || operation.opcode == OP_CHECKSIGVERIFY) {
      count += 1;
    } else if (operation.opcode == OP_CHECKMULTISIG || operation.opcode == OP_CHECKMULTISIGVERIFY) {
      count += kMaxPubkeysPerMultisig;
    }
  }
  return count;
}

// Length of the claim prefix at the start of the script, 0 if there is none. The first byte of the prefix is the opcode
// that tells the type of the claim operation.
inline size_t claimPrefixLength(const uint8_t* script, size_t size) {
  if (size == 0 || script[0] < OP_CLAIM_NAME || script[0] > OP_UPDATE_CLAIM) return 0;
  const uint8_t kind = script[0];
  const uint8_t* at = script + 1;
  const uint8_t* end = script + size;
  Operation operation;
  if (!nextOperation(at, end, &operation) || operation.opcode > OP_PUSHDATA4) return 0;
  if (!nextOperation(at, end, &operation) || operation.opcode > OP_PUSHDATA4) return 0;
  if (kind != OP_CLAIM_NAME && operation.size != 20) return 0;
  if (!nextOperation(at, end, &operation)) return 0;
  uint8_t lastDrop = OP_DROP;
  if (kind != OP_CLAIM_NAME && operation.opcode <= OP_PUSHDATA4) {
    if (!nextOperation(at, end, &operation)) return 0;
    lastDrop = OP_2DROP;
  } else if (kind == OP_UPDATE_CLAIM) {
    return 0;
  }
  if (operation.opcode != OP_2DROP) return 0;
  if (!nextOperation(at, end, &operation) || operation.opcode != lastDrop) return 0;
  return static_cast<size_t>(at - script);
}

// Returns the opcode of the claim prefix at the start of the script; 0 without a claim prefix.
inline uint8_t claimKind(const uint8_t* script, size_t size) {
  return claimPrefixLength(script, size) == 0 ? 0 : script[0];
}

// Source: `CScript::IsUnspendable`.
inline bool isUnspendable(const uint8_t* script, size_t size) {
  return (size > 0 && script[0] == OP_RETURN) || size > kMaxScriptSize;
}

}  // namespace lbc
