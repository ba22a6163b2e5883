// The coin cache: outpoint -> coin, with dirty and fresh flags as in Core's CCoinsViewCache. Functions for blocks are in
// coinTableBlocks.cpp, the JavaScript bindings in coinTableBinding.cpp. Memory: fixed entries of 76 bytes in blocks that
// never move, chained into a hash table. The table grows by one bucket at a time (linear hashing), so growth causes no
// pause and no doubling of memory. Short scripts and scripts of the three common forms are stored inside the entry, others
// in one heap block each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "blocks/script.h"

namespace lbc {

constexpr uint32_t kNoEntry = UINT32_MAX;

class CoinTable {
 public:
  enum Flags : uint8_t {
    kUsed = 1,     // the slot contains an entry
    kLive = 2,     // the slot holds an unspent coin; if not set: spent, or known to be absent
    kDirty = 4,    // the database does not know this state yet
    kFresh = 8,    // the database has no coin under this outpoint, so no deletion is written when the coin is spent
    kRecent = 16,  // used since the last pass of `trim`
    kListed = 32,  // the slot's number is in the list of dirty slots; outlives the entry
    kMarked = 64,  // scratch of `resolve`: spent by an earlier input of the block
  };

  struct Entry {
    uint8_t key[36];
    uint32_t next;  // slot number of the next entry in the same bucket, or in the list of free slots
    uint32_t heightCode;
    uint8_t amount[8];
    uint8_t script[20];  // format depends on scriptForm
    uint16_t scriptLength;
    uint8_t scriptForm;
    uint8_t flags;

    bool live() const { return flags & kLive; }
    int64_t amountValue() const;
    // Writes the `scriptLength` bytes of the script.
    void copyScript(uint8_t* out) const;
  };
  static_assert(sizeof(Entry) == 76, "an entry of the coin table");

  // Fields of a coin. The script is not copied: `script` points to memory of the caller.
  struct Coin {
    uint32_t heightCode;
    int64_t amount;
    const uint8_t* script;
    size_t scriptLength;
  };

  CoinTable();
  ~CoinTable();
  CoinTable(const CoinTable&) = delete;
  CoinTable& operator=(const CoinTable&) = delete;

  uint64_t hashTxid(const uint8_t* txid) const;
  uint64_t hashOutput(uint64_t txidHash, uint32_t index) const;
  uint64_t hashOutpoint(const uint8_t* outpoint) const;

  // Prefetch memory for a later lookup. Call `prefetchBucket` some lookups before, and `prefetchEntry` some lookups after
  // `prefetchBucket`.
  void prefetchBucket(uint64_t hash) const;
  void prefetchEntry(uint64_t hash) const;

  uint32_t find(const uint8_t* outpoint, uint64_t hash) const;
  Entry& at(uint32_t entry) { return chunks_[entry >> kChunkBits][entry & (kChunkSize - 1)]; }
  const Entry& at(uint32_t entry) const { return chunks_[entry >> kChunkBits][entry & (kChunkSize - 1)]; }

  // Stores the result of a database read. A null `coin` means that the database has no such coin. An existing entry is not
  // changed.
  void load(const uint8_t* outpoint, const Coin* coin);

  // Adds a coin. The script must be spendable. Returns false, without any change, if an unspent coin exists and
  // `possibleOverwrite` is false. Source: `CCoinsViewCache::AddCoin`.
  bool add(const uint8_t* outpoint, uint64_t hash, const Coin& coin, bool possibleOverwrite);

  // Spends the coin of an entry, which must be live. Source: `CCoinsViewCache::SpendCoin`.
  void spend(uint32_t entry);

  // Appends the rows of dirty entries to `out`, as records of the database (see memtable.h): at least one record and at
  // most `maxBytes` in all. Returns false if no entry is dirty.
  bool takeDirty(size_t maxBytes, std::vector<uint8_t>* out);

  void trim(uint64_t targetBytes, uint64_t maxVisits);
  void clear();

  uint64_t usageBytes() const;
  size_t entryCount() const { return entryCount_; }
  size_t dirtyCount() const { return dirtyCount_; }
  uint64_t dirtyBytes() const { return dirtyBytes_; }

 private:
  enum ScriptForm : uint8_t { kInline, kPubkeyHash, kScriptHash, kWitnessKeyHash, kHeap };

  static constexpr unsigned kChunkBits = 13;
  static constexpr uint32_t kChunkSize = 1u << kChunkBits;
  static constexpr unsigned kSegmentBits = 14;
  static constexpr uint32_t kSegmentSize = 1u << kSegmentBits;

  uint32_t& bucket(uint32_t number) { return segments_[number >> kSegmentBits][number & (kSegmentSize - 1)]; }
  const uint32_t& bucket(uint32_t number) const {
    return segments_[number >> kSegmentBits][number & (kSegmentSize - 1)];
  }
  uint32_t bucketOf(uint64_t hash) const {
    const uint32_t wide = static_cast<uint32_t>(hash) & (2 * lowBuckets_ - 1);
    return wide < bucketCount_ ? wide : wide & (lowBuckets_ - 1);
  }

  uint32_t insert(const uint8_t* outpoint, uint64_t hash);
  void erase(uint32_t entry);
  void splitBucket();
  void setCoin(Entry& entry, const Coin& coin);
  void freeScript(Entry& entry);
  void list(uint32_t entry);
  // `uncount` subtracts a dirty entry from the counters before a change. `count` adds the entry again after the change.
  void uncount(const Entry& entry);
  void count(const Entry& entry);

  std::vector<Entry*> chunks_;
  uint32_t slotCount_ = 0;  // number of slots ever allocated
  uint32_t freeSlots_ = kNoEntry;
  size_t entryCount_ = 0;

  std::vector<uint32_t*> segments_;
  uint32_t bucketCount_ = 0;
  uint32_t lowBuckets_ = 0;  // largest power of two that is at most bucketCount_

  std::vector<uint32_t> dirty_;  // slots that are or were dirty, each once (kListed)
  size_t dirtyCount_ = 0;
  uint64_t dirtyBytes_ = 0;
  uint64_t scriptBytes_ = 0;
  uint32_t hand_ = 0;  // number of the slot at which `trim` continues
  uint64_t salt_[6];
};

}  // namespace lbc
