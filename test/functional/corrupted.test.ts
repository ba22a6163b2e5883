/** A corrupt block causes errors of the requests that need it. The node continues. */
import { openSync, closeSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';

let node: RegtestNode | null = null;

afterEach(async () => {
  await node?.stop();
  node = null;
});

/** Writes zeros over a block's header, or the eight bytes before it, in its file. */
async function corrupt(hash: string, part: 'magic' | 'header'): Promise<void> {
  const file = join(node!.dataDir, 'regtest', 'blocks', 'blk00000.dat');
  const raw = Buffer.from(await node!.rpc<string>('getblock', [hash, 0]), 'hex');
  const at = readFileSync(file).indexOf(raw);
  const fd = openSync(file, 'r+');
  writeSync(
    fd,
    part === 'magic' ? Buffer.alloc(8) : Buffer.alloc(80),
    0,
    undefined,
    part === 'magic' ? at - 8 : at,
  );
  closeSync(fd);
}

describe.each(['magic', 'header'] as const)('with a corrupt %s', (part) => {
  it('methods that read the block answer like the reference, and the node continues', async () => {
    // Without the cache of answers, because each answer must be read from disk.
    node = await startRegtest({ args: ['-txindex', '-rpccache=0'] });
    const { rpc } = node;
    const hashes = await rpc<string[]>('generatetoaddress', [10, ADDRESS]);
    const hash = hashes[4]!;
    const { tx } = await rpc<{ tx: string[] }>('getblock', [hash]);
    await corrupt(hash, part);
    const failure = (method: string, params: unknown[]): Promise<unknown> =>
      rpc(method, params).then(
        (result) => ({ result }),
        ({ code, message }: { code: number; message: string }) => ({ code, message }),
      );
    const notOnDisk = { code: -1, message: 'Block not found on disk' };
    for (const verbosity of [0, 1, 2])
      expect(await failure('getblock', [hash, verbosity])).toEqual(notOnDisk);
    expect(await failure('getblockstats', [hash])).toEqual(notOnDisk);
    expect(await failure('gettxoutproof', [tx, hash])).toEqual({
      code: -32603,
      message: "Can't read block from disk",
    });
    expect(await failure('getrawtransaction', [tx[0], true, hash])).toEqual({
      code: -5,
      message: 'No such transaction found in the provided block. Use gettransaction for wallet transactions.',
    });
    // The index has the position of the transaction, and the id verifies its bytes. The bytes before it are not needed.
    const hex = await rpc<string>('getrawtransaction', [tx[0]]);
    expect(await rpc('decoderawtransaction', [hex])).toMatchObject({ txid: tx[0] });
    expect(await rpc('verifychain', [1, 0])).toBe(false);
    expect(node.output()).toContain(`block ${hash} at height 5 cannot be read`);
    expect(await rpc('getblockcount')).toBe(10);
    await rpc('generatetoaddress', [1, ADDRESS]);
    await node.stop();
    expect(await node.exited).toBe(0);
  });
});
