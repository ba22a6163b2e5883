import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LedgerHeaders } from '../../../../src/daemon/ledger/headers/ledgerHeaders.js';
import { headerHash } from '../../../../src/primitives/header.js';
import { GENESIS_HEADER, makeHeaders, sealHeader } from '../../../support/headerChains.js';
import { randomOf } from '../../../support/claimLife.js';
import { regtest } from '../../../support/ledgerTransactions.js';

let folder: string;
let path: string;
let chain: LedgerHeaders;
const open = (): LedgerHeaders => new LedgerHeaders({ path, params: regtest, checksWork: true });
const NOTHING = Buffer.alloc(0);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'headers-'));
  path = join(folder, 'headers.dat');
  chain = open();
});

afterEach(() => {
  chain.close();
  rmSync(folder, { recursive: true, force: true });
});

async function grow(count: number): Promise<Buffer[]> {
  const headers = await makeHeaders(count);
  await chain.check({ forkHeight: 0, headers: NOTHING }, Buffer.concat(headers));
  chain.accept({ forkHeight: 0, headers: Buffer.concat(headers) });
  return headers;
}

describe('LedgerHeaders', () => {
  it('begins with the first block and reports each header', async () => {
    expect(chain.height).toBe(0);
    expect(chain.hashAt(0)).toEqual(regtest.network.genesisHash);
    expect(chain.timeSecAt(0)).toBe(null);
    const headers = await grow(600);
    expect(chain.height).toBe(600);
    expect(chain.hashAt(600)).toEqual(headerHash(headers[599]!));
    expect(chain.timeSecAt(1)).toBe(headers[0]!.readUInt32LE(100));
    expect(chain.merkleRootAt(7)).toEqual(headers[6]!.subarray(36, 68));
    for (const height of [-1, 601, 1.5, Number.NaN]) expect(chain.hashAt(height)).toBe(null);
    // The time of a block above the last header is estimated.
    expect(chain.timeSecAt(1000)).toBe(1466646588 + 160685);
    expect(chain.workAbove(0)).toBe(1200n);
    expect(chain.workAbove(600)).toBe(0n);
    chain.close();
    chain = open();
    expect(chain.hashAt(600)).toEqual(headerHash(headers[599]!));
  });

  it('refuses headers that do not follow, that have a wrong target, or no work', async () => {
    const headers = await makeHeaders(5);
    const check = (bytes: Buffer): Promise<bigint> => chain.check({ forkHeight: 0, headers: NOTHING }, bytes);
    expect(await check(Buffer.concat(headers))).toBe(10n);
    await expect(check(Buffer.concat([headers[1]!]))).rejects.toThrow('height 1 does not follow');
    await expect(check(Buffer.concat([headers[0]!, headers[2]!]))).rejects.toThrow(
      'height 2 does not follow',
    );

    const easy = Buffer.from(headers[0]!);
    easy.writeUInt32LE(0x207ffffe, 104);
    await expect(check(await sealHeader(easy))).rejects.toThrow('height 1 has a wrong target');
    const lazy = Buffer.from(headers[0]!);
    let refused = 0;
    for (let nonce = 0; nonce < 40; nonce++) {
      lazy.writeUInt32LE(nonce, 108);
      await check(lazy).catch((error: Error) => {
        expect(error.message).toContain('height 1 has no proof of work');
        refused++;
      });
    }
    expect(refused).toBeGreaterThan(0);
    expect(chain.height).toBe(0);
  });

  it('accepts another branch, checked against the headers before the fork', async () => {
    const headers = await grow(300);
    const branch = await makeHeaders(20, { after: headers[289]!, mark: 1 });
    const first = { forkHeight: 290, headers: Buffer.concat(branch.slice(0, 8)) };
    expect(await chain.check({ forkHeight: 290, headers: NOTHING }, first.headers)).toBe(16n);
    expect(await chain.check(first, Buffer.concat(branch.slice(8)))).toBe(24n);
    chain.accept({ forkHeight: 290, headers: Buffer.concat(branch) });
    expect(chain.height).toBe(310);
    expect(chain.hashAt(291)).toEqual(headerHash(branch[0]!));
    expect(chain.hashAt(290)).toEqual(headerHash(headers[289]!));
    chain.accept({ forkHeight: 200, headers: Buffer.concat(headers.slice(200, 202)) });
    expect(chain.height).toBe(202);
    expect(chain.hashAt(203)).toBe(null);
  });

  it.each([
    ['is cut short', () => truncateSync(path, 112 * 300 - 50), 298],
    ['has a piece of a header too much', () => appendFileSync(path, Buffer.alloc(40)), 300],
    // If two headers do not connect, the earlier one may be the corrupt one, so it is removed too.
    ['has zeros at its end', () => appendFileSync(path, Buffer.alloc(112 * 4)), 299],
    ['is of another chain', () => writeFileSync(path, Buffer.alloc(112 * 10, 1)), 0],
    ['is empty', () => truncateSync(path, 0), 0],
  ])('keeps the complete part of a file that %s', async (_what, corrupt, height) => {
    const headers = await grow(300);
    chain.close();
    corrupt();
    chain = open();
    expect(chain.height).toBe(height);
    expect(statSync(path).size).toBe((height + 1) * 112);
    expect(chain.hashAt(height)).toEqual(headerHash(height === 0 ? GENESIS_HEADER : headers[height - 1]!));
    const next = await makeHeaders(3, { after: height === 0 ? GENESIS_HEADER : headers[height - 1]! });
    chain.accept({ forkHeight: height, headers: Buffer.concat(next) });
    expect(readFileSync(path).subarray((height + 1) * 112)).toEqual(Buffer.concat(next));
  });

  it('detects a flipped bit anywhere, and keeps the headers well before it', async () => {
    await grow(300);
    const whole = readFileSync(path);
    expect(await chain.firstCorruption()).toBe(null);
    const random = randomOf(2020);
    for (let n = 0; n < 12; n++) {
      // The last header is left out, because no header connects to it.
      const height = 1 + random(299);
      const flipped = Buffer.from(whole);
      flipped[height * 112 + random(112)]! ^= 1 << random(8);
      writeFileSync(path, flipped);
      const from = (await chain.firstCorruption())!;
      expect(from).toBeLessThanOrEqual(height);
      expect(from).toBeGreaterThanOrEqual(Math.max(1, height - 1));
      // The same result as when the file is opened with the corruption.
      chain.close();
      chain = open();
      expect([chain.cutAt, chain.height]).toEqual([from, from - 1]);
      expect(readFileSync(path)).toEqual(whole.subarray(0, from * 112));
      chain.accept({ forkHeight: from - 1, headers: whole.subarray(from * 112) });
      expect(await chain.firstCorruption()).toBe(null);
    }
    // A header without a successor is recognised by its proof of work. On regtest, half of all hashes are below the target.
    const tip = Buffer.from(whole);
    do {
      tip.writeUInt32LE(tip.readUInt32LE(tip.length - 4) ^ (1 + random(1 << 30)), tip.length - 4);
      writeFileSync(path, tip);
      chain.close();
      chain = open();
    } while (chain.cutAt === null);
    expect([chain.cutAt, chain.height]).toEqual([300, 299]);
  });
});
