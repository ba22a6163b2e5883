// Signature hashes, computed directly from the bytes of a block. Source: Core `SignatureHash`, BIP143.
#pragma once

#include <atomic>
#include <cstdint>

#include "blocks/parse.h"

namespace lbc {

constexpr uint32_t kSighashAll = 1;
constexpr uint32_t kSighashNone = 2;
constexpr uint32_t kSighashSingle = 3;
constexpr uint32_t kSighashAnyoneCanPay = 0x80;

// Hashes that all witness inputs of a transaction share. The first thread that needs them computes them.
class TxMidstate {
 public:
  struct Hashes {
    uint8_t prevouts[32];
    uint8_t sequences[32];
    uint8_t outputs[32];
  };

  const Hashes& get(const ParsedView& view, const TxRow& tx);

 private:
  std::atomic<uint8_t> state_{0};  // 0: not started; 1: in progress; 2: done
  Hashes hashes_;
};

// The digest of legacy inputs. `inputIndex` counts within the transaction. `scriptCode` must contain no OP_CODESEPARATOR
// and no copy of the signature (the callers remove them). QUIRK: SIGHASH_SINGLE without a matching output gives the number
// one. Test: test/differential/sighash.test.ts.
void legacySighash(const ParsedView& view, const TxRow& tx, uint32_t inputIndex, const uint8_t* scriptCode,
                   size_t scriptCodeSize, uint32_t hashType, uint8_t* digest);

// Computes the digest for version 0 witness inputs (BIP143).
void witnessSighash(const ParsedView& view, const TxRow& tx, TxMidstate* midstate, uint32_t inputIndex,
                    const uint8_t* scriptCode, size_t scriptCodeSize, int64_t amount, uint32_t hashType,
                    uint8_t* digest);

}  // namespace lbc
