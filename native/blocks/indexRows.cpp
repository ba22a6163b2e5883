#include "blocks/indexRows.h"

#include <cstring>

#include "blocks/script.h"
#include "hash/hashes.h"
#include "hash/saltedHash.h"
#include "hash/sha256.h"

namespace lbc {

namespace {

// First bytes of database keys, by type of row. Source: PREFIX of src/store/rows/keys.ts.
constexpr uint8_t kTxIndex = 'X';
constexpr uint8_t kHistory = 'A';
constexpr uint8_t kUnspent = 'U';
constexpr uint8_t kTotals = 'S';

constexpr uint32_t kDeletedValue = UINT32_MAX;
constexpr size_t kHashSize = 20;
// Sizes of the transaction ids in keys of the transaction index, and of the wtxids in its values.
constexpr size_t kTxKeySize = 8;
constexpr size_t kWitnessCheckSize = 8;

void writeBE32(uint8_t* p, uint32_t v) {
  p[0] = static_cast<uint8_t>(v >> 24);
  p[1] = static_cast<uint8_t>(v >> 16);
  p[2] = static_cast<uint8_t>(v >> 8);
  p[3] = static_cast<uint8_t>(v);
}

// Appends space for a record to `records`. Returns the position of its key; the value follows directly.
uint8_t* addRecord(std::vector<uint8_t>* records, uint32_t keySize, uint32_t valueSize) {
  const size_t stored = valueSize == kDeletedValue ? 0 : valueSize;
  const size_t at = records->size();
  records->resize(at + 8 + keySize + stored);
  uint8_t* head = records->data() + at;
  writeLE32(head, keySize);
  writeLE32(head + 4, valueSize);
  return head + 8;
}

bool isPublicKey(const uint8_t* key, size_t size) {
  if (size == 33) return key[0] == 2 || key[0] == 3;
  return size == 65 && (key[0] == 4 || key[0] == 6 || key[0] == 7);
}

// Effect of the block on one script.
struct Script {
  uint8_t key[kScriptKeySize];
  int64_t received, spent;
  uint32_t txCount, outputCount, spentCount;
  // The last transaction that affected the script: its number plus 1, and its effect on the script.
  uint32_t tx;
  int64_t txReceived, txSpent;
};

class Walk {
 public:
  Walk(const ParsedView& view, const ResolvedView& spent, uint32_t height, std::vector<uint8_t>* out)
      : view_(view), spent_(spent), height_(height), out_(out), slots_(64, 0) {
    drawSalts(salt_);
    out->reserve(out->size() + (view.inputCount + view.outputCount) * 210);
  }

  // Returns the position of the first totals.
  size_t run() {
    for (size_t tx = 0; tx < view_.txCount; tx++) transaction(tx);
    const size_t totalsAt = out_->size();
    for (const Script& script : scripts_) {
      uint8_t* key = addRecord(out_, 1 + kScriptKeySize, kTotalsSize);
      key[0] = kTotals;
      memcpy(key + 1, script.key, kScriptKeySize);
      writeLE64(key + 17, static_cast<uint64_t>(script.received));
      writeLE64(key + 25, static_cast<uint64_t>(script.spent));
      writeLE32(key + 33, script.txCount);
      writeLE32(key + 37, script.outputCount);
      writeLE32(key + 41, script.spentCount);
    }
    return totalsAt;
  }

 private:
  void transaction(size_t number) {
    const TxRow& tx = view_.txs[number];
    touched_.clear();
    if (!tx.isCoinbase()) {
      for (uint32_t i = 0; i < tx.inputCount; i++) input(number, tx.firstInput + i);
    }
    for (uint32_t n = 0; n < tx.outputCount; n++) output(number, tx, n);
    for (const uint32_t at : touched_) {
      Script& script = scripts_[at];
      uint8_t* key = addRecord(out_, 1 + kScriptKeySize + 8, 48);
      key[0] = kHistory;
      memcpy(key + 1, script.key, kScriptKeySize);
      writeBE32(key + 17, height_);
      writeBE32(key + 21, static_cast<uint32_t>(number));
      memcpy(key + 25, view_.txid(number), 32);
      writeLE64(key + 57, static_cast<uint64_t>(script.txReceived));
      writeLE64(key + 65, static_cast<uint64_t>(script.txSpent));
      script.received += script.txReceived;
      script.spent += script.txSpent;
      script.txCount++;
    }
  }

  void input(size_t tx, uint32_t number) {
    uint8_t key[kScriptKeySize];
    const uint8_t* bytes = spent_.scripts + spent_.scriptOffsets[number];
    if (!scriptKeyOf(bytes, spent_.scriptLengths[number], key)) return;
    Script& script = find(key, tx);
    script.txSpent += spent_.amounts[number];
    script.spentCount++;
    unspent(key, spent_.heightCodes[number] >> 1, kDeletedValue, view_.prevout(number));
  }

  void output(size_t tx, const TxRow& row, uint32_t n) {
    uint8_t key[kScriptKeySize], outpoint[kOutpointSize];
    const OutputRow& output = view_.outputs[row.firstOutput + n];
    if (!scriptKeyOf(view_.outputScript(output), output.scriptLength, key)) return;
    const uint64_t amount = readLE64(view_.block + output.value);
    Script& script = find(key, tx);
    script.txReceived += static_cast<int64_t>(amount);
    script.outputCount++;
    memcpy(outpoint, view_.txid(tx), 32);
    writeLE32(outpoint + 32, n);
    writeLE64(unspent(key, height_, 8, outpoint), amount);
  }

  // Adds a row of an unspent output and returns the position of its value.
  uint8_t* unspent(const uint8_t* scriptKey, uint32_t height, uint32_t valueSize, const uint8_t* outpoint) {
    constexpr uint32_t size = 1 + kScriptKeySize + 4 + kOutpointSize;
    uint8_t* key = addRecord(out_, size, valueSize);
    key[0] = kUnspent;
    memcpy(key + 1, scriptKey, kScriptKeySize);
    writeBE32(key + 17, height);
    memcpy(key + 21, outpoint, kOutpointSize);
    return key + size;
  }

  // Returns the entry of the script, and marks it as used by transaction `tx`.
  Script& find(const uint8_t* key, size_t tx) {
    if (2 * (scripts_.size() + 1) > slots_.size()) grow();
    uint32_t* slot = slotOf(key);
    if (*slot == 0) {
      scripts_.push_back(Script());
      memcpy(scripts_.back().key, key, kScriptKeySize);
      *slot = static_cast<uint32_t>(scripts_.size());
    }
    Script& script = scripts_[*slot - 1];
    if (script.tx != tx + 1) {
      script.tx = static_cast<uint32_t>(tx + 1);
      script.txReceived = script.txSpent = 0;
      touched_.push_back(*slot - 1);
    }
    return script;
  }

  uint32_t* slotOf(const uint8_t* key) {
    const size_t mask = slots_.size() - 1;
    const uint64_t hash = fold(word(key) ^ salt_[0], word(key + 8) ^ salt_[1]);
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      if (slots_[i] == 0 || memcmp(scripts_[slots_[i] - 1].key, key, kScriptKeySize) == 0) return &slots_[i];
    }
  }

  void grow() {
    slots_.assign(slots_.size() * 2, 0);
    for (size_t i = 0; i < scripts_.size(); i++) *slotOf(scripts_[i].key) = static_cast<uint32_t>(i + 1);
  }

  const ParsedView& view_;
  const ResolvedView& spent_;
  const uint32_t height_;
  std::vector<uint8_t>* out_;
  // Scripts in the order in which the block first uses them.
  std::vector<Script> scripts_;
  // Hash table: position in `scripts_` plus 1.
  std::vector<uint32_t> slots_;
  // Positions of the scripts that the current transaction uses.
  std::vector<uint32_t> touched_;
  uint64_t salt_[2];
};

}  // namespace

bool scriptKeyOf(const uint8_t* script, size_t size, uint8_t* key) {
  const size_t prefix = claimPrefixLength(script, size);
  script += prefix;
  size -= prefix;
  if (size > 0 && script[0] == OP_RETURN) return false;
  uint8_t digest[32];
  const bool isKeyPush = size >= 2 && script[0] == size - 2 && script[size - 1] == OP_CHECKSIG;
  if (isKeyPush && isPublicKey(script + 1, size - 2)) {
    uint8_t payment[kHashSize + 5] = {OP_DUP, OP_HASH160, kHashSize};
    hash160(script + 1, size - 2, payment + 3);
    payment[kHashSize + 3] = OP_EQUALVERIFY;
    payment[kHashSize + 4] = OP_CHECKSIG;
    sha256(payment, sizeof payment, digest);
  } else {
    sha256(script, size, digest);
  }
  memcpy(key, digest, kScriptKeySize);
  return true;
}

size_t addressRows(const ParsedView& view, const ResolvedView& spent, uint32_t height, std::vector<uint8_t>* records) {
  return Walk(view, spent, height, records).run();
}

void addTotals(uint8_t* record, const uint8_t* stored) {
  uint8_t* value = record + kTotalsRecord - kTotalsSize;
  for (size_t at = 0; at < 16; at += 8) writeLE64(value + at, readLE64(value + at) + readLE64(stored + at));
  for (size_t at = 16; at < kTotalsSize; at += 4) writeLE32(value + at, readLE32(value + at) + readLE32(stored + at));
}

void txRows(const ParsedView& view, const uint8_t* wtxids, uint32_t height, std::vector<uint8_t>* records) {
  records->reserve(view.txCount * (8 + 1 + kTxKeySize + 8 + kWitnessCheckSize));
  for (size_t number = 0; number < view.txCount; number++) {
    const TxRow& tx = view.txs[number];
    constexpr uint32_t size = 1 + kTxKeySize + 8;
    uint8_t* key = addRecord(records, size, tx.hasWitness() ? kWitnessCheckSize : 0);
    key[0] = kTxIndex;
    memcpy(key + 1, view.txid(number), kTxKeySize);
    writeBE32(key + 1 + kTxKeySize, height);
    writeBE32(key + 5 + kTxKeySize, tx.start);
    if (tx.hasWitness()) memcpy(key + size, wtxids + 32 * number, kWitnessCheckSize);
  }
}

}  // namespace lbc
