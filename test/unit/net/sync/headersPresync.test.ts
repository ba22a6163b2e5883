import { beforeAll, describe, expect, it } from 'vitest';
import { ActiveChain } from '../../../../src/chain/index/activeChain.js';
import { HeaderWalk } from '../../../../src/consensus/headerWalk.js';
import {
  COMMITMENT_PERIOD,
  HELD_HEADERS,
  HeadersPresync,
  type PresyncFault,
  type PresyncOptions,
} from '../../../../src/net/sync/headersPresync.js';
import { regtestParams } from '../../../../src/params/regtest.js';
import { headerHash, parseHeaderBytes } from '../../../../src/primitives/header.js';
import { HeaderTable, NO_HEADER } from '../../../../src/store/files/headerTable.js';
import { GENESIS_HEADER, HEADER_WORK, makeHeaders } from '../../../support/headerChains.js';
import { NO_ROWS } from '../../chain/headers.js';

const MESSAGE = 2000;
const GENESIS = parseHeaderBytes(GENESIS_HEADER);
const NOW_SEC = GENESIS.timeSec + 1_000_000;

describe('HeadersPresync', () => {
  let honest: Buffer[];
  /** Headers of the same length that differ from the first one on. */
  let other: Buffer[];
  beforeAll(async () => {
    // Without proof of work, which this class does not check.
    honest = await makeHeaders(14_000, { withWork: false });
    other = await makeHeaders(14_000, { withWork: false, mark: 1 });
  });

  /** Options of the last sync that was started. */
  let options: { -readonly [K in keyof PresyncOptions]: PresyncOptions[K] };

  function begin(requiredHeight: number, changes: Partial<PresyncOptions> = {}): HeadersPresync {
    const table = new HeaderTable(NO_ROWS);
    const genesis = table.add(GENESIS, headerHash(GENESIS_HEADER), NO_HEADER, HEADER_WORK);
    const tree = new ActiveChain(table);
    const context = { params: regtestParams, adjustedTimeSec: () => NOW_SEC, lastCheckpointHeight: null };
    options = {
      beginWalk: () => new HeaderWalk(tree, genesis, HEADER_WORK, context),
      startHash: headerHash(GENESIS_HEADER),
      requiredWork: HEADER_WORK * BigInt(requiredHeight + 1),
      nowSec: NOW_SEC,
      salt: Buffer.alloc(32, 5),
      ...changes,
    };
    return new HeadersPresync(options);
  }

  /** Passes the headers after the one that the sync requests. Returns the accepted headers or the error. */
  function give(sync: HeadersPresync, chain: readonly Buffer[], from: number): Buffer[] | PresyncFault {
    const message = chain.slice(from, from + MESSAGE);
    for (const header of message) {
      const fault = sync.take(header, headerHash(header));
      if (fault) return fault;
    }
    return sync.endMessage(message.length === MESSAGE);
  }

  /** Plays the first pass. */
  function presync(sync: HeadersPresync, chain: readonly Buffer[]): void {
    for (let at = 0; sync.phase === 'presync'; at += MESSAGE) expect(give(sync, chain, at)).toEqual([]);
  }

  it('returns nothing in the first phase, and requests all again once the work suffices', () => {
    const sync = begin(12_000);
    for (let at = 0; at < 10_000; at += MESSAGE) {
      expect(give(sync, honest, at)).toEqual([]);
      expect(sync.phase).toBe('presync');
      expect(sync.lastHash).toEqual(headerHash(honest[at + MESSAGE - 1]!));
    }
    expect(give(sync, honest, 10_000)).toEqual([]);
    expect(sync.phase).toBe('redownload');
    expect(sync.lastHash).toEqual(headerHash(GENESIS_HEADER));
    expect(sync.height).toBe(0);
  });

  it('returns headers that enough equal ones follow, and all once the work is reached again', () => {
    const sync = begin(13_000);
    presync(sync, honest);
    const ready: Buffer[] = [];
    for (let at = 0; at < 12_000; at += MESSAGE) {
      const out = give(sync, honest, at);
      if (!Array.isArray(out)) throw new Error(out.kind);
      ready.push(...out);
      expect(ready).toHaveLength(Math.max(0, at + MESSAGE - HELD_HEADERS));
      expect(sync.phase).toBe('redownload');
    }
    ready.push(...(give(sync, honest, 12_000) as Buffer[]));
    expect(Buffer.concat(ready).equals(Buffer.concat(honest))).toBe(true);
    expect(sync.phase).toBe('done');
    expect(sync.usageBytes).toBe(0);
  });

  it('accepts new headers above the sufficient work', () => {
    const sync = begin(3000);
    presync(sync, honest.slice(0, 3500));
    expect(give(sync, honest, 0)).toEqual([]);
    expect(give(sync, honest, 2000)).toHaveLength(4000);
    expect(sync.phase).toBe('done');
  });

  it.each([
    ['from the beginning', 0],
    ['late', 9000],
  ])('returns nothing from a chain that differs in the second phase: %s', async (_, forkHeight) => {
    const sync = begin(13_000);
    presync(sync, honest);
    const changed =
      forkHeight === 0
        ? other
        : [
            ...honest.slice(0, forkHeight),
            ...(await makeHeaders(5000, { after: honest[forkHeight - 1]!, mark: 2, withWork: false })),
          ];
    let out: Buffer[] | PresyncFault = [];
    let count = 0;
    for (let at = 0; Array.isArray(out) && at < 14_000; at += MESSAGE) {
      out = give(sync, changed, at);
      if (Array.isArray(out)) count += out.length;
    }
    expect(out).toEqual({ kind: 'changed' });
    expect(count).toBeLessThanOrEqual(forkHeight);
    // Matching commitment bits let a wrong chain pass for some headers, but not for two dozen.
    expect(sync.height).toBeLessThanOrEqual(forkHeight + HELD_HEADERS);
    expect([sync.phase, sync.usageBytes]).toEqual(['done', 0]);
  });

  it('does not continue without bits to compare', () => {
    const sync = begin(4000);
    presync(sync, honest);
    // Simulates that the first chain had its work in fewer headers.
    options.requiredWork = HEADER_WORK * 14_000n;
    let out: Buffer[] | PresyncFault = [];
    for (let at = 0; Array.isArray(out) && at < 14_000; at += MESSAGE) out = give(sync, honest, at);
    expect(out).toEqual({ kind: 'changed' });
    expect(sync.height).toBeLessThanOrEqual(4000 + COMMITMENT_PERIOD);
  });

  it('rejects a chain that ends too early, in either phase', () => {
    const first = begin(14_001);
    for (let at = 0; at < 14_000; at += MESSAGE) expect(give(first, honest, at)).toEqual([]);
    expect(first.phase).toBe('presync');
    expect(first.walkedWork).toBe(HEADER_WORK * 14_001n);
    expect(first.endMessage(false)).toEqual([]);
    expect(first.phase).toBe('done');
    const second = begin(13_000);
    presync(second, honest);
    expect(give(second, honest.slice(0, 500), 0)).toEqual([]);
    expect(second.phase).toBe('done');
  });

  it.each(['presync', 'redownload'] as const)('detects a header that violates a rule: %s', (phase) => {
    const sync = begin(13_000);
    if (phase === 'redownload') presync(sync, honest);
    const wrong = Buffer.from(honest[0]!);
    wrong.writeUInt32LE(0x1d00ffff, 104);
    expect(sync.take(wrong, headerHash(wrong))).toMatchObject({
      kind: 'invalid',
      error: { reason: 'bad-diffbits' },
    });
    expect(sync.phase).toBe('done');
  });

  it('rejects a chain that is longer than the time allows', () => {
    const nowSec = GENESIS.timeSec;
    // The maximum number of headers: six per second until two hours after the present.
    const bound = 7200 * 6;
    const sync = begin(1_000_000, { nowSec });
    let prev = headerHash(GENESIS_HEADER);
    let fault: PresyncFault | null = null;
    const header = Buffer.from(honest[0]!);
    for (let i = 0; fault === null && i < bound * 2; i++) {
      prev.copy(header, 4);
      header.writeUInt32LE(GENESIS.timeSec + 1 + i, 100);
      prev = headerHash(header);
      fault = sync.take(header, prev);
    }
    expect(fault).toEqual({ kind: 'tooLong' });
    expect(sync.height).toBeGreaterThanOrEqual(bound);
    expect(sync.height).toBeLessThanOrEqual(bound + 2 * COMMITMENT_PERIOD);
  });

  it('uses little memory for 200,000 headers of the least difficulty', () => {
    const sync = begin(1_000_000);
    let prev = headerHash(GENESIS_HEADER);
    const header = Buffer.from(honest[0]!);
    for (let i = 1; i <= 200_000; i++) {
      prev.copy(header, 4);
      header.writeUInt32LE(GENESIS.timeSec + i, 100);
      prev = headerHash(header);
      if (sync.take(header, prev) !== null) break;
      if (i % MESSAGE === 0) sync.endMessage(true);
    }
    expect(sync.height).toBe(200_000);
    expect(sync.usageBytes).toBe(128);
  });

  it('uses at most a megabyte in the second phase', () => {
    const sync = begin(13_000);
    presync(sync, honest);
    let most = 0;
    for (let at = 0; at < 12_000; at += MESSAGE) {
      give(sync, honest, at);
      most = Math.max(most, sync.usageBytes);
    }
    expect(most).toBeGreaterThan(HELD_HEADERS * 112);
    expect(most).toBeLessThan(1 << 20);
  });
});
