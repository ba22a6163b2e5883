/**
 * History of takeovers, by name and for all names: whether a name had a controlling claim after a block, and its takeover
 * height.
 */
import { fromLatin1, type Bytes } from '../../../util/bytes.js';
import { prefixEnd, type RowReader } from '../../rows/rows.js';
import { YieldTimer } from '../../../scheduler/yieldTimer.js';
import { ownerKey, ownersKey, ownersPrefix, parseOwnerKey, readU32 } from '../rows/claimKeys.js';
import { parseOwnerRow, type Ownership } from '../rows/markRow.js';

/** Number of takeovers of one name that the first call reads; more are read by iteration. Arbitrary. */
const CHANGES_AT_ONCE = 64;

const NO_OWNER: Ownership = { hasClaims: false, takeover: 0 };

/** Returns whether the name had a controlling claim after block `height`, and its takeover height. */
export async function readOwnership(rows: RowReader, name: string, height: number): Promise<Ownership> {
  const range = { gte: ownersKey(name), lt: ownerKey(name, height + 1), reverse: true, limit: 1 };
  const [latest] = await rows.getRange(range);
  if (latest === undefined) return NO_OWNER;
  const [key, row] = latest;
  const ownership = parseOwnerRow(row, readU32(key, key.length - 4));
  // The root of the trie (the empty name) keeps its takeover height even if the trie is empty, but is then not a node.
  if (name !== '' || ownership.hasClaims || (await hasNames(rows, height))) return ownership;
  return NO_OWNER;
}

async function hasNames(rows: RowReader, height: number): Promise<boolean> {
  for await (const _ of readNames(rows, height)) return true;
  return false;
}

/** Takeovers of a name after block `height`, up to and including block `to`. */
export async function ownershipsAfter(
  rows: RowReader,
  name: string,
  height: number,
  to: number,
): Promise<(Ownership & { height: number })[]> {
  const range = { gte: ownerKey(name, height + 1), lt: ownerKey(name, to + 1) };
  const found = await rows.getRange({ ...range, limit: CHANGES_AT_ONCE });
  if (found.length === CHANGES_AT_ONCE) {
    for await (const row of rows.range({ ...range, gte: `${found.at(-1)![0]}\0` })) found.push(row);
  }
  return found.map(([key, row]) => {
    const since = readU32(key, key.length - 4);
    return { ...parseOwnerRow(row, since), height: since };
  });
}

/**
 * Names that begin with `prefix` and had an active claim after block `height`, in byte order. With `passed`, only names that
 * follow all names beginning with `passed`.
 */
export async function* ownedNames(
  rows: RowReader,
  height: number,
  prefix: string,
  passed?: string,
): AsyncGenerator<string> {
  const lt = prefixEnd(ownersPrefix(prefix));
  const gte = passed === undefined ? ownersPrefix(prefix) : prefixEnd(ownersPrefix(passed));
  yield* ownedWithin(rows, height, gte, lt);
}

/**
 * Names that begin with `prefix` and had an active claim after block `height`, in byte order. Only names that follow
 * `after`; all names if `after` is null.
 */
export function ownedNamesAfter(
  rows: RowReader,
  height: number,
  prefix: string,
  after: string | null,
): AsyncGenerator<string> {
  const first = ownersPrefix(prefix);
  const behind = after === null ? first : prefixEnd(ownersKey(after));
  return ownedWithin(rows, height, behind > first ? behind : first, prefixEnd(first));
}

async function* ownedWithin(
  rows: RowReader,
  height: number,
  gte: string,
  lt: string,
): AsyncGenerator<string> {
  if (gte >= lt) return;
  const yieldTimer = new YieldTimer();
  let latest: { name: string; hasClaims: boolean } | null = null;
  for await (const [key, row] of rows.range({ gte, lt })) {
    if (yieldTimer.isDue) await yieldTimer.pause();
    const { name, height: since } = parseOwnerKey(key);
    if (latest !== null && latest.name !== name) {
      if (latest.hasClaims) yield latest.name;
      latest = null;
    }
    if (since <= height) latest = { name, hasClaims: parseOwnerRow(row, since).hasClaims };
  }
  if (latest?.hasClaims) yield latest.name;
}

/** Names with an active claim after a block, in byte order. */
export async function* readNames(rows: RowReader, height: number): AsyncGenerator<Bytes> {
  for await (const name of ownedNames(rows, height, '')) yield fromLatin1(name);
}
