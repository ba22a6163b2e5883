import { openSync, writeSync, closeSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { verifyChain } from '../../../../src/chain/open/verifyChain.js';
import { txidAt } from '../../../../src/primitives/blockView.js';
import { OPEN_SCRIPT, outPointOf, spend, TestChain } from '../../../support/testChain.js';
import { hashToHex } from '../../../../src/util/bytes.js';

async function withChain(run: (chain: TestChain) => Promise<void>): Promise<void> {
  const chain = await TestChain.open();
  try {
    await chain.mine(101);
    const coinbase = txidAt((await chain.blockAt(1)).parsed, 0);
    chain.pending.push(
      spend(
        [{ txid: coinbase, n: 0 }],
        [
          { value: 10n, script: OPEN_SCRIPT },
          { value: 20n, script: OPEN_SCRIPT },
        ],
      ),
    );
    await chain.mine(1);
    const made = txidAt((await chain.blockAt(102)).parsed, 1);
    chain.pending.push(spend([{ txid: made, n: 1 }], [{ value: 15n, script: OPEN_SCRIPT }]));
    await chain.mine(3);
    await run(chain);
  } finally {
    await chain.close();
  }
}

const check = (chain: TestChain, level: number, blocks = 0): Promise<string | null> =>
  verifyChain(chain.opened.chain, { level, blocks, signal: new AbortController().signal });

/** Overwrites bytes of a stored file. */
function corrupt(chain: TestChain, kind: 'blk' | 'rev', height: number, at: number): void {
  const { headers, active } = chain.opened.chain.index;
  const id = active.at(height);
  const position = kind === 'blk' ? headers.dataPosition(id) : headers.undoPosition(id);
  const fd = openSync(chain.opened.chain.deps.files.path(kind, position.file), 'r+');
  writeSync(fd, Buffer.of(0xaa, 0xbb), 0, 2, position.offset + at);
  closeSync(fd);
}

describe('verifying the chain', () => {
  it('accepts a valid chain, and does not change it', () =>
    withChain(async (chain) => {
      const { chain: core, reader } = chain.opened;
      const made = hashToHex(txidAt((await chain.blockAt(102)).parsed, 1));
      for (const level of [0, 1, 2, 3, 4]) expect(await check(chain, level)).toBeNull();
      expect(core.height).toBe(105);
      expect(await reader.coin(outPointOf(made, 0))).toMatchObject({ amount: 10n });
      expect(await reader.coin(outPointOf(made, 1))).toBeNull();
      await chain.mine(1);
      await chain.opened.flusher.flush();
      expect(await check(chain, 4)).toBeNull();
    }));

  it('finds a corrupt block at any level', () =>
    withChain(async (chain) => {
      corrupt(chain, 'blk', 104, 20);
      for (const level of [0, 4])
        expect(await check(chain, level)).toMatch(
          /^the block cannot be read from .*blk00000\.dat at 104, hash=/,
        );
      expect(await check(chain, 4, 1)).toBeNull();
    }));

  it('finds a changed transaction at every level', () =>
    withChain(async (chain) => {
      corrupt(chain, 'blk', 104, 140);
      for (const level of [0, 1])
        expect(await check(chain, level)).toMatch(/^the block cannot be read from .*blk00000\.dat at 104/);
    }));

  it('finds corrupt undo data from level 2 on', () =>
    withChain(async (chain) => {
      corrupt(chain, 'rev', 103, 2);
      expect(await check(chain, 1)).toBeNull();
      expect(await check(chain, 2)).toMatch(/^found bad undo data in .*rev00000\.dat at 103/);
    }));

  it('finds coins that do not match the blocks from level 3 on', () =>
    withChain(async (chain) => {
      const made = hashToHex(txidAt((await chain.blockAt(102)).parsed, 1));
      expect(chain.opened.chain.deps.coins.spend(outPointOf(made, 0))).toBe(true);
      expect(await check(chain, 2)).toBeNull();
      expect(await check(chain, 3)).toMatch(/^coin database inconsistencies found in .* at 102/);
    }));

  it('stops on request', () =>
    withChain(async (chain) => {
      corrupt(chain, 'blk', 1, 20);
      const stopped = new AbortController();
      stopped.abort();
      expect(
        await verifyChain(chain.opened.chain, { level: 0, blocks: 0, signal: stopped.signal }),
      ).toBeNull();
      expect(await check(chain, 0)).not.toBeNull();
    }));
});
