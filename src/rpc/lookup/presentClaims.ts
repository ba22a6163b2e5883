/**
 * Claim queries as of the tip. Reads the current rows and a cache of them as long as the tip does not change; otherwise
 * reads historical rows.
 */
import type { ActiveChain } from '../../chain/index/activeChain.js';
import type { Foreseen } from '../../claimtrie/forecast.js';
import { normalizeNameInSlices } from '../../claimtrie/normalizeSlices.js';
import type { NameProof } from '../../claimtrie/proof.js';
import { filesNormalized, hashesAllClaims } from '../../claimtrie/rules.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import { inSlices } from '../../scheduler/slices.js';
import { KeptClaims } from '../../store/claims/keptClaims.js';
import {
  filedName,
  readName,
  readPresentName,
  type KnownItems,
  type NameInfo,
  type NameQuery,
} from '../../store/claims/query/claimQueries.js';
import { readHeads, type KnownHeads } from '../../store/claims/query/nameHeads.js';
import {
  readLatestHistory,
  type LatestHistoryPage,
  type LatestHistoryQuery,
} from '../../store/claims/query/nameHistory.js';
import {
  readOutputStates,
  type OutputState,
  type OutputStatesQuery,
} from '../../store/claims/query/outputStates.js';
import {
  readPresentClaim,
  type ClaimChoice,
  type ClaimOfName,
  type KnownPlaces,
} from '../../store/claims/query/oneClaim.js';
import {
  noKnownNodes,
  readPresentProof,
  type KnownNodes,
  type ProofQuery,
} from '../../store/claims/query/proofQueries.js';
import { readTouchedNames } from '../../store/claims/touchedNames.js';
import { readAtHand } from '../../store/rows/rowsAtHand.js';
import type { RowReader } from '../../store/rows/rows.js';
import type { CacheUsage } from '../../util/threadMemory.js';
import { equalBytes, fromLatin1, toLatin1, type Bytes } from '../../util/bytes.js';
import { isPromise, whenResolved, type MaybePromise } from '../../util/maybePromise.js';
import type { BidsQuery, NameBids, NameText } from '../../interfaces/claimReader.js';
import { AskedNames, type Asked } from './askedNames.js';
import {
  areStatesValid,
  KeptNames,
  LATEST,
  type Form,
  type StatesOfName,
  type Touched,
} from './keptNames.js';
import type { NameHead } from '../../store/claims/rows/nameRow.js';
import { KeptForecasts } from './keptForecasts.js';
import { bidsOf, chosenClaim } from './nameLookup.js';
import { PastNames, type ItemForecaster } from './pastNames.js';

/** Part of the active chain that is needed to detect a change of the tip. */
export type TipView = Pick<ActiveChain, 'height' | 'tip' | 'disconnects'>;

/**
 * Maximum length in bytes of a stored name in lookups. Scripts contain at most 255 bytes of a name
 * (`bad-txns-claimscriptname-toolarge`), and normalization multiplies the length by nine at most: three by decomposition and
 * three by case folding.
 */
export const LONGEST_FILED_BYTES = 4096;

/** Returns the form in which a name would be stored that is too long for any script. */
export async function longFiledName(rules: ClaimRules, name: Bytes, height: number): Promise<Bytes> {
  return filesNormalized(rules, height) ? inSlices(normalizeNameInSlices(name)) : name;
}

async function longNameAt(rows: RowReader, rules: ClaimRules, query: NameQuery): Promise<NameInfo> {
  const { exact, height } = query;
  const name = exact === true ? query.name : await longFiledName(rules, query.name, height);
  if (name.length <= LONGEST_FILED_BYTES) return readName(rows, rules, { ...query, name });
  return { name, lastTakeoverHeight: 0, claims: [], supportsWithoutClaim: [] };
}

/** Returns the query with a long name cut to the length that matters for a proof, because no path in the claim trie is longer. */
export async function longProofQuery(rules: ClaimRules, query: ProofQuery): Promise<ProofQuery> {
  const { name, height } = query;
  const asked = hashesAllClaims(rules, height) ? name : await longFiledName(rules, name, height);
  return { ...query, name: asked.subarray(0, LONGEST_FILED_BYTES + 1) };
}

/** Results of `outputsOfOneName`. Callers repeat cached queries. */
const keysOfQueries = new WeakMap<OutputStatesQuery, string | null>();

function keyOfOutputs(query: OutputStatesQuery): string | null {
  let key = keysOfQueries.get(query);
  if (key === undefined) keysOfQueries.set(query, (key = outputsOfOneName(query)));
  return key;
}

/** Returns a key for a query of successive outputs of a transaction that all have one name; null for other queries. */
function outputsOfOneName({ txid, outputs }: OutputStatesQuery): string | null {
  const [first] = outputs;
  if (first === undefined) return null;
  const isSame = outputs.every(({ name, n }, i) => n === first.n + i && equalBytes(name, first.name));
  return isSame ? `${first.n} ${outputs.length} ${toLatin1(txid)}` : null;
}

/** Whether all states are those of items of the name. */
function areOfName(states: readonly (OutputState | null)[], name: string): states is StatesOfName {
  return states.every((state) => state?.item.name === name);
}

function keyOfChoice(choice: ClaimChoice): string {
  if ('bid' in choice) return `bid ${choice.bid}`;
  if ('sequence' in choice) return `sequence ${choice.sequence}`;
  return 'claimId' in choice ? `id ${toLatin1(choice.claimId)}` : `digits ${choice.digits}`;
}

export class PresentClaims {
  readonly rows: RowReader;
  readonly rules: ClaimRules;
  readonly active: TipView;
  /** Cache of the decoded claims of names, for proofs. */
  readonly keptClaims = new KeptClaims();
  private readonly kept = new KeptNames();
  private readonly forecasts: KeptForecasts;
  private readonly past: PastNames;
  private readonly asked = new AskedNames();
  private nodes = { tip: -1, disconnects: -1, known: noKnownNodes() };
  private refreshing: Promise<void> | null = null;

  constructor(rows: RowReader, rules: ClaimRules, active: TipView, foresee: ItemForecaster) {
    this.rows = rows;
    this.rules = rules;
    this.active = active;
    this.forecasts = new KeptForecasts(rules, active, foresee);
    this.past = new PastNames({ rows, rules, active }, this.kept, foresee);
  }

  private readonly touched: Touched = (from, to) => {
    const fork = this.rules.normalizationForkHeight;
    // The normalization fork may change any name, so all cached names are removed.
    if (from <= fork && fork <= to) return null;
    return whenResolved(readTouchedNames(this.rows, from, to), (names) => {
      if (names !== null) this.asked.change(names.keys());
      return names;
    });
  };

  /**
   * Returns the result of `present` (current rows) if the query is for the latest block and the tip does not change during
   * the read; otherwise the result of `past` (historical rows).
   */
  prefer<T>(height: number, present: () => MaybePromise<T>, past: () => Promise<T>): MaybePromise<T> {
    const { active } = this;
    if (height !== active.height) return past();
    // Updates the cache to the latest block.
    return whenResolved(this.kept.follow(active, this.touched), () => {
      if (height !== active.height) return past();
      const { tip, disconnects } = active;
      const answer = present();
      return isPromise(answer) ? this.unlessMoved(answer, past, tip, disconnects) : answer;
    });
  }

  private async unlessMoved<T>(
    present: Promise<T>,
    past: () => Promise<T>,
    tip: number,
    disconnects: number,
  ): Promise<T> {
    const { active } = this;
    try {
      const answer = await present;
      if (active.tip === tip && active.disconnects === disconnects) return answer;
    } catch (error) {
      if (active.tip === tip && active.disconnects === disconnects) throw error;
    }
    return past();
  }

  /** Returns the stored form of the queried name if the current rows can answer the query; otherwise null. */
  private presentName(query: NameQuery): string | null {
    const { asReference, height } = query;
    if (height !== this.active.height || (asReference && asReference.tipHeight !== height)) return null;
    // An empty name is not answered from current rows, because the result for the root of the claim trie without claims
    // depends on other names.
    return this.filedOf(query) || null;
  }

  /**
   * Returns a name as of a block before the latest one. Such results are cached, because a visitor who turns the pages of a
   * name while blocks arrive sees one state of it.
   */
  private recentName(query: NameQuery, past: () => Promise<NameInfo>): MaybePromise<NameInfo> {
    const { active, kept } = this;
    const { asReference, height } = query;
    const filed = this.filedOf(query);
    if (asReference !== undefined || height >= active.height || filed === '') return past();
    return whenResolved(kept.follow(active, this.touched), () => {
      const known = kept.findAt(filed, height, active);
      if (known !== undefined) return known;
      const { tip, disconnects } = active;
      return this.past.nameAt(query, filed).then((info) => {
        kept.keepAt(filed, height, info, { tip, disconnects }, active);
        return info;
      });
    });
  }

  private filedOf({ name, exact, height }: Pick<NameQuery, 'name' | 'exact' | 'height'>): string {
    return exact === true ? toLatin1(name) : filedName(this.rules, name, height);
  }

  /** Implements `ClaimReader`. */
  async bidsAt({ name, height, coming, ...page }: BidsQuery): Promise<NameBids> {
    const { active, kept } = this;
    if (name.length <= LONGEST_FILED_BYTES && height < active.height) {
      const filed = this.filedOf({ name, height });
      await kept.follow(active, this.touched);
      const isKept = kept.findAt(filed, height, active) !== undefined;
      const found = isKept || filed === '' ? null : await this.past.bidsAt(filed, height, page, coming);
      if (found !== null) return found;
    }
    const info = await this.nameAt({ name, height });
    return bidsOf(info, page, await this.foresee(info, height));
  }

  /**
   * Implements `ClaimReader`. `isAsked` means that a caller requests the name. Such a name is read in advance after the next
   * block.
   */
  nameAt(query: NameQuery, isAsked = true): MaybePromise<NameInfo> {
    const { rows, rules, active, kept } = this;
    if (query.name.length > LONGEST_FILED_BYTES) return longNameAt(rows, rules, query);
    const past = (): Promise<NameInfo> => readName(rows, rules, query);
    const name = this.presentName(query);
    if (name === null) return this.recentName(query, past);
    const form = query.asReference ? 'reference' : 'documented';
    const present = (): MaybePromise<NameInfo> => {
      const known = kept.find(form, name, active);
      if (known !== undefined) {
        if (isAsked) this.asked.note(name, active.height).whole.add(form);
        return known;
      }
      const { tip, disconnects } = active;
      return whenResolved(readPresentName(rows, name, query, this.items()), (info) => {
        const isKept = kept.keep(form, name, info, { tip, disconnects }, active);
        if (isKept && isAsked) this.asked.note(name, active.height).whole.add(form);
        return info;
      });
    };
    return this.prefer(query.height, present, past);
  }

  /** See `ClaimReader.caches`. */
  caches(): readonly CacheUsage[] {
    const { known } = this.nodes;
    const { keptClaims } = this;
    return [
      ...this.kept.caches(),
      { name: 'proof_nodes', bytes: known.size, maxBytes: known.most },
      { name: 'proof_claims', bytes: keptClaims.size, maxBytes: keptClaims.most },
    ];
  }

  /** Implements `ClaimReader`. The cache may not know the latest block yet; `nameAt` updates it. */
  textOf(query: NameQuery): NameText | null {
    const { active, kept } = this;
    const name = query.name.length > LONGEST_FILED_BYTES ? null : this.presentName(query);
    if (name === null) return null;
    const { tip, disconnects } = active;
    return {
      known: kept.findText(name, active) ?? null,
      keep: (frame) => kept.keepText(name, frame, { tip, disconnects }, active),
    };
  }

  /**
   * Implementation of `ClaimReader.claimAt`. Like `nameAt` above, uses the cache at the tip. `isAsked`: whether a client
   * made the request.
   */
  claimAt(query: NameQuery, choice: ClaimChoice, isAsked = true): MaybePromise<ClaimOfName> {
    const { rows, active, kept } = this;
    const asReference = query.asReference !== undefined;
    const form = asReference ? 'reference' : 'documented';
    const fromAll = (isAllAsked = true): MaybePromise<ClaimOfName> =>
      whenResolved(this.nameAt(query, isAllAsked), (info) => {
        const { name, lastTakeoverHeight } = info;
        return { name, lastTakeoverHeight, claim: chosenClaim(info, choice, asReference) };
      });
    const name = query.name.length > LONGEST_FILED_BYTES ? null : this.presentName(query);
    if (name === null) return fromAll();
    const wanted = keyOfChoice(choice);
    const note = (): void => {
      if (isAsked) this.asked.noteChoice(name, active.height, wanted, form, choice);
    };
    const present = (): MaybePromise<ClaimOfName | null> => {
      if (kept.find(form, name, active) !== undefined) {
        note();
        return fromAll(false);
      }
      const known = kept.findClaim(form, name, wanted, active);
      if (known !== undefined) {
        note();
        return known;
      }
      const { tip, disconnects } = active;
      const asked = { height: query.height, asReference, choice };
      return whenResolved(readPresentClaim(rows, name, asked, this.places()), (found) => {
        if (found === null) return null;
        kept.keepClaim(form, name, wanted, found, { tip, disconnects }, active);
        note();
        return found;
      });
    };
    const found = this.prefer<ClaimOfName | null>(query.height, present, async () => null);
    return whenResolved(found, (claim) => claim ?? fromAll(isAsked));
  }

  /** Returns the cache of trie nodes for the latest block. A query that began before a block keeps the cache of that time. */
  private nodesAtTip(): KnownNodes {
    const { tip, disconnects } = this.active;
    const { nodes } = this;
    if (nodes.tip === tip && nodes.disconnects === disconnects) return nodes.known;
    this.nodes = { tip, disconnects, known: noKnownNodes() };
    return this.nodes.known;
  }

  /** Returns the proof of a name as of the latest block. The caller must have checked that the query is for that block. */
  presentProof(query: ProofQuery, isAsked = true): MaybePromise<NameProof> {
    const { rows, rules, keptClaims, active } = this;
    return whenResolved(
      readPresentProof(rows, rules, query, {
        heads: this.heads(isAsked),
        claims: keptClaims,
        nodes: this.nodesAtTip(),
      }),
      (proof) => {
        const name = filedName(rules, query.name, active.height);
        if (isAsked && keptClaims.has(name)) this.asked.note(name, active.height).proof = true;
        return proof;
      },
    );
  }

  /**
   * Implements `ClaimReader`. `isAsked` means that a caller requests the states. A change of the tip during the read is
   * harmless if the result describes one tip.
   */
  outputStates(query: OutputStatesQuery, isAsked = true): MaybePromise<readonly (OutputState | null)[]> {
    const { rows, rules, active, kept } = this;
    const read = (): MaybePromise<(OutputState | null)[]> =>
      readOutputStates(rows, rules, query, this.heads(isAsked));
    const outputs = keyOfOutputs(query);
    if (outputs === null) return this.prefer(active.height, read, async () => read());
    const present = (): MaybePromise<readonly (OutputState | null)[]> => {
      const name = filedName(rules, query.outputs[0]!.name, active.height);
      const { tip, disconnects, height } = active;
      const keep = (states: StatesOfName): StatesOfName => {
        const isKept = kept.keepStates(name, outputs, states, { tip, disconnects }, active);
        if (isKept && isAsked) this.asked.noteStates(name, height, outputs, query);
        return states;
      };
      const readAndKeep = (): MaybePromise<readonly (OutputState | null)[]> =>
        whenResolved(read(), (states) => (areOfName(states, name) ? keep(states) : states));
      const known = kept.findStates(name, outputs, active);
      if (known === undefined) return readAndKeep();
      if (!known.isAged) {
        if (isAsked) this.asked.noteStates(name, height, outputs, query);
        return known.states;
      }
      return whenResolved(this.headOf(name, isAsked), (head) =>
        areStatesValid(known.states, head?.best?.point) ? keep(known.states) : readAndKeep(),
      );
    };
    return this.prefer(active.height, present, async () => read());
  }

  private headOf(name: string, isAsked: boolean): MaybePromise<NameHead | undefined> {
    const known = this.heads(isAsked);
    return readAtHand(this.rows, (atHand) => readHeads(atHand, [name], known).get(name));
  }

  /**
   * Reads names again that blocks have changed and that callers requested recently. If a run is in progress, resolves when
   * that run ends.
   */
  refresh(): Promise<void> {
    this.refreshing ??= this.readAgain().finally(() => (this.refreshing = null));
    return this.refreshing;
  }

  private async readAgain(): Promise<void> {
    const { active, kept, asked } = this;
    for (let tip = -1; tip !== active.tip;) {
      tip = active.tip;
      await kept.follow(active, this.touched);
      for (const [name, wanted] of asked.takeChanged(active.height)) {
        await this.readNameAgain(name, wanted);
        if (tip !== active.tip) break;
      }
    }
  }

  private async readNameAgain(filed: string, asked: Asked): Promise<void> {
    const { whole, choices, head, proof, states, forecast, history } = asked;
    const { height } = this.active;
    const name = fromLatin1(filed);
    const queryOf = (form: Form): NameQuery => ({
      name,
      height,
      exact: true,
      ...(form === 'reference' ? { asReference: { tipHeight: height } } : {}),
    });
    for (const form of whole) {
      const info = await this.nameAt(queryOf(form), false);
      if (forecast && form === 'documented') await this.forecasts.foresee(info, height);
    }
    if (history !== null) await this.latestHistory(filed, { ...history, to: height, skip: 0 }, false);
    for (const { form, choice } of choices.values()) await this.claimAt(queryOf(form), choice, false);
    for (const query of states.values()) await this.outputStates(query, false);
    const heads = async (): Promise<void> => void (await this.headOf(filed, false));
    if (head) await this.prefer(height, heads, async () => undefined);
    const proofs = async (): Promise<void> => {
      await this.presentProof({ name, height, tipHeight: () => this.active.height }, false);
    };
    if (proof) await this.prefer(height, proofs, async () => undefined);
  }

  /** Access to the cached item positions for one query at the latest block. */
  private places(): KnownPlaces {
    const { active, kept } = this;
    const { tip, disconnects } = active;
    return {
      find: (name) => kept.findPlaces(name, active),
      keep: (name, places) => kept.keepPlaces(name, places, { tip, disconnects }, active),
    };
  }

  /** Access to the cached items for one query at the latest block. */
  private items(): KnownItems {
    const { active, kept } = this;
    const { tip, disconnects } = active;
    return {
      find: (name) => kept.findItems(name, active),
      keep: (name, items) => kept.keepItems(name, items, { tip, disconnects }, active),
    };
  }

  /** Access to the cached name heads for one query at the latest block. `isAsked` means that a caller requests the name. */
  heads(isAsked = true): KnownHeads {
    const { active, kept } = this;
    const { tip, disconnects } = active;
    const note = (name: string): void => {
      if (isAsked) this.asked.note(name, active.height).head = true;
    };
    return {
      find: (name) => {
        const found = kept.findHead(name, active);
        if (found !== undefined) note(name);
        return found;
      },
      keep: (name, head) => {
        kept.keepHead(name, head, { tip, disconnects }, active);
        note(name);
      },
    };
  }

  private foresee(info: NameInfo, height: number): Promise<Foreseen | null> {
    const { active, kept, asked, forecasts } = this;
    const name = toLatin1(info.name);
    if (height === active.height && kept.find('documented', name, active) === info)
      asked.note(name, height).forecast = true;
    return forecasts.foresee(info, height);
  }

  /**
   * Returns the latest events of a name in its stored form. They are cached until a block changes the name. `isAsked`: see
   * `nameAt`.
   */
  async latestHistory(
    name: string,
    span: Omit<LatestHistoryQuery, 'name'>,
    isAsked = true,
  ): Promise<LatestHistoryPage> {
    const { rows, active, kept, asked } = this;
    const { from, to, count, skip } = span;
    const read = async (): Promise<LatestHistoryPage> =>
      readLatestHistory(rows, await this.past.itemsOf(name), { name, ...span });
    await kept.follow(active, this.touched);
    if (to > active.height) return read();
    // As long as no block changes the name, the result for the tip is also valid for later blocks, so its cache key does
    // not include the height.
    const isLatest = to === active.height && skip === 0;
    const choice = isLatest ? `${from} ${count}${LATEST}` : `${from} ${count} ${to} ${skip}`;
    if (isLatest && isAsked) asked.note(name, to).history = { from, count };
    const { tip, disconnects } = active;
    const known = kept.findHistory(name, choice, active);
    if (known !== undefined) return known;
    const page = await read();
    kept.keepHistory(name, choice, page, { tip, disconnects }, active);
    return page;
  }

  /** Returns the form in which the name is stored after block `height`; null if the name is too long to be stored. */
  async filed(name: Bytes, height: number): Promise<string | null> {
    if (name.length <= LONGEST_FILED_BYTES) return filedName(this.rules, name, height);
    const long = await longFiledName(this.rules, name, height);
    return long.length <= LONGEST_FILED_BYTES ? toLatin1(long) : null;
  }
}
