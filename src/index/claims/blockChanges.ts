/**
 * The changes that a block made to claims, for followers of the index. Rows of touched and deleted claims are stored as long
 * as the block can be disconnected; rows of changed effective amounts are stored permanently. A claim counts as touched if
 * its record changes. Some events change very many claims: a takeover touches all claims of its name, a new channel key all
 * claims signed with the old or the new key, and a change of a claim all its reposts. For these only the event is stored,
 * and a query finds the claims.
 */
import { RowDecoder, RowEncoder } from '../../store/claims/rows/rowCodec.js';
import type { RowReader, RowTransaction } from '../../store/rows/rows.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import type { Bytes } from '../../util/bytes.js';
import { ReadError } from '../../util/reader.js';
import { changesKey, heightOfKey, ID_LENGTH, TAG_LENGTH, trendingKey } from './claimIndexKeys.js';

/** Size in bytes at which a row ends and the next one starts. Only the last row may be smaller. */
const CHUNK_BYTES = 32 << 10;

const NOTE = {
  /** A claim. */
  touched: 0,
  /** A claim that was created or updated. Its reposts count as changed too. */
  rewritten: 1,
  /** A claim that was spent or expired. Its reposts count as changed. */
  deleted: 2,
  /** A name group (`groupOf`) whose owner changed. All claims of the group count as changed. */
  takeover: 3,
  /**
   * A channel and the tag of a key that the channel lost or received. The claims signed with this key for the channel count
   * as changed.
   */
  signed: 4,
} as const;

/** Changes of a block as stored in the index. Ids are latin1 strings in wire order. */
export interface NotedChanges {
  readonly touched: readonly string[];
  readonly rewritten: readonly string[];
  readonly deleted: readonly string[];
  readonly takeovers: readonly string[];
  /** Channel ids, each followed by the tag of a key (see `NOTE.signed`). */
  readonly signed: readonly string[];
}

export interface NotedTrending {
  readonly claimId: string;
  readonly formerSat: bigint;
  readonly latterSat: bigint;
}

type ChangeWriter = Pick<RowTransaction, 'put' | 'relieve'>;

/** Writes the changes of a block, each list under its number in `NOTE`. Returns the number of rows. */
export async function writeChanges(
  rows: ChangeWriter,
  height: number,
  { touched, rewritten, deleted, takeovers, signed }: NotedChanges,
): Promise<number> {
  const encoder = new RowEncoder();
  let chunk = 0;
  const lists = [touched, rewritten, deleted, takeovers, signed];
  for (let note = 0; note < lists.length; note++) {
    for (const id of lists[note]!) {
      encoder.byte(note);
      if (note === NOTE.takeover) encoder.string(id);
      else encoder.raw(id);
      if (encoder.size < CHUNK_BYTES) continue;
      rows.put(changesKey(height, chunk++), encoder.finish());
      await rows.relieve();
    }
  }
  // A row is written even for a block without changes, because a missing row means that the changes of the block are not
  // stored any more.
  if (encoder.size > 0 || chunk === 0) rows.put(changesKey(height, chunk++), encoder.finish());
  return chunk;
}

/** Reads the changes of a block; null if they are not stored any more. */
export async function readNotedChanges(rows: RowReader, height: number): Promise<NotedChanges | null> {
  const notes: string[][] = Object.values(NOTE).map(() => []);
  for (let chunk = 0, isLast = false; !isLast; chunk++) {
    const row = await rows.get(changesKey(height, chunk));
    if (row === undefined && chunk === 0) return null;
    if (row === undefined) break;
    isLast = row.length < CHUNK_BYTES;
    const input = new RowDecoder(row);
    while (!input.done) {
      const note = input.byte();
      const list = notes[note];
      if (list === undefined) throw new ReadError('a row of the changes of a block has an unknown kind');
      if (note === NOTE.takeover) list.push(input.string());
      else list.push(input.raw(note === NOTE.signed ? ID_LENGTH + TAG_LENGTH : ID_LENGTH));
    }
  }
  return {
    touched: notes[NOTE.touched]!,
    rewritten: notes[NOTE.rewritten]!,
    deleted: notes[NOTE.deleted]!,
    takeovers: notes[NOTE.takeover]!,
    signed: notes[NOTE.signed]!,
  };
}

export async function writeTrending(
  rows: ChangeWriter,
  height: number,
  changes: readonly NotedTrending[],
): Promise<void> {
  const encoder = new RowEncoder();
  let chunk = 0;
  const close = (): void => rows.put(trendingKey(height, chunk++), encoder.finish());
  for (const { claimId, formerSat, latterSat } of changes) {
    encoder.raw(claimId).amount(formerSat).amount(latterSat);
    if (encoder.size < CHUNK_BYTES) continue;
    close();
    await rows.relieve();
  }
  if (encoder.size > 0) close();
}

export async function readTrending(rows: RowReader, height: number): Promise<NotedTrending[]> {
  const changes: NotedTrending[] = [];
  for (let chunk = 0, isLast = false; !isLast; chunk++) {
    const row = await rows.get(trendingKey(height, chunk));
    if (row === undefined) break;
    isLast = row.length < CHUNK_BYTES;
    addTrending(changes, row);
  }
  return changes;
}

/** Reads the changes of effective amounts of blocks `from` to `to` (inclusive), by height. Blocks without changes are omitted. */
export async function readTrendingOf(
  rows: RowReader,
  from: number,
  to: number,
): Promise<Map<number, NotedTrending[]>> {
  const blocks = new Map<number, NotedTrending[]>();
  let since = performance.now();
  for await (const [key, row] of rows.range({ gte: trendingKey(from, 0), lt: trendingKey(to + 1, 0) })) {
    const height = heightOfKey(key);
    let changes = blocks.get(height);
    if (changes === undefined) blocks.set(height, (changes = []));
    addTrending(changes, row);
    const slice = yieldIfDue(since);
    since = typeof slice === 'number' ? slice : await slice;
  }
  return blocks;
}

function addTrending(changes: NotedTrending[], row: Bytes): void {
  const input = new RowDecoder(row);
  while (!input.done) {
    const claimId = input.raw(ID_LENGTH);
    changes.push({ claimId, formerSat: input.amount(), latterSat: input.amount() });
  }
}
