/**
 * The claim trie's part of the key table: the row prefixes of the claims, and the formats of their keys. A key is a latin1
 * string, one character for each byte. Heights in keys are big endian, so that rows sort by height.
 */
import { readU32, u32Key } from '../../rows/keys.js';

export { readU32 } from '../../rows/keys.js';

export const CLAIM_PREFIX = {
  /** `n` ‖ name → present state of the name (its claims and counters). */
  name: 'n',
  /** `i` ‖ length ‖ name ‖ since u32 ‖ outpoint → one claim or support, permanently. */
  item: 'i',
  /**
   * `w` ‖ name, escaped ‖ height u32 → ownership of the name from that block on: whether it has an owner, and its takeover
   * height.
   */
  owner: 'w',
  /** `b` ‖ claim id in printed order → name as the script of the claim's output has it. */
  claimId: 'b',
  /** `q` ‖ due height u32 → pending items that become active in that block. */
  due: 'q',
  /** `e` ‖ height u32 ‖ chunk u16 → log of the changes of a block. */
  log: 'e',
  /** `s` ‖ length ‖ name ‖ height u32 → keys of the items alive after that block. */
  snapshot: 's',
  /**
   * `u` ‖ length ‖ name → number of supports of a name with many items (`supportRows.ts`).
   * `u` ‖ length ‖ name ‖ claim id ‖ since u32 ‖ outpoint → nothing; such a support of that claim.
   */
  support: 'u',
  /** `t` ‖ generation ‖ path → node of the trie. */
  node: 't',
  /**
   * `v` ‖ epoch u32 ‖ `2` or `3` for the generation ‖ length ‖ path ‖ height u32 → the parts of a node that the block
   * changed, in their previous state. In older folders, up to the block in row `kn`: `v` ‖ epoch u32 ‖ generation ‖ length ‖
   * path ‖ first byte of the edge ‖ height u32 → slot before that block.
   */
  version: 'v',
  /**
   * `k` → root and totals, absent while the trie is empty; `kv` → first epoch of node history that is stored; `kn` → the
   * first block whose changes are noted by node, absent without one; `ks` → the block of the snapshot from which this
   * database was created, where its node history starts; absent without a snapshot.
   */
  summary: 'k',
  /** `f` ‖ row number u16 → bits of the filter of idle names (`idleNames.ts`). */
  idle: 'f',
  /** `y` ‖ length ‖ normalized name ‖ since u32 ‖ outpoint → a support that the normalization fork left behind. */
  stranded: 'y',
  /** `z` ‖ height u32 ‖ key of such a support → nothing; the block spent it. */
  strandedSpend: 'z',
  /** `d` ‖ height u32 ‖ letter of the kind → nothing; the block has an item that lbcd stores differently. */
  difference: 'd',
  /** `g` ‖ length ‖ name ‖ height u32 → outputs of the name that the block created and spent. */
  fleeting: 'g',
  /** `h` ‖ height u32 ‖ name → nothing; the block has such a row, or a spend of an output that is not in the trie. */
  fleetingAt: 'h',
  /** `j` ‖ name → state of a name at the start of the block; exists only while a fork block is being processed. */
  mark: 'j',
} as const;

/**
 * Shares of the row cache by kind of row. Cached are rows that a block writes and a later block often reads again: names,
 * items and nodes of the trie. Outputs that are spent, updated or supported are mostly recent, while a new name may need any
 * node of the trie.
 */
export const RECENT_SHARES: Readonly<Record<string, number>> = {
  [CLAIM_PREFIX.node]: 0.85,
  [CLAIM_PREFIX.name]: 0.075,
  [CLAIM_PREFIX.item]: 0.075,
};

/** The trie with the hash form before the all-claims fork (`0`), and the one from that fork on (`1`). */
export type Generation = '0' | '1';

export const SUMMARY_KEY = CLAIM_PREFIX.summary;
/** Row of the first epoch of node history that is surely stored. */
export const DROPPED_KEY = CLAIM_PREFIX.summary + 'v';
/** Row of the block after which the node history starts, in a database created from a snapshot. */
export const FIRST_PROVABLE_KEY = CLAIM_PREFIX.summary + 's';
/** Row of the first block whose changes are noted by node. */
export const NOTED_KEY = CLAIM_PREFIX.summary + 'n';

/** A length as one character below 255, else as three. */
function lengthKey(length: number): string {
  return length < 255
    ? String.fromCharCode(length)
    : '\xff' + String.fromCharCode(length >>> 8, length & 255);
}

/** Escapes a name so that the order is preserved. With two zero bytes at the end, no key is a prefix of another. */
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

/** Prefix of the items of a name. */
export function itemsKey(name: string): string {
  return CLAIM_PREFIX.item + lengthKey(name.length) + name;
}

export function itemKey(name: string, since: number, point: string): string {
  return itemsKey(name) + u32Key(since) + point;
}

/** The row that marks a name with support rows by claim; prefix of these rows. */
export function supportsKey(name: string): string {
  return CLAIM_PREFIX.support + lengthKey(name.length) + name;
}

/** Prefix of the supports of one claim of such a name. */
export function supportsOfKey(name: string, claimId: string): string {
  return supportsKey(name) + claimId;
}

/** The key ends like an item key: see `parseItemKey`. */
export function supportKey(name: string, claimId: string, since: number, point: string): string {
  return supportsOfKey(name, claimId) + u32Key(since) + point;
}

/** Prefix of the supports that the normalization fork left behind, of a normalized name. */
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

/** Prefix of the spends of such supports in a block. */
export function strandedSpendsKey(height: number): string {
  return CLAIM_PREFIX.strandedSpend + u32Key(height);
}

/** `stranded` is the key of the support. */
export function strandedSpendKey(height: number, stranded: string): string {
  return strandedSpendsKey(height) + stranded;
}

/** Prefix of the outputs of a name that blocks created and spent. */
export function fleetingNameKey(name: string): string {
  return CLAIM_PREFIX.fleeting + lengthKey(name.length) + name;
}

export function fleetingKey(name: string, height: number): string {
  return fleetingNameKey(name) + u32Key(height);
}

/** Key; with an empty name the prefix of a block's names. */
export function fleetingAtKey(height: number, name: string): string {
  return CLAIM_PREFIX.fleetingAt + u32Key(height) + name;
}

/** Key; with an empty letter the prefix of a block's rows. */
export function differenceKey(height: number, letter: string): string {
  return CLAIM_PREFIX.difference + u32Key(height) + letter;
}

/** `since` and outpoint from a key under `itemsKey(name)`. */
export function parseItemKey(key: string): { since: number; point: string } {
  const at = key.length - 40;
  return { since: readU32(key, at), point: key.slice(at + 4) };
}

/** Prefix of the ownership history of a name. */
export function ownersKey(name: string): string {
  return ownersPrefix(name) + '\0\0';
}

/** Prefix of the ownership histories of all names that begin with `start`. */
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

/** `claimId` is in wire order; keys have it in printed order, so that a printed prefix finds the rows. */
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

/** Prefix of the snapshots of a name. */
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

/** Prefix of the notes of the changes to a node by blocks of an epoch. */
export function nodeNotesKey(epoch: number, generation: Generation, path: string): string {
  return CLAIM_PREFIX.version + u32Key(epoch) + NOTED_AS[generation] + lengthKey(path.length) + path;
}

export function nodeNoteKey(epoch: number, generation: Generation, path: string, height: number): string {
  return nodeNotesKey(epoch, generation, path) + u32Key(height);
}

/** Prefix of the notes of a node's slots within an epoch, in the form of older folders. */
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
