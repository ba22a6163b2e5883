#include "verify/sighash.h"

#include <cstring>
#include <thread>

#include "hash/sha256.h"

namespace lbc {

namespace {

void writeU32(Sha256& hash, uint32_t value) {
  uint8_t bytes[4];
  writeLE32(bytes, value);
  hash.write(bytes, sizeof bytes);
}

void writeCompactSize(Sha256& hash, uint64_t value) {
  uint8_t bytes[5];
  if (value < 253) {
    bytes[0] = static_cast<uint8_t>(value);
    hash.write(bytes, 1);
  } else if (value <= 0xffff) {
    bytes[0] = 253;
    bytes[1] = static_cast<uint8_t>(value);
    bytes[2] = static_cast<uint8_t>(value >> 8);
    hash.write(bytes, 3);
  } else {
    bytes[0] = 254;
    writeLE32(bytes + 1, static_cast<uint32_t>(value));
    hash.write(bytes, 5);
  }
}

// Hashes the outputs from `first` (inclusive) to `end` (exclusive). In the block the outputs have the bytes that must be
// hashed.
void writeOutputs(Sha256& hash, const ParsedView& view, const TxRow& tx, uint32_t first, uint32_t end) {
  if (first >= end) return;
  const uint32_t from = view.outputs[tx.firstOutput + first].value;
  const OutputRow& last = view.outputs[tx.firstOutput + end - 1];
  const uint32_t to = last.script + last.scriptLength;
  if (to > from) hash.write(view.block + from, to - from);
}

void computeMidstate(const ParsedView& view, const TxRow& tx, TxMidstate::Hashes* out) {
  Sha256 prevouts, sequences, outputs;
  for (uint32_t i = 0; i < tx.inputCount; i++) {
    prevouts.write(view.prevout(tx.firstInput + i), kOutpointSize);
    writeU32(sequences, view.inputs[tx.firstInput + i].sequence);
  }
  writeOutputs(outputs, view, tx, 0, tx.outputCount);
  finishDouble(prevouts, out->prevouts);
  finishDouble(sequences, out->sequences);
  finishDouble(outputs, out->outputs);
}

}  // namespace

const TxMidstate::Hashes& TxMidstate::get(const ParsedView& view, const TxRow& tx) {
  uint8_t expected = 0;
  if (state_.load(std::memory_order_acquire) == 2) return hashes_;
  if (state_.compare_exchange_strong(expected, 1)) {
    computeMidstate(view, tx, &hashes_);
    state_.store(2, std::memory_order_release);
  } else {
    while (state_.load(std::memory_order_acquire) != 2) std::this_thread::yield();
  }
  return hashes_;
}

void legacySighash(const ParsedView& view, const TxRow& tx, uint32_t inputIndex, const uint8_t* scriptCode,
                   size_t scriptCodeSize, uint32_t hashType, uint8_t* digest) {
  const bool anyoneCanPay = hashType & kSighashAnyoneCanPay;
  const bool single = (hashType & 0x1f) == kSighashSingle;
  const bool none = (hashType & 0x1f) == kSighashNone;
  if (single && inputIndex >= tx.outputCount) {
    memset(digest, 0, 32);
    digest[0] = 1;
    return;
  }
  static const uint8_t kBlankOutput[9] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0};
  static const uint8_t kEmptyScript[1] = {0};

  Sha256 hash;
  writeU32(hash, tx.version);
  writeCompactSize(hash, anyoneCanPay ? 1 : tx.inputCount);
  for (uint32_t i = anyoneCanPay ? inputIndex : 0; i < tx.inputCount; i++) {
    hash.write(view.prevout(tx.firstInput + i), kOutpointSize);
    if (i == inputIndex) {
      writeCompactSize(hash, scriptCodeSize);
      hash.write(scriptCode, scriptCodeSize);
    } else {
      hash.write(kEmptyScript, 1);
    }
    // With SIGHASH_NONE and SIGHASH_SINGLE the sequence numbers of the other inputs are not signed.
    const bool fixed = i == inputIndex || !(single || none);
    writeU32(hash, fixed ? view.inputs[tx.firstInput + i].sequence : 0);
    if (anyoneCanPay) break;
  }
  if (none) {
    writeCompactSize(hash, 0);
  } else if (single) {
    writeCompactSize(hash, inputIndex + 1);
    for (uint32_t i = 0; i < inputIndex; i++) hash.write(kBlankOutput, sizeof kBlankOutput);
    writeOutputs(hash, view, tx, inputIndex, inputIndex + 1);
  } else {
    writeCompactSize(hash, tx.outputCount);
    writeOutputs(hash, view, tx, 0, tx.outputCount);
  }
  writeU32(hash, tx.lockTime);
  writeU32(hash, hashType);
  finishDouble(hash, digest);
}

void witnessSighash(const ParsedView& view, const TxRow& tx, TxMidstate* midstate, uint32_t inputIndex,
                    const uint8_t* scriptCode, size_t scriptCodeSize, int64_t amount, uint32_t hashType,
                    uint8_t* digest) {
  static const uint8_t kZero[32] = {};
  const bool anyoneCanPay = hashType & kSighashAnyoneCanPay;
  const bool single = (hashType & 0x1f) == kSighashSingle;
  const bool none = (hashType & 0x1f) == kSighashNone;
  const TxMidstate::Hashes& common = midstate->get(view, tx);

  uint8_t ownOutput[32] = {};
  if (single && inputIndex < tx.outputCount) {
    Sha256 output;
    writeOutputs(output, view, tx, inputIndex, inputIndex + 1);
    finishDouble(output, ownOutput);
  }
  uint8_t amountBytes[8];
  writeLE64(amountBytes, static_cast<uint64_t>(amount));

  Sha256 hash;
  writeU32(hash, tx.version);
  hash.write(anyoneCanPay ? kZero : common.prevouts, 32);
  hash.write(anyoneCanPay || single || none ? kZero : common.sequences, 32);
  hash.write(view.prevout(tx.firstInput + inputIndex), kOutpointSize);
  writeCompactSize(hash, scriptCodeSize);
  hash.write(scriptCode, scriptCodeSize);
  hash.write(amountBytes, sizeof amountBytes);
  writeU32(hash, view.inputs[tx.firstInput + inputIndex].sequence);
  hash.write(single ? ownOutput : none ? kZero : common.outputs, 32);
  writeU32(hash, tx.lockTime);
  writeU32(hash, hashType);
  finishDouble(hash, digest);
}

}  // namespace lbc
