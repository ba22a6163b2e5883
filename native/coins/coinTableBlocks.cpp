#include "coins/coinTableBlocks.h"

#include <cstring>

namespace lbc {

namespace {

// Prefetch distances: number of lookups between the prefetch of a bucket or an entry and its use.
constexpr size_t kBucketLead = 12;
constexpr size_t kEntryLead = 6;

CoinTable::Coin outputCoin(const ParsedView& view, const TxRow& tx, const OutputRow& output, uint32_t height) {
  CoinTable::Coin coin;
  coin.heightCode = height * 2 + (tx.isCoinbase() ? 1 : 0);
  coin.amount = static_cast<int64_t>(readLE64(view.block + output.value));
  coin.script = view.outputScript(output);
  coin.scriptLength = output.scriptLength;
  return coin;
}

bool isSpendable(const ParsedView& view, const OutputRow& output) {
  return !isUnspendable(view.outputScript(output), output.scriptLength);
}

// Hash table, by txid, of the block's transactions that were added so far.
class BlockTxs {
 public:
  BlockTxs(const CoinTable& table, const ParsedView& view) : view_(view) {
    size_t size = 16;
    while (size < view.txCount * 2) size *= 2;
    slots_.assign(size, 0);
    hashes_.resize(view.txCount);
    for (size_t i = 0; i < view.txCount; i++) hashes_[i] = table.hashTxid(view.txid(i));
  }

  uint64_t hash(size_t tx) const { return hashes_[tx]; }

  // A transaction replaces an earlier one with the same txid.
  void add(size_t tx) { *slot(hashes_[tx], view_.txid(tx)) = static_cast<uint32_t>(tx + 1); }

  // Returns the spendable output that `outpoint` names if an added transaction created it, else null.
  const OutputRow* find(const uint8_t* outpoint, uint64_t txidHash, size_t* tx) {
    const uint32_t found = *slot(txidHash, outpoint);
    if (found == 0) return nullptr;
    const TxRow& row = view_.txs[found - 1];
    const uint32_t index = readLE32(outpoint + 32);
    if (index >= row.outputCount) return nullptr;
    const OutputRow& output = view_.outputs[row.firstOutput + index];
    if (!isSpendable(view_, output)) return nullptr;
    *tx = found - 1;
    return &output;
  }

 private:
  uint32_t* slot(uint64_t hash, const uint8_t* txid) {
    const size_t mask = slots_.size() - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      if (slots_[i] == 0 || memcmp(view_.txid(slots_[i] - 1), txid, 32) == 0) return &slots_[i];
    }
  }

  const ParsedView& view_;
  std::vector<uint32_t> slots_;  // transaction number plus 1; 0 marks an empty slot
  std::vector<uint64_t> hashes_;
};

// Hashes of the txid and of the outpoint of each prevout. Index: number of the input within the block.
struct PrevoutHashes {
  std::vector<uint64_t> txids;
  std::vector<uint64_t> outpoints;

  PrevoutHashes(const CoinTable& table, const ParsedView& view)
      : txids(view.inputCount), outpoints(view.inputCount) {
    for (size_t i = 0; i < view.inputCount; i++) {
      const uint8_t* prevout = view.prevout(i);
      txids[i] = table.hashTxid(prevout);
      outpoints[i] = table.hashOutput(txids[i], readLE32(prevout + 32));
    }
  }

  void prefetch(const CoinTable& table, size_t input) const {
    if (input + kBucketLead < outpoints.size()) table.prefetchBucket(outpoints[input + kBucketLead]);
    if (input + kEntryLead < outpoints.size()) table.prefetchEntry(outpoints[input + kEntryLead]);
  }
};

// Prefetches the table entries of outputs that follow `output` in the same transaction.
void prefetchOutputs(const CoinTable& table, uint64_t txidHash, uint32_t output, uint32_t outputCount) {
  if (output + kBucketLead < outputCount) {
    table.prefetchBucket(table.hashOutput(txidHash, static_cast<uint32_t>(output + kBucketLead)));
  }
  if (output + kEntryLead < outputCount) {
    table.prefetchEntry(table.hashOutput(txidHash, static_cast<uint32_t>(output + kEntryLead)));
  }
}

void makeOutpoint(const uint8_t* txid, uint32_t index, uint8_t* out) {
  memcpy(out, txid, 32);
  writeLE32(out + 32, index);
}

// List of distinct outpoints in the order of their first insertion.
class OutpointList {
 public:
  OutpointList(std::vector<uint8_t>* out) : out_(out), slots_(64, 0) {}

  void add(const uint8_t* outpoint, uint64_t hash) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    uint32_t* slot = find(outpoint, hash);
    if (*slot != 0) return;
    out_->insert(out_->end(), outpoint, outpoint + kOutpointSize);
    hashes_.push_back(hash);
    *slot = static_cast<uint32_t>(++count_);
  }

 private:
  uint32_t* find(const uint8_t* outpoint, uint64_t hash) {
    const size_t mask = slots_.size() - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      if (slots_[i] == 0 || memcmp(out_->data() + kOutpointSize * (slots_[i] - 1), outpoint, kOutpointSize) == 0) {
        return &slots_[i];
      }
    }
  }

  void grow() {
    slots_.assign(slots_.size() * 2, 0);
    for (size_t i = 0; i < count_; i++) {
      *find(out_->data() + kOutpointSize * i, hashes_[i]) = static_cast<uint32_t>(i + 1);
    }
  }

  std::vector<uint8_t>* out_;
  std::vector<uint32_t> slots_;  // position in the list plus 1
  std::vector<uint64_t> hashes_;
  size_t count_ = 0;
};

}  // namespace

void findMissing(CoinTable& table, const ParsedView& view, bool checkOutputs, std::vector<uint8_t>* out) {
  BlockTxs blockTxs(table, view);
  const PrevoutHashes hashes(table, view);
  OutpointList wanted(out);
  auto want = [&](const uint8_t* outpoint, uint64_t hash) {
    const uint32_t slot = table.find(outpoint, hash);
    if (slot == kNoEntry) {
      wanted.add(outpoint, hash);
    } else {
      table.at(slot).flags |= CoinTable::kRecent;
    }
  };
  for (size_t t = 0; t < view.txCount; t++) {
    const TxRow& tx = view.txs[t];
    for (size_t i = tx.firstInput; i < tx.firstInput + tx.inputCount && !tx.isCoinbase(); i++) {
      hashes.prefetch(table, i);
      size_t creator;
      if (!blockTxs.find(view.prevout(i), hashes.txids[i], &creator)) want(view.prevout(i), hashes.outpoints[i]);
    }
    for (uint32_t o = 0; o < tx.outputCount && checkOutputs; o++) {
      prefetchOutputs(table, blockTxs.hash(t), o, tx.outputCount);
      uint8_t outpoint[kOutpointSize];
      makeOutpoint(view.txid(t), o, outpoint);
      want(outpoint, table.hashOutput(blockTxs.hash(t), o));
    }
    blockTxs.add(t);
  }
}

void resolveInputs(CoinTable& table, const ParsedView& view, uint32_t height, bool checkOutputs,
                   const ResolvedColumns& columns, std::vector<uint8_t>* scripts,
                   std::vector<uint32_t>* duplicates) {
  BlockTxs blockTxs(table, view);
  const PrevoutHashes hashes(table, view);
  std::vector<bool> spentOutputs(view.outputCount);
  std::vector<uint32_t> marked;
  for (size_t t = 0; t < view.txCount; t++) {
    const TxRow& tx = view.txs[t];
    for (size_t i = tx.firstInput; i < tx.firstInput + tx.inputCount && !tx.isCoinbase(); i++) {
      hashes.prefetch(table, i);
      const size_t scriptAt = scripts->size();
      size_t creator;
      const OutputRow* output = blockTxs.find(view.prevout(i), hashes.txids[i], &creator);
      if (output) {
        const size_t number = static_cast<size_t>(output - view.outputs);
        if (spentOutputs[number]) {
          columns.status[i] = 1;
          continue;
        }
        spentOutputs[number] = true;
        const CoinTable::Coin coin = outputCoin(view, view.txs[creator], *output, height);
        columns.heightCodes[i] = coin.heightCode;
        columns.amounts[i] = coin.amount;
        scripts->insert(scripts->end(), coin.script, coin.script + coin.scriptLength);
      } else {
        const uint32_t slot = table.find(view.prevout(i), hashes.outpoints[i]);
        if (slot == kNoEntry || !table.at(slot).live() || (table.at(slot).flags & CoinTable::kMarked)) {
          columns.status[i] = 1;
          continue;
        }
        CoinTable::Entry& entry = table.at(slot);
        entry.flags |= CoinTable::kMarked;
        marked.push_back(slot);
        columns.heightCodes[i] = entry.heightCode;
        columns.amounts[i] = entry.amountValue();
        scripts->resize(scriptAt + entry.scriptLength);
        entry.copyScript(scripts->data() + scriptAt);
      }
      const size_t length = scripts->size() - scriptAt;
      columns.scriptOffsets[i] = static_cast<uint32_t>(scriptAt);
      columns.scriptLengths[i] = static_cast<uint32_t>(length);
      columns.claimKinds[i] = claimKind(scripts->data() + scriptAt, length);
    }
    for (uint32_t o = 0; o < tx.outputCount && checkOutputs; o++) {
      prefetchOutputs(table, blockTxs.hash(t), o, tx.outputCount);
      uint8_t outpoint[kOutpointSize];
      makeOutpoint(view.txid(t), o, outpoint);
      const uint32_t slot = table.find(outpoint, table.hashOutput(blockTxs.hash(t), o));
      if (slot != kNoEntry && table.at(slot).live()) {
        duplicates->push_back(static_cast<uint32_t>(t));
        break;
      }
    }
    blockTxs.add(t);
  }
  for (uint32_t slot : marked) table.at(slot).flags &= static_cast<uint8_t>(~CoinTable::kMarked);
}

const char* applyBlock(CoinTable& table, const ParsedView& view, uint32_t height) {
  const PrevoutHashes hashes(table, view);
  for (size_t t = 0; t < view.txCount; t++) {
    const TxRow& tx = view.txs[t];
    for (size_t i = tx.firstInput; i < tx.firstInput + tx.inputCount && !tx.isCoinbase(); i++) {
      hashes.prefetch(table, i);
      const uint32_t slot = table.find(view.prevout(i), hashes.outpoints[i]);
      if (slot == kNoEntry || !table.at(slot).live()) return "applying a block whose coins are not there";
      table.spend(slot);
    }
    const uint64_t txidHash = table.hashTxid(view.txid(t));
    for (uint32_t o = 0; o < tx.outputCount; o++) {
      prefetchOutputs(table, txidHash, o, tx.outputCount);
      const OutputRow& output = view.outputs[tx.firstOutput + o];
      if (!isSpendable(view, output)) continue;
      uint8_t outpoint[kOutpointSize];
      makeOutpoint(view.txid(t), o, outpoint);
      // Before BIP34 a coinbase may have the txid of an earlier coinbase and overwrite its coins.
      if (!table.add(outpoint, table.hashOutput(txidHash, o), outputCoin(view, tx, output, height),
                     tx.isCoinbase())) {
        return "a new coin replaces an unspent one";
      }
    }
  }
  return nullptr;
}

namespace {

// Whether the entry equals the coin that the block created.
bool sameCoin(const CoinTable::Entry& entry, const CoinTable::Coin& coin) {
  if (entry.heightCode != coin.heightCode || entry.amountValue() != coin.amount ||
      entry.scriptLength != coin.scriptLength) {
    return false;
  }
  std::vector<uint8_t> script(entry.scriptLength);
  entry.copyScript(script.data());
  return coin.scriptLength == 0 || memcmp(script.data(), coin.script, coin.scriptLength) == 0;
}

// Finds the start of each record of the blob; false when the blob does not parse to its end.
bool splitUndo(const uint8_t* undo, size_t size, std::vector<size_t>* records) {
  for (size_t at = 0; at < size;) {
    if (size - at < kUndoHeader) return false;
    const size_t length = readLE32(undo + at + 12);
    if (size - at - kUndoHeader < length) return false;
    records->push_back(at);
    at += kUndoHeader + length;
  }
  return true;
}

}  // namespace

const char* revertBlock(CoinTable& table, const ParsedView& view, const uint8_t* undo, size_t undoSize,
                        uint32_t height, bool* clean) {
  std::vector<size_t> records;
  if (!splitUndo(undo, undoSize, &records)) return "undo data ends within a record";
  *clean = true;
  for (size_t t = view.txCount; t-- > 0;) {
    const TxRow& tx = view.txs[t];
    const uint64_t txidHash = table.hashTxid(view.txid(t));
    for (uint32_t o = 0; o < tx.outputCount; o++) {
      const OutputRow& output = view.outputs[tx.firstOutput + o];
      if (!isSpendable(view, output)) continue;
      uint8_t outpoint[kOutpointSize];
      makeOutpoint(view.txid(t), o, outpoint);
      const uint32_t slot = table.find(outpoint, table.hashOutput(txidHash, o));
      if (slot == kNoEntry) return "disconnecting a block whose outputs were not loaded";
      if (!table.at(slot).live()) {
        *clean = false;
        continue;
      }
      if (!sameCoin(table.at(slot), outputCoin(view, tx, output, height))) *clean = false;
      table.spend(slot);
    }
    if (tx.isCoinbase()) continue;
    for (size_t i = tx.firstInput + tx.inputCount; i-- > tx.firstInput;) {
      if (records.empty()) return "undo data has fewer coins than the block spends";
      const uint8_t* record = undo + records.back();
      records.pop_back();
      CoinTable::Coin coin;
      coin.heightCode = readLE32(record);
      coin.amount = static_cast<int64_t>(readLE64(record + 4));
      coin.scriptLength = readLE32(record + 12);
      coin.script = record + kUndoHeader;
      const uint64_t hash = table.hashOutpoint(view.prevout(i));
      const uint32_t slot = table.find(view.prevout(i), hash);
      if (slot == kNoEntry) return "disconnecting a block whose inputs were not loaded";
      const bool existed = table.at(slot).live();
      if (existed) *clean = false;
      if (!isUnspendable(coin.script, coin.scriptLength)) table.add(view.prevout(i), hash, coin, existed);
    }
  }
  return records.empty() ? nullptr : "undo data has more coins than the block spends";
}

}  // namespace lbc
