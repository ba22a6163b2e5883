// The part of the claim trie that a block uses: loaded path by path, changed in memory, and hashed once at the end. It gives the
// same results as `WorkTrie` of src/claimtrie/workTrie.ts, in the same order. Source: lbrycrd prefixtrie.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "claims/trie/arena.h"
#include "claims/trie/merkleCache.h"
#include "claims/trie/pathHash.h"
#include "claims/trie/slots.h"

namespace lbc {

class ClaimTrie {
 public:
  using Paths = std::vector<std::string_view>;
  struct Row {
    const uint8_t* data = nullptr;
    size_t size = 0;
    bool isFound = false;
  };
  // Looks up the rows of the nodes at several paths. A row that is not found stays as it is. The bytes must stay valid until the
  // next call or the end of `load`.
  using Rows = std::function<void(const Paths& paths, std::vector<Row>* rows)>;

  enum class Answer { kYes, kNo, kMissing };

  // Starts with an empty trie. All results of earlier calls become invalid.
  void reset();

  // Starts loading the paths of a name. Then `load` must be called.
  void begin(std::string_view name);
  // Continues to load. Returns the paths whose rows `rows` does not find. The caller must pass these rows to `supply` and call `load`
  // again. If the result is empty, all paths are loaded.
  const Paths& load(const Rows& rows);
  // Nodes on the loaded paths whose claims hash is in no row, in the order in which they were found. Clears the list.
  Paths takeLeaves();
  // Supplies the row at a path; null only for the root of an empty trie. Returns false if the row is malformed.
  bool supply(std::string_view path, const uint8_t* row, size_t size);

  // The following functions return `kMissing` if a row was not loaded. `missing` is then its path. After a call of `supply` the
  // function must be called again.
  std::string_view missing() const { return missing_; }
  Answer isNode(std::string_view name);
  Answer knowsNode(std::string_view name);
  Answer insert(std::string_view name);
  // Returns `kNo` if the name has no node with claims.
  Answer remove(std::string_view name);
  // Returns `kNo` if the name has no node.
  Answer touch(std::string_view name);
  Answer childPaths(std::string_view name, Paths* paths);
  Answer storedPath(std::string_view name, Paths* paths);

  Paths takeRemovedPaths();
  size_t dirtyCount() const { return dirtyCount_; }
  // Paths of the nodes whose claims hash must be set.
  Paths unhashed() const;
  // Sets the claims hashes of the nodes in the order of `unhashed`. Returns false if `size` is not 32 bytes for each node.
  bool setHashes(const uint8_t* hashes, size_t size);

  // Where and how the rows of the changed nodes are written.
  struct Target {
    bool allClaims;
    uint32_t height;
    // Key of a node's row before its path, and key of a node's note before the length of its path.
    std::string nodePrefix;
    std::string notePrefix;
  };
  // Hashes all changed nodes. Appends the records of their rows and notes, and sets `root`. Returns false if a node is not among
  // the children of its parent. The trie must not be used afterwards.
  bool finish(const Target& target, uint8_t* root, bool* hasNotes, std::vector<uint8_t>* records);

 private:
  struct Record {
    const uint8_t* slots = nullptr;
    size_t size = 0;
    // Hash of the claims; null if there are none.
    const uint8_t* claims = nullptr;
    bool exists = false;
  };
  struct Node;
  // A loaded child, and the first byte of its edge.
  struct Child {
    uint8_t first;
    Node* node;
  };
  struct Node {
    std::string_view path;
    Node* parent;
    // Null if the node had no row when it was made.
    const Record* record;
    uint8_t* slots;
    size_t size;
    // Whether the slots are a copy that may be changed.
    bool isOwn;
    std::vector<Child> children;
    bool hasClaims;
    bool hasHash;
    uint8_t hash[kSlotHashSize];
    // Whether the node differs from its row. Stays true for a node that was removed; then `isGone` is true.
    bool dirty;
    bool isGone;
    bool unhashed;
  };
  struct Cursor {
    std::string_view name;
    Node* node;
  };
  // A slot, or the position before which a slot would be inserted.
  struct SlotPosition {
    SlotView slot;
    size_t at;
    size_t end;
    bool isThere;
  };
  enum class Place { kExact, kGap, kSplit, kMissing };

  Node* make(std::string_view path, Node* parent, const Record* record);
  void adopt(Node* parent, Node* child);
  Node* childOf(const Node* node, uint8_t first) const;
  static void drop(Node* parent, const Node* child);
  static SlotPosition seek(const Node* node, uint8_t first);
  static size_t commonLength(const SlotView& slot, std::string_view name, size_t depth);
  bool loadRoot();
  // Like `supply`. `path` must stay valid.
  bool addRecord(std::string_view path, const uint8_t* row, size_t size);
  const Record* record(std::string_view path);
  // Creates the node at the end of the slot. Returns null if its row is missing.
  Node* makeChild(Node* parent, const SlotView& slot, std::string_view name);
  Place find(std::string_view name, Node** node, SlotPosition* position, size_t* common);
  bool advance(Cursor* cursor);
  void request(std::string_view path, Node* parent);
  void addLeafOnPath(std::string_view path);
  void markClaimsChanged(Node* node);
  void markDirty(Node* node);
  void split(Node* parent, const SlotPosition& position, size_t common, std::string_view name);
  void addLeaf(Node* parent, const SlotPosition& position, std::string_view name);
  void detach(Node* node, Node* parent);
  void splice(Node* node, size_t from, size_t to, const uint8_t* piece, size_t size);
  void putRows(const Target& target, std::string_view path, const Record& before, const Node* after, bool* hasNotes,
               std::vector<uint8_t>* records);
  std::string_view copyPath(std::string_view text);
  bool hashOf(const Node* node, bool allClaims, uint8_t* digest);

  Arena arena_;
  // Kept from block to block.
  MerkleCache merkle_;
  std::vector<std::unique_ptr<Node>> nodes_;
  size_t nodeCount_ = 0;
  Node* root_ = nullptr;
  std::unordered_map<std::string_view, Record, PathHash> records_;
  std::vector<Node*> dirty_;
  size_t dirtyCount_ = 0;
  std::vector<Node*> unhashed_;
  std::vector<std::string_view> removed_;
  Paths newlyRemoved_;
  std::vector<Cursor> cursors_;
  std::vector<std::string_view> waiting_;
  std::unordered_map<std::string_view, Node*, PathHash> requested_;
  Paths wanted_;
  Paths leaves_;
  std::unordered_set<std::string_view, PathHash> knownLeaves_;
  std::string missing_;
};

}  // namespace lbc
