/**
 * Key formats of the claim trie's rows: the prefix of each row type, and the fields of its keys. A key is a latin1
 * string, one character for each byte. Heights in keys are big endian, so that rows sort by height.
 */
import { readU32, u32Key } from '../../rows/keys.js';

export { readU32 } from '../../rows/keys.js';

export const CLAIM_PREFIX = {
  /** `n` ‖ name → current state of the name (its claims and counters). */
  name: 'n',
  /**
   * `i` ‖ length ‖ name ‖ height u32 ‖ outpoint → one claim or support (an "item"). The height is that of the block from which
   * on the item is stored under the name. The row is never deleted.
   */
  item: 'i',
  /**
   * `w` ‖ name, escaped ‖ height u32 → state of control from that block on: whether the name has a controlling claim, and
   * its takeover height.
   */
  owner: 'w',
  /** `b` ‖ claim id in printed order → name as spelled in the script of the claim's output. */
  claimId: 'b',
  /** `q` ‖ due height u32 → pending items (claims and supports) that become active in that block. */
  due: 'q',
  /** `e` ‖ height u32 ‖ chunk u16 → log of the changes of a block, in chunks. */
  log: 'e',
  /** `s` ‖ length ‖ name ‖ height u32 → keys of the live items (claims and supports) of the name after that block. */
  snapshot: 's',
  /**
   * `u` ‖ length ‖ name → number of supports of a name with many items (`supportRows.ts`).
   * `u` ‖ length ‖ name ‖ claim id ‖ since u32 ‖ outpoint → nothing; marks a support of that claim.
   */
  support: 'u',
  /** `t` ‖ generation ‖ path → node of the trie. */
  node: 't',
  /**
   * `v` ‖ epoch u32 ‖ `2` or `3` for the generation ‖ length ‖ path ‖ height u32 → the slots (links to children) of a
   * trie node that the block changed, in their previous state. In data folders of older versions, for blocks below the height in row `kn`: `v` ‖
   * epoch u32 ‖ generation ‖ length ‖ path ‖ first byte of the edge ‖ height u32 → slot before that block.
   */
  version: 'v',
  /**
   * `k` → root and totals, absent while the trie is empty; `kv` → first epoch of node history that is stored; `kn` → the
   * first block whose node changes are stored with one row per node (absent before such a block); `ks` → the block of the
   * snapshot from which this database was created, where its node history starts; absent without a snapshot.
   */
  summary: 'k',
  /** `f` ‖ row number u16 → bits of the filter of idle names (`idleNames.ts`). */
  idle: 'f',
  /**
   * `y` ‖ length ‖ normalized name ‖ since u32 ‖ outpoint → a support that the normalization fork did not move
   * (`stranded.ts`).
   */
  stranded: 'y',
  /** `z` ‖ height u32 ‖ key of a `y` row → nothing; the block spent that support. */
  strandedSpend: 'z',
  /**
   * `d` ‖ height u32 ‖ letter of the difference type → nothing; the block has an item (claim or support) that lbcd stores
   * differently.
   */
  difference: 'd',
  /** `g` ‖ length ‖ name ‖ height u32 → outputs of the name that were created and spent within the block. */
  fleeting: 'g',
  /** `h` ‖ height u32 ‖ name → nothing; the block has a `g` row for this name, or spends an output that is not in the trie. */
  fleetingAt: 'h',
  /** `j` ‖ name → state of a name at the start of the block. Exists only while a fork block is being processed. */
  mark: 'j',
} as const;

/**
 * Shares of the row cache by row type. The cache contains rows that a block writes and that a later block often reads:
 * names, items (claims and supports), and trie nodes. Outputs that are spent, updated or supported are mostly recent, while
 * a new name may need any node of the trie.
 */
export const RECENT_SHARES: Readonly<Record<string, number>> = {
  [CLAIM_PREFIX.node]: 0.85,
  [CLAIM_PREFIX.name]: 0.075,
  [CLAIM_PREFIX.item]: 0.075,
};

/** Row types of claims that are read by ranges only, apart from blocks that are processed in several batches. */
export const RANGE_KINDS = CLAIM_PREFIX.version;

/** Generation of the trie: `0` with the hash form before the all-claims fork, `1` with the hash form from that fork on. */
export type Generation = '0' | '1';

export const SUMMARY_KEY = CLAIM_PREFIX.summary;
/** Key of the row with the first epoch of node history that is certainly stored. */
export const DROPPED_KEY = CLAIM_PREFIX.summary + 'v';
/** Key of the row with the block after which the node history starts, in a database that was created from a snapshot. */
export const FIRST_PROVABLE_KEY = CLAIM_PREFIX.summary + 's';
/** Key of the row with the first block whose node changes are stored with one row per node. */
export const NOTED_KEY = CLAIM_PREFIX.summary + 'n';

/** Encodes a length: one character below 255, otherwise three. */
function lengthKey(length: number): string {
  return length < 255
    ? String.fromCharCode(length)
    : '\xff' + String.fromCharCode(length >>> 8, length & 255);
}

/**
 * Escapes a name so that the order of names is preserved. Two zero bytes are appended by the caller, so that no key is a
 * prefix of another.
 */
function escapedKey(name: string): string {
  return name.includes('\0') ? name.replaceAll('\0', '\0\xff') : name;
}

export function nameKey(name: string): string {
  return CLAIM_PREFIX.name + name;
}

export function idleNamesKey(number: number): string {
  return CLAIM_PREFIX.idle + String.fromCharCode(number >>> 8, number & 255);
}

export function markKey(name: string): string {
  return CLAIM_PREFIX.mark + name;
}

/** Key prefix of the items (claims and supports) of a name. */
export function itemsKey(name: string): string {
  return CLAIM_PREFIX.item + lengthKey(name.length) + name;
}

export function itemKey(name: string, since: number, point: string): string {
  return itemsKey(name) + u32Key(since) + point;
}

/** Key of the row that marks a name with `u` rows. It is also the prefix of these rows. */
export function supportsKey(name: string): string {
  return CLAIM_PREFIX.support + lengthKey(name.length) + name;
}

/** Key prefix of the rows that mark the supports of one claim (`CLAIM_PREFIX.support`). */
export function supportsOfKey(name: string, claimId: string): string {
  return supportsKey(name) + claimId;
}

/** Key of the row that marks one support. It ends like an item key, so `parseItemKey` can parse it. */
export function supportKey(name: string, claimId: string, since: number, point: string): string {
  return supportsOfKey(name, claimId) + u32Key(since) + point;
}

/** Key prefix of the supports that the normalization fork did not move, under their normalized name. */
export function strandedNameKey(name: string): string {
  return CLAIM_PREFIX.stranded + lengthKey(name.length) + name;
}

export function strandedKey(name: string, since: number, point: string): string {
  return strandedNameKey(name) + u32Key(since) + point;
}

export function parseStrandedKey(key: string): { name: string; since: number; point: string } {
  const { since, point } = parseItemKey(key);
  return { name: key.slice(key.charCodeAt(1) === 255 ? 4 : 2, -40), since, point };
}

/** Key prefix of the rows that record which stranded supports (see `strandedNameKey`) the block at `height` spent. */
export function strandedSpendsKey(height: number): string {
  return CLAIM_PREFIX.strandedSpend + u32Key(height);
}

/** Key that marks a spend. `stranded` is the key of the spent support's row. */
export function strandedSpendKey(height: number, stranded: string): string {
  return strandedSpendsKey(height) + stranded;
}

/** Key prefix of the outputs of a name that were created and spent within a block. */
export function fleetingNameKey(name: string): string {
  return CLAIM_PREFIX.fleeting + lengthKey(name.length) + name;
}

export function fleetingKey(name: string, height: number): string {
  return fleetingNameKey(name) + u32Key(height);
}

export function parseFleetingKey(key: string): { name: string; height: number } {
  const end = key.length - 4;
  return { name: key.slice(key.charCodeAt(1) === 255 ? 4 : 2, end), height: readU32(key, end) };
}

/**
 * Key of the row that marks a name with outputs that the block at `height` created and spent. With an empty name it is the
 * prefix of all names of the block.
 */
export function fleetingAtKey(height: number, name: string): string {
  return CLAIM_PREFIX.fleetingAt + u32Key(height) + name;
}

/**
 * Key of the row that records one type of difference between lbcd and this node in a block. With an empty letter it is the
 * prefix of all differences of the block.
 */
export function differenceKey(height: number, letter: string): string {
  return CLAIM_PREFIX.difference + u32Key(height) + letter;
}

/** Parses `since` and the outpoint from a key that begins with `itemsKey(name)`. */
export function parseItemKey(key: string): { since: number; point: string } {
  const at = key.length - 40;
  return { since: readU32(key, at), point: key.slice(at + 4) };
}

/** Key prefix of a name's history of controlling claims. */
export function ownersKey(name: string): string {
  return ownersPrefix(name) + '\0\0';
}

/** Key prefix of the histories of controlling claims of all names that begin with `start`. */
export function ownersPrefix(start: string): string {
  return CLAIM_PREFIX.owner + escapedKey(start);
}

export function ownerKey(name: string, height: number): string {
  return ownersKey(name) + u32Key(height);
}

export function parseOwnerKey(key: string): { name: string; height: number } {
  const at = key.length - 4;
  const name = key.slice(1, at - 2);
  return { name: name.includes('\0') ? name.replaceAll('\0\xff', '\0') : name, height: readU32(key, at) };
}

/** `claimId` is in wire order. Keys contain the id in printed order, so that a prefix of the printed id finds the rows. */
export function claimIdKey(claimId: string): string {
  let reversed = '';
  for (let i = claimId.length - 1; i >= 0; i--) reversed += claimId[i];
  return CLAIM_PREFIX.claimId + reversed;
}

export function dueKey(height: number): string {
  return CLAIM_PREFIX.due + u32Key(height);
}

export function logKey(height: number, chunk: number): string {
  return CLAIM_PREFIX.log + u32Key(height) + String.fromCharCode(chunk >>> 8, chunk & 255);
}

/** Parses the height and the number of the chunk from the key of a log row. */
export function parseLogKey(key: string): { height: number; number: number } {
  return { height: readU32(key, 1), number: (key.charCodeAt(5) << 8) | key.charCodeAt(6) };
}

/** Key prefix of the snapshots of a name. */
export function snapshotsKey(name: string): string {
  return CLAIM_PREFIX.snapshot + lengthKey(name.length) + name;
}

export function snapshotKey(name: string, height: number): string {
  return snapshotsKey(name) + u32Key(height);
}

export function nodeKey(generation: Generation, path: string): string {
  return CLAIM_PREFIX.node + generation + path;
}

const NOTED_AS: Readonly<Record<Generation, string>> = { '0': '2', '1': '3' };

/** Key prefix of all node changes in an epoch. */
export function nodeNotesPrefix(epoch: number, generation: Generation): string {
  return CLAIM_PREFIX.version + u32Key(epoch) + NOTED_AS[generation];
}

/** Key prefix of the rows (one per block) with a node's changes in an epoch. */
export function nodeNotesKey(epoch: number, generation: Generation, path: string): string {
  return nodeNotesPrefix(epoch, generation) + lengthKey(path.length) + path;
}

export function nodeNoteKey(epoch: number, generation: Generation, path: string, height: number): string {
  return nodeNotesKey(epoch, generation, path) + u32Key(height);
}

/** Key prefix of the rows (one per slot and block) with a node's changes in an epoch, in the format of older versions. */
export function slotNotesKey(epoch: number, generation: Generation, path: string): string {
  return CLAIM_PREFIX.version + u32Key(epoch) + generation + lengthKey(path.length) + path;
}

export function slotNoteKey(
  epoch: number,
  generation: Generation,
  path: string,
  firstByte: number,
  height: number,
): string {
  return slotNotesKey(epoch, generation, path) + String.fromCharCode(firstByte) + u32Key(height);
}
