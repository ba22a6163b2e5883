/** Blocks in lists: facts of a block that never change, so that each is asked for once. */
import type { BlockAnswer, BlockEventsAnswer, BlockHeaderAnswer } from '../answers.js';
import type { PageContext } from '../pageContext.js';
import { isMissing, orNull } from './parts.js';

export interface BlockRow {
  readonly hash: string;
  readonly height: number;
  readonly timeSec: number;
  readonly txCount: number;
  readonly previousHash: string | undefined;
  /** Sizes of its data; null if the data are pruned. */
  readonly data: { readonly size: number; readonly weight: number } | null;
}

/** Numbers of events by their kind. */
export type EventCounts = Readonly<Record<string, number>>;

export async function blockRow({ ask, fixed }: PageContext, hash: string): Promise<BlockRow> {
  const key = `block ${hash}`;
  const known = fixed.get(key);
  if (known !== undefined) return known as BlockRow;
  const block = await orNull(ask<BlockAnswer>('getblock', hash, 1));
  const isPruned = isMissing(block);
  const header = isPruned ? await ask<BlockHeaderAnswer>('getblockheader', hash) : block;
  const row: BlockRow = {
    hash,
    height: header.height,
    timeSec: header.time,
    txCount: header.nTx,
    previousHash: header.previousblockhash,
    data: isPruned ? null : { size: block.size, weight: block.weight },
  };
  if (!isPruned) fixed.set(key, row);
  return row;
}

/** Null if the node does not know the events of the block. */
export async function eventCounts({ ask, fixed }: PageContext, hash: string): Promise<EventCounts | null> {
  const key = `events ${hash}`;
  const known = fixed.get(key);
  if (known !== undefined) return known as EventCounts;
  const events = await orNull(ask<BlockEventsAnswer>('getblockevents', hash, 1));
  if (isMissing(events)) return null;
  fixed.set(key, events.counts);
  return events.counts;
}

/** The blocks from `hash` downwards, at most `count`. */
export async function blocksFrom(context: PageContext, hash: string, count: number): Promise<BlockRow[]> {
  const rows: BlockRow[] = [];
  for (let at: string | undefined = hash; at !== undefined && rows.length < count;) {
    const row: BlockRow = await blockRow(context, at);
    rows.push(row);
    at = row.previousHash;
  }
  return rows;
}
