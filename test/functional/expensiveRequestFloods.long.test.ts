/**
 * Twenty peers that send expensive requests as fast as they can: for large blocks (full, filtered and in part), for two
 * thousand headers at a time, for a full mempool, and for long lists of unknown hashes. The node's other work continues
 * meanwhile (`support/unbraked.ts`). With LBCNODE_FULL=1 blocks and mempool are larger, and whitelisted peers, which are never
 * disconnected, are tested too.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { manyAddresses } from './scenarios/limits.js';
import { OPEN_ADDRESS, startPeer, until } from './support/network.js';
import { ADDRESS, type RegtestNode } from './support/node.js';
import {
  coinbaseAt,
  mineBlock,
  mineHeader,
  mineHeaders,
  placeAt,
  transaction,
  txid,
} from './support/rawChain.js';
import {
  addresses,
  cmpctblock,
  filterload,
  getblocktxn,
  hashOf,
  headers,
  INV_BLOCK,
  INV_COMPACT_BLOCK,
  INV_FILTERED_BLOCK,
  INV_TX,
  INV_WITNESS_BLOCK,
  inventory,
  locator,
  NO_HASH,
} from './support/rawMessages.js';
import { frame, RawPeer } from './support/rawPeer.js';
import { CAN_TELL, UnbrakedPeers } from './support/unbraked.js';

const full = process.env['LBCNODE_FULL'] === '1';
/**
 * More headers than fit in one message (2,000), and more blocks than 144: the node does not keep headers with less work than its
 * tip less 144 blocks.
 */
const BLOCKS = 2200;
const COIN_SAT = 100_000_000n;
/** Numbers of transactions: with many outputs in a large block, and with one output, each spending the previous one. */
const FANS = full ? 10 : 3;
const FAN_OUTPUTS = 2000;
const CHAIN_LENGTH = full ? 12_000 : 9000;
const LARGE_BLOCKS = full ? 5 : 2;
const MEMPOOL = full ? 15_000 : 1500;
/** Number of blocks above a large block, so that the large block is read from disk. The last blocks are kept in memory. */
const ABOVE = 4;
const NOTHING = Buffer.alloc(0);
/** Sent in one batch. */
const BATCH = 500;

describe.runIf(CAN_TELL).each(full ? [false, true] : [false])(
  'floods of expensive requests, whitelisted %s',
  (isWhitelisted) => {
    let honest: RegtestNode;
    let peers: UnbrakedPeers;
    let coinbases = 0;
    /** Ids of transactions with many outputs, in wire order. */
    const fans: Buffer[] = [];
    /** Hashes of large blocks, in wire order. */
    const large: Buffer[] = [];

    const nextCoinbase = async (): Promise<Buffer> => hashOf(await coinbaseAt(honest, ++coinbases));

    /** Mines a block with very many outputs and very many transactions. */
    async function mineLarge(): Promise<void> {
      const txs: Buffer[] = [];
      for (let n = 0; n < FANS; n++) {
        const valueSat = COIN_SAT / BigInt(FAN_OUTPUTS + 1);
        const outputs = Array.from({ length: FAN_OUTPUTS }, () => ({ valueSat }));
        const fan = transaction([{ txid: await nextCoinbase() }], outputs);
        txs.push(fan);
        fans.push(txid(fan));
      }
      let last = await nextCoinbase();
      for (let n = 0; n < CHAIN_LENGTH; n++) {
        const tx = transaction([{ txid: last }], [{ valueSat: COIN_SAT - 1000n }]);
        txs.push(tx);
        last = txid(tx);
      }
      const block = mineBlock(await placeAt(honest), txs);
      const refusal = await honest.rpc('submitblock', [block.raw.toString('hex')]);
      if (refusal !== null) throw new Error(`the large block was refused: ${String(refusal)}`);
      large.push(block.hash);
      await honest.rpc('generatetoaddress', [ABOVE, ADDRESS]);
    }

    async function fillMempool({ node }: UnbrakedPeers): Promise<void> {
      for (let sent = 0; sent < MEMPOOL; sent += BATCH) {
        const calls = Array.from({ length: BATCH }, (_, i) => {
          const n = sent + i;
          const tx = transaction(
            [{ txid: fans[Math.floor(n / FAN_OUTPUTS)]!, index: n % FAN_OUTPUTS }],
            [{ valueSat: 10_000n }],
          );
          return { id: n, method: 'sendrawtransaction', params: [tx.toString('hex'), true] };
        });
        await node.post(JSON.stringify(calls));
      }
      const { size } = await node.rpc<{ size: number }>('getmempoolinfo');
      if (size < MEMPOOL / 2) throw new Error(`only ${size} transactions are in the mempool`);
    }

    beforeAll(async () => {
      honest = await startPeer();
      await honest.rpc('generatetoaddress', [600, OPEN_ADDRESS]);
      await honest.rpc('generatetoaddress', [BLOCKS - 600, ADDRESS]);
      for (let n = 0; n < LARGE_BLOCKS; n++) await mineLarge();
      peers = await UnbrakedPeers.start(honest, { isWhitelisted });
      await fillMempool(peers);
      const teller = await RawPeer.greet(peers.node.p2pPort);
      const nowSec = Math.floor(Date.now() / 1000);
      for (let n = 0; n < 10; n++) teller.send('addr', addresses(manyAddresses(n * 1000, 1000, nowSec)));
      await teller.handled();
      teller.close();
    });
    afterAll(() => peers.stop());

    /** A large block below at least four and at most ten other blocks. */
    async function freshLarge(): Promise<Buffer> {
      await mineLarge();
      await until('the large block', async () => {
        const [ours, theirs] = await Promise.all(
          [peers.node, honest].map((node) => node.rpc<string>('getbestblockhash')),
        );
        return ours === theirs;
      });
      return large.at(-1)!;
    }
    const askFor = (type: number, hashes: readonly Buffer[]): Buffer =>
      frame('getdata', inventory(hashes.map((hash) => ({ type, hash }))));
    const unknownItems = (type: number): Buffer =>
      inventory(Array.from({ length: 50_000 }, () => ({ type, hash: randomBytes(32) })));
    /** A filter that matches nearly everything. Each lookup computes fifty hashes. */
    const wideFilter = frame(
      'filterload',
      filterload(Buffer.concat([Buffer.alloc(35_999, 0xff), Buffer.of(0xfe)]), 50, 1),
    );
    /** A filter that matches little. Each lookup computes about ten hashes. */
    const denseFilter = (): Buffer => {
      const bits = Buffer.alloc(36_000);
      for (let n = 0; n < 8 * bits.length; n++) if (Math.random() < 0.9) bits[n >> 3]! |= 1 << (n & 7);
      return frame('filterload', filterload(bits, 50, 1));
    };

    const floods: [string, () => Buffer | Promise<Buffer>][] = [
      ['large blocks', () => askFor(INV_WITNESS_BLOCK, large)],
      ['large blocks without witness', () => askFor(INV_BLOCK, large)],
      [
        'large blocks by a filter that little passes',
        () => Buffer.concat([denseFilter(), askFor(INV_FILTERED_BLOCK, large)]),
      ],
      [
        'large blocks by a filter that all passes',
        () => Buffer.concat([wideFilter, askFor(INV_FILTERED_BLOCK, large)]),
      ],
      ['a large block in compact form', async () => askFor(INV_COMPACT_BLOCK, [await freshLarge()])],
      [
        'one transaction of a large block',
        async () => frame('getblocktxn', getblocktxn(await freshLarge(), [1])),
      ],
      [
        'all transactions of a large block',
        async () => {
          const places = Array.from({ length: CHAIN_LENGTH }, (_, n) => n);
          return frame('getblocktxn', getblocktxn(await freshLarge(), places));
        },
      ],
      ['headers from the first on', () => frame('getheaders', locator([NO_HASH]))],
      ['ids of blocks from the first on', () => frame('getblocks', locator([NO_HASH]))],
      [
        'headers of a weak branch',
        async () => frame('headers', headers(mineHeaders(await placeAt(honest, 0), 2000))),
      ],
      ['the mempool', () => frame('mempool', NOTHING)],
      ['the mempool by a filter', () => Buffer.concat([denseFilter(), frame('mempool', NOTHING)])],
      ['addresses', () => frame('getaddr', NOTHING)],
      ['50,000 ids of unknown transactions', () => frame('inv', unknownItems(INV_TX))],
      ['50,000 unknown transactions', () => frame('getdata', unknownItems(INV_TX))],
      [
        'compact blocks to look for in the mempool',
        async () => {
          const header = mineHeader(await placeAt(peers.node), randomBytes(32));
          const shortIds = Array.from({ length: 6000 }, () => randomBytes(6));
          const coinbase = transaction([{ txid: Buffer.alloc(32), index: 0xffffffff }], [{ valueSat: 1n }]);
          return frame('cmpctblock', cmpctblock(header, 1n, shortIds, [{ step: 0, tx: coinbase }]));
        },
      ],
    ];

    it.each(floods)('delay no other client: %s', (name, make) => peers.expectToStand(name, make));
  },
);
