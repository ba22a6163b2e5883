/** A real node that serves compact block filters to a light client (BIP157), and one that does not. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filterHash, filterHeader } from '../../src/index/compactFilter.js';
import { ADDRESS, type RegtestNode } from './support/node.js';
import { startPeer } from './support/network.js';
import { Cursor, hashOf, shown, u32 } from './support/rawMessages.js';
import { RawPeer } from './support/rawPeer.js';

const TIP = 1105;
const COMPACT_FILTERS = 64n;

describe('-blockfilterindex with -peerblockfilters', () => {
  let node: RegtestNode;
  let peer: RawPeer;
  beforeAll(async () => {
    node = await startPeer({ args: ['-blockfilterindex', '-peerblockfilters'] });
    await node.rpc('generatetoaddress', [TIP, ADDRESS]);
    peer = await RawPeer.greet(node.p2pPort);
  });
  afterAll(async () => {
    peer.socket.destroy();
    await node.stop();
  });

  const hashAt = async (height: number): Promise<Buffer> => hashOf(await node.rpc('getblockhash', [height]));
  const range = (first: number, stop: Buffer, type = 0): Buffer =>
    Buffer.concat([Buffer.of(type), u32(first), stop]);
  const filterAt = async (height: number): Promise<{ filter: string; header: string }> =>
    node.rpc('getblockfilter', [await node.rpc('getblockhash', [height])]);

  it('offers the service', async () => {
    const { localservices } = await node.rpc<{ localservices: string }>('getnetworkinfo');
    expect(BigInt(`0x${localservices}`) & COMPACT_FILTERS).toBe(COMPACT_FILTERS);
    expect(await node.rpc('getindexinfo')).toEqual({
      'basic block filter index': { synced: true, best_block_height: TIP },
    });
  });

  it('sends filters, the headers that follow from them, and checkpoints', async () => {
    peer.send('getcfilters', range(3, await hashAt(5)));
    const hashes: Buffer[] = [];
    for (let height = 3; height <= 5; height++) {
      const cursor = new Cursor(await peer.next('cfilter'));
      expect(cursor.u8()).toBe(0);
      expect(cursor.take(32)).toEqual(await hashAt(height));
      const filter = cursor.take(cursor.count());
      expect(filter.toString('hex')).toBe((await filterAt(height)).filter);
      hashes.push(filterHash(filter));
    }
    peer.send('getcfheaders', range(3, await hashAt(5)));
    const cursor = new Cursor(await peer.next('cfheaders'));
    expect([cursor.u8(), cursor.take(32)]).toEqual([0, await hashAt(5)]);
    let header = cursor.take(32);
    expect(shown(header)).toBe((await filterAt(2)).header);
    expect(cursor.count()).toBe(3);
    for (const hash of hashes) {
      expect(cursor.take(32)).toEqual(hash);
      header = filterHeader(hash, header);
    }
    expect(shown(header)).toBe((await filterAt(5)).header);

    peer.send('getcfcheckpt', Buffer.concat([Buffer.of(0), await hashAt(TIP)]));
    const points = new Cursor(await peer.next('cfcheckpt'));
    points.take(33);
    expect(points.count()).toBe(1);
    expect(shown(points.take(32))).toBe((await filterAt(1000)).header);
  });

  it('begins with no header before the genesis block', async () => {
    peer.send('getcfheaders', range(0, await hashAt(0)));
    const cursor = new Cursor(await peer.next('cfheaders'));
    cursor.take(33);
    expect(cursor.take(32)).toEqual(Buffer.alloc(32));
  });

  it.each([
    ['another type', 'getcfilters', async () => range(1, await hashAt(2), 1)],
    ['an unknown block', 'getcfheaders', async () => range(1, Buffer.alloc(32, 7))],
    ['a range that ends before it begins', 'getcfilters', async () => range(3, await hashAt(2))],
    ['more than 1,000 filters', 'getcfilters', async () => range(5, await hashAt(1005))],
  ])('disconnects a peer that requests %s', async (_what, command, payload) => {
    const other = await RawPeer.greet(node.p2pPort);
    other.send(command, await payload());
    await other.closed();
  });

  it('serves 1,000 filters in one request', async () => {
    peer.send('getcfilters', range(5, await hashAt(1004)));
    await peer.handled();
    expect(peer.inbox.filter(({ command }) => command === 'cfilter')).toHaveLength(1000);
    peer.inbox.splice(0);
  });
});

describe('without -peerblockfilters', () => {
  it('serves none', async () => {
    const node = await startPeer({ args: ['-blockfilterindex=basic'] });
    try {
      const genesis = await node.rpc<string>('getblockhash', [0]);
      expect(await node.rpc('getblockfilter', [genesis])).toHaveProperty('header');
      const peer = await RawPeer.greet(node.p2pPort);
      peer.send('getcfcheckpt', Buffer.concat([Buffer.of(0), hashOf(genesis)]));
      await peer.closed();
    } finally {
      await node.stop();
    }
  });
});
