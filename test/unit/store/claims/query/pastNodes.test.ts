/** Proofs of past blocks for nodes with many children, over reorganisations, in folders of the present and of an older version. */
import { describe, expect, it } from 'vitest';
import { valueHash } from '../../../../../src/claimtrie/claimsHash.js';
import { pointKey } from '../../../../../src/claimtrie/item.js';
import { NO_SLOTS, unpackSlots } from '../../../../../src/claimtrie/slots.js';
import { sha256dPair } from '../../../../../src/crypto/hash.js';
import {
  CLAIM_PREFIX,
  NOTED_KEY,
  nodeKey,
  slotNoteKey,
  slotNotesKey,
} from '../../../../../src/store/claims/rows/claimKeys.js';
import { parseNodeNote } from '../../../../../src/store/claims/rows/nodeNote.js';
import { parseNodeRow } from '../../../../../src/store/claims/rows/nodeRow.js';
import { pastSlots } from '../../../../../src/store/claims/query/pastNodes.js';
import {
  noKnownNodes,
  readPresentProof,
  readProof,
  type KnownNames,
} from '../../../../../src/store/claims/query/proofQueries.js';
import { epochOf, type ProofWindow } from '../../../../../src/store/claims/versions.js';
import { readU32 } from '../../../../../src/store/rows/keys.js';
import { prefixEnd, type RowRange, type RowReader } from '../../../../../src/store/rows/rows.js';
import { toHex } from '../../../../../src/util/bytes.js';
import { HandChain, PAST_FORKS, type Made } from '../../../../support/claimBlocks.js';
import type { MemoryRows } from '../../../../support/memoryRows.js';
import { IS_LONG } from '../../../../support/long.js';

const PROVEN = ['', '0', 'a', 'aa', 'a0', 'm7', 'zz', 'nothing'];

/** Blocks that create, change and remove names, some of them many. The proofs and the root after each block are stored. */
class Life {
  readonly chain: HandChain;
  readonly roots = new Map<number, string>();
  readonly proofs = new Map<number, string>();
  private alive: Made[] = [];
  private readonly before: Made[][] = [];
  private drawn: number;

  constructor(seed: number, height: number, window: ProofWindow) {
    this.chain = new HandChain(PAST_FORKS, height, window);
    this.drawn = seed;
  }

  random(below: number): number {
    return (this.drawn = (this.drawn * 48271) % 2147483647) % below;
  }

  private name(): string {
    const letters = '0123456789abcdefghijklmnopqrstuvwxyz@-_';
    const letter = (): string => letters[this.random(letters.length)]!;
    return this.random(3) === 0 ? letter() : letter() + letter() + (this.random(9) === 0 ? letter() : '');
  }

  async mine(): Promise<void> {
    const { chain } = this;
    this.before.push([...this.alive]);
    const changes = this.random(10) === 0 ? 60 : this.random(4);
    for (let i = 0; i < changes; i++) {
      const of = this.random(3) > 0 ? this.alive.splice(this.random(this.alive.length + 1), 1)[0] : undefined;
      if (!of) this.alive.push(chain.claim(this.name(), 1 + this.random(50)));
      else if (this.random(4) === 0) chain.spend(of);
      else this.alive.push(chain.update(of, 1 + this.random(50)));
    }
    this.roots.set(chain.height + 1, await chain.mine());
    this.proofs.set(chain.height, await this.present());
  }

  async disconnect(depth: number): Promise<void> {
    const { chain } = this;
    for (let i = 0; i < depth; i++) {
      this.roots.delete(chain.height);
      this.proofs.delete(chain.height);
      this.alive = this.before.pop()!;
      expect(await chain.disconnect()).toBe(this.roots.get(chain.height));
    }
  }

  private async present(): Promise<string> {
    const { rows, height } = this.chain;
    const nodes = noKnownNodes();
    const proofsWith = async (known: KnownNames): Promise<unknown[]> => {
      const proofs: unknown[] = [];
      for (const name of PROVEN) {
        const query = { name: Buffer.from(name), height, tipHeight: () => height };
        proofs.push(await readPresentProof(rows, PAST_FORKS, query, known));
      }
      return proofs;
    };
    const proofs = await proofsWith({});
    for (let turn = 0; turn < 2; turn++) expect(await proofsWith({ nodes })).toEqual(proofs);
    expect(nodes.size > 0).toBe(this.alive.length > 0);
    return JSON.stringify(proofs);
  }

  /** Compares the proofs as of each stored block with those from the time when the block was the tip, and with its root. */
  async compare(): Promise<number> {
    const { chain } = this;
    let led = 0;
    for (const [height, wanted] of this.proofs) {
      const proofs: unknown[] = [];
      for (const name of PROVEN) {
        const query = { name: Buffer.from(name), height, tipHeight: () => chain.height };
        const proof = await readProof(chain.rows, PAST_FORKS, chain.store.proofWindow, query);
        proofs.push(proof);
        const { claim, pairs } = proof;
        if (!claim) continue;
        let hash = valueHash(pointKey(claim.txid, claim.n), claim.lastTakeoverHeight);
        for (const pair of pairs)
          hash = pair.odd ? sha256dPair(pair.hash, hash) : sha256dPair(hash, pair.hash);
        expect(toHex(hash)).toBe(this.roots.get(height));
        led++;
      }
      expect(JSON.stringify(proofs), `after block ${height}`).toBe(wanted);
    }
    return led;
  }
}

async function keysOf(rows: MemoryRows, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const [key] of rows.range({ gte: prefix, lt: prefixEnd(prefix) })) keys.push(key);
  return keys;
}

/** Turns the folder into one of an older version: with a record for each slot, and without the row that marks the new format. */
async function makeOlder({ rows, height: tip, store }: HandChain): Promise<void> {
  const window = store.proofWindow;
  const notes = await keysOf(rows, CLAIM_PREFIX.version);
  const older: [string, Buffer][] = [];
  for (const key of notes) {
    const height = readU32(key, key.length - 4);
    const path = key.slice(7, -4);
    const row = await rows.get(nodeKey('1', path));
    const present = row ? parseNodeRow(row).slots : NO_SLOTS;
    const at = async (block: number) => {
      const past = { window, generation: '1', height: block, notedFrom: 0 } as const;
      const slots = unpackSlots(await pastSlots(rows, past, path, present, tip));
      return new Map(slots.map((slot) => [slot.edge.charCodeAt(0), slot]));
    };
    const [before, after] = [await at(height - 1), await at(height)];
    for (const first of new Set([...before.keys(), ...after.keys()])) {
      const [was, is] = [before.get(first), after.get(first)];
      if (was && is && was.edge === is.edge && Buffer.compare(was.hash, is.hash) === 0) continue;
      const note = was
        ? Buffer.concat([was.hash, Buffer.from(was.edge.slice(1), 'latin1')])
        : Buffer.alloc(0);
      older.push([slotNoteKey(epochOf(window, height), '1', path, first, height), note]);
    }
  }
  for (const key of [...notes, NOTED_KEY]) rows.rows.set(key, null);
  for (const [key, note] of older) rows.rows.set(key, note);
}

/** Mines up to a height. Sometimes disconnects blocks, but none below `floor`. */
async function liveTo(life: Life, height: number, floor: number): Promise<void> {
  const { chain } = life;
  while (chain.height < height) {
    await life.mine();
    if (life.random(12) === 0)
      await life.disconnect(Math.min(life.random(life.random(4) === 0 ? 30 : 5), chain.height - floor));
  }
}

describe('proofs after every block', () => {
  it.each([...(IS_LONG ? ([[11, 930, 5000]] as const) : []), [12, 10, 'all']] as const)(
    'lead to its root, over reorganisations: history %s from block %s, window %s',
    async (seed, from, window) => {
      const life = new Life(seed, from, window);
      await life.mine();
      await liveTo(life, from + 200, from + 1);
      expect(await life.compare()).toBeGreaterThan(10);
      const { rows } = life.chain;
      const kinds = new Set<boolean>();
      for (const key of await keysOf(rows, CLAIM_PREFIX.version))
        kinds.add(parseNodeNote((await rows.get(key))!).whole);
      expect([...kinds].sort()).toEqual([false, true]);
    },
  );

  it.each([[21, 970, 5000], ...(IS_LONG ? ([[22, 10, 'all']] as const) : [])] as const)(
    'are the same in older folders: history %s from block %s, window %s',
    async (seed, from, window) => {
      const life = new Life(seed, from, window);
      const { rows } = life.chain;
      await life.mine();
      await liveTo(life, from + 80, from + 1);
      await makeOlder(life.chain);
      expect(await rows.get(NOTED_KEY)).toBeUndefined();
      expect((await keysOf(rows, slotNotesKey(epochOf(window, from + 40), '1', ''))).length).toBeGreaterThan(
        9,
      );
      expect(await life.compare()).toBeGreaterThan(10);
      // Blocks that were recorded slot by slot are disconnected, and others replace them.
      await life.disconnect(20);
      expect(await life.compare()).toBeGreaterThan(10);
      expect(
        (await keysOf(rows, CLAIM_PREFIX.version)).every(
          (key) => readU32(key, key.length - 4) <= life.chain.height,
        ),
      ).toBe(true);
      await liveTo(life, from + 110, life.chain.height);
      expect(await rows.get(NOTED_KEY)).toBeDefined();
      expect(await life.compare()).toBeGreaterThan(10);
      await life.disconnect(life.chain.height - from - 30);
      expect(await rows.get(NOTED_KEY)).toBeUndefined();
      expect(await life.compare()).toBeGreaterThan(10);
      await liveTo(life, from + 60, from + 20);
      expect(await life.compare()).toBeGreaterThan(10);
      await life.disconnect(life.chain.height - from - 1);
      await life.chain.disconnect();
      expect(await keysOf(rows, CLAIM_PREFIX.version)).toEqual([]);
    },
  );
});

describe('the cost of a past node', () => {
  it('does not grow with the number of later blocks', async () => {
    const chain = new HandChain(PAST_FORKS, 10, 'all');
    const firsts = '0123456789abcdefghijklmnopqrstuvwxyz@-_';
    let claims = Array.from({ length: 30 * firsts.length }, (_, i) =>
      chain.claim(firsts[i % firsts.length]! + (i % 30), 10),
    );
    await chain.mine();
    const first = chain.height;
    for (let i = 0; i < 1500; i++) {
      const at = (i * 7) % claims.length;
      claims = claims.with(at, chain.update(claims[at]!, 10));
      await chain.mine();
    }
    let read = 0;
    const rows: RowReader = {
      get: (key) => chain.rows.get(key),
      getMany: (keys) => chain.rows.getMany(keys),
      range: (range: RowRange) => chain.rows.range(range),
      async getRange(range) {
        const found = await chain.rows.getRange(range);
        read += found.length;
        return found;
      },
    };
    for (const height of [first, first + 1, first + 333, first + 1400, chain.height - 10, chain.height - 1]) {
      read = 0;
      const query = { name: Buffer.from('a10'), height, tipHeight: () => chain.height };
      expect((await readProof(rows, PAST_FORKS, 'all', query)).claim).not.toBeNull();
      expect(read, `after block ${height}`).toBeLessThan(400);
    }
  });
});
