/** Chains with the main network's proportions: equal for equal seeds, and valid for our own node across all forks. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importBlockFile } from '../../../src/chain/open/blockImporter.js';
import { FileProgress } from '../../../src/chain/progress.js';
import { fallbackEcdsa } from '../../../src/crypto/ecdsaFallback.js';
import { formatDer } from '../../../src/crypto/ecdsaEncoding.js';
import { sha256 } from '../../../src/crypto/hash.js';
import { decodeClaim } from '../../../src/metadata/claim.js';
import { claimSignatureDigest, isChannelSignatureValid } from '../../../src/metadata/channelSignature.js';
import { formatOutPoint, isCoinbase, parseTransaction } from '../../../src/primitives/transaction.js';
import { HEADER_SIZE_BYTES, parseHeaderBytes, powHash } from '../../../src/primitives/header.js';
import { satisfiesProofOfWork } from '../../../src/primitives/pow.js';
import { regtestParams } from '../../../src/params/regtest.js';
import { claimIdOf, decodeClaimScript } from '../../../src/script/claimScript.js';
import { txid } from '../../../src/primitives/transaction.js';
import { Draw } from '../../../src/testing/mainLike/draw.js';
import { chainForks } from '../../../src/testing/mainLike/forks.js';
import { KeyRing } from '../../../src/testing/mainLike/keyRing.js';
import {
  makeChain,
  mineHeader,
  transactionRate,
  type ChainSummary,
} from '../../../src/testing/mainLike/makeChain.js';
import {
  INPUT_COUNTS,
  MIXES,
  PUBLIC_TOTALS,
  TRANSACTION_KINDS,
} from '../../../src/testing/mainLike/proportions.js';
import { fromHex, hashToHex, toHex, type Bytes } from '../../../src/util/bytes.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';
import { Reader } from '../../../src/util/reader.js';
import { TestChain } from '../../support/testChain.js';

const BLOCKS = 400;
const OPTIONS = { blocks: BLOCKS, seed: 'b', forks: 'main', density: 0.25 } as const;

let folder: string;
let bytes: Buffer;
let summary: ChainSummary;

async function make(options: typeof OPTIONS | (Omit<typeof OPTIONS, 'seed'> & { seed: string })): Promise<{
  bytes: Buffer;
  summary: ChainSummary;
}> {
  const pieces: Buffer[] = [];
  const rows = mkdtempSync(join(folder, 'rows-'));
  const made = await makeChain({ ...options, folder: rows, write: async (piece) => void pieces.push(piece) });
  return { bytes: Buffer.concat(pieces), summary: made };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'main-like-'));
  ({ bytes, summary } = await make(OPTIONS));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('passes over a nonce whose hash lies between the target of the bits and the limit of regtest', async () => {
  // Block 91,104 of the chain of 200,000 blocks; the hash for nonce 4 begins with 7fffff43.
  const header = fromHex(
    '000000200902432dcfcc859eb062a5aab3e9641f883d23e187c644fc671348ce4c41a32222dd84d21310e562e161058e052d136029bfb5c752' +
      'e29f565278dfb72e8e451042d9c685cf2485715bccae403badcccedf769b3797b2f615b6603af1fc2691b7b34d565effff7f2000000000',
  );
  const { bits } = parseHeaderBytes(header);
  await mineHeader(header, bits);
  expect(header.readUInt32LE(HEADER_SIZE_BYTES - 4)).toBeGreaterThan(4);
  expect(satisfiesProofOfWork(powHash(header), bits, regtestParams.powLimit)).toBe(true);
});

describe('a chain like the main network', () => {
  it('is the same for the same seed, and another for another', async () => {
    expect(sha256((await make(OPTIONS)).bytes).equals(sha256(bytes))).toBe(true);
    const other = await make({ ...OPTIONS, seed: 'other', blocks: 400 });
    expect(other.summary.tip).not.toBe(summary.tip);
  });

  it('is followed by the node with the options that are told, every root and signature checked', async () => {
    const { params, nodeArgs } = chainForks(BLOCKS, 'main');
    const chain = await TestChain.open({ params, supportDelay: 'proportional', timeSec: 1_800_000_000 });
    try {
      const file = join(folder, 'chain.dat');
      writeFileSync(file, bytes);
      const events: Record<string, number> = {};
      chain.opened.chain.describesConnected = true;
      chain.opened.chain.events.on('blockConnected', ({ claimEvents }) => {
        for (const { type } of claimEvents) events[type] = (events[type] ?? 0) + 1;
      });
      const progress = new FileProgress(chain.opened.chain, 'import', bytes.length);
      const { read } = await importBlockFile(chain.opened.chain, file, {
        magic: params.magic,
        log: SILENT_LOGGER,
        progress,
      });
      expect(read).toBe(BLOCKS + 1);
      expect(chain.opened.chain.height).toBe(BLOCKS);
      const { active, headers } = chain.opened.chain.index;
      expect(hashToHex(headers.hash(active.at(BLOCKS)))).toBe(summary.tip);
      for (const type of ['claim', 'update', 'support', 'abandon', 'expiration', 'takeover', 'activation'])
        expect(events[type], type).toBeGreaterThan(0);
    } finally {
      await chain.close();
    }
    expect(nodeArgs).toEqual(summary.nodeArgs);
  });

  it('has the forks in the order of the main network, and claims before and after each', () => {
    const { claimForks: forks, segwitHeight } = chainForks(BLOCKS, 'main').params;
    const heights = [
      forks.originalExpiration,
      forks.extendedExpirationForkHeight,
      forks.takeoverWorkaroundMin,
      forks.normalizationForkHeight,
      forks.takeoverWorkaroundMax,
      forks.allClaimsForkHeight,
      segwitHeight,
      BLOCKS,
    ];
    expect(heights).toEqual([...heights].sort((a, b) => a - b));
    expect(new Set(heights).size).toBe(heights.length);
    expect(forks.extendedExpiration).toBeGreaterThan(forks.originalExpiration);
    expect(() => chainForks(99, 'main')).toThrow(RangeError);
    expect(chainForks(BLOCKS, 'regtest').nodeArgs.lbrycrd).toEqual(['-regtest']);
  });

  it('counts what is in it', () => {
    expect(summary.bytes).toBe(bytes.length);
    const kinds = Object.values(summary.kinds).reduce((sum, count) => sum + count, 0);
    expect(kinds).toBe(summary.transactions);
    expect(summary.inputs).toBeGreaterThanOrEqual(summary.transactions);
    expect(summary.emptyBlocks).toBeGreaterThan(100);
  });

  it('has claims whose channels signed them', () => {
    const keys = new Map<string, Bytes>();
    let signed = 0;
    for (const tx of transactionsOf(bytes)) {
      if (isCoinbase(tx)) continue;
      tx.outputs.forEach(({ script }, n) => {
        const claim = decodeClaimScript(script);
        if (claim === null || claim.kind === 'support') return;
        const decoded = decodeClaim(claim.value!);
        if (decoded.claim.type.case === 'channel' && claim.kind === 'claim')
          keys.set(toHex(claimIdOf(txid(tx), n)), decoded.claim.type.value.publicKey);
        if (decoded.channelId === null) return;
        const digest = claimSignatureDigest(claim.value!, formatOutPoint(tx.inputs[0]!.prevout), () => null)!;
        const key = keys.get(toHex(decoded.channelId))!;
        expect(isChannelSignatureValid(digest, decoded.signature!, key)).toBe(true);
        signed++;
      });
    }
    expect(signed).toBeGreaterThan(50);
  });
});

function* transactionsOf(file: Buffer): Generator<ReturnType<typeof parseTransaction>> {
  for (let at = 0; at < file.length; at += 8 + file.readUInt32LE(at + 4)) {
    const reader = new Reader(file, at + 8);
    reader.skip(HEADER_SIZE_BYTES);
    for (let left = reader.compactSize(); left > 0; left--) yield parseTransaction(reader);
  }
}

describe('the proportions', () => {
  it('add up to the public totals', () => {
    for (const { height, transactions } of PUBLIC_TOTALS) {
      let total = 0;
      for (let at = 0; at < height; at += 100) total += 100 * (1 + transactionRate(at));
      expect(Math.abs(total / transactions - 1), String(height)).toBeLessThan(0.03);
    }
  });

  it('are whole thousands, with the average of inputs that is public', () => {
    for (const { shares } of MIXES) {
      expect(shares).toHaveLength(TRANSACTION_KINDS.length);
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(1000);
    }
    const mean = INPUT_COUNTS.reduce((sum, [inputs, share]) => sum + inputs * share, 0) / 1000;
    expect(mean).toBeCloseTo(1.57, 1);
  });

  it('are drawn with the mean that is asked for', () => {
    const draw = new Draw('means');
    for (const mean of [0.2, 3, 50]) {
      let sum = 0;
      for (let i = 0; i < 40_000; i++) sum += draw.geometric(mean);
      expect(Math.abs(sum / 40_000 / mean - 1), String(mean)).toBeLessThan(0.03);
    }
    expect(draw.geometric(0)).toBe(0);
  });
});

describe('signatures by a table of nonces', () => {
  it('verify, and only over their own hash', () => {
    const ring = new KeyRing('test', 3);
    for (let n = 0; n < 6; n++) {
      const key = ring.keys[n % 3]!;
      const hash = sha256(Buffer.of(n));
      const compact = ring.signCompact(hash, key);
      expect(fallbackEcdsa.verify(hash, formatDer(compact), key.publicKey)).toBe(true);
      expect(fallbackEcdsa.verify(sha256(hash), formatDer(compact), key.publicKey)).toBe(false);
    }
  });
});
