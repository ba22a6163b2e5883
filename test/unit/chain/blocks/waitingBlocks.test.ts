import { describe, expect, it } from 'vitest';
import type { BlockIndex } from '../../../../src/chain/index/blockIndex.js';
import type { LoadedBlock } from '../../../../src/chain/blocks/loadedBlock.js';
import { WaitingBlocks } from '../../../../src/chain/blocks/waitingBlocks.js';
import { NO_HEADER, STATUS } from '../../../../src/store/files/headerTable.js';
import { TestHeaders } from '../headers.js';

const MIB = 1 << 20;

describe('blocks that wait for their connection', () => {
  const headers = new TestHeaders();
  const genesis = headers.add(NO_HEADER);
  const main = headers.chain(genesis, 5);
  const side = headers.chain(genesis, 3);
  for (const id of [genesis, ...main, ...side]) headers.table.setChainTxCount(id, 1);
  const active = { tip: main[1]! };
  const index = { headers: headers.table, active } as unknown as BlockIndex;
  const blockOf = (raw: Buffer): LoadedBlock =>
    ({
      raw,
      parsed: { txs: new Uint32Array(4), inputs: new Uint32Array(4), outputs: new Uint32Array(4) },
    }) as LoadedBlock;

  it('do not keep alive a large buffer that contains them', () => {
    const waiting = new WaitingBlocks(index);
    const window = Buffer.alloc(16 * MIB, 7);
    waiting.add(main[2]!, blockOf(window.subarray(100, 1100)));
    const { raw } = waiting.take(main[2]!)!;
    expect(raw).toEqual(Buffer.alloc(1000, 7));
    expect(raw.buffer).not.toBe(window.buffer);
    expect(waiting.usageBytes).toBe(0);
  });

  it('are dropped when they cannot be next any more', () => {
    const waiting = new WaitingBlocks(index);
    headers.table.addStatus(main[4]!, STATUS.failed);
    for (const id of [main[2]!, main[4]!, ...side]) waiting.add(id, blockOf(Buffer.alloc(1000)));
    waiting.dropBeaten();
    // The tip has the work of two blocks. Only one block of the side branch has more.
    expect([main[2]!, main[4]!, ...side].map((id) => waiting.take(id) !== undefined)).toEqual([
      true,
      false,
      false,
      false,
      true,
    ]);
    expect(waiting.usageBytes).toBe(0);
  });

  it('are limited, and replaced by blocks that can be connected', () => {
    const waiting = new WaitingBlocks(index);
    const orphans = headers.chain(main[4]!, 8);
    for (const id of orphans) waiting.add(id, blockOf(Buffer.alloc(10 * MIB)));
    expect(waiting.usageBytes).toBeLessThanOrEqual(64 * MIB);
    waiting.add(main[2]!, blockOf(Buffer.alloc(10 * MIB)));
    expect(waiting.take(main[2]!)).toBeDefined();
    expect(waiting.usageBytes).toBe(0);
  });
});
