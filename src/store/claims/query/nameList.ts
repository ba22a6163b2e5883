/**
 * Names with active claims after a block, a page at a time, each with its controlling claim. The history of controlling
 * claims gives the names for any block. The data of the names is read from the current rows or, for a past block, from item
 * rows and histories.
 */
import { intact } from '../../../claimtrie/corruption.js';
import { pointIndex, pointTxid } from '../../../claimtrie/item.js';
import type { ActiveClaim } from '../../../claimtrie/nameState.js';
import type { ClaimRules } from '../../../claimtrie/types.js';
import { fromLatin1, type Bytes } from '../../../util/bytes.js';
import type { RowReader } from '../../rows/rows.js';
import { YieldTimer } from '../../../scheduler/yieldTimer.js';
import { itemKey, nameKey } from '../rows/claimKeys.js';
import { readName } from './claimQueries.js';
import { parseItemRow } from '../rows/itemRow.js';
import { parseNameHead } from '../rows/nameRow.js';
import { ownedNamesAfter } from './ownership.js';

/** A name in the list. Ids and hashes are in wire order. */
export interface ListedName {
  /** The name as stored: normalized if the rules require it. */
  name: Bytes;
  /** Number of active claims. */
  claims: number;
  lastTakeoverHeight: number;
  /** The controlling claim: the name in its script, its id, its output, and the block of the output. */
  rawName: Bytes;
  claimId: Bytes;
  txid: Bytes;
  n: number;
  height: number;
  amount: bigint;
  effectiveAmount: bigint;
}

export interface NameListQuery {
  /** Height of the block after which the names are listed. */
  height: number;
  /** Only names that begin with this prefix are listed. The prefix is compared with the names as stored. */
  prefix: string;
  /** Only names that follow this name are listed; null for all names. */
  after: string | null;
  /** Maximum number of listed names. */
  count: number;
}

/** The names of one page in byte order. If more names follow, the list has one name more than `count`. */
export async function namesBehind(rows: RowReader, query: NameListQuery): Promise<string[]> {
  const { height, prefix, after, count } = query;
  const names: string[] = [];
  for await (const name of ownedNamesAfter(rows, height, prefix, after)) {
    names.push(name);
    if (names.length > count) break;
  }
  return names;
}

/** Number of names that are read in one call. Arbitrary. */
const NAMES_AT_ONCE = 256;

/** Describes these names after block `height`. Blocks may be connected during the call. */
export async function describePastNames(
  rows: RowReader,
  rules: ClaimRules,
  names: readonly string[],
  height: number,
): Promise<ListedName[]> {
  const listed: ListedName[] = [];
  const yieldTimer = new YieldTimer();
  for (const name of names) {
    const info = await readName(rows, rules, { name: fromLatin1(name), height, exact: true });
    const best = info.claims[0];
    intact(best?.active, 'a name with an owner has no active claim');
    let claims = 0;
    for (const { active } of info.claims) if (active) claims++;
    const { claimId, txid, n, amount, effectiveAmount } = best;
    listed.push({
      name: info.name,
      claims,
      lastTakeoverHeight: info.lastTakeoverHeight,
      rawName: best.name,
      claimId,
      txid,
      n,
      height: best.height,
      amount,
      effectiveAmount,
    });
    await yieldTimer.pause();
  }
  return listed;
}

/**
 * Describes these names after the latest block. The result is invalid if a block is connected or disconnected during the
 * call.
 */
export async function describePresentNames(rows: RowReader, names: readonly string[]): Promise<ListedName[]> {
  const listed: ListedName[] = [];
  const yieldTimer = new YieldTimer();
  for (let at = 0; at < names.length; at += NAMES_AT_ONCE) {
    const some = names.slice(at, at + NAMES_AT_ONCE);
    const heads = (await rows.getMany(some.map(nameKey))).map((row) => {
      intact(row, 'a name with an owner has no row');
      return parseNameHead(row);
    });
    const owners = heads.map(({ best }): ActiveClaim => {
      intact(best, 'a name with an owner has no active claim');
      return best;
    });
    const items = await rows.getMany(owners.map(({ since, point }, i) => itemKey(some[i]!, since, point)));
    some.forEach((name, i) => {
      const owner = owners[i]!;
      const row = items[i];
      intact(row, 'a controlling claim has no row');
      const { rawName } = parseItemRow(name, owner.since, owner.point, row);
      listed.push({
        name: fromLatin1(name),
        claims: heads[i]!.claims,
        lastTakeoverHeight: heads[i]!.takeover,
        rawName: fromLatin1(rawName),
        claimId: fromLatin1(owner.claimId),
        txid: pointTxid(owner.point),
        n: pointIndex(owner.point),
        height: owner.height,
        amount: owner.amount,
        effectiveAmount: owner.effective,
      });
    });
    await yieldTimer.pause();
  }
  return listed;
}
