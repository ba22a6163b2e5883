#include "verify/verify.h"

#include <cstring>

#include "blocks/script.h"
#include "hash/hashes.h"
#include "hash/sha256.h"
#include "verify/ecdsa.h"

namespace lbc {

namespace {

// A stack item, a script or a witness item.
struct Item {
  const uint8_t* data;
  size_t size;
};

// Maximum number of stack items that the standard forms below need: a dummy, 20 signatures, a redeem script.
constexpr size_t kMaxItems = 22;

struct Stack {
  Item items[kMaxItems];
  size_t count = 0;

  bool push(Item item) {
    if (count == kMaxItems) return false;
    items[count++] = item;
    return true;
  }
};

// Half of the group order, rounded down: the largest low S.
constexpr uint8_t kHalfOrder[32] = {0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                    0xff, 0xff, 0xff, 0xff, 0xff, 0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4,
                                    0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0};

// Whether this item counts as true when it is the top of the stack. Source: `CastToBool`.
bool isTrue(const uint8_t* data, size_t size) {
  for (size_t i = 0; i < size; i++) {
    if (data[i] != 0) return !(i == size - 1 && data[i] == 0x80);
  }
  return false;
}

// Strict DER with a hash type byte at the end (BIP66). Source: `IsValidSignatureEncoding`.
bool isStrictSignature(Item sig) {
  const uint8_t* s = sig.data;
  if (sig.size < 9 || sig.size > 73) return false;
  if (s[0] != 0x30 || s[1] != sig.size - 3) return false;
  const size_t lenR = s[3];
  if (5 + lenR >= sig.size) return false;
  const size_t lenS = s[5 + lenR];
  if (lenR + lenS + 7 != sig.size) return false;
  if (s[2] != 0x02 || lenR == 0 || (s[4] & 0x80)) return false;
  if (lenR > 1 && s[4] == 0 && !(s[5] & 0x80)) return false;
  const uint8_t* v = s + lenR + 6;
  if (s[lenR + 4] != 0x02 || lenS == 0 || (v[0] & 0x80)) return false;
  return !(lenS > 1 && v[0] == 0 && !(v[1] & 0x80));
}

// Whether S is at most half the group order. The signature must have passed `isStrictSignature`.
bool hasLowS(Item sig) {
  const uint8_t* s = sig.data + 6 + sig.data[3];
  size_t size = sig.data[5 + sig.data[3]];
  if (size > 0 && *s == 0) {
    s++;
    size--;
  }
  return size < 32 || (size == 32 && memcmp(s, kHalfOrder, 32) <= 0);
}

bool hasDefinedHashType(Item sig) {
  const uint32_t type = sig.data[sig.size - 1] & ~kSighashAnyoneCanPay;
  return type >= kSighashAll && type <= kSighashSingle;
}

bool isPlainPublicKey(Item key) {
  if (key.size == kCompressedKeySize) return key.data[0] == 2 || key.data[0] == 3;
  return key.size == kUncompressedKeySize && key.data[0] == 4;
}

bool contains(Item haystack, Item needle) {
  if (needle.size > haystack.size) return false;
  for (size_t i = 0; i + needle.size <= haystack.size; i++) {
    if (memcmp(haystack.data + i, needle.data, needle.size) == 0) return true;
  }
  return false;
}

// Whether the push uses the shortest encoding. Small numbers pushed as bytes count as not minimal. Source:
// `CheckMinimalPush`.
bool isMinimalPush(const Operation& op) {
  if (op.size == 0) return op.opcode == OP_0;
  if (op.size == 1 && ((op.data[0] >= 1 && op.data[0] <= 16) || op.data[0] == 0x81)) return false;
  if (op.size <= 75) return op.opcode == op.size;
  if (op.size <= 255) return op.opcode == OP_PUSHDATA1;
  return op.size > 65535 || op.opcode == OP_PUSHDATA2;
}

// Reads the pushes, in order, of a script that has only minimal data pushes.
bool readPushes(Item script, Stack* stack) {
  const uint8_t* at = script.data;
  const uint8_t* end = at + script.size;
  Operation op;
  while (at < end) {
    if (!nextOperation(at, end, &op) || op.opcode > OP_PUSHDATA4) return false;
    if (op.size > kMaxScriptElementSize || !isMinimalPush(op)) return false;
    if (!stack->push({op.data, op.size})) return false;
  }
  return true;
}

bool readWitnessSize(const uint8_t*& at, const uint8_t* end, uint64_t* value) {
  if (at >= end) return false;
  const uint8_t first = *at++;
  *value = first;
  if (first < 253) return true;
  const ptrdiff_t width = first == 253 ? 2 : first == 254 ? 4 : 8;
  if (end - at < width) return false;
  *value = width == 2 ? readLE16(at) : width == 4 ? readLE32(at) : readLE64(at);
  at += width;
  return true;
}

// State of the verification of one input.
class InputCheck {
 public:
  InputCheck(VerifyBatch& batch, size_t tx, size_t input, uint32_t* cacheHits)
      : batch_(batch),
        view_(batch.view),
        tx_(batch.view.txs[tx]),
        midstate_(&batch.midstates[tx]),
        input_(batch.view.inputs[input]),
        inputIndex_(static_cast<uint32_t>(input - batch.view.txs[tx].firstInput)),
        amount_(batch.amounts[input]),
        flags_(batch.flags),
        cacheHits_(cacheHits) {}

  bool run(Item spent) {
    const Item scriptSig = {view_.block + input_.script, input_.scriptLength};
    if (spent.size > kMaxScriptSize || scriptSig.size > kMaxScriptSize) return false;
    Stack witness;
    if (!readWitness(&witness)) return false;

    // The claim prefix only pushes and drops data, so the script after it decides. A script with a malformed prefix has no
    // standard form.
    const size_t prefix = claimPrefixLength(spent.data, spent.size);
    if (prefix > 0 && !prefixPushesFit(spent.data, prefix)) return false;
    const Item inner = {spent.data + prefix, spent.size - prefix};

    if (isWitnessProgram(inner)) {
      return (flags_ & kVerifyWitness) && scriptSig.size == 0 && checkWitnessProgram(inner, witness);
    }
    Stack stack;
    if (!readPushes(scriptSig, &stack)) return false;
    if (inner.size == 23 && inner.data[0] == OP_HASH160 && inner.data[1] == 20 && inner.data[22] == OP_EQUAL) {
      return (flags_ & kVerifyP2sh) && checkScriptHash(inner.data + 2, scriptSig, stack, witness);
    }
    // Legacy signatures cover the whole script, including the claim prefix.
    return witness.count == 0 && checkTemplate(inner, spent, stack, false);
  }

 private:
  static bool prefixPushesFit(const uint8_t* script, size_t prefix) {
    const uint8_t* at = script;
    Operation op;
    while (at < script + prefix) {
      if (!nextOperation(at, script + prefix, &op) || op.size > kMaxScriptElementSize) return false;
    }
    return true;
  }

  bool readWitness(Stack* witness) const {
    if (input_.witness == 0) return true;
    const uint8_t* at = view_.block + input_.witness;
    const uint8_t* end = view_.block + input_.witnessEnd;
    uint64_t items;
    if (!readWitnessSize(at, end, &items)) return false;
    for (uint64_t i = 0; i < items; i++) {
      uint64_t size;
      if (!readWitnessSize(at, end, &size) || size > static_cast<uint64_t>(end - at)) return false;
      if (!witness->push({at, static_cast<size_t>(size)})) return false;
      at += size;
    }
    return true;
  }

  // Whether the script is a version 0 witness program of one of the two defined lengths. A program that is "false" as a
  // number makes the spent script fail.
  static bool isWitnessProgram(Item script) {
    return (script.size == 22 && script.data[0] == OP_0 && script.data[1] == 20) ||
           (script.size == 34 && script.data[0] == OP_0 && script.data[1] == 32);
  }

  bool checkWitnessProgram(Item program, const Stack& witness) {
    const uint8_t* hash = program.data + 2;
    if (!isTrue(hash, program.size - 2)) return false;
    for (size_t i = 0; i + 1 < witness.count; i++) {
      if (witness.items[i].size > kMaxScriptElementSize) return false;
    }
    if (program.size == 22) {
      uint8_t code[25] = {OP_DUP, OP_HASH160, 20};
      memcpy(code + 3, hash, 20);
      code[23] = OP_EQUALVERIFY;
      code[24] = OP_CHECKSIG;
      return checkTemplate({code, sizeof code}, {code, sizeof code}, witness, true);
    }
    if (witness.count == 0) return false;
    Stack stack = witness;
    const Item script = stack.items[--stack.count];
    if (script.size > kMaxScriptSize) return false;
    uint8_t digest[32];
    sha256(script.data, script.size, digest);
    return memcmp(digest, hash, 32) == 0 && checkTemplate(script, script, stack, true);
  }

  bool checkScriptHash(const uint8_t* hash, Item scriptSig, Stack& stack, const Stack& witness) {
    if (stack.count == 0) return false;
    const Item redeem = stack.items[--stack.count];
    uint8_t digest[20];
    hash160(redeem.data, redeem.size, digest);
    if (memcmp(digest, hash, 20) != 0) return false;
    if (isWitnessProgram(redeem)) {
      // The scriptSig must consist of exactly the push of the program.
      return (flags_ & kVerifyWitness) && scriptSig.size == redeem.size + 1 && checkWitnessProgram(redeem, witness);
    }
    return witness.count == 0 && checkTemplate(redeem, redeem, stack, false);
  }

  // Verifies `script` with a stack that contains exactly the items it needs. `code` is the script that signatures commit
  // to.
  bool checkTemplate(Item script, Item code, const Stack& stack, bool isWitness) {
    const uint8_t* s = script.data;
    if (script.size == 25 && s[0] == OP_DUP && s[1] == OP_HASH160 && s[2] == 20 && s[23] == OP_EQUALVERIFY &&
        s[24] == OP_CHECKSIG) {
      if (stack.count != 2) return false;
      const Item key = stack.items[1];
      uint8_t digest[20];
      hash160(key.data, key.size, digest);
      return memcmp(digest, s + 3, 20) == 0 && checkSingle(stack.items[0], key, code, isWitness);
    }
    if ((script.size == 35 || script.size == 67) && s[0] == script.size - 2 && s[script.size - 1] == OP_CHECKSIG) {
      return stack.count == 1 && checkSingle(stack.items[0], {s + 1, script.size - 2}, code, isWitness);
    }
    return checkMultisig(script, code, stack, isWitness);
  }

  bool checkSingle(Item sig, Item key, Item code, bool isWitness) {
    return isGoodSignature(sig, code, isWitness) && isGoodKey(key, isWitness) && matches(sig, key, code, isWitness);
  }

  // Verifies the script `m <key>... n CHECKMULTISIG` with m and n from 1 to 16.
  bool checkMultisig(Item script, Item code, const Stack& stack, bool isWitness) {
    if (script.size < 3 || script.data[script.size - 1] != OP_CHECKMULTISIG) return false;
    const uint8_t first = script.data[0];
    const uint8_t last = script.data[script.size - 2];
    if (first < OP_1 || first > OP_16 || last < first || last > OP_16) return false;
    const size_t needed = first - OP_1 + 1u;
    const size_t keyCount = last - OP_1 + 1u;
    Item keys[16];
    const uint8_t* at = script.data + 1;
    const uint8_t* end = script.data + script.size - 2;
    for (size_t i = 0; i < keyCount; i++) {
      const size_t size = at < end ? *at : 0;
      if (static_cast<size_t>(end - at) < size + 1) return false;
      keys[i] = {at + 1, size};
      if (!isGoodKey(keys[i], isWitness)) return false;
      at += size + 1;
    }
    if (at != end) return false;

    // CHECKMULTISIG removes one extra item from the stack. This dummy item must be empty.
    if (stack.count != needed + 1 || stack.items[0].size != 0) return false;
    for (size_t i = 1; i <= needed; i++) {
      if (!isGoodSignature(stack.items[i], code, isWitness)) return false;
    }
    // Compares signatures and keys from the last to the first, as the opcode CHECKMULTISIG does.
    size_t key = keyCount;
    for (size_t sig = needed; sig > 0; key--) {
      if (sig > key) return false;
      if (matches(stack.items[sig], keys[key - 1], code, isWitness)) sig--;
    }
    return true;
  }

  bool isGoodSignature(Item sig, Item code, bool isWitness) const {
    if (!isStrictSignature(sig)) return false;
    if ((flags_ & kVerifyLowS) && !hasLowS(sig)) return false;
    if ((flags_ & kVerifyStrictEnc) && !hasDefinedHashType(sig)) return false;
    // If the legacy script code contained the signature, verification would have to remove it. Such inputs are left
    // undecided.
    return isWitness || !contains(code, sig);
  }

  bool isGoodKey(Item key, bool isWitness) const {
    if (!isPlainPublicKey(key)) return false;
    return !(isWitness && (flags_ & kVerifyWitnessPubkeyType)) || key.size == kCompressedKeySize;
  }

  // Computes the digest that a signature signs.
  void hashFor(Item sig, Item code, bool isWitness, uint8_t* digest) {
    const uint32_t hashType = sig.data[sig.size - 1];
    if (isWitness) {
      witnessSighash(view_, tx_, midstate_, inputIndex_, code.data, code.size, amount_, hashType, digest);
    } else {
      legacySighash(view_, tx_, inputIndex_, code.data, code.size, hashType, digest);
    }
  }

  bool isCached(const SignatureCache::Key& cacheKey) {
    if (!batch_.cache->contains(cacheKey, !batch_.cacheResults)) return false;
    ++*cacheHits_;
    return true;
  }

  bool matches(Item sig, Item key, Item code, bool isWitness) {
    uint8_t digest[32];
    hashFor(sig, code, isWitness, digest);
    // If the cache is empty and results are not cached (as in an import without a mempool), lookups are skipped to save
    // time.
    if (!batch_.cacheResults && batch_.cache->isUnused())
      return verifySignature(digest, sig.data, sig.size - 1, key.data, key.size);
    const SignatureCache::Key cacheKey =
        batch_.cache->keyOf(digest, sig.data, sig.size - 1, key.data, key.size);
    if (isCached(cacheKey)) return true;
    if (!verifySignature(digest, sig.data, sig.size - 1, key.data, key.size)) return false;
    if (batch_.cacheResults) batch_.cache->insert(cacheKey);
    return true;
  }

  VerifyBatch& batch_;
  const ParsedView& view_;
  const TxRow& tx_;
  TxMidstate* midstate_;
  const InputRow& input_;
  uint32_t inputIndex_;
  int64_t amount_;
  uint32_t flags_;
  uint32_t* cacheHits_;
};

// Returns false for combinations of flags that the interpreter rejects or does not define.
bool areUsableFlags(uint32_t flags) {
  if (flags & ~kKnownFlags) return false;
  if ((flags & kVerifyWitness) && !(flags & kVerifyP2sh)) return false;
  return !(flags & kVerifyCleanStack) || ((flags & kVerifyP2sh) && (flags & kVerifyWitness));
}

}  // namespace

bool verifyInput(VerifyBatch& batch, size_t tx, size_t input, uint32_t* cacheHits) {
  if (!areUsableFlags(batch.flags) || batch.status[input] != 0) return false;
  const Item spent = {batch.scripts + batch.scriptOffsets[input], batch.scriptLengths[input]};
  return InputCheck(batch, tx, input, cacheHits).run(spent);
}

}  // namespace lbc
