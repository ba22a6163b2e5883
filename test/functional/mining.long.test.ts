/** Mining on demand with a peer on a busy machine: the answers to the peer must not be delayed. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { ADDRESS } from './support/node.js';
import { connect, heightOf, PeerGroup, peersOf, until } from './support/network.js';

const BUSY_LOOPS = 3;
const BLOCKS = 450;

describe('mining hundreds of blocks', () => {
  const peers = new PeerGroup();
  const loops: ChildProcess[] = [];
  afterEach(async () => {
    for (const loop of loops.splice(0)) {
      const exit = once(loop, 'exit');
      loop.kill('SIGKILL');
      await exit;
    }
    await peers.close();
  });

  it('keeps a peer connected on a busy machine, which follows', async () => {
    const [miner, follower] = [await peers.start(), await peers.start()];
    await connect(follower, miner);
    const [before] = await peersOf(follower);
    for (let i = 0; i < BUSY_LOOPS; i++)
      loops.push(spawn(process.execPath, ['-e', 'for (;;) {}'], { stdio: 'ignore' }));
    for (let round = 1; round <= 3; round++) {
      await miner.rpc('generatetoaddress', [BLOCKS, ADDRESS]);
      const tip = await miner.rpc<string>('getbestblockhash');
      expect(await heightOf(miner)).toBe(round * BLOCKS);
      await until(
        'the same tip',
        async () => (await follower.rpc<string>('getbestblockhash')) === tip,
        120_000,
      );
      // The connection was not closed in between.
      expect((await peersOf(follower)).map(({ id }) => id)).toEqual([before!.id]);
      expect(await peersOf(miner)).toHaveLength(1);
    }
  });
});
