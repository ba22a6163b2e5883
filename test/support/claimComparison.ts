/** Applies random claim operations to the claim store and to the naive model, and compares all answers. */
import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { valueHash } from '../../src/claimtrie/claimsHash.js';
import { pointKey } from '../../src/claimtrie/item.js';
import type { NameProof } from '../../src/claimtrie/proof.js';
import { sha256dPair } from '../../src/crypto/hash.js';
import {
  filedName,
  readName,
  readNames,
  readPresentName,
  readTotals,
  type DescribedItems,
  type NameInfo,
  type NameQuery,
} from '../../src/store/claims/query/claimQueries.js';
import { readTouchedNames } from '../../src/store/claims/touchedNames.js';
import { CLAIM_PREFIX } from '../../src/store/claims/rows/claimKeys.js';
import { IdleNames } from '../../src/store/claims/idleNames.js';
import { rowHasClaims } from '../../src/store/claims/rows/nameRow.js';
import { ClaimStore, type ClaimRules, type ProofWindow } from '../../src/store/claims/claimStore.js';
import { readPresentProof, readProof } from '../../src/store/claims/query/proofQueries.js';
import { toHex, toLatin1 } from '../../src/util/bytes.js';
import { ClaimLife, LIFE_NAMES, randomOf } from './claimLife.js';
import { ClaimModel, claimedNames, claimsOf, normalized, pointOf, type ModelState } from './claimModel.js';
import { MemoryRows } from './memoryRows.js';

/** Names whose proofs are stored while their block is the tip, and later compared with proofs of that past block. */
const PROVEN = ['', 'a', 'A', 'ab', 'abc', 'abcd', 'ba', 'nothing', 'ss'].map((name) => Buffer.from(name));

class Comparison {
  readonly rules: ClaimRules;
  readonly proofWindow: ProofWindow;
  readonly life: ClaimLife;
  readonly model: ClaimModel;
  store: ClaimStore;
  readonly rows = new MemoryRows();
  readonly digests: string[] = [];
  readonly proofs = new Map<number, string>();
  disconnected = 0;
  /** Number of stores that read at least one row which had not been prefetched. */
  late = 0;
  private readonly chance: (count: number) => number;
  private readonly fetchedPercent: number;
  idleNames = 0;
  /** Cached items of names that have many. `renewed` counts how often cached items were updated. */
  private readonly items = new Map<string, DescribedItems>();
  renewed = 0;

  constructor(seed: number, rules: ClaimRules, names: readonly Buffer[], fetchedPercent: number) {
    this.rules = rules;
    this.chance = randomOf(seed + 1);
    this.fetchedPercent = fetchedPercent;
    this.life = new ClaimLife(seed, names);
    this.model = new ClaimModel(rules);
    this.proofWindow = seed % 2 === 0 ? 5000 : 'all';
    this.store = this.restart();
    this.digests.push(this.digest());
  }

  /**
   * Every row except those of idle names, which a disconnect does not remove. Below the hash fork, nodes in the new format are
   * left out, because a reorganisation may leave some.
   */
  private digest(): string {
    let text = '';
    for (const [key, value] of this.rows.dump(CLAIM_PREFIX.idle)) {
      if (this.model.tip.height < this.rules.allClaimsForkHeight - 1 && key.startsWith('t1')) continue;
      text += `${key.length}:${value.length}:${key}${value}`;
    }
    return createHash('sha256').update(text, 'latin1').digest('hex');
  }

  /** Opens a new store on the same rows, so that no cached state remains. */
  private restart(): ClaimStore {
    const { rules, proofWindow } = this;
    const onLateRead = (): void => {
      this.late++;
    };
    const fetches = (): boolean => this.chance(100) < this.fetchedPercent;
    return (this.store = new ClaimStore({ rules, proofWindow, onLateRead, fetches }));
  }

  /** Checks that a new `IdleNames` has every name with a row and without claims. Returns the number of these names. */
  private async checkIdleNames(): Promise<number> {
    const idle = new IdleNames();
    await idle.load(this.rows);
    let count = 0;
    for (const [key, row] of this.rows.dump()) {
      if (key[0] !== CLAIM_PREFIX.name || rowHasClaims(Buffer.from(row, 'latin1'))) continue;
      count++;
      expect(idle.mayHold(key.slice(1)), key).toBe(true);
    }
    return count;
  }

  async connect(transactions: number): Promise<void> {
    const height = this.model.tip.height + 1;
    const block = this.life.block(height, transactions);
    const wanted = this.model.connect(block);
    if (this.life.chance(8)) await this.store.connect(this.rows.begin(), block);
    if (this.life.chance(8)) this.restart();
    const rows = this.rows.begin();
    const { root } = await this.store.connect(rows, block);
    rows.commit();
    expect(`${height} ${toHex(root)}`).toBe(`${height} ${wanted}`);
    expect(toHex(await this.store.readRoot(this.rows))).toBe(wanted);
    this.digests.push(this.digest());
    await this.noteChanges(height);
    if (height % 30 === 0) await this.comparePresent();
    if (height % 20 === 0) this.proofs.set(height, await this.prove(height));
    if (height % 25 === 0) await this.compareTotals();
    if (height % 40 === 0) this.idleNames += await this.checkIdleNames();
  }

  async disconnect(depth: number): Promise<void> {
    for (let i = 0; i < depth; i++) {
      const rows = this.rows.begin();
      const { root } = await this.store.disconnect(rows, this.model.tip.height);
      rows.commit();
      this.proofs.delete(this.model.tip.height);
      this.model.disconnect();
      this.life.disconnect();
      this.digests.pop();
      this.disconnected++;
      expect(toHex(root)).toBe(this.model.tip.root);
    }
    this.items.clear();
    expect(this.digest()).toBe(this.digests.at(-1));
    if (depth > 12) await this.comparePresent();
  }

  /** Records the changes of a block to names whose items are cached. */
  private async noteChanges(height: number): Promise<void> {
    const touched = await readTouchedNames(this.rows, height, height);
    if (touched === null || height === this.rules.normalizationForkHeight) return this.items.clear();
    for (const [name, changed] of touched) {
      const kept = this.items.get(name);
      if (kept !== undefined) this.items.set(name, { ...kept, changed: [...kept.changed, ...changed] });
    }
  }

  /** Compares names and proofs from the rows of the tip with those of the same block from the rows of the past. */
  private async comparePresent(): Promise<void> {
    const { rows, rules, proofWindow } = this;
    const { height } = this.model.tip;
    const asReference = { tipHeight: height };
    for (const name of LIFE_NAMES) {
      for (const query of [
        { name, height },
        { name, height, asReference },
        { name, height, exact: true },
      ])
        expect(await this.presentName(query)).toEqual(await readName(rows, rules, query));
    }
    for (const name of PROVEN) {
      const query = { name, height, tipHeight: () => height };
      expect(await readPresentProof(rows, rules, query)).toEqual(
        await readProof(rows, rules, proofWindow, query),
      );
    }
  }

  private async presentName(query: NameQuery): Promise<NameInfo> {
    const { rows, rules } = this;
    const name = query.exact ? toLatin1(query.name) : filedName(rules, query.name, query.height);
    if (name === '') return readName(rows, rules, query);
    return readPresentName(rows, name, query, {
      find: (one) => {
        const kept = this.items.get(one);
        if ((kept?.changed.length ?? 0) > 0) this.renewed++;
        return kept;
      },
      keep: (one, items) => void this.items.set(one, items),
    });
  }

  /** Checks every name after a block, for any height of the tip. */
  async compareNames(state: ModelState): Promise<void> {
    const { height } = state;
    const names: string[] = [];
    for await (const name of readNames(this.rows, height)) names.push(Buffer.from(name).toString('latin1'));
    expect(names).toEqual(claimedNames(state));
    for (const raw of LIFE_NAMES) {
      const info = await readName(this.rows, this.rules, { name: raw, height });
      const text = raw.toString('latin1');
      const name = height >= this.rules.normalizationForkHeight ? normalized(text) : text;
      const active = info.claims.filter((claim) => claim.active);
      expect(
        active.map((claim) => [pointOf(Buffer.from(claim.txid), claim.n), claim.effectiveAmount]),
      ).toEqual(claimsOf(state, name).map(({ item, effective }) => [item.point, effective]));
      expect(info.lastTakeoverHeight).toBe(state.owners.get(name)?.takeover ?? 0);
      const outputs = [
        ...info.claims,
        ...info.claims.flatMap((claim) => claim.supports),
        ...info.supportsWithoutClaim,
      ];
      const listed = outputs.map((output) => [
        pointOf(Buffer.from(output.txid), output.n),
        output.validAtHeight,
        output.active,
        output.amount,
        Buffer.from(output.name).toString('latin1'),
      ]);
      const filed = state.items
        .filter((item) => item.name === name)
        .map((item) => [item.point, item.validAt, item.active, item.amount, item.rawName]);
      expect(listed.sort()).toEqual(filed.sort());
    }
  }

  private async compareTotals(): Promise<void> {
    const state = this.model.tip;
    const names = claimedNames(state);
    const claims = state.items.filter((item) => item.active && !item.support);
    const sum = (amounts: bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);
    expect(await readTotals(this.rows)).toEqual({
      names: names.length,
      claims: claims.length,
      amount: sum(claims.map((item) => item.amount)),
      controllingAmount: sum(names.map((name) => claimsOf(state, name)[0]!.item.amount)),
    });
  }

  /** Checks the proofs of some names after a block. Proofs with all claims must lead to the root of the block. */
  private async prove(height: number): Promise<string> {
    const proofs: NameProof[] = [];
    const tipHeight = this.model.tip.height;
    for (const name of PROVEN) {
      const query = { name, height, tipHeight: () => tipHeight };
      const proof = await readProof(this.rows, this.rules, this.proofWindow, query);
      if (proof.pairs.length > 0 && proof.claim) {
        expect(toHex(foldPairs(proof))).toBe(this.model.states[height]!.root);
      }
      proofs.push(proof);
    }
    return JSON.stringify(proofs);
  }

  async compareProofs(): Promise<void> {
    for (const [height, proofs] of this.proofs) expect(await this.prove(height)).toBe(proofs);
  }
}

/** The root to which a proof with all claims leads. */
function foldPairs({ pairs, claim }: NameProof): Uint8Array {
  let hash = valueHash(pointKey(claim!.txid, claim!.n), claim!.lastTakeoverHeight);
  for (const pair of pairs) hash = pair.odd ? sha256dPair(pair.hash, hash) : sha256dPair(hash, pair.hash);
  return hash;
}

/**
 * Connects `blocks` blocks with reorganisations in between. Returns how many blocks were disconnected, and how often items of
 * names with many items were renewed. `fetchedPercent` of the rows that blocks need are prefetched; if it is 100, no row may be
 * read late.
 */
export async function liveAndCompare(
  seed: number,
  rules: ClaimRules,
  blocks: number,
  names: readonly Buffer[] = LIFE_NAMES,
  fetchedPercent = 100,
): Promise<Pick<Comparison, 'disconnected' | 'renewed'>> {
  const comparison = new Comparison(seed, rules, names, fetchedPercent);
  const { life, model } = comparison;
  while (model.tip.height < blocks) {
    if (life.chance(6)) {
      await comparison.disconnect(Math.min(1 + life.pick(life.chance(15) ? 60 : 6), model.tip.height));
    }
    await comparison.connect(4);
  }
  for (let i = 0; i < model.states.length; i += 7) await comparison.compareNames(model.states[i]!);
  await comparison.compareNames(model.tip);
  await comparison.compareProofs();
  expect(comparison.idleNames).toBeGreaterThan(0);
  expect(comparison.late > 0).toBe(fetchedPercent < 100);
  return comparison;
}

const SMALL: Omit<ClaimRules, 'supportDelay'> = {
  originalExpiration: 70,
  extendedExpiration: 110,
  extendedExpirationForkHeight: 150,
  normalizationForkHeight: 190,
  takeoverWorkaroundMin: -1,
  takeoverWorkaroundMax: -1,
  allClaimsForkHeight: 230,
};

/**
 * Forks at small heights: in the order of the main network, in the order of regtest, all in one block, and some with other
 * delays of supports.
 */
export const SMALL_RULES: Record<string, ClaimRules> = {
  'forks as on main': { ...SMALL, supportDelay: 'proportional' },
  'forks as on main, supports after 100': { ...SMALL, supportDelay: 100 },
  'forks as on regtest': {
    ...SMALL,
    normalizationForkHeight: 110,
    allClaimsForkHeight: 160,
    extendedExpirationForkHeight: 230,
    supportDelay: 'proportional',
  },
  'forks at once': {
    ...SMALL,
    normalizationForkHeight: 149,
    extendedExpirationForkHeight: 149,
    allClaimsForkHeight: 150,
    supportDelay: 'proportional',
  },
  'forks from the start': {
    ...SMALL,
    normalizationForkHeight: 0,
    extendedExpirationForkHeight: 0,
    allClaimsForkHeight: 0,
    supportDelay: 100,
  },
};
