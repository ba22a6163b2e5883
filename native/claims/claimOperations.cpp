#include "claims/claimOperations.h"

#include "blocks/script.h"

namespace lbc {

namespace {

// Number of bytes of an operation without its name, and of a transaction without its operations.
constexpr size_t kOperationHead = 2 + 8 + kClaimIdSize + 4;
constexpr size_t kTransactionHead = 4 + kTxidSize + 4 + 4;

class Cursor {
 public:
  explicit Cursor(const Span& bytes) : at_(bytes.data), end_(bytes.data + bytes.size) {}
  bool isDone() const { return at_ == end_; }
  bool has(size_t size) const { return size <= static_cast<size_t>(end_ - at_); }
  const uint8_t* take(size_t size) {
    at_ += size;
    return at_ - size;
  }
  uint32_t u32() { return readLE32(take(4)); }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

bool readOperation(Cursor* in, ClaimOperation* operation) {
  if (!in->has(kOperationHead)) return false;
  operation->kind = *in->take(1);
  operation->hasMetadata = *in->take(1) != 0;
  operation->amount = readLE64(in->take(8));
  memcpy(operation->claimId.data(), in->take(kClaimIdSize), kClaimIdSize);
  const size_t size = in->u32();
  if (operation->kind > kSupport || !in->has(size)) return false;
  operation->name.assign(reinterpret_cast<const char*>(in->take(size)), size);
  return true;
}

void setIndex(Point* point, uint32_t n) {
  for (size_t i = 0; i < 4; i++) (*point)[kTxidSize + i] = static_cast<uint8_t>(n >> (24 - 8 * i));
}

bool readTransaction(Cursor* in, ClaimTransaction* transaction) {
  if (!in->has(kTransactionHead)) return false;
  transaction->txOffset = in->u32();
  const uint8_t* txid = in->take(kTxidSize);
  const uint32_t spendCount = in->u32();
  const uint32_t outputCount = in->u32();
  for (uint32_t i = 0; i < spendCount; i++) {
    ClaimOperation spend;
    if (!in->has(kPointSize + 4)) return false;
    memcpy(spend.point.data(), in->take(kPointSize), kPointSize);
    spend.coinHeight = in->u32();
    if (!readOperation(in, &spend)) return false;
    transaction->spends.push_back(std::move(spend));
  }
  for (uint32_t i = 0; i < outputCount; i++) {
    ClaimOperation output;
    if (!in->has(4)) return false;
    memcpy(output.point.data(), txid, kTxidSize);
    setIndex(&output.point, in->u32());
    if (!readOperation(in, &output)) return false;
    if (output.kind == kNewClaim) output.claimId = claimIdAt(output.point);
    transaction->outputs.push_back(std::move(output));
  }
  return true;
}

void put(std::vector<uint8_t>* out, const void* data, size_t size) {
  const uint8_t* bytes = static_cast<const uint8_t*>(data);
  out->insert(out->end(), bytes, bytes + size);
}

void put32(std::vector<uint8_t>* out, uint32_t value) {
  uint8_t bytes[4];
  writeLE32(bytes, value);
  put(out, bytes, sizeof bytes);
}

// Appends the operation of a script with a complete claim prefix. `claimId` is the id of a new claim.
void putOperation(std::vector<uint8_t>* out, const uint8_t* script, size_t size, uint64_t amount, const uint8_t* claimId) {
  const uint8_t* at = script + 1;
  const uint8_t* end = script + size;
  Operation name, second, third;
  nextOperation(at, end, &name);
  nextOperation(at, end, &second);
  const bool isClaim = script[0] == OP_CLAIM_NAME;
  const bool isSupport = script[0] == OP_SUPPORT_CLAIM;
  const bool hasMetadata = isSupport && nextOperation(at, end, &third) && third.opcode <= OP_PUSHDATA4;
  out->push_back(isClaim ? kNewClaim : isSupport ? kSupport : kUpdate);
  out->push_back(hasMetadata ? 1 : 0);
  uint8_t bytes[8];
  writeLE64(bytes, amount);
  put(out, bytes, sizeof bytes);
  put(out, isClaim ? claimId : second.data, kClaimIdSize);
  put32(out, static_cast<uint32_t>(name.size));
  if (name.size > 0) put(out, name.data, name.size);
}

void putSpend(std::vector<uint8_t>* out, const ParsedView& block, const ResolvedView& spent, size_t input) {
  Point point;
  const uint8_t* prevout = block.prevout(input);
  memcpy(point.data(), prevout, kTxidSize);
  setIndex(&point, readLE32(prevout + kTxidSize));
  put(out, point.data(), point.size());
  put32(out, spent.heightCodes[input] >> 1);
  const uint8_t* script = spent.scripts + spent.scriptOffsets[input];
  const ClaimId id = script[0] == OP_CLAIM_NAME ? claimIdAt(point) : ClaimId{};
  putOperation(out, script, spent.scriptLengths[input], static_cast<uint64_t>(spent.amounts[input]), id.data());
}

}  // namespace

bool readClaimOperations(const Span& packed, std::vector<ClaimTransaction>* transactions) {
  Cursor in(packed);
  while (!in.isDone()) {
    transactions->emplace_back();
    if (!readTransaction(&in, &transactions->back())) return false;
  }
  return true;
}

void packClaimOperations(const ParsedView& block, const ResolvedView& spent, std::vector<uint8_t>* packed) {
  constexpr ClaimId kNoId = {};
  for (size_t number = 0; number < block.txCount; number++) {
    const TxRow& tx = block.txs[number];
    if (tx.isCoinbase()) continue;
    const size_t start = packed->size();
    uint32_t spends = 0, outputs = 0;
    put32(packed, tx.start);
    put(packed, block.txid(number), kTxidSize);
    put32(packed, 0);
    put32(packed, 0);
    for (size_t input = tx.firstInput; input < tx.firstInput + tx.inputCount; input++) {
      if (claimKind(spent.scripts + spent.scriptOffsets[input], spent.scriptLengths[input]) == 0) continue;
      putSpend(packed, block, spent, input);
      spends++;
    }
    for (uint32_t n = 0; tx.claimOutputs > 0 && n < tx.outputCount; n++) {
      const OutputRow& output = block.outputs[tx.firstOutput + n];
      if (output.claimKind == 0) continue;
      put32(packed, n);
      putOperation(packed, block.outputScript(output), output.scriptLength, readLE64(block.block + output.value), kNoId.data());
      outputs++;
    }
    if (spends + outputs == 0) packed->resize(start);
    else writeLE32(packed->data() + start + 4 + kTxidSize, spends), writeLE32(packed->data() + start + 8 + kTxidSize, outputs);
  }
}

}  // namespace lbc
