/** Branches: calls that invalidate blocks, blocks that arrive out of order, and the choice between branches with equal work. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';
import { longIt } from '../support/long.js';

const OTHER = '2NGFrZmcc9pRLpL1veuDercvpTQHhicwg5r';

describe('branches', () => {
  let node: RegtestNode;
  let rival: RegtestNode;

  beforeAll(async () => {
    [node, rival] = await Promise.all([startRegtest(), startRegtest()]);
  });
  afterAll(async () => {
    await Promise.all([node.stop(), rival.stop()]);
  });

  const mine = (on: RegtestNode, count: number, address = ADDRESS): Promise<string[]> =>
    on.rpc<string[]>('generatetoaddress', [count, address]);
  const raw = (on: RegtestNode, hash: string): Promise<string> => on.rpc<string>('getblock', [hash, 0]);

  it('follows the branch with more work, and of equal branches the first', async () => {
    const common = await mine(node, 5);
    for (const hash of common) expect(await rival.rpc('submitblock', [await raw(node, hash)])).toBeNull();
    const ours = await mine(node, 3);
    const theirs = await mine(rival, 3, OTHER);
    for (const hash of theirs)
      expect(await node.rpc('submitblock', [await raw(rival, hash)])).toBe('inconclusive');
    expect(await node.rpc('getbestblockhash')).toBe(ours[2]);
    const tips = await node.rpc<{ hash: string; status: string; branchlen: number }[]>('getchaintips');
    expect(tips).toContainEqual(
      expect.objectContaining({ hash: theirs[2], status: 'valid-headers', branchlen: 3 }),
    );

    await node.rpc('preciousblock', [theirs[2]]);
    expect(await node.rpc('getbestblockhash')).toBe(theirs[2]);
    await node.rpc('preciousblock', [ours[2]]);
    expect(await node.rpc('getbestblockhash')).toBe(ours[2]);

    const [fourth] = await mine(rival, 1, OTHER);
    expect(await node.rpc('submitblock', [await raw(rival, fourth!)])).toBeNull();
    expect(await node.rpc('getbestblockhash')).toBe(fourth);
    expect(await node.rpc('submitblock', [await raw(rival, fourth!)])).toBe('duplicate');
  });

  it('invalidates and reconsiders blocks, also over a restart', async () => {
    const best = await node.rpc<string>('getbestblockhash');
    const height = await node.rpc<number>('getblockcount');
    const pivot = await node.rpc<string>('getblockhash', [height - 1]);
    await node.rpc('invalidateblock', [pivot]);
    const after = await node.rpc<string>('getbestblockhash');
    expect(after).not.toBe(best);
    expect(await node.rpc('submitblock', [await raw(node, best)])).toBe('duplicate-invalid');
    await node.kill();
    node = await startRegtest({ dataDir: node.dataDir });
    expect(await node.rpc('getbestblockhash')).toBe(after);
    await node.rpc('reconsiderblock', [pivot]);
    expect(await node.rpc('getbestblockhash')).toBe(best);
  });

  longIt('disconnects 300 blocks and connects 301 others', async () => {
    const deep = await startRegtest();
    const wide = await startRegtest();
    try {
      await mine(deep, 300);
      const others = await mine(wide, 301, OTHER);
      for (const hash of others) await deep.rpc('submitblock', [await raw(wide, hash)]);
      expect(await deep.rpc('getbestblockhash')).toBe(others[300]);
      const { disk_size: _a, ...ours } = await deep.rpc<Record<string, unknown>>('gettxoutsetinfo');
      const { disk_size: _b, ...theirs } = await wide.rpc<Record<string, unknown>>('gettxoutsetinfo');
      expect(ours).toEqual(theirs);
    } finally {
      await Promise.all([deep.stop(), wide.stop()]);
    }
  });

  longIt('remembers which of two equal branches came first after a kill', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'ties-'));
    let tied = await startRegtest({ dataDir });
    const maker = await startRegtest();
    try {
      const [first] = await mine(tied, 1);
      const [second] = await mine(maker, 1, OTHER);
      expect(await tied.rpc('submitblock', [await raw(maker, second!)])).toBe('inconclusive');
      await tied.kill();
      tied = await startRegtest({ dataDir });
      expect(await tied.rpc('getbestblockhash')).toBe(first);
      await tied.stop();
      tied = await startRegtest({ dataDir, args: ['-reindex'] });
      expect(await tied.rpc('getbestblockhash')).toBe(first);
    } finally {
      await Promise.all([tied.stop(), maker.stop()]);
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
