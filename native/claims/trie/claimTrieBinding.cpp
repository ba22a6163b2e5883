// JavaScript class that wraps ClaimTrie. Contract: NativeClaimTrie of src/native/addonTypes/claims.ts.
#include "claims/trie/claimTrie.h"
#include "napi/addon.h"
#include "napi/latin1Key.h"
#include "napi/napi.h"
#include "store/rowCacheBinding.h"
#include "store/sharedRows.h"

namespace lbc {

namespace {

using Table = std::shared_ptr<SharedTable>;

// A trie, and where its rows are looked up in memory.
struct BoundTrie {
  ClaimTrie trie;
  // Key of a node's row before its path.
  std::string prefix;
  // Null if rows are not looked up in memory.
  Table overlay;
  std::shared_ptr<RowCache> recent;
  std::string key;

  void lookUp(const ClaimTrie::Paths& paths, std::vector<ClaimTrie::Row>* rows) {
    if (!overlay) return;
    for (size_t i = 0; i < paths.size(); i++) {
      key = prefix;
      key.append(paths[i]);
      const uint8_t* bytes = reinterpret_cast<const uint8_t*>(key.data());
      const uint8_t* row;
      int64_t length = overlay->rows().find(bytes, key.size(), &row);
      if (length == Memtable::kUnknown && recent) length = recent->find(bytes, key.size(), &row);
      if (length >= 0) (*rows)[i] = {row, static_cast<size_t>(length), true};
    }
  }
};

BoundTrie* readCall(napi_env env, napi_callback_info info, size_t count, napi_value* arguments) {
  return lbc::readCall<BoundTrie>(env, info, "not a claim trie", count, arguments);
}

std::string_view viewOf(const Latin1Key& key) { return {reinterpret_cast<const char*>(key.data()), key.size()}; }

napi_value makeText(napi_env env, std::string_view text) {
  napi_value result;
  if (napi_create_string_latin1(env, text.data(), text.size(), &result) == napi_ok) return result;
  return throwError(env, "out of memory");
}

napi_value makePaths(napi_env env, const ClaimTrie::Paths& paths) {
  napi_value array;
  if (napi_create_array_with_length(env, paths.size(), &array) != napi_ok) return throwError(env, "out of memory");
  for (size_t i = 0; i < paths.size(); i++) {
    napi_value text = makeText(env, paths[i]);
    if (!text || napi_set_element(env, array, static_cast<uint32_t>(i), text) != napi_ok) return nullptr;
  }
  return array;
}

napi_value construct(napi_env env, napi_callback_info info) {
  napi_value self;
  if (!readArguments(env, info, 0, nullptr, &self)) return nullptr;
  return wrapObject(env, self, new BoundTrie, "the claim trie could not be created");
}

bool readTable(napi_env env, napi_value value, Table* out) {
  out->reset();
  if (isNullish(env, value)) return true;
  void* object = nullptr;
  if (napi_unwrap(env, value, &object) != napi_ok) {
    throwTypeError(env, "not a memtable");
    return false;
  }
  *out = *static_cast<Table*>(object);
  return true;
}

// (prefix, overlay?, recent?)
napi_value reset(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  Latin1Key prefix;
  BoundTrie* bound = readCall(env, info, 3, arguments);
  if (!bound || !prefix.read(env, arguments[0]) || !readTable(env, arguments[1], &bound->overlay) ||
      !readRowCache(env, arguments[2], &bound->recent)) {
    return nullptr;
  }
  bound->prefix = viewOf(prefix);
  bound->trie.reset();
  return makeUndefined(env);
}

// (names?) => paths whose rows must be supplied
napi_value load(napi_env env, napi_callback_info info) {
  napi_value names;
  BoundTrie* bound = readCall(env, info, 1, &names);
  if (!bound) return nullptr;
  if (!isNullish(env, names)) {
    uint32_t count;
    if (napi_get_array_length(env, names, &count) != napi_ok) return throwTypeError(env, "names are not an array");
    for (uint32_t i = 0; i < count; i++) {
      napi_value name;
      Latin1Key text;
      if (napi_get_element(env, names, i, &name) != napi_ok || !text.read(env, name)) return nullptr;
      bound->trie.begin(viewOf(text));
    }
  }
  return makePaths(env, bound->trie.load([bound](const ClaimTrie::Paths& paths, std::vector<ClaimTrie::Row>* rows) {
    bound->lookUp(paths, rows);
  }));
}

napi_value takeLeaves(napi_env env, napi_callback_info info) {
  BoundTrie* bound = readCall(env, info, 0, nullptr);
  return bound ? makePaths(env, bound->trie.takeLeaves()) : nullptr;
}

// (path, row | null) => whether the row is well formed
napi_value supply(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Latin1Key path;
  Span row;
  BoundTrie* bound = readCall(env, info, 2, arguments);
  if (!bound || !path.read(env, arguments[0])) return nullptr;
  const bool isNull = isNullish(env, arguments[1]);
  if (!isNull && !readBytes(env, arguments[1], "row", &row)) return nullptr;
  static const uint8_t nothing = 0;
  const uint8_t* data = isNull ? nullptr : row.size == 0 ? &nothing : row.data;
  return makeBool(env, bound->trie.supply(viewOf(path), data, row.size));
}

// (name) => boolean, or the path of a row that must be supplied before the call is repeated
template <ClaimTrie::Answer (ClaimTrie::*Call)(std::string_view)>
napi_value ask(napi_env env, napi_callback_info info) {
  napi_value argument;
  Latin1Key name;
  BoundTrie* bound = readCall(env, info, 1, &argument);
  if (!bound || !name.read(env, argument)) return nullptr;
  const ClaimTrie::Answer answer = (bound->trie.*Call)(viewOf(name));
  if (answer == ClaimTrie::Answer::kMissing) return makeText(env, bound->trie.missing());
  return makeBool(env, answer == ClaimTrie::Answer::kYes);
}

// (name) => paths, or the path of a row that must be supplied before the call is repeated
template <ClaimTrie::Answer (ClaimTrie::*Call)(std::string_view, ClaimTrie::Paths*)>
napi_value list(napi_env env, napi_callback_info info) {
  napi_value argument;
  Latin1Key name;
  ClaimTrie::Paths paths;
  BoundTrie* bound = readCall(env, info, 1, &argument);
  if (!bound || !name.read(env, argument)) return nullptr;
  const ClaimTrie::Answer answer = (bound->trie.*Call)(viewOf(name), &paths);
  return answer == ClaimTrie::Answer::kMissing ? makeText(env, bound->trie.missing()) : makePaths(env, paths);
}

napi_value takeRemovedPaths(napi_env env, napi_callback_info info) {
  BoundTrie* bound = readCall(env, info, 0, nullptr);
  return bound ? makePaths(env, bound->trie.takeRemovedPaths()) : nullptr;
}

napi_value getDirtyCount(napi_env env, napi_callback_info info) {
  BoundTrie* bound = readCall(env, info, 0, nullptr);
  return bound ? makeNumber(env, static_cast<double>(bound->trie.dirtyCount())) : nullptr;
}

napi_value unhashed(napi_env env, napi_callback_info info) {
  BoundTrie* bound = readCall(env, info, 0, nullptr);
  return bound ? makePaths(env, bound->trie.unhashed()) : nullptr;
}

// (hashes)
napi_value setHashes(napi_env env, napi_callback_info info) {
  napi_value argument;
  Span hashes;
  BoundTrie* bound = readCall(env, info, 1, &argument);
  if (!bound || !readBytes(env, argument, "hashes", &hashes)) return nullptr;
  if (bound->trie.setHashes(hashes.data, hashes.size)) return makeUndefined(env);
  return throwTypeError(env, "a node needs one hash of 32 bytes");
}

// (allClaims, height, notePrefix) => root ‖ u8 whether there are notes ‖ records; null if a node is not among the children of
// its parent
napi_value finish(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  ClaimTrie::Target target;
  Latin1Key notePrefix;
  BoundTrie* bound = readCall(env, info, 3, arguments);
  if (!bound || !readBool(env, arguments[0], "allClaims", &target.allClaims) ||
      !readUint32(env, arguments[1], "height", &target.height) || !notePrefix.read(env, arguments[2])) {
    return nullptr;
  }
  target.nodePrefix = bound->prefix;
  target.notePrefix = viewOf(notePrefix);
  std::vector<uint8_t> result(kSlotHashSize + 1);
  uint8_t root[kSlotHashSize];
  bool hasNotes;
  if (!bound->trie.finish(target, root, &hasNotes, &result)) return makeNull(env);
  memcpy(result.data(), root, sizeof root);
  result[kSlotHashSize] = hasNotes ? 1 : 0;
  bound->overlay.reset();
  bound->recent.reset();
  return makeBuffer(env, result.data(), result.size());
}

}  // namespace

void registerClaimTrie(napi_env env, napi_value exports) {
  const napi_property_descriptor members[] = {
      method("reset", reset),
      method("load", load),
      method("takeLeaves", takeLeaves),
      method("supply", supply),
      method("isNode", ask<&ClaimTrie::isNode>),
      method("knowsNode", ask<&ClaimTrie::knowsNode>),
      method("insert", ask<&ClaimTrie::insert>),
      method("remove", ask<&ClaimTrie::remove>),
      method("touch", ask<&ClaimTrie::touch>),
      method("childPaths", list<&ClaimTrie::childPaths>),
      method("storedPath", list<&ClaimTrie::storedPath>),
      method("takeRemovedPaths", takeRemovedPaths),
      getter("dirtyCount", getDirtyCount),
      method("unhashed", unhashed),
      method("setHashes", setHashes),
      method("finish", finish),
  };
  setClass(env, exports, "ClaimTrie", construct, members, sizeof members / sizeof members[0]);
}

}  // namespace lbc
