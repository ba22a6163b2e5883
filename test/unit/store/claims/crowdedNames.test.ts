/**
 * Queries at the tip for names with many claims and supports: compares the answers from few rows and from stored data with the
 * answers about past blocks and with the naive model. Random operations with reorganisations across all forks.
 */
import { describe, expect, it } from 'vitest';
import { pointKey } from '../../../../src/claimtrie/item.js';
import { nameBlock } from '../../../../src/rpc/format/claimsExplorer.js';
import { claimReader } from '../../../../src/rpc/lookup/claimReader.js';
import {
  bidsOf,
  chosenClaim,
  claimAtAge,
  claimByDigits,
  claimById,
  filedOutput,
} from '../../../../src/rpc/lookup/nameLookup.js';
import {
  byAge,
  filedName,
  readName,
  type NameInfo,
} from '../../../../src/store/claims/query/claimQueries.js';
import {
  CLAIM_PREFIX,
  nameKey,
  supportKey,
  supportsKey,
} from '../../../../src/store/claims/rows/claimKeys.js';
import { readLatestHistory, type LatestHistoryPage } from '../../../../src/store/claims/query/nameHistory.js';
import {
  aliveItems,
  FEW_ITEMS,
  itemsInRows,
  presentItems,
} from '../../../../src/store/claims/query/itemHistory.js';
import { parseNameRow } from '../../../../src/store/claims/rows/nameRow.js';
import { readPresentClaim, type ClaimChoice } from '../../../../src/store/claims/query/oneClaim.js';
import { RowDecoder } from '../../../../src/store/claims/rows/rowCodec.js';
import { CROWDED_ITEMS } from '../../../../src/store/claims/rows/supportRows.js';
import { prefixEnd } from '../../../../src/store/rows/rows.js';
import { KeptClaims } from '../../../../src/store/claims/keptClaims.js';
import { readPresentProof, readProof } from '../../../../src/store/claims/query/proofQueries.js';
import { readOutputStates, type OutputStatesQuery } from '../../../../src/store/claims/query/outputStates.js';
import { readPresentStandings, readStandings } from '../../../../src/store/claims/query/standings.js';
import { equalBytes, hashToHex, toHex, toLatin1 } from '../../../../src/util/bytes.js';
import { isPromise } from '../../../../src/util/maybePromise.js';
import { SMALL_RULES } from '../../../support/claimComparison.js';
import { claimsOf, pointOf } from '../../../support/claimModel.js';
import { PROOF_WINDOW, TwoLives } from '../../../support/explorerModel.js';

const ORDERS = ['bid', 'oldest', 'newest'] as const;
const NAMES = ['ab', 'aB', 'abc'].map((name) => Buffer.from(name));
const BLOCKS = 120;
const TRANSACTIONS = 6;
/** Maximum number of claims of a name, and of outputs, that are looked up. */
const LOOKED_UP = 12;

/** The value as text, because comparing texts is many times faster than comparing bytes. */
function textOf(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Uint8Array) return toHex(value);
  if (typeof value !== 'object' || value === null) return String(value);
  return `{${Object.entries(value)
    .map(([key, part]) => `${key}:${textOf(part)}`)
    .sort()
    .join()}}`;
}

function expectAlike(found: unknown, wanted: unknown): void {
  expect(textOf(found) === textOf(wanted), 'two ways to one answer').toBe(true);
}

/** Expects the same object. The message does not print the object, because it is large. */
function expectSame(found: unknown, wanted: unknown): void {
  expect(found === wanted, 'two ways to one object').toBe(true);
}

/** The history as answers show it. The items also contain what happened to them after the last block. */
const shownHistory = ({ blocks, next }: LatestHistoryPage) => [
  ...blocks.map((block) => nameBlock(block, Buffer.alloc(32))),
  next,
];

const outputsOf = ({ claims, supportsWithoutClaim }: NameInfo) => [
  ...claims.flatMap((claim) => [claim, ...claim.supports]),
  ...supportsWithoutClaim,
];

/** Checks that lookups find the same as a loop over all claims. */
function compareLookups(info: NameInfo): void {
  const step = Math.max(1, Math.floor(info.claims.length / LOOKED_UP));
  for (const [n, claim] of info.claims.entries()) {
    if (n % step !== 0) continue;
    const digits = hashToHex(claim.claimId);
    for (const length of [0, 1, 2, 3, 7, 40])
      expectSame(
        claimByDigits(info, digits.slice(0, length)),
        info.claims.find((other) => hashToHex(other.claimId).startsWith(digits.slice(0, length))),
      );
    expectSame(claimByDigits(info, `${digits}0`), undefined);
    expectSame(claimByDigits(info, `g${digits.slice(1)}`), undefined);
    const first = info.claims.find((other) => equalBytes(other.claimId, claim.claimId));
    expectSame(claimById(info, claim.claimId), first);
    for (const asReference of [false, true]) {
      const aged = byAge(info.claims, asReference)[n]!;
      expectAlike(claimAtAge(info, n, asReference), {
        ...aged,
        bid: claimById(info, aged.claimId)!.bid,
        sequence: n,
      });
    }
  }
  expectSame(claimAtAge(info, info.claims.length, false), undefined);
  for (const output of outputsOf(info).slice(-LOOKED_UP)) {
    const found = filedOutput(info, output.txid, output.n)!;
    expect(pointKey(found.output.txid, found.output.n)).toBe(pointKey(output.txid, output.n));
    expect(found.claim !== null).toBe(info.claims.some((claim) => claim === found.output));
  }
  expectSame(filedOutput(info, Buffer.alloc(32, 7), 0), undefined);
}

/** A random run in which one reader is used all the time. */
class Crowd {
  readonly two: TwoLives;
  readonly active = { height: 0, tip: 0, disconnects: 0, at: () => 0 };
  readonly reader: ReturnType<typeof claimReader>;
  readonly claims = new KeptClaims();
  /** The most items that a name had. */
  most = 0;
  compared = 0;
  /** Claims whose answers came from few rows, and those of them with supports. */
  narrow = 0;
  supported = 0;
  /** Number of cached infos that remained valid over a block. */
  outlived = 0;
  /** Number of infos of changed names that were read again before a query. */
  readAhead = 0;
  private readonly latest = new Map<string, NameInfo>();
  private readonly asked: OutputStatesQuery[] = [];
  private readonly states = new Map<OutputStatesQuery, unknown>();
  /** Number of cached states that remained valid over a block. */
  known = 0;
  /** Pages of names with many claims as of an earlier block, and forecasts that were computed in part. */
  past = 0;
  foreseen = 0;

  constructor(seed: number, rules: TwoLives['rules']) {
    this.two = new TwoLives(seed, rules, { names: NAMES });
    const { rows } = this.two;
    this.reader = claimReader(rows, { rules, proofWindow: PROOF_WINDOW }, this.active);
  }

  async step(): Promise<void> {
    const { two, active } = this;
    if (two.life.chance(6)) {
      for (let depth = Math.min(1 + two.life.pick(5), two.height); depth > 0; depth--) {
        await two.disconnect();
        active.disconnects++;
      }
    }
    const transactions = two.life.chance(20) ? two.life.pick(3) : TRANSACTIONS;
    await two.connect(two.life.block(two.height + 1, transactions));
    active.height = two.height;
    active.tip++;
    if (two.height % 2 === 0) await this.reader.refresh();
    for (const name of NAMES) await this.compareKept(name);
    for (const name of NAMES) await this.comparePast(name);
    await this.compareShort(NAMES[two.height % NAMES.length]!);
  }

  /** Compares single claims, name heads and proofs, for which the reader stores data. */
  private async compareShort(name: Buffer): Promise<void> {
    const { reader, two } = this;
    const { height, rows, rules } = two;
    const query = { name, height, asReference: { tipHeight: height } };
    const { claims, ...info } = await readName(rows, rules, query);
    const { claim, ...found } = await reader.claimAt(query, { bid: 0 });
    expectAlike(claim, claims[0]);
    expect(found.lastTakeoverHeight).toBe(info.lastTakeoverHeight);
    const proof = { name, height, tipHeight: () => height };
    expectAlike(await reader.proofAt(proof), await readProof(rows, rules, PROOF_WINDOW, proof));
    const { txid, outputs } = two.blocks[height]!.transactions[0] ?? { txid: Buffer.alloc(32), outputs: [] };
    await this.compareStates();
    const standings = { height, txid, madeAt: height, outputs };
    expectAlike(await reader.standings(standings), await readStandings(rows, rules, standings));
  }

  /** Compares the states of outputs of one name with those computed without a cache, after each block. */
  private async compareStates(): Promise<void> {
    const { reader, two } = this;
    const { height, rows, rules } = two;
    const { transactions } = two.blocks[height]!;
    for (const { txid, outputs } of transactions) {
      const [first] = outputs;
      const alike = outputs.filter(
        ({ name, n }, i) => first !== undefined && n === first.n + i && equalBytes(name, first.name),
      );
      if (alike.length > 1) this.asked.push({ txid, madeAt: height, outputs: alike });
    }
    this.asked.splice(0, this.asked.length - 30);
    for (const query of this.asked) {
      const wanted = await readOutputStates(rows, rules, query);
      const soon = reader.outputStates(query);
      if (!isPromise(soon)) this.known += Number(soon === this.states.get(query));
      expectAlike(await soon, wanted);
      this.states.set(query, await soon);
    }
  }

  /** Compares the stored data of the reader with the present rows. */
  private async compareKept(name: Buffer): Promise<void> {
    const { height, rows, rules } = this.two;
    const query = { name, height };
    const soon = this.reader.nameAt(query);
    const info = await soon;
    expectAlike(info, await readName(rows, rules, query));
    const filed = filedName(rules, name, height);
    if (this.latest.get(filed) === info) this.outlived++;
    else if (!isPromise(soon) && outputsOf(info).length >= 64) this.readAhead++;
    this.latest.set(filed, info);
  }

  /** Compares pages of bids, forecasts and events as of an earlier block with those read from rows without a cache. */
  private async comparePast(name: Buffer): Promise<void> {
    const { two, reader } = this;
    const { rows, rules } = two;
    const height = two.life.pick(two.height + 1);
    const info = await readName(rows, rules, { name, height });
    const page = {
      order: ORDERS[two.life.pick(3)]!,
      from: two.life.chance(50) ? 0 : two.life.pick(info.claims.length + 2),
      count: 1 + two.life.pick(20),
    };
    const few = { name, height, coming: 1 + two.life.pick(3), ...page };
    const { coming, ...found } = await reader.bidsAt(few);
    const { coming: all } = await reader.bidsAt({ ...few, coming: Infinity });
    const { coming: _, ...wanted } = bidsOf(info, page, null);
    expectAlike(found, wanted);
    expect(coming === null).toBe(all === null);
    if (coming !== null && all !== null) {
      const shown = coming.events.slice(0, few.coming);
      expectAlike(shown, all.events.slice(0, few.coming));
      expect(coming.events.length > few.coming).toBe(all.events.length > few.coming);
      this.foreseen += Number(coming.events.length < all.events.length);
    }
    const filed = filedName(rules, name, height);
    const span = { from: 0, to: height, count: 1 + two.life.pick(20), skip: 0 };
    const history = await reader.latestHistoryOf(name, span);
    const read = await readLatestHistory(rows, itemsInRows(rows, filed), { name: filed, ...span });
    expectAlike(shownHistory(history), shownHistory(read));
    this.past += Number(height < two.height && info.claims.length > FEW_ITEMS);
  }

  /** Removes the rows of supports by claim, as in a folder of an older version. */
  async dropSupportRows(): Promise<void> {
    const rows = this.two.rows.begin();
    const all = { gte: CLAIM_PREFIX.support, lt: prefixEnd(CLAIM_PREFIX.support) };
    for await (const [key] of rows.range(all)) rows.del(key);
    rows.commit();
  }

  /** Compares the answer for each claim with its entry in the answer for the whole name. */
  private async compareClaims(name: Buffer, info: NameInfo, isReference: boolean): Promise<void> {
    const { two, reader } = this;
    const { height, rows, rules } = two;
    const { claims } = info;
    const step = Math.max(1, Math.floor(claims.length / LOOKED_UP));
    const choices: ClaimChoice[] = [{ bid: claims.length }, { sequence: claims.length }, { digits: '0' }];
    for (let n = 0; n < claims.length; n += step) {
      const { claimId } = claims[n]!;
      const digits = hashToHex(claimId);
      choices.push({ bid: n }, { sequence: n }, { claimId }, { digits }, { digits: digits.slice(0, 2) });
    }
    choices.push({ digits: 'f'.repeat(40) }, { claimId: Buffer.alloc(20) });
    const query = { name, height, ...(isReference ? { asReference: { tipHeight: height } } : {}) };
    const filed = filedName(rules, name, height);
    for (const choice of choices) {
      const wanted = chosenClaim(info, choice, isReference);
      const whole = { name: info.name, lastTakeoverHeight: info.lastTakeoverHeight, claim: wanted };
      expectAlike(await reader.claimAt(query, choice), whole);
      const one = await readPresentClaim(rows, filed, { height, asReference: isReference, choice });
      if (one === null) continue;
      expectAlike(one, whole);
      this.narrow++;
      if (wanted !== undefined && wanted.supports.length > 0) this.supported++;
    }
  }

  /**
   * Names with many items have a row for each of their supports. Other names have none. If the rows were dropped, some names do
   * not have them yet.
   */
  async compareSupportRows(wereDropped: boolean): Promise<void> {
    const { rows, rules, height } = this.two;
    const wanted = new Map<string, number | null>();
    for (const name of new Set(NAMES.flatMap((one) => [toLatin1(one), filedName(rules, one, height)]))) {
      const row = await rows.get(nameKey(name));
      if (row === undefined || parseNameRow(row).alive < CROWDED_ITEMS) continue;
      const items = (await aliveItems(rows, name, height)).filter(({ kind }) => kind === 'support');
      if (wereDropped && (await rows.get(supportsKey(name))) === undefined) continue;
      wanted.set(supportsKey(name), items.length);
      for (const { claimId, since, point } of items)
        wanted.set(supportKey(name, claimId, since, point), null);
    }
    const found = new Map<string, number | null>();
    const all = { gte: CLAIM_PREFIX.support, lt: prefixEnd(CLAIM_PREFIX.support) };
    for await (const [key, row] of rows.range(all))
      found.set(key, row.length === 0 ? null : new RowDecoder(row).number());
    expectAlike(Object.fromEntries(found), Object.fromEntries(wanted));
  }

  async compare(): Promise<void> {
    for (const name of NAMES) {
      await this.compareName(name);
      await this.compareProofs(name);
    }
    await this.compareStandings();
    this.compared++;
  }

  private async compareName(name: Buffer): Promise<void> {
    const { two, reader } = this;
    const { height, rows, rules } = two;
    for (const asReference of [undefined, { tipHeight: height }]) {
      const query = { name, height, ...(asReference ? { asReference } : {}) };
      const wanted = await readName(rows, rules, query);
      const info = await reader.nameAt(query);
      expectAlike(info, wanted);
      const again = await reader.nameAt(query);
      expectAlike(again, wanted);
      const items = outputsOf(info).length;
      this.most = Math.max(this.most, items);
      if (items >= 64) expectSame(again, info);
      compareLookups(info);
      await this.compareClaims(name, info, asReference !== undefined);
    }
    const filed = filedName(rules, name, height);
    const info = await reader.nameAt({ name, height });
    const model = claimsOf(two.stateAt(height), filed);
    expectAlike(
      info.claims
        .filter(({ active }) => active)
        .map(({ txid, n, claimId, effectiveAmount }) => [
          pointOf(Buffer.from(txid), n),
          toHex(claimId),
          effectiveAmount,
        ]),
      model.map(({ item, effective }) => [item.point, item.claimId, effective]),
    );
    const ids = new Map(info.claims.map(({ txid, n, claimId }) => [pointKey(txid, n), toLatin1(claimId)]));
    const present = await presentItems(rows, filed, height, ids);
    expectAlike(present, await aliveItems(rows, filed, height));
  }

  private async compareProofs(name: Buffer): Promise<void> {
    const { two, reader, claims } = this;
    const { height, rows, rules } = two;
    const query = { name, height, tipHeight: () => height };
    const wanted = await readProof(rows, rules, PROOF_WINDOW, query);
    expectAlike(await reader.proofAt(query), wanted);
    expectAlike(await reader.proofAt(query), wanted);
    expectAlike(await readPresentProof(rows, rules, query, { claims }), wanted);
    expectAlike(await readPresentProof(rows, rules, query), wanted);
    const [claim] = (await reader.nameAt({ name, height })).claims.slice(-1);
    const selects = (id: Uint8Array): boolean => claim !== undefined && equalBytes(id, claim.claimId);
    expectAlike(
      await reader.proofAt({ ...query, selects }),
      await readProof(rows, rules, PROOF_WINDOW, { ...query, selects }),
    );
  }

  /** Compares all outputs that recently created claims and supports, also spent ones. */
  private async compareStandings(): Promise<void> {
    const { two, reader } = this;
    const { height, rows, rules } = two;
    for (let madeAt = Math.max(1, height - 30); madeAt <= height; madeAt += 6) {
      for (const { txid, outputs } of two.blocks[madeAt]!.transactions) {
        for (const exact of [false, true]) {
          const query = { height, txid, madeAt, outputs, exact };
          const wanted = await readStandings(rows, rules, query);
          expectAlike(await readPresentStandings(rows, rules, query), wanted);
          expectAlike(await reader.standings(query), wanted);
          if (!exact) this.compareModel(query, wanted);
        }
      }
    }
  }

  private compareModel(
    { height, txid, outputs }: Parameters<typeof readStandings>[2],
    standings: Awaited<ReturnType<typeof readStandings>>,
  ): void {
    const state = this.two.stateAt(height);
    for (const [i, { name, n }] of outputs.entries()) {
      const point = pointOf(Buffer.from(txid), n);
      const filed = filedName(this.two.rules, name, height);
      const item = state.items.find((one) => one.point === point && one.name === filed);
      const standing = standings[i]!;
      expect(standing === null).toBe(item === undefined);
      if (item === undefined) continue;
      expect(standing?.active).toBe(item.active);
      const best = claimsOf(state, filed)[0]?.item.point;
      expect(standing?.controls).toBe(item.active && !item.support && best === point);
    }
  }
}

const isFull = process.env['LBCNODE_FULL'] === '1';
const LIVES: readonly (readonly [title: string, seeds: readonly number[], blocks: number])[] = isFull
  ? Object.keys(SMALL_RULES).map((title) => [title, [4, 5, 6], 280])
  : [['forks as on regtest', [4], BLOCKS]];

describe('crowded names', () => {
  for (const [title, seeds, blocks] of LIVES) {
    it.each(seeds)(
      `have equal answers from few rows, from past blocks and from the model, ${title}, seed %i`,
      { timeout: 300_000 },
      async (seed) => {
        const crowd = new Crowd(seed, SMALL_RULES[title]!);
        let wereDropped = false;
        while (crowd.two.height < blocks) {
          await crowd.step();
          await crowd.compareSupportRows(wereDropped);
          if (crowd.two.height % 20 === 0) await crowd.compare();
          if (crowd.two.height < blocks - 20 || wereDropped) continue;
          await crowd.dropSupportRows();
          await crowd.compare();
          wereDropped = true;
        }
        expect(crowd.most).toBeGreaterThan(64);
        expect(crowd.compared).toBeGreaterThan(1);
        expect(crowd.narrow).toBeGreaterThan(100);
        expect(crowd.supported).toBeGreaterThan(10);
        expect(crowd.outlived).toBeGreaterThan(2);
        expect(crowd.readAhead).toBeGreaterThan(2);
        expect(crowd.known).toBeGreaterThan(10);
        expect(crowd.past).toBeGreaterThan(20);
        expect(crowd.foreseen).toBeGreaterThan(0);
      },
    );
  }
});
