/** A block in a list: its header, and its data if on disk. */
import type { BlockAnswer, BlockHeaderAnswer } from '../answers.js';
import type { PageContext } from '../pageContext.js';
import { isMissing, orNull } from './parts.js';

export interface BlockRow {
  readonly header: BlockHeaderAnswer;
  /** Null if the data are pruned. */
  readonly block: BlockAnswer | null;
}

export async function blockRow(ask: PageContext['ask'], hash: string): Promise<BlockRow> {
  const block = await orNull(ask<BlockAnswer>('getblock', hash, 1));
  if (!isMissing(block)) return { header: block, block };
  return { header: await ask<BlockHeaderAnswer>('getblockheader', hash), block: null };
}
