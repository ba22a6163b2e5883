/**
 * Answers of the claim store as of the tip, from the rows of the present and what is kept of them, as long as the tip stays;
 * else from the rows of the past.
 */
import type { ActiveChain } from '../../chain/index/activeChain.js';
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
import { readPresentProof, type ProofQuery } from '../../store/claims/query/proofQueries.js';
import { readTouchedNames } from '../../store/claims/touchedNames.js';
import { readAtHand } from '../../store/rows/rowsAtHand.js';
import type { RowReader } from '../../store/rows/rows.js';
import { equalBytes, fromLatin1, toLatin1, type Bytes } from '../../util/bytes.js';
import { isPromise, whenResolved, type MaybePromise } from '../../util/maybePromise.js';
import { AskedNames, type Asked } from './askedNames.js';
import { KeptNames, type Form, type Touched } from './keptNames.js';
import { chosenClaim } from './nameLookup.js';

/** The part of the chain needed to detect a change of the tip. */
export type TipView = Pick<ActiveChain, 'height' | 'tip' | 'disconnects'>;

/**
 * Maximum length of a name in lookups: scripts contain at most 255 bytes of a name (`bad-txns-claimscriptname-toolarge`),
 * and normalization multiplies them by nine at most: three by decomposing and three by folding.
 */
export const LONGEST_FILED_BYTES = 4096;

/** A name too long for any script, in the form in which it would be stored. */
export async function longFiledName(rules: ClaimRules, name: Bytes, height: number): Promise<Bytes> {
  return filesNormalized(rules, height) ? inSlices(normalizeNameInSlices(name)) : name;
}

async function longNameAt(rows: RowReader, rules: ClaimRules, query: NameQuery): Promise<NameInfo> {
  const { exact, height } = query;
  const name = exact === true ? query.name : await longFiledName(rules, query.name, height);
  if (name.length <= LONGEST_FILED_BYTES) return readName(rows, rules, { ...query, name });
  return { name, lastTakeoverHeight: 0, claims: [], supportsWithoutClaim: [] };
}

/** The same query with a long name cut to the part that matters: no path in the trie is longer. */
export async function longProofQuery(rules: ClaimRules, query: ProofQuery): Promise<ProofQuery> {
  const { name, height } = query;
  const asked = hashesAllClaims(rules, height) ? name : await longFiledName(rules, name, height);
  return { ...query, name: asked.subarray(0, LONGEST_FILED_BYTES + 1) };
}

/** The states of fewer outputs are not cached. */
const MANY_OUTPUTS = 2;

/** A text for many successive outputs of a transaction that all have one name; null for others. */
function outputsOfOneName({ txid, outputs }: OutputStatesQuery): string | null {
  const [first] = outputs;
  if (first === undefined || outputs.length < MANY_OUTPUTS) return null;
  const isSame = outputs.every(({ name, n }, i) => n === first.n + i && equalBytes(name, first.name));
  return isSame ? `${first.n} ${outputs.length} ${toLatin1(txid)}` : null;
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
  /** Claims that proofs keep. */
  readonly keptClaims = new KeptClaims();
  private readonly kept = new KeptNames();
  private readonly asked = new AskedNames();
  private refreshing: Promise<void> | null = null;

  constructor(rows: RowReader, rules: ClaimRules, active: TipView) {
    this.rows = rows;
    this.rules = rules;
    this.active = active;
  }

  private readonly touched: Touched = (from, to) => {
    const fork = this.rules.normalizationForkHeight;
    // The normalization fork may change any name.
    if (from <= fork && fork <= to) return null;
    return whenResolved(readTouchedNames(this.rows, from, to), (names) => {
      if (names !== null) this.asked.change(names.keys());
      return names;
    });
  };

  /**
   * The result from the current rows if the query is for the latest block and that does not change during the read; else
   * from past rows.
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

  /** The normalized name of the query, if the current rows can answer it; otherwise null. */
  private presentName({ name, exact, asReference, height }: NameQuery): string | null {
    if (height !== this.active.height || (asReference && asReference.tipHeight !== height)) return null;
    // The result for a root without claims depends on other names.
    return (exact === true ? toLatin1(name) : filedName(this.rules, name, height)) || null;
  }

  /**
   * The name after a block before the latest: from the cache if no block has changed it since, as it is when a visitor turns the
   * pages of a name while blocks come.
   */
  private recentName(query: NameQuery, past: () => Promise<NameInfo>): MaybePromise<NameInfo> {
    const { rules, active, kept } = this;
    const { name, exact, asReference, height } = query;
    if (asReference !== undefined || height >= active.height || kept.size === 0) return past();
    const filed = exact === true ? toLatin1(name) : filedName(rules, name, height);
    if (filed === '') return past();
    return whenResolved(
      kept.follow(active, this.touched),
      () => kept.findAt('documented', filed, height, active) ?? past(),
    );
  }

  /** See `ClaimReader`. `isAsked`: a caller asks, and may ask again after the next block. */
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

  /** See `ClaimReader`, and `nameAt` above. */
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

  /** The proof of a name after the latest block; only if the caller is sure that it is the latest. */
  presentProof(query: ProofQuery, isAsked = true): MaybePromise<NameProof> {
    const { rows, rules, keptClaims, active } = this;
    return whenResolved(
      readPresentProof(rows, rules, query, { heads: this.heads(isAsked), claims: keptClaims }),
      (proof) => {
        const name = filedName(rules, query.name, active.height);
        if (isAsked && keptClaims.has(name)) this.asked.note(name, active.height).proof = true;
        return proof;
      },
    );
  }

  /** See `ClaimReader`. `isAsked`: see `nameAt`. A change of the tip does not matter, if the result describes one tip. */
  outputStates(query: OutputStatesQuery, isAsked = true): MaybePromise<readonly (OutputState | null)[]> {
    const { rows, rules, active, kept } = this;
    const read = (): MaybePromise<(OutputState | null)[]> =>
      readOutputStates(rows, rules, query, this.heads(isAsked));
    const outputs = outputsOfOneName(query);
    if (outputs === null) return this.prefer(active.height, read, async () => read());
    const present = (): MaybePromise<readonly (OutputState | null)[]> => {
      const name = filedName(rules, query.outputs[0]!.name, active.height);
      const { tip, disconnects, height } = active;
      const known = kept.findStates(name, outputs, active);
      if (known !== undefined) {
        if (isAsked) this.asked.noteStates(name, height, outputs, query);
        return known;
      }
      return whenResolved(read(), (states) => {
        if (!states.every((state) => state?.item.name === name)) return states;
        const isKept = kept.keepStates(name, outputs, states, { tip, disconnects }, active);
        if (isKept && isAsked) this.asked.noteStates(name, height, outputs, query);
        return states;
      });
    };
    return this.prefer(active.height, present, async () => read());
  }

  /** Reads the names again that blocks changed and callers asked for lately. Resolves at the end, also of a run that is under way. */
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
    const { whole, choices, head, proof, states } = asked;
    const { height } = this.active;
    const name = fromLatin1(filed);
    const queryOf = (form: Form): NameQuery => ({
      name,
      height,
      exact: true,
      ...(form === 'reference' ? { asReference: { tipHeight: height } } : {}),
    });
    for (const form of whole) await this.nameAt(queryOf(form), false);
    for (const { form, choice } of choices.values()) await this.claimAt(queryOf(form), choice, false);
    for (const query of states.values()) await this.outputStates(query, false);
    const heads = async (): Promise<void> =>
      readAtHand(this.rows, (atHand) => void readHeads(atHand, [filed], this.heads(false)));
    if (head) await this.prefer(height, heads, async () => undefined);
    const proofs = async (): Promise<void> => {
      await this.presentProof({ name, height, tipHeight: () => this.active.height }, false);
    };
    if (proof) await this.prefer(height, proofs, async () => undefined);
  }

  /** The cached positions, for one query after the latest block. */
  private places(): KnownPlaces {
    const { active, kept } = this;
    const { tip, disconnects } = active;
    return {
      find: (name) => kept.findPlaces(name, active),
      keep: (name, places) => kept.keepPlaces(name, places, { tip, disconnects }, active),
    };
  }

  /** The cached items, for one query after the latest block. */
  private items(): KnownItems {
    const { active, kept } = this;
    const { tip, disconnects } = active;
    return {
      find: (name) => kept.findItems(name, active),
      keep: (name, items) => kept.keepItems(name, items, { tip, disconnects }, active),
    };
  }

  /** The cached name heads, for one query after the latest block; `isAsked`: see `nameAt`. */
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

  /** The latest events of a filed name. They are kept until a block changes the name. */
  async latestHistory(name: string, span: Omit<LatestHistoryQuery, 'name'>): Promise<LatestHistoryPage> {
    const { rows, active, kept } = this;
    const { from, to, count, skip } = span;
    const read = (): Promise<LatestHistoryPage> => readLatestHistory(rows, { name, ...span });
    await kept.follow(active, this.touched);
    if (to > active.height) return read();
    // While no block changes the name, the answer for the tip holds for later blocks, too.
    const choice = to === active.height && skip === 0 ? `${from} ${count}` : `${from} ${count} ${to} ${skip}`;
    const { tip, disconnects } = active;
    const known = kept.findHistory(name, choice, active);
    if (known !== undefined) return known;
    const page = await read();
    kept.keepHistory(name, choice, page, { tip, disconnects }, active);
    return page;
  }

  /** The name as stored after block `height`; null when it is too long. */
  async filed(name: Bytes, height: number): Promise<string | null> {
    if (name.length <= LONGEST_FILED_BYTES) return filedName(this.rules, name, height);
    const long = await longFiledName(this.rules, name, height);
    return long.length <= LONGEST_FILED_BYTES ? toLatin1(long) : null;
  }
}
