// Scans blocks for transactions that may concern a wallet. Fallback: src/chain/blocks/paymentScan.ts.
#include <memory>
#include <string>
#include <vector>

#include "blocks/parse.h"
#include "blocks/script.h"
#include "hash/hashes.h"
#include "hash/sha256.h"
#include "napi/addon.h"
#include "napi/job.h"

namespace lbc {

namespace {

constexpr size_t kIdSize = 32;
// Offset of the merkle root in a block header, after the version and the parent hash.
constexpr size_t kMerkleRootAt = 36;
// Beginning of the output script of a witness commitment (BIP141): OP_RETURN, the length 36, and a mark of four bytes.
constexpr uint8_t kCommitmentHead[6] = {0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed};
constexpr size_t kCommitmentSize = 38;
// Size of the witness of a coinbase with a reserved value: item count 1, item length 32, and 32 bytes.
constexpr size_t kReservedStackSize = 34;

// Bit array of a `PrefixFilter` (src/util/prefixFilter.ts).
class Filter {
 public:
  Filter(const uint32_t* words, size_t count) : words_(words, words + count), mask_(static_cast<uint32_t>(count * 32 - 1)) {}

  bool mayHave(const uint8_t* hash) const {
    for (int probe = 0; probe < kProbes; probe++) {
      const uint32_t bit = readLE32(hash + 4 * probe) & mask_;
      if ((words_[bit >> 5] & (1u << (bit & 31))) == 0) return false;
    }
    return true;
  }

  void add(const uint8_t* hash) {
    for (int probe = 0; probe < kProbes; probe++) {
      const uint32_t bit = readLE32(hash + 4 * probe) & mask_;
      words_[bit >> 5] |= 1u << (bit & 31);
    }
  }

 private:
  static constexpr int kProbes = 3;
  std::vector<uint32_t> words_;
  uint32_t mask_;
};

// Transactions that the wallet already knows, with their positions in blocks. The scan skips a transaction at its known
// position (`SettledTxs` of src/wallet/port.ts). The number of hash slots is a power of two (src/util/hashSlots.ts).
// `kinds` is a copy.
struct Settled {
  const int32_t* slots = nullptr;
  size_t slotCount = 0;
  const uint8_t* ids = nullptr;
  const uint32_t* places = nullptr;
  const uint32_t* blockOf = nullptr;
  Span blocks = {nullptr, 0};
  std::vector<uint8_t> kinds;

  // Whether the transaction is known at position `place` of this block.
  bool has(const uint8_t* txid, const uint8_t* block, size_t place, bool hasWitness) const {
    if (slotCount == 0) return false;
    const size_t mask = slotCount - 1;
    size_t slot = readLE32(txid) & mask;
    for (size_t tries = 0; tries < slotCount && slots[slot] != 0; tries++, slot = (slot + 1) & mask) {
      const size_t row = static_cast<size_t>(slots[slot]) - 1;
      if (row >= kinds.size() || memcmp(ids + kIdSize * row, txid, kIdSize) != 0) continue;
      if (kinds[row] < (hasWitness ? kWithWitness : kWithoutWitness) || places[row] != place) return false;
      const size_t at = kIdSize * static_cast<size_t>(blockOf[row]);
      return at + kIdSize <= blocks.size && memcmp(blocks.data + at, block, kIdSize) == 0;
    }
    return false;
  }

 private:
  static constexpr uint8_t kWithoutWitness = 1;
  static constexpr uint8_t kWithWitness = 2;
};

// Blocks to scan (each a range of `bytes`) and search terms. The filters are copies.
struct Scan {
  Span bytes;
  const uint32_t* places;
  size_t count;
  const uint8_t* ids;
  uint32_t segwitFrom;
  Filter scripts;
  Filter txids;
  Settled settled;
};

// Whether the filter may contain the key id or script id to which the output script pays. Fallback: `couldBeMine` of
// src/wallet/keys/scriptFilter.ts.
bool mayPayTo(const Filter& ids, const uint8_t* script, size_t size) {
  for (size_t prefix; (prefix = claimPrefixLength(script, size)) > 0;) {
    script += prefix;
    size -= prefix;
  }
  uint8_t id[20];
  switch (size) {
    case 25:
      return script[0] == OP_DUP && script[1] == OP_HASH160 && script[2] == 20 && ids.mayHave(script + 3);
    case 23:
      return script[0] == OP_HASH160 && script[1] == 20 && ids.mayHave(script + 2);
    case 22:
      return script[0] == 0 && script[1] == 20 && ids.mayHave(script + 2);
    case 34:
      if (script[0] != 0 || script[1] != 32) return false;
      ripemd160Short(script + 2, 32, id);
      return ids.mayHave(id);
    case 35:
    case 67:
      if (script[0] != size - 2 || script[size - 1] != OP_CHECKSIG) return false;
      hash160(script + 1, size - 2, id);
      return ids.mayHave(id);
    default:
      return false;
  }
}

// Whether the block's witnesses match the commitment in its coinbase. Source: `ContextualCheckBlock`.
bool hasRightWitnesses(const uint8_t* block, const ParsedTables& tables, const ParsedSummary& summary, bool isSegwit) {
  const TxRow& coinbase = tables.txs[0];
  if (coinbase.inputCount == 0) return false;
  for (uint32_t n = coinbase.outputCount; isSegwit && n-- > 0;) {
    const OutputRow& output = tables.outputs[coinbase.firstOutput + n];
    const uint8_t* script = block + output.script;
    if (output.scriptLength < kCommitmentSize || memcmp(script, kCommitmentHead, sizeof kCommitmentHead) != 0) continue;
    const InputRow& input = tables.inputs[coinbase.firstInput];
    const uint8_t* stack = block + input.witness;
    if (input.witnessEnd - input.witness != kReservedStackSize || stack[0] != 1 || stack[1] != 32) return false;
    uint8_t pair[64], committed[32];
    memcpy(pair, summary.witnessRoot, 32);
    memcpy(pair + 32, stack + 2, 32);
    sha256d(pair, sizeof pair, committed);
    return memcmp(committed, script + sizeof kCommitmentHead, sizeof committed) == 0;
  }
  for (const TxRow& tx : tables.txs) {
    if (tx.hasWitness()) return false;
  }
  return true;
}

// Whether the bytes are the block with this id in canonical serialization.
bool isBlock(const Span& block, const uint8_t* id, bool isSegwit, ParsedTables* tables) {
  ParsedSummary summary;
  uint8_t hash[kIdSize];
  if (block.size < kHeaderSize) return false;
  sha256d(block.data, kHeaderSize, hash);
  if (memcmp(hash, id, kIdSize) != 0 || !parse(block, true, tables, &summary).empty()) return false;
  if (tables->txs.empty() || summary.consumed != block.size || tables->size != block.size) return false;
  if (summary.isMutated || memcmp(summary.root, block.data + kMerkleRootAt, sizeof summary.root) != 0) return false;
  return hasRightWitnesses(block.data, *tables, summary, isSegwit);
}

bool mayConcern(Scan& scan, const uint8_t* block, const ParsedTables& tables, size_t index) {
  const TxRow& tx = tables.txs[index];
  if (scan.txids.mayHave(tables.txids.data() + kIdSize * index)) return true;
  for (uint32_t n = 0; n < tx.outputCount; n++) {
    const OutputRow& output = tables.outputs[tx.firstOutput + n];
    if (mayPayTo(scan.scripts, block + output.script, output.scriptLength)) return true;
  }
  for (uint32_t n = 0; n < tx.inputCount && !tx.isCoinbase(); n++) {
    if (scan.txids.mayHave(block + tables.inputs[tx.firstInput + n].prevout)) return true;
  }
  return false;
}

// Scans the blocks and writes the result of `scanPayments` to `out`.
void look(Scan& scan, ParsedTables* tables, std::vector<uint32_t>* out) {
  out->assign(1, 0);
  for (size_t n = 0; n < scan.count; n++) {
    const uint32_t start = scan.places[2 * n], end = scan.places[2 * n + 1];
    const Span block = {scan.bytes.data + start, end - start};
    if (!isBlock(block, scan.ids + kIdSize * n, n >= scan.segwitFrom, tables)) break;
    for (size_t index = 0; index < tables->txs.size(); index++) {
      const TxRow& tx = tables->txs[index];
      const uint8_t* txid = tables->txids.data() + kIdSize * index;
      if (!mayConcern(scan, block.data, *tables, index)) continue;
      if (scan.settled.has(txid, scan.ids + kIdSize * n, index, tx.hasWitness())) continue;
      // A later transaction in these blocks may spend outputs of this transaction, so its id is added to the searched ids.
      scan.txids.add(txid);
      const uint32_t row[] = {static_cast<uint32_t>(n), static_cast<uint32_t>(index), tx.start, tx.end, tx.flags};
      out->insert(out->end(), row, row + 5);
      for (size_t word = 0; word < kIdSize / 4; word++) out->push_back(readLE32(txid + 4 * word));
    }
    (*out)[0]++;
  }
}

bool readWords(napi_env env, napi_value value, const char* what, const uint32_t** words, size_t* count) {
  napi_typedarray_type type;
  void* data;
  if (napi_get_typedarray_info(env, value, &type, count, &data, nullptr, nullptr) != napi_ok || type != napi_uint32_array) {
    throwTypeError(env, (std::string(what) + " must be a Uint32Array").c_str());
    return false;
  }
  *words = static_cast<const uint32_t*>(data);
  return true;
}

bool readMember(napi_env env, napi_value object, const char* name, napi_typedarray_type wanted, const void** data, size_t* count) {
  napi_value value;
  napi_typedarray_type type;
  void* found;
  if (napi_get_named_property(env, object, name, &value) == napi_ok &&
      napi_get_typedarray_info(env, value, &type, count, &found, nullptr, nullptr) == napi_ok && type == wanted) {
    *data = found;
    return true;
  }
  throwTypeError(env, (std::string("settled.") + name + " has another type").c_str());
  return false;
}

// Reads `SettledTxs`; null means no transactions. Returns false when the sizes of the arrays are inconsistent.
bool readSettled(napi_env env, napi_value value, Settled* settled) {
  napi_valuetype type;
  napi_typeof(env, value, &type);
  if (type == napi_null) return true;
  const void *slots, *ids, *places, *blockOf, *blocks, *kinds;
  size_t slotCount, idBytes, placeCount, blockOfCount, blockBytes, count;
  if (!readMember(env, value, "idSlots", napi_int32_array, &slots, &slotCount) ||
      !readMember(env, value, "ids", napi_uint8_array, &ids, &idBytes) ||
      !readMember(env, value, "places", napi_int32_array, &places, &placeCount) ||
      !readMember(env, value, "blockOf", napi_uint32_array, &blockOf, &blockOfCount) ||
      !readMember(env, value, "blocks", napi_uint8_array, &blocks, &blockBytes) ||
      !readMember(env, value, "kinds", napi_uint8_array, &kinds, &count)) {
    return false;
  }
  if (slotCount == 0 || (slotCount & (slotCount - 1)) != 0 || idBytes != kIdSize * count || placeCount != count ||
      blockOfCount != count) {
    throwError(env, "the parts of settled do not fit together");
    return false;
  }
  const auto* known = static_cast<const uint8_t*>(kinds);
  settled->slots = static_cast<const int32_t*>(slots);
  settled->slotCount = slotCount;
  settled->ids = static_cast<const uint8_t*>(ids);
  settled->places = static_cast<const uint32_t*>(places);
  settled->blockOf = static_cast<const uint32_t*>(blockOf);
  settled->blocks = {static_cast<const uint8_t*>(blocks), blockBytes};
  settled->kinds.assign(known, known + count);
  return true;
}

// Reads (bytes, places, ids, segwitFrom, scripts, txids, settled). Returns null when the arguments are inconsistent.
std::unique_ptr<Scan> readScan(napi_env env, napi_value* arguments) {
  Span bytes, ids;
  const uint32_t *places, *scripts, *txids;
  size_t placeWords, scriptWords, txidWords;
  uint32_t segwitFrom;
  if (!readBytes(env, arguments[0], "bytes", &bytes) ||
      !readWords(env, arguments[1], "places", &places, &placeWords) || !readBytes(env, arguments[2], "ids", &ids) ||
      !readUint32(env, arguments[3], "segwitFrom", &segwitFrom) ||
      !readWords(env, arguments[4], "scripts", &scripts, &scriptWords) ||
      !readWords(env, arguments[5], "txids", &txids, &txidWords)) {
    return nullptr;
  }
  const auto isFilter = [](size_t words) { return words > 0 && words <= 1u << 26 && (words & (words - 1)) == 0; };
  const size_t count = placeWords / 2;
  bool fits = isFilter(scriptWords) && isFilter(txidWords) && ids.size == kIdSize * count;
  for (size_t n = 0; fits && n < count; n++) fits = places[2 * n] <= places[2 * n + 1] && places[2 * n + 1] <= bytes.size;
  if (!fits) {
    throwError(env, "the places and filters do not fit the bytes");
    return nullptr;
  }
  Settled settled;
  if (!readSettled(env, arguments[6], &settled)) return nullptr;
  return std::unique_ptr<Scan>(new Scan{bytes, places, count, ids.data, segwitFrom, Filter(scripts, scriptWords),
                                        Filter(txids, txidWords), std::move(settled)});
}

napi_value jsScanPayments(napi_env env, napi_callback_info info) {
  static thread_local ParsedTables tables;
  static thread_local std::vector<uint32_t> out;
  napi_value arguments[7];
  if (!readArguments(env, info, 7, arguments)) return nullptr;
  const auto scan = readScan(env, arguments);
  if (!scan) return nullptr;
  look(*scan, &tables, &out);
  tables.release();
  return makeUint32Array(env, out.data(), out.size());
}

// Runs `scanPayments` on another thread. `bytes`, `places`, `ids` and `settled` (except its `kinds`) must not change until
// the promise settles.
napi_value jsScanPaymentsAside(napi_env env, napi_callback_info info) {
  napi_value arguments[7], kept;
  if (!readArguments(env, info, 7, arguments)) return nullptr;
  std::shared_ptr<Scan> scan = readScan(env, arguments);
  if (!scan) return nullptr;
  napi_create_array(env, &kept);
  for (uint32_t i = 0; i < 3; i++) napi_set_element(env, kept, i, arguments[i]);
  napi_set_element(env, kept, 3, arguments[6]);
  auto out = std::make_shared<std::vector<uint32_t>>();
  return startJob(
      env, "lbcnode:scanPayments",
      [scan, out] {
        static thread_local ParsedTables tables;
        look(*scan, &tables, out.get());
        tables.release();
        return Outcome();
      },
      [out](napi_env env) { return makeUint32Array(env, out->data(), out->size()); }, kept);
}

}  // namespace

void registerPaymentScan(napi_env env, napi_value exports) {
  setFunction(env, exports, "scanPayments", jsScanPayments);
  setFunction(env, exports, "scanPaymentsAside", jsScanPaymentsAside);
}

}  // namespace lbc
