// Connects the claims of one ordinary block: reads the rows that the block needs, applies its operations, decides the owners of
// names, and makes the records of all changed rows. The rows and the order of events are the same as those of
// src/store/claims/connect.ts with src/claimtrie/claimWork.ts. It declines unusual blocks (forks, expirations, snapshots of
// names, missing or malformed rows, very large amounts). The caller then runs the fallback, which also reports errors.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "claims/claimOperations.h"
#include "claims/trie/claimTrie.h"
#include "claims/nameState.h"
#include "claims/rowLayers.h"

namespace lbc {

// The rules at the height of the block (src/claimtrie/rules.ts).
struct BlockRules {
  uint32_t height;
  uint32_t normalizationForkHeight;
  // Delay of supports in blocks; 0 if it is proportional, as that of claims.
  uint32_t supportDelay;
  bool allClaims;
  bool watchesTakeovers;
  bool watchesRemovals;
  bool countsMetadata;

  bool matchesNormalized() const { return height > normalizationForkHeight; }
};

// Access to rows, to the normalization of names in JavaScript, and to the filter of idle names.
struct BlockSources {
  // The committed rows.
  RowLayers* rows;
  // Normalizes a name with bytes beyond ASCII. Returns false if it fails.
  std::function<bool(const std::string& name, std::string* normalized)> normalize;
  // Bits of the filter of idle names (src/store/claims/idleNames.ts), which may be changed.
  uint8_t* idleBits;
  // Part of the key of a node's note before the length of the node's path.
  std::string notePrefix;
};

struct BlockResult {
  uint8_t root[kSlotHashSize];
  bool hasNotes = false;
  std::vector<uint8_t> records;
  // Whether `changes` is wanted.
  bool describes = false;
  // What the block changed, for the claim index (blockWorkChanges.cpp).
  std::string changes;
};

// Maximum delay of an activation in blocks. As in src/claimtrie/rules.ts.
constexpr uint32_t kMaxDelay = 4032;
// Minimum number of items of a name whose supports are indexed by rows. As CROWDED_ITEMS of supportRows.ts.
constexpr uint32_t kCrowdedItems = 64;
constexpr size_t kIdleBytes = (1 << 24) / 8;

class BlockWork {
 public:
  BlockWork(const BlockRules& rules, BlockSources* sources, ClaimTrie* trie)
      : rules_(rules), sources_(*sources), trie_(*trie) {}

  // Returns false if it declines. Then the result is undefined; nothing was changed except bits of the filter.
  bool connect(const Span& operations, BlockResult* result);

 private:
  struct Name {
    std::string name;
    NameState state;
    // State at the start of the block.
    bool hadClaims = false;
    ClaimId ownerId = {};
    uint32_t takeover = 0;
    ClaimTotals totals;
    bool wasCrowded = false;
    bool check = false;
    bool changed = false;
    bool claimsChanged = false;
    uint32_t nextOrdinal = 0;
    std::vector<ClaimItem*> newPending;
  };
  enum class Op : uint8_t { kCreate = 0, kSpend = 1, kActivate = 3, kTakeover = 5 };
  struct Event {
    Op op;
    ClaimItem* item;
    const Name* name;
  };
  struct DueEntry {
    std::string name;
    uint32_t since;
    uint32_t txOffset;
    Point point;
  };
  using Spent = std::map<std::string, uint32_t>;
  using DueItems = std::map<uint32_t, std::vector<ClaimItem*>>;

  // Records that the fallback must connect the block.
  void decline() { declined_ = true; }
  bool require(bool holds) {
    if (!holds) declined_ = true;
    return holds;
  }
  bool read(const std::string& key, std::string* row);
  // Reads many rows of one type. The values stay valid during the block. Returns false if the fallback must connect the block.
  bool readMany(const std::vector<std::string>& keys, std::vector<Memtable::Lookup>* lookups);
  std::string normalize(const std::string& name);
  bool readSummary();
  bool readDue(uint32_t height, std::vector<DueEntry>* entries);
  static bool isOlder(const DueEntry& a, const DueEntry& b);

  // Names, items and the trie.
  Name& findName(const std::string& name);
  Name& addName(const std::string& name, const uint8_t* row, size_t size);
  void loadTrie(const std::vector<std::string>& names);
  void loadNames(const std::vector<std::string>& names);
  ClaimItem* findItem(const std::string& name, uint32_t since, const Point& point);
  ClaimItem* keepItem(const std::string& name, uint32_t since, const Point& point, const uint8_t* row, size_t size);
  void loadSpent(const std::vector<ClaimTransaction>& transactions);
  void addItem(ClaimItem* item);
  bool mayBeIdle(const std::string& name) const;
  void addIdle(const std::string& name);
  void addInvolvedNames(const std::string& name, std::vector<std::string>* names);
  void load(const std::vector<std::string>& involved);
  // Repeats a call of the trie until all rows that it needs are supplied. Returns whether the answer is yes.
  template <typename Call>
  bool callTrie(const Call& call) {
    while (!declined_) {
      const ClaimTrie::Answer answer = call();
      if (answer != ClaimTrie::Answer::kMissing) return answer == ClaimTrie::Answer::kYes;
      supplyMissing(std::string(trie_.missing()));
    }
    return false;
  }
  bool supplyMissing(const std::string& path);
  bool isNode(const std::string& name);
  std::vector<std::string> storedPath(const std::string& name);

  // Transactions (blockTransactions.ts).
  void processTransactions(const std::vector<ClaimTransaction>& transactions);
  void processTransaction(const ClaimTransaction& transaction);
  bool counts(const ClaimOperation& operation) const;
  std::string matchName(const std::string& name);
  std::string queueName(const std::string& name, uint32_t dueHeight);
  uint32_t ownedBlocks(const std::string& name);
  uint32_t delayOf(const std::string& name, const ClaimOperation& output);
  ClaimItem* removeSpent(const ClaimOperation& spend);
  ClaimItem* storedItem(const std::string& name, uint32_t coinHeight, const Point& point);
  ClaimItem* activeSupport(const std::string& name, uint32_t coinHeight, const Point& point);
  void addOutput(const ClaimTransaction& transaction, const ClaimOperation& output);
  void noteFleeting();

  // Elementary changes (claimWork.ts).
  void requestCheck(Name* name);
  void queueNew(ClaimItem* item);
  void unqueue(ClaimItem* item);
  void spendPending(ClaimItem* item);
  void close(ClaimItem* item);
  void activate(ClaimItem* item);
  void recordCreation(ClaimItem* item);
  void enter(ClaimItem* item);
  void leave(ClaimItem* item);
  void end(ClaimItem* item);
  void noteLoad(const std::string& name);
  void noteSupport(const std::string& name);
  bool isLoaded(const std::string& name);

  // The end of the block (blockEnd.ts, workStore.ts).
  void processDue();
  void settle();
  void settleName(Name* name, bool happened, const std::vector<ClaimItem*>& pending);
  std::vector<ClaimItem*> loadPending(const std::vector<Name*>& names);
  void settleNew();
  void settleRemovedNodes();
  void settleOwners();
  bool ownerChanged(Name* name);
  static void setTakeover(Name* name, uint32_t takeover);

  // Rows (blockWorkRows.cpp).
  void put(const std::string& key, const std::string& value) { appendRow(&result_->records, key, &value); }
  void drop(const std::string& key) { appendRow(&result_->records, key, nullptr); }
  void hashClaims();
  void hashOf(Name* name, uint8_t* hash);
  void putItems();
  void putSupports();
  void putSupportsOf(const Name& name, const std::vector<ClaimItem*>& items);
  void putDue();
  void putName(Name* name);
  void putLog();
  void putEvent(const Event& event, std::string* out, std::unordered_map<std::string, size_t>* names);
  void putNodes();
  void putSummary();

  // Description of the changes (blockWorkChanges.cpp).
  struct Weighed;
  void describe(std::string* out);
  static void putWeights(Name* name, const Weighed& weighed, std::string* out);

  const BlockRules rules_;
  BlockSources& sources_;
  ClaimTrie& trie_;
  BlockResult* result_ = nullptr;
  bool declined_ = false;

  uint8_t root_[kSlotHashSize];
  ClaimTotals totals_;
  bool hasSummary_ = false;
  std::vector<DueEntry> due_;
  bool hasDue_ = false;

  // In the order of loading.
  std::deque<Name> names_;
  std::unordered_map<std::string, Name*> namesByKey_;
  std::deque<ClaimItem> items_;
  // Null for an item that is known not to exist.
  std::unordered_map<std::string, ClaimItem*> itemsByKey_;
  std::vector<Event> events_;
  // Items that the block created and spent, and the names of spends that concern no item, in the order of the spends.
  std::vector<ClaimItem*> ownSpends_;
  std::vector<std::string> unknownSpends_;
  DueItems dueAdded_, dueRemoved_;
  std::vector<ClaimItem*> newDue_;
  std::map<ClaimId, std::optional<std::string>> claimIndex_;
  std::unordered_set<std::string> removalFlags_;
  std::unordered_map<std::string, bool> takeoverFlags_;
  std::unordered_set<std::string> expanded_;
};

}  // namespace lbc
