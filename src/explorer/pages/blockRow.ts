/** Blocks in lists. The data never changes, so it is requested once for each block. */
import type { BlockAnswer, BlockEventsAnswer, BlockHeaderAnswer } from '../answers.js';
import type { PageContext } from '../pageContext.js';
import { isMissing, orNull } from './parts.js';

export interface BlockRow {
  readonly hash: string;
  readonly height: number;
  readonly timeSec: number;
  readonly txCount: number;
  readonly previousHash: string | undefined;
  /** Sizes of the block's data; null if the data is not on disk. */
  readonly data: { readonly size: number; readonly weight: number } | null;
  /** Text in place of the size if the data is not on disk: it was pruned, or is below a snapshot and not downloaded yet. */
  readonly absent: string;
}

/** Number of events for each type of event. */
export type EventCounts = Readonly<Record<string, number>>;

export async function blockRow({ ask, fixed }: PageContext, hash: string): Promise<BlockRow> {
  const key = `block ${hash}`;
  const known = fixed.get(key);
  if (known !== undefined) return known as BlockRow;
  const block = await orNull(ask<BlockAnswer>('getblock', hash, 1));
  const isAbsent = isMissing(block);
  const header = isAbsent ? await ask<BlockHeaderAnswer>('getblockheader', hash) : block;
  const row: BlockRow = {
    hash,
    height: header.height,
    timeSec: header.time,
    txCount: header.nTx,
    previousHash: header.previousblockhash,
    absent: isMissing(block) && !block.message.includes('pruned') ? 'not downloaded yet' : 'pruned',
    data: isAbsent ? null : { size: block.size, weight: block.weight },
  };
  if (!isAbsent) fixed.set(key, row);
  return row;
}

/** Numbers of events in the block; null if the node cannot compute them. */
export async function eventCounts({ ask, fixed }: PageContext, hash: string): Promise<EventCounts | null> {
  const key = `events ${hash}`;
  const known = fixed.get(key);
  if (known !== undefined) return known as EventCounts;
  const events = await orNull(ask<BlockEventsAnswer>('getblockevents', hash, 1));
  if (isMissing(events)) return null;
  fixed.set(key, events.counts);
  return events.counts;
}

/** Returns the blocks from `hash` downwards, at most `count`. */
export async function blocksFrom(context: PageContext, hash: string, count: number): Promise<BlockRow[]> {
  const rows: BlockRow[] = [];
  for (let at: string | undefined = hash; at !== undefined && rows.length < count;) {
    const row: BlockRow = await blockRow(context, at);
    rows.push(row);
    at = row.previousHash;
  }
  return rows;
}
