import { createECDH } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadBlock, type LoadedBlock } from '../../../../src/chain/blocks/loadedBlock.js';
import { provedTransactions } from '../../../../src/consensus/partialMerkleTree.js';
import { hash160 } from '../../../../src/crypto/hash.js';
import { mainParams } from '../../../../src/params/main.js';
import {
  BLOOM_UPDATE,
  BloomFilter,
  isWithinFilterLimits,
  MAX_BLOOM_FILTER_SIZE,
  MAX_HASH_FUNCTIONS,
} from '../../../../src/net/bloom/bloomFilter.js';
import { buildMerkleBlock, type MerkleBlock } from '../../../../src/net/merkleBlock.js';
import { formatPayload, parsePayload } from '../../../../src/net/messages/codec.js';
import { filterloadCodec } from '../../../../src/net/messages/filters/filterload.js';
import { merkleblockCodec } from '../../../../src/net/messages/filters/merkleblock.js';
import { parseTxView, txidAt } from '../../../../src/primitives/blockView.js';
import {
  formatOutPoint,
  formatTransaction,
  parseTransaction,
} from '../../../../src/primitives/transaction.js';
import { addressPrefixesOf } from '../../../../src/script/address.js';
import { decodeSecret } from '../../../../src/script/wif.js';
import { hashFromHex, hashToHex } from '../../../../src/util/bytes.js';
import { Reader } from '../../../../src/util/reader.js';
import { bigTransaction } from '../../../support/bigTransaction.js';
import { countPauses } from '../../../support/slices.js';
import { atOnce } from '../../../../src/util/slices.js';

interface Vectors {
  transaction: string;
  spending: string;
  block1Tx: string;
  block4Txs: string;
  block7Txs: string;
  merkleBlock1Tx: string;
}
const vectors = JSON.parse(
  readFileSync(new URL('../../../vectors/bip37.json', import.meta.url), 'utf8'),
) as Vectors;

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const outPoint = (txid: string, index: number): Buffer => formatOutPoint({ hash: hashFromHex(txid), index });
const filterOf = (flags: number = BLOOM_UPDATE.all, tweak = 0): BloomFilter =>
  BloomFilter.create({ elements: 10, falsePositiveRate: 0.000001, tweak, flags });

/** A block of Bitcoin with a claim root of zeros inserted in its header. */
const withClaimRoot = (bytes: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, 68), Buffer.alloc(32), bytes.subarray(68)]);
const block = (name: 'block1Tx' | 'block4Txs' | 'block7Txs'): LoadedBlock =>
  loadBlock(withClaimRoot(hex(vectors[name])));

function merkleBlockOf(loaded: LoadedBlock, filter: BloomFilter): MerkleBlock {
  const { raw, parsed } = loaded;
  return atOnce(buildMerkleBlock(loaded, (tx) => filter.isRelevantAndUpdateInSlices(raw, parsed, tx)));
}

describe('a bloom filter (bloom_tests.cpp)', () => {
  const items = [
    '99108ad8ed9bb6274d3980bab5a85c048f0950c8',
    'b5a2c786d9ef4658287ced5914b37a1b4aa32eee',
    'b9300670b4c5366e95b2699e8b18bc75e5f729c5',
  ].map(hex);

  it.each([
    [0, '03614e9b050000000000000001'],
    [2147483649, '03ce4299050000000100008001'],
  ])('with tweak %i has the expected bits', (tweak, serialized) => {
    const filter = BloomFilter.create({
      elements: 3,
      falsePositiveRate: 0.01,
      tweak,
      flags: BLOOM_UPDATE.all,
    });
    expect(filter.contains(items[0]!)).toBe(false);
    for (const item of items) {
      filter.insert(item);
      expect(filter.contains(item)).toBe(true);
      expect(filter.contains(hex('19108ad8ed9bb6274d3980bab5a85c048f0950c8'))).toBe(false);
    }
    const payload = formatPayload(filterloadCodec, filter.format());
    expect(payload.toString('hex')).toBe(serialized);
    const read = BloomFilter.parse(parsePayload(filterloadCodec, payload));
    for (const item of items) expect(read.contains(item)).toBe(true);
    expect(read.contains(hex('19108ad8ed9bb6274d3980bab5a85c048f0950c8'))).toBe(false);
  });

  it('of a key has the expected bits', () => {
    const wif = 'y2Kag6A9fz5PRsuA5vKT5gd1XqxJRxvn6eKXGdovHkbCBsiKmW';
    const curve = createECDH('secp256k1');
    curve.setPrivateKey(decodeSecret(wif, addressPrefixesOf(mainParams))!.privateKey);
    const key = curve.getPublicKey();
    const filter = BloomFilter.create({
      elements: 2,
      falsePositiveRate: 0.001,
      tweak: 0,
      flags: BLOOM_UPDATE.all,
    });
    filter.insert(key);
    filter.insert(hash160(key));
    expect(formatPayload(filterloadCodec, filter.format()).toString('hex')).toBe(
      '031ee0a1080000000000000001',
    );
  });
});

describe('what a filter matches (bloom_tests.cpp, bloom_match)', () => {
  const tx = hex(vectors.transaction);
  const parsed = parseTxView(tx);
  const spending = hex(vectors.spending);

  function matches(item: Buffer): boolean {
    const filter = filterOf();
    filter.insert(item);
    return filter.isRelevantAndUpdate(tx, parsed, 0);
  }

  const PREVOUT = '90c122d70786e899529d71dbeba91ba216982fb6ba58f3bdaab65e73b7e9260b';

  it.each([
    ['the id', txidAt(parsed, 0)],
    [
      'an input signature',
      hex(
        '30450220070aca44506c5cef3a16ed519d7c3c39f8aab192c4e1c90d065f37b8a4af6141022100a8e160b856c2d43d27d8fba71e5aef6405b8643ac4cb7cb3c462aced7f14711a01',
      ),
    ],
    [
      'an input key',
      hex(
        '046d11fee51b0e60666d5049a9101a72741df480b96ee26488a4d3466b95c9a40ac5eeef87e10a5cd336c19a84565f80fa6c547957b7700ff4dfbdefe76036c339',
      ),
    ],
    ['the hash of the first output', hex('04943fdd508053c75000106d3bc6e2754dbcff19')],
    ['the hash of the second output', hex('a266436d2965547608b9e15d9032a7b9d64fa431')],
    ['the spent output', outPoint(PREVOUT, 0)],
  ])('%s', (_name, item) => {
    expect(matches(item)).toBe(true);
  });

  it.each([
    ['another id', hashFromHex('00000009e784f32f62ef849763d4f45b98e07ba658647343b915ff832b110436')],
    ['another hash', hex('0000006d2965547608b9e15d9032a7b9d64fa431')],
    ['another output of the spent transaction', outPoint(PREVOUT, 1)],
    ['an output of another one', outPoint(`000000${PREVOUT.slice(6)}`, 0)],
  ])('not %s', (_name, item) => {
    expect(matches(item)).toBe(false);
  });

  it.each([
    [BLOOM_UPDATE.all, true],
    [BLOOM_UPDATE.none, false],
    [BLOOM_UPDATE.publicKeysOnly, false],
    [BLOOM_UPDATE.all | 0xfc, true],
    [3, false],
  ])('with flags %i the transaction that spends a matching output: %s', (flags, expected) => {
    const filter = filterOf(flags);
    filter.insert(hex('04943fdd508053c75000106d3bc6e2754dbcff19'));
    expect(filter.isRelevantAndUpdate(tx, parsed, 0)).toBe(true);
    expect(filter.isRelevantAndUpdate(spending, parseTxView(spending), 0)).toBe(expected);
  });

  it('the output of a key and of several keys, by the third kind of flags', () => {
    const key = Buffer.concat([Buffer.of(2), Buffer.alloc(32, 5)]);
    const scripts = {
      key: Buffer.concat([Buffer.of(33), key, Buffer.of(0xac)]),
      keys: Buffer.concat([Buffer.of(0x51, 33), key, Buffer.of(0x51, 0xae)]),
      claim: Buffer.concat([Buffer.of(0xb5, 1, 0x61, 1, 0x62, 0x6d, 0x75, 33), key, Buffer.of(0xac)]),
    };
    const entered = Object.values(scripts).map((script) => {
      const one = formatTransaction({
        ...parseTransaction(new Reader(tx)),
        outputs: [{ value: 1n, script }],
      });
      const view = parseTxView(one);
      const filter = filterOf(BLOOM_UPDATE.publicKeysOnly);
      filter.insert(key);
      expect(filter.isRelevantAndUpdate(one, view, 0)).toBe(true);
      return filter.contains(formatOutPoint({ hash: txidAt(view, 0), index: 0 }));
    });
    // The reference does not add outputs whose key follows a claim prefix.
    expect(entered).toEqual([true, true, false]);
  });

  it('no push behind a broken one, and no empty push', () => {
    const item = Buffer.alloc(20, 9);
    const script = Buffer.concat([Buffer.of(0x4c, 0, 0x00, 75), item, Buffer.of(20), item]);
    const one = formatTransaction({ ...parseTransaction(new Reader(tx)), outputs: [{ value: 1n, script }] });
    for (const inserted of [item, Buffer.alloc(0)]) {
      const filter = filterOf();
      filter.insert(inserted);
      expect(filter.contains(inserted)).toBe(true);
      expect(filter.isRelevantAndUpdate(one, parseTxView(one), 0)).toBe(false);
    }
  });
});

describe('a filter with many hashes', () => {
  const filter = (): BloomFilter =>
    BloomFilter.parse({
      data: Buffer.concat([Buffer.alloc(35_999, 0xff), Buffer.of(0xfe)]),
      hashFunctions: 50,
      tweak: 1,
      flags: BLOOM_UPDATE.all,
    });
  const pausesFor = (outputs: number, script: Buffer): number => {
    const tx = bigTransaction({ outputs, script });
    const looking = countPauses(filter().isRelevantAndUpdateInSlices(tx, parseTxView(tx), 0));
    expect(looking.value).toBe(true);
    return looking.pauses;
  };

  it('pauses in proportion to the outputs that it tests', () => {
    const script = Buffer.concat([Buffer.of(20), Buffer.alloc(20, 7)]);
    expect(pausesFor(1, script)).toBe(0);
    const [few, many] = [1000, 10_000].map((outputs) => pausesFor(outputs, script));
    expect(few).toBeGreaterThan(20);
    expect(many! / few!).toBeCloseTo(10, 0);
  });

  it('pauses for each hash of long data', () => {
    const script = Buffer.concat([Buffer.of(0x4e), Buffer.alloc(4), Buffer.alloc(1 << 20)]);
    script.writeUInt32LE(1 << 20, 1);
    expect(pausesFor(1, script)).toBeGreaterThanOrEqual(50);
  });
});

describe('a full or empty filter', () => {
  const tx = hex(vectors.transaction);
  const parsed = parseTxView(tx);

  it('matches everything with all bits, and is not changed by additions', () => {
    for (const data of [Buffer.alloc(4, 0xff), Buffer.alloc(0)]) {
      const filter = BloomFilter.parse({ data, hashFunctions: 5, tweak: 1, flags: 1 });
      filter.insert(Buffer.of(1));
      expect(filter.contains(Buffer.of(2))).toBe(true);
      expect(filter.isRelevantAndUpdate(tx, parsed, 0)).toBe(true);
      expect(filter.format().data.equals(data)).toBe(true);
    }
    expect(BloomFilter.matchAll().isRelevantAndUpdate(tx, parsed, 0)).toBe(true);
  });

  it('matches nothing with no bit, even without hash functions', () => {
    const filter = BloomFilter.parse({ data: Buffer.alloc(4), hashFunctions: 0, tweak: 1, flags: 1 });
    expect(filter.isRelevantAndUpdate(tx, parsed, 0)).toBe(false);
    filter.insert(Buffer.of(1));
    // The filter is full and matches everything.
    expect(filter.isRelevantAndUpdate(tx, parsed, 0)).toBe(true);
  });

  it('copies its bytes', () => {
    const data = Buffer.alloc(4, 1);
    const filter = BloomFilter.parse({ data, hashFunctions: 3, tweak: 1, flags: 1 });
    filter.insert(Buffer.of(1));
    expect(data).toEqual(Buffer.alloc(4, 1));
    filter.format().data.fill(0);
    expect(filter.contains(Buffer.of(1))).toBe(true);
  });
});

describe('limits', () => {
  it('of size and hash functions are checked', () => {
    const filter = (size: number, hashFunctions: number) => ({
      data: Buffer.alloc(size),
      hashFunctions,
      tweak: 0,
      flags: 0,
    });
    expect(isWithinFilterLimits(filter(MAX_BLOOM_FILTER_SIZE, MAX_HASH_FUNCTIONS))).toBe(true);
    expect(isWithinFilterLimits(filter(36_001, 1))).toBe(false);
    expect(isWithinFilterLimits(filter(1, 51))).toBe(false);
  });

  it('apply to created filters', () => {
    const large = BloomFilter.create({ elements: 10_000_000, falsePositiveRate: 0.01, tweak: 0, flags: 0 });
    expect(large.format().data.length).toBe(MAX_BLOOM_FILTER_SIZE);
    const sharp = BloomFilter.create({ elements: 10, falsePositiveRate: 1e-30, tweak: 0, flags: 0 });
    expect(sharp.format().hashFunctions).toBe(MAX_HASH_FUNCTIONS);
  });
});

describe('merkle blocks of a filter (bloom_tests.cpp)', () => {
  function check(
    loaded: LoadedBlock,
    filter: BloomFilter,
    expected: readonly (readonly [number, string])[],
  ): void {
    const { message, matches } = merkleBlockOf(loaded, filter);
    expect(matches.map((tx) => [tx, hashToHex(txidAt(loaded.parsed, tx))])).toEqual(expected);
    const proved = provedTransactions(message.tree)!;
    expect(proved.txids.map(hashToHex)).toEqual(expected.map(([, id]) => id));
    expect(hashToHex(proved.root)).toBe(hashToHex(loaded.header.merkleRoot));
    expect(message.header).toEqual(loaded.raw.subarray(0, 112));
  }

  const FOUR = [
    [0, 'e980fe9f792d014e73b95203dc1335c5f9ce19ac537a419e6df5b47aecb93b70'],
    [1, '28204cad1d7fc1d199e8ef4fa22f182de6258a3eaafe1bbe56ebdcacd3069a5f'],
    [2, '6b0f8a73a56c04b519f1883e8aafda643ba61a30bd1439969df21bea5f4e27e2'],
    [3, '3c1d7e82342158e4109df2e0b6348b6e84e403d8b4046d7007663ace63cddb23'],
  ] as const;
  const PUBLIC_KEY =
    '044a656f065871a353f216ca26cef8dde2f03e8c16202d2e8ad769f02032cb86a5eb5e56842e92e19141d60a01928f8dd2c875a390f67c1f6c94cfc617c0ea45af';

  it.each([
    ['all', BLOOM_UPDATE.all, FOUR],
    ['none', BLOOM_UPDATE.none, [FOUR[0], FOUR[1], FOUR[3]]],
  ])(
    'contain a transaction that spends a match if matching outputs are added to the filter: %s',
    (_name, flags, expected) => {
      const filter = filterOf(flags);
      filter.insert(hashFromHex(FOUR[0][1]));
      check(block('block4Txs'), filter, [FOUR[0]]);
      filter.insert(hex(PUBLIC_KEY));
      check(block('block4Txs'), filter, expected);
    },
  );

  it('contain the selected ones of seven transactions', () => {
    const [last, fourth] = [
      '0a2a92f0bda4727d0a13eaddf4dd9ac6b5c61a1429e6b2b818f19b15df0ac154',
      '02981fa052f0481dbc5868f4fc2166035a10f27a03cfd2de67326471df5bc041',
    ];
    const filter = filterOf();
    filter.insert(hashFromHex(last));
    check(block('block7Txs'), filter, [[6, last]]);
    filter.insert(hashFromHex(fourth));
    check(block('block7Txs'), filter, [
      [3, fourth],
      [6, last],
    ]);
  });

  it.each([
    ['outputs of keys only', BLOOM_UPDATE.publicKeysOnly, true],
    ['no outputs', BLOOM_UPDATE.none, false],
  ])('add to the filter %s', (_name, flags, hasGeneration) => {
    const filter = filterOf(flags);
    filter.insert(
      hex(
        '04eaafc2314def4ca98ac970241bcab022b9c1e1f4ea423a20f134c876f2c01ec0f0dd5b2e86e7168cefe0d81113c3807420ce13ad1357231a2252247d97a46a91',
      ),
    );
    filter.insert(hex('b6efd80d99179f4f4ff6f4dd0a007d018c385d21'));
    merkleBlockOf(block('block7Txs'), filter);
    const generation = '147caa76786596590baa4e98f5d9f48b86c7765e489f7a6ff3360fe5c674360b';
    expect(filter.contains(outPoint(generation, 0))).toBe(hasGeneration);
    const other = '02981fa052f0481dbc5868f4fc2166035a10f27a03cfd2de67326471df5bc041';
    expect(filter.contains(outPoint(other, 0))).toBe(false);
  });

  it('are serialized as Bitcoin does, except for the header', () => {
    const filter = filterOf();
    filter.insert(hashFromHex('63194f18be0af63f2c6bc9dc0f777cbefed3d9415c4af83f3ee3a3d669c00cb5'));
    const { message } = merkleBlockOf(block('block1Tx'), filter);
    const expected = withClaimRoot(hex(vectors.merkleBlock1Tx));
    expect(formatPayload(merkleblockCodec, message).toString('hex')).toBe(expected.toString('hex'));
    expect(parsePayload(merkleblockCodec, expected)).toEqual(message);
  });
});
