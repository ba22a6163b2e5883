/**
 * The claim trie's part of the key table: every row prefix of the claims, and how their keys are made.
 * A key is a latin1 string, one code unit a byte; heights in keys are big endian, so that they sort.
 */
import { readU32, u32Key } from '../../rows/keys.js';

export { readU32 } from '../../rows/keys.js';

export const CLAIM_PREFIX = {
  /** `n` ‖ name → present state of the name. */
  name: 'n',
  /** `i` ‖ length ‖ name ‖ since u32 ‖ outpoint → one claim or support, permanently. */
  item: 'i',
  /** `w` ‖ name, escaped ‖ height u32 → whether the name had an owner from that block on, and its takeover height. */
  owner: 'w',
  /** `b` ‖ claim id in printed order → name as the script of the claim's output has it. */
  claimId: 'b',
  /** `q` ‖ due height u32 → pending items that enter in that block. */
  due: 'q',
  /** `e` ‖ height u32 ‖ chunk u16 → what a block changed. */
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
   * `v` ‖ epoch u32 ‖ `2` or `3` for the generation ‖ length ‖ path ‖ height u32 → what that block changed in a node, as it was
   * before. In older folders, up to the block that `kn` names:
   * `v` ‖ epoch u32 ‖ generation ‖ length ‖ path ‖ first byte of the edge ‖ height u32 → slot before that block.
   */
  version: 'v',
  /**
   * `k` → root and totals, absent while the trie is empty; `kv` → first epoch of node history that is kept; `kn` → the first
   * block whose changes are noted node by node, absent when there is none; `ks` → the block of a snapshot with which the notes
   * of this database begin, absent when they begin with the chain.
   */
  summary: 'k',
  /** `f` ‖ row number u16 → bits of names without active claims that have a row all the same. */
  idle: 'f',
  /** `y` ‖ length ‖ normalized name ‖ since u32 ‖ outpoint → a support that the normalization fork left behind. */
  stranded: 'y',
  /** `z` ‖ height u32 ‖ key of such a support → nothing; the block spent it. */
  strandedSpend: 'z',
  /** `d` ‖ height u32 ‖ letter of what it is → nothing; the block has something that lbcd keeps in another way. */
  difference: 'd',
  /** `g` ‖ length ‖ name ‖ height u32 → what the block made of the name and spent again. */
  fleeting: 'g',
  /** `h` ‖ height u32 ‖ name → nothing; the block has such a row, or spent what the trie does not know. */
  fleetingAt: 'h',
  /** `j` ‖ name → a name at the start of the block; exists only while a fork block is in work. */
  mark: 'j',
} as const;

/**
 * Rows that a block writes and one soon to come reads again (what names, their claims and supports, and the trie are now),
 * and what share of their memory each kind gets: what is spent, updated or supported is mostly young, while a new name
 * may lead to any node of the trie.
 */
export const RECENT_SHARES: Readonly<Record<string, number>> = {
  [CLAIM_PREFIX.node]: 0.85,
  [CLAIM_PREFIX.name]: 0.075,
  [CLAIM_PREFIX.item]: 0.075,
};

/** The trie with the hash form of before the all-claims fork, and the one from it on. */
export type Generation = '0' | '1';

export const SUMMARY_KEY = CLAIM_PREFIX.summary;
/** The first epoch of node history that is surely there. */
export const DROPPED_KEY = CLAIM_PREFIX.summary + 'v';
/** The block after which the notes of nodes begin, in a database that was made from a snapshot. */
export const FIRST_PROVABLE_KEY = CLAIM_PREFIX.summary + 's';
/** The first block whose changes are noted node by node. */
export const NOTED_KEY = CLAIM_PREFIX.summary + 'n';

/** A length in one code unit below 255, else in three. */
function lengthKey(length: number): string {
  return length < 255
    ? String.fromCharCode(length)
    : '\xff' + String.fromCharCode(length >>> 8, length & 255);
}

/** Order-preserving; with two zero bytes at its end, free of prefixes too. */
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

/** Prefix of what a block spent of them. */
export function strandedSpendsKey(height: number): string {
  return CLAIM_PREFIX.strandedSpend + u32Key(height);
}

/** `stranded` is the key of the support. */
export function strandedSpendKey(height: number, stranded: string): string {
  return strandedSpendsKey(height) + stranded;
}

/** Prefix of what blocks made of a name and spent again. */
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

/** `claimId` is in wire order; rows sort as ids are printed, so that a printed beginning finds them. */
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

/** Prefix of the notes of what blocks of an epoch changed in a node. */
export function nodeNotesKey(epoch: number, generation: Generation, path: string): string {
  return CLAIM_PREFIX.version + u32Key(epoch) + NOTED_AS[generation] + lengthKey(path.length) + path;
}

export function nodeNoteKey(epoch: number, generation: Generation, path: string, height: number): string {
  return nodeNotesKey(epoch, generation, path) + u32Key(height);
}

/** Prefix of what is known about a node's slots within an epoch, in the form of older folders. */
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
