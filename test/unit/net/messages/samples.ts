/** At least one sample of every message: its value and its serialized bytes. */
import { HEADER_SIZE_BYTES } from '../../../../src/primitives/header.js';
import type { Command } from '../../../../src/net/messages/table.js';
import { parseNetAddress } from '../../../../src/net/netAddress.js';

export const hash = (fill: number): Buffer => Buffer.alloc(32, fill);
export const header = (fill: number): Buffer => Buffer.alloc(HEADER_SIZE_BYTES, fill);
export const four = parseNetAddress('1.2.3.4:9246', 0)!;
/** A transaction without inputs and outputs. */
export const TX = Buffer.from('01000000000000000000', 'hex');
/** One input, one output, with a witness. */
const WITNESS_TX = Buffer.from(
  `01000000000101${'11'.repeat(36)}00ffffffff01${'00'.repeat(8)}01510201aa020bbb00000000`,
  'hex',
);
const H = (fill: string): string => fill.repeat(32);
const FOUR = '00000000000000000000ffff01020304241e';

export const SAMPLES: readonly (readonly [Command, unknown, string])[] = [
  [
    'version',
    {
      version: 70015,
      services: 13n,
      timeSec: 1_600_000_000n,
      receiver: four,
      receiverServices: 1n,
      sender: parseNetAddress('[::1]:1', 0)!,
      senderServices: 0xffffffffffffffffn,
      nonce: 0x0807060504030201n,
      userAgent: '/a:1/',
      startHeight: 7,
      relay: false,
    },
    `7f110100${'0d00000000000000'}00105e5f00000000${'0100000000000000'}${FOUR}` +
      `${'ff'.repeat(8)}${'00'.repeat(15)}010001${'0102030405060708'}052f613a312f0700000000`,
  ],
  ['verack', null, ''],
  ['getaddr', null, ''],
  ['mempool', null, ''],
  ['sendheaders', null, ''],
  ['filterclear', null, ''],
  ['ping', { nonce: 1n }, '0100000000000000'],
  ['ping', { nonce: null }, ''],
  ['pong', { nonce: 0xfffffffffffffffen }, 'feffffffffffffff'],
  [
    'addr',
    { addresses: [{ timeSec: 0xf0000000, services: 1n, address: four }] },
    `01000000f00100000000000000${FOUR}`,
  ],
  ['addr', { addresses: [] }, '00'],
  [
    'inv',
    {
      items: [
        { type: 1, hash: hash(1) },
        { type: 0x40000002, hash: hash(2) },
      ],
    },
    `0201000000${H('01')}02000040${H('02')}`,
  ],
  ['getdata', { items: [{ type: 0xffffffff, hash: hash(3) }] }, `01ffffffff${H('03')}`],
  ['notfound', { items: [] }, '00'],
  [
    'getblocks',
    { version: 70015, locator: [hash(1), hash(2)], stopHash: hash(0) },
    `7f11010002${H('01')}${H('02')}${H('00')}`,
  ],
  ['getheaders', { version: -1, locator: [], stopHash: hash(5) }, `ffffffff00${H('05')}`],
  ['headers', { headers: [header(1), header(2)] }, `02${'01'.repeat(112)}00${'02'.repeat(112)}00`],
  ['block', { raw: Buffer.of(1, 2, 3) }, '010203'],
  ['tx', { raw: Buffer.of(4) }, '04'],
  ['feefilter', { feeRatePerKb: -1n }, 'ffffffffffffffff'],
  ['sendcmpct', { announce: true, version: 2n }, '010200000000000000'],
  [
    'cmpctblock',
    {
      header: header(1),
      nonce: 2n,
      shortIds: Buffer.alloc(12, 3),
      prefilled: [
        { index: 0, raw: TX },
        { index: 3, raw: WITNESS_TX },
      ],
    },
    `${'01'.repeat(112)}020000000000000002${'03'.repeat(12)}0200${TX.toString('hex')}02${WITNESS_TX.toString('hex')}`,
  ],
  ['getblocktxn', { blockHash: hash(1), indexes: [0, 1, 3, 4, 300] }, `${H('01')}0500000100fd2701`],
  ['getblocktxn', { blockHash: hash(1), indexes: [65535] }, `${H('01')}01fdffff`],
  [
    'blocktxn',
    { blockHash: hash(1), txs: [WITNESS_TX, TX] },
    `${H('01')}02${WITNESS_TX.toString('hex')}${TX.toString('hex')}`,
  ],
  [
    'filterload',
    { data: Buffer.of(1, 2), hashFunctions: 11, tweak: 0xfffffffe, flags: 1 },
    '0201020b000000feffffff01',
  ],
  ['filteradd', { data: Buffer.alloc(3, 7) }, '03070707'],
  [
    'merkleblock',
    { header: header(1), tree: { txCount: 3, hashes: [hash(1), hash(2)], flags: Buffer.of(5) } },
    `${'01'.repeat(112)}0300000002${H('01')}${H('02')}0105`,
  ],
  ['getcfilters', { filterType: 0, startHeight: 258, stopHash: hash(1) }, `0002010000${H('01')}`],
  ['getcfheaders', { filterType: 255, startHeight: 0xffffffff, stopHash: hash(2) }, `ffffffffff${H('02')}`],
  ['getcfcheckpt', { filterType: 0, stopHash: hash(3) }, `00${H('03')}`],
  ['cfilter', { filterType: 0, blockHash: hash(1), filter: Buffer.of(1, 2) }, `00${H('01')}020102`],
  [
    'cfheaders',
    { filterType: 0, stopHash: hash(1), previousHeader: hash(2), filterHashes: [hash(3), hash(4)] },
    `00${H('01')}${H('02')}02${H('03')}${H('04')}`,
  ],
  ['cfcheckpt', { filterType: 0, stopHash: hash(1), filterHeaders: [hash(2)] }, `00${H('01')}01${H('02')}`],
  ['reject', { message: 'tx', code: 16, reason: 'bad', hash: hash(4) }, `02747810036261${'64'}${H('04')}`],
  ['reject', { message: 'ping', code: 1, reason: '', hash: null }, '0470696e670100'],
];
