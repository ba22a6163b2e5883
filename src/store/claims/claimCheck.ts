/**
 * Checks the rows of the claim trie before a block is rejected for its claim root. Rebuilds the rows that can be computed
 * from the rows of names: trie nodes, totals, and the filter of idle names (`idleNames.ts`). A missing row must never make a
 * valid block invalid.
 */
import { namesInvolved } from '../../claimtrie/blockTransactions.js';
import { ClaimCorruptionError, TrieCorruptionError, intact } from '../../claimtrie/corruption.js';
import { pointKey, type Item } from '../../claimtrie/item.js';
import { normalizeKey } from '../../claimtrie/nameKey.js';
import { emptyNameState } from '../../claimtrie/nameState.js';
import { expiringCreation, hashesAllClaims } from '../../claimtrie/rules.js';
import type { ClaimBlock, ClaimRules } from '../../claimtrie/types.js';
import { equalBytes, toLatin1, type Bytes } from '../../util/bytes.js';
import { ReadError } from '../../util/reader.js';
import { prefixEnd, type RowReader, type RowTransaction } from '../rows/rows.js';
import { YieldTimer } from '../../scheduler/yieldTimer.js';
import {
  CLAIM_PREFIX,
  dueKey,
  itemKey,
  nameKey,
  parseItemKey,
  SUMMARY_KEY,
  type Generation,
} from './rows/claimKeys.js';
import { buildTrie, rebuildNodes } from './hashFork.js';
import type { IdleNames } from './idleNames.js';
import { aliveItems, itemsByOrdinal } from './query/itemHistory.js';
import { parseItemRow } from './rows/itemRow.js';
import { countLogChunks, readLog } from './rows/logRow.js';
import { parseNameRow, rowHasClaims } from './rows/nameRow.js';
import { parseDueRow } from './rows/queueRow.js';
import {
  moveTotals,
  noTotals,
  parseSummaryRow,
  putSummary,
  totalsOf,
  type ClaimTotals,
} from './rows/summaryRow.js';

/** Height and claim root of the tip, from its header. */
export interface TrieTip {
  readonly height: number;
  /** The claim root in the header of the tip. */
  readonly root: Bytes;
}

/**
 * The generation of the trie (how nodes are hashed) after the block at `height`: '1' from the all-claims hash fork on, '0'
 * before.
 */
export function generationAt(rules: ClaimRules, height: number): Generation {
  return hashesAllClaims(rules, height) ? '1' : '0';
}

/**
 * Rebuilds the trie nodes, the totals and the filter of idle names from the rows of names. Throws `ClaimCorruptionError` if
 * the rows of names do not give the root of `tip`. The caller must then discard the written rows.
 */
export async function repairTrie(
  rows: RowTransaction,
  rules: ClaimRules,
  idle: IdleNames,
  tip: TrieTip,
): Promise<void> {
  const root = await orCorruption(() => rebuildNodes(rows, generationAt(rules, tip.height)));
  intact(equalBytes(root, tip.root), `the names after block ${tip.height} do not have its claim root`);
  const totals = noTotals();
  const yieldTimer = new YieldTimer();
  for await (const [key, row] of rows.range({ gte: CLAIM_PREFIX.name, lt: prefixEnd(CLAIM_PREFIX.name) })) {
    const state = parseNameRow(row);
    moveTotals(totals, noTotals(), totalsOf(state));
    const name = key.slice(CLAIM_PREFIX.name.length);
    if (state.claims.length === 0 && !idle.mayHold(name)) idle.add(rows, name);
    if (yieldTimer.isDue) await yieldTimer.pause();
  }
  putSummary(rows, { root, totals });
}

/**
 * Checks the rows that determine the claim root of `block`, the block after `tip`. Resolves if all rows are consistent.
 * Throws `TrieCorruptionError` if `repairTrie` can rebuild the rows, and `ClaimCorruptionError` if missing rows cannot be
 * rebuilt. Reads the rows of all names.
 */
export async function checkBeforeVerdict(
  rows: RowReader,
  rules: ClaimRules,
  idle: IdleNames,
  tip: TrieTip,
  block: ClaimBlock,
): Promise<void> {
  const due = await checkTrie(rows, rules, idle, tip);
  await checkDue(rows, block.height, due);
  const names = new Set<string>(due.keys());
  for (const { spends, outputs } of block.transactions) {
    for (const { name: bytes } of [...spends, ...outputs]) {
      const name = toLatin1(bytes);
      names.add(name);
      for (const involved of namesInvolved(rules, block.height, name)) names.add(involved);
    }
  }
  for (const name of await expiringNames(rules, rows, block.height)) names.add(name);
  for (const name of names) await checkName(rows, name, tip.height);
}

/**
 * Checks names, nodes, totals and idle names. Returns, by name, the number of pending items (claims and supports) that are
 * due in the next block.
 */
export function checkTrie(
  rows: RowReader,
  rules: ClaimRules,
  idle: IdleNames,
  tip: TrieTip,
): Promise<Map<string, number>> {
  return orCorruption(() => compareTrie(rows, rules, idle, tip));
}

async function compareTrie(
  rows: RowReader,
  rules: ClaimRules,
  idle: IdleNames,
  tip: TrieTip,
): Promise<Map<string, number>> {
  const due = new Map<string, number>();
  const totals = noTotals();
  let isIdleRight = true;
  let areNodesRight = true;
  const root = await buildTrie(
    rows,
    generationAt(rules, tip.height),
    async (nodes) => {
      const stored = await rows.getMany(
        nodes.map(([key]) => key),
        { once: true },
      );
      areNodesRight &&= nodes.every(([, row], i) => stored[i] !== undefined && equalBytes(row, stored[i]));
    },
    (name, row) => {
      const state = parseNameRow(row);
      moveTotals(totals, noTotals(), totalsOf(state));
      const count = state.pending.get(tip.height + 1);
      if (count !== undefined) due.set(name, count);
      if (state.claims.length === 0) isIdleRight &&= idle.mayHold(name);
    },
  );
  intact(equalBytes(root, tip.root), `the names after block ${tip.height} do not have its claim root`);
  const summary = parseSummaryRow(await rows.get(SUMMARY_KEY));
  const isRight = areNodesRight && isIdleRight && equalBytes(summary.root, root);
  if (!isRight || !areSame(summary.totals, totals))
    throw new TrieCorruptionError(`nodes or totals after block ${tip.height} do not match the names`);
  return due;
}

/**
 * Checks a trie without a row of totals. Such a trie must be empty, so no name may have claims. Throws `TrieCorruptionError`
 * if a name has claims.
 */
export async function refuseLostTotals(rows: RowReader): Promise<void> {
  const yieldTimer = new YieldTimer();
  for await (const [, row] of rows.range({ gte: CLAIM_PREFIX.name, lt: prefixEnd(CLAIM_PREFIX.name) })) {
    if (rowHasClaims(row)) throw new TrieCorruptionError('its totals are missing');
    if (yieldTimer.isDue) await yieldTimer.pause();
  }
}

function areSame(a: ClaimTotals, b: ClaimTotals): boolean {
  return (
    a.names === b.names &&
    a.claims === b.claims &&
    a.amount === b.amount &&
    a.controllingAmount === b.controllingAmount
  );
}

async function checkDue(rows: RowReader, height: number, wanted: ReadonlyMap<string, number>): Promise<void> {
  const left = new Map(wanted);
  for (const { name } of parseDueRow(await rows.get(dueKey(height))))
    left.set(name, (left.get(name) ?? 0) - 1);
  for (const count of left.values())
    intact(count === 0, `the schedule of block ${height} does not match the names`);
}

/**
 * Names of the items (claims and supports) that expire in the block at `height`. They are read from the log of the block
 * that created the items.
 */
async function expiringNames(rules: ClaimRules, rows: RowReader, height: number): Promise<Set<string>> {
  const created = expiringCreation(rules, height);
  const names = new Set<string>();
  if (created < 0) return names;
  const made = new Map<string, ReadonlyMap<number, Item>>();
  for (const event of await readLog(rows, created)) {
    if (event.op !== 'create') continue;
    const { name, ordinal } = event.ref;
    names.add(name);
    let items = made.get(name);
    if (!items) made.set(name, (items = await itemsByOrdinal(rows, name, created)));
    intact(items.has(ordinal), `a claim or support created in block ${created} is missing`);
  }
  if (names.size > 0 || (await countLogChunks(rows, created)) > 0) return names;
  await refuseItemsOf(rows, created);
  return names;
}

/** Checks that the block at `height`, which has no log, created no items (claims and supports). Reads all items. */
async function refuseItemsOf(rows: RowReader, height: number): Promise<void> {
  const yieldTimer = new YieldTimer();
  const items = { gte: CLAIM_PREFIX.item, lt: prefixEnd(CLAIM_PREFIX.item) };
  for await (const [key] of rows.range(items)) {
    intact(parseItemKey(key).since !== height, `the log of block ${height} is missing`);
    if (yieldTimer.isDue) await yieldTimer.pause();
  }
}

/** Checks that the number of items (claims and supports) stored under a name matches the counts in the name's row. */
async function checkName(rows: RowReader, name: string, height: number): Promise<void> {
  const row = await rows.get(nameKey(name));
  const state = row ? parseNameRow(row) : emptyNameState();
  const items = await aliveItems(rows, name, height);
  const active = new Set(
    items.filter(({ kind, activated }) => kind !== 'support' && activated !== 0).map(({ point }) => point),
  );
  const what = `the claims and supports of a name after block ${height} do not match its row`;
  intact(items.length === state.alive && active.size === state.claims.length, what);
  intact(
    state.claims.every(({ point }) => active.has(point)),
    what,
  );
}

/**
 * Checks that disconnecting `block` left none of its rows. If the block's log was missing, rows can remain although the root
 * is correct. Throws `ClaimCorruptionError` if rows remain.
 */
export async function checkTakenBack(rows: RowReader, block: ClaimBlock): Promise<void> {
  const { height } = block;
  const places: { name: string; since: number; point: string }[] = [];
  const add = (bytes: Bytes, since: number, point: string): void => {
    const name = toLatin1(bytes);
    const normalized = normalizeKey(name);
    places.push({ name, since, point });
    if (normalized !== name) places.push({ name: normalized, since, point });
  };
  for (const { txid, spends, outputs } of block.transactions) {
    for (const spend of spends) add(spend.name, spend.coinHeight, pointKey(spend.txid, spend.n));
    for (const output of outputs) add(output.name, height, pointKey(txid, output.n));
  }
  if (places.length === 0) return;
  const found = await rows.getMany(
    places.map(({ name, since, point }) => itemKey(name, since, point)),
    { once: true },
  );
  places.forEach(({ name, since, point }, i) => {
    const row = found[i];
    if (!row) return;
    const { removed } = parseItemRow(name, since, point, row);
    intact(since !== height && removed !== height, `the log of block ${height} is missing`);
  });
}

/** Runs `step`. An unreadable row counts as corruption. */
async function orCorruption<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw error instanceof ReadError ? new ClaimCorruptionError(error.message) : error;
  }
}
