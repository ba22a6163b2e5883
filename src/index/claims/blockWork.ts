/**
 * Applies consecutive blocks to the claim index: computes the rows from the blocks' claims and supports and from the values of
 * their outputs. This module has the rules for channels, signatures, reposts and counts; `notedRows.ts` disconnects a block.
 * Several blocks are read, verified and written together. The rows are the same as if each block were applied alone. Source:
 * lbryio/hub hub/scribe/service.py.
 */
import { filesNormalized } from '../../claimtrie/rules.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import type { NetworkParams } from '../../params/network.js';
import type { RowTransaction } from '../../store/rows/rows.js';
import { assert } from '../../util/assert.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { EMPTY_BYTES, fromLatin1, toLatin1, type Bytes } from '../../util/bytes.js';
import { isPromise, type MaybePromise } from '../../util/maybePromise.js';
import type { NotedChanges, NotedTrending } from './blockChanges.js';
import {
  BlockEvents,
  type EndedClaim,
  type NewClaim,
  type SignedClaim,
  type WeighedClaim,
  type WorkBlock,
} from './blockEvents.js';
import type { CreatedItem } from './blockItems.js';
import {
  claimKey,
  countsKey,
  endedKey,
  groupOf,
  ID_LENGTH,
  keyTag,
  nameOrderKey,
  repostKey,
  signedCountKey,
  signedKey,
  supportSignersKey,
  supportsKey,
  TOTALS_KEY,
} from './claimIndexKeys.js';
import { ClaimOutputs, type ClaimOutputInBlock } from './claimOutputs.js';
import {
  formatAmountRow,
  formatClaimRow,
  formatCountRow,
  formatTotalsRow,
  parseAmountRow,
  parseClaimRow,
  parseCountRow,
  parseSupportSignersRow,
  parseTotalsRow,
  type ClaimRow,
  type KindTotals,
} from './claimRow.js';
import { formatEndedRow } from './claimPast.js';
import { findKeys, readSignature, type SignatureOfChannel } from './claimSignatures.js';
import { EffectiveAmounts } from './effectiveAmounts.js';
import type { NotedRows } from './notedRows.js';
import { changeSignedSupports, readSigned, supportSumKeys } from './signedSupports.js';

export interface BlockWorkDeps {
  readonly params: Pick<NetworkParams, 'base58'>;
  readonly rules: ClaimRules;
  /** Row transaction. The rows of the claim trie are those after the last block or a later one. */
  readonly rows: RowTransaction;
  readonly noted: NotedRows;
}

/** Result of a block: changes for readers that follow the index, and the undo rows if they are stored. */
export interface WorkedBlock {
  readonly changes: NotedChanges;
  readonly trending: readonly NotedTrending[];
  readonly undo: readonly Bytes[] | null;
}

/** What one block changes, while it is applied. */
interface Effects {
  /** Change of the number of reposts, by claim. */
  readonly reposts: Map<string, number>;
  /** Change of the number of claims that a channel has signed, by channel and tag of the key. */
  readonly signed: Map<string, number>;
  readonly touched: Set<string>;
}

const NO_CHANGES: NotedChanges = { touched: [], rewritten: [], deleted: [], takeovers: [], signed: [] };

export class BlockWork {
  private readonly deps: BlockWorkDeps;
  private readonly noted: NotedRows;
  private readonly blocks: readonly BlockEvents[];
  /** Index rows of claims that the blocks changed, as of the last block whose claims were computed; null without a row. */
  private readonly computed = new Map<string, ClaimRow | null>();
  /** Index rows of claims that the blocks changed, as of the last block that was applied; null without a row. */
  private readonly applied = new Map<string, ClaimRow | null>();
  /** Decoded index rows as they were before the first block, by claim id; null without a row. */
  private readonly initialRows = new Map<string, ClaimRow | null>();
  /** Keys of the rows of claims, by their ids. */
  private readonly claimKeys = new Map<string, string>();
  /** Numbers of all claims that are unspent and not expired, by kind; null until a block changes them. */
  private totals: KindTotals | null = null;

  constructor(deps: BlockWorkDeps, blocks: readonly WorkBlock[]) {
    this.deps = deps;
    this.noted = deps.noted;
    this.blocks = blocks.map((block) => new BlockEvents(block));
  }

  /** Applies the blocks to the noted rows. Returns the result of each block. */
  async run(): Promise<WorkedBlock[]> {
    const changing = this.blocks.filter(({ isEmpty, of }) => !isEmpty || of.fleeting.length > 0);
    if (changing.length > 0) await this.prepare(changing);
    const worked: WorkedBlock[] = [];
    for (const events of this.blocks) {
      const { fleeting, keepsUndo } = events.of;
      const outcome = events.isEmpty ? null : await this.apply(events);
      if (fleeting.length > 0) this.noteFleetingEnds(events);
      await this.noted.complete();
      const undo = this.noted.endBlock(keepsUndo);
      worked.push({
        changes: outcome?.changes ?? NO_CHANGES,
        trending: outcome?.trending ?? [],
        undo: isPromise(undo) ? await undo : undo,
      });
    }
    return worked;
  }

  /** Computes the rows of the claims, and loads all rows that the blocks change. */
  private async prepare(changing: readonly BlockEvents[]): Promise<void> {
    const outputs: ClaimOutputs[] = [];
    for (const events of changing) {
      const reading = this.readOutputs(events);
      const read = isPromise(reading) ? await reading : reading;
      events.found = createdOutputs(events, read);
      outputs.push(read);
      if (events.createdSupports.length > 0)
        events.signedSupports = await readSigned(events.of.block, events.createdSupports);
    }
    const first = this.noted.load(this.firstKeys(changing));
    if (first) await first;
    for (const [i, events] of changing.entries()) {
      const computed = this.compute(events, outputs[i]!);
      if (computed) await computed;
    }
    await this.verify(changing);
    const references = this.noted.load(this.referredKeys(changing));
    if (references) await references;
    for (const events of changing) {
      const weighed = this.loadWeights(events);
      if (weighed) await weighed;
    }
  }

  private keyOf(claimId: string): string {
    let key = this.claimKeys.get(claimId);
    if (key === undefined) this.claimKeys.set(claimId, (key = claimKey(claimId)));
    return key;
  }

  /** Index row of a claim that no block has changed so far; null without a row. The row must have been loaded. */
  private initialRow(claimId: string): ClaimRow | null {
    let row = this.initialRows.get(claimId);
    if (row === undefined) {
      const bytes = this.noted.former(this.keyOf(claimId));
      this.initialRows.set(claimId, (row = bytes && parseClaimRow(bytes)));
    }
    return row;
  }

  /** Index row of the claim, as of the last block whose claims were computed. */
  private computedRow(claimId: string): ClaimRow | null {
    const row = this.computed.get(claimId);
    return row === undefined ? this.initialRow(claimId) : row;
  }

  /** Index row of the claim, as of the last block that was applied. */
  private appliedRow(claimId: string): ClaimRow | null {
    const row = this.applied.get(claimId);
    return row === undefined ? this.initialRow(claimId) : row;
  }

  private readOutputs({ of: { block }, created }: BlockEvents): MaybePromise<ClaimOutputs> {
    const points = new Map<string, string>();
    for (const { item } of created.values()) points.set(item.point, item.claimId);
    return ClaimOutputs.read(block, points);
  }

  /** Keys of the rows that can be determined from the blocks without reading rows. */
  private firstKeys(changing: readonly BlockEvents[]): string[] {
    const keys = [TOTALS_KEY];
    for (const events of changing) {
      this.addCreated(keys, events);
      for (const id of events.removed.keys()) {
        keys.push(this.keyOf(id));
        if (!events.created.has(id)) keys.push(endedKey(id));
      }
      for (const id of events.activated) keys.push(this.keyOf(id));
      for (const { claimId, group } of events.supports.values())
        keys.push(this.keyOf(claimId), supportsKey(claimId, group));
      for (const { point } of events.removedSupports) keys.push(supportSignersKey(point));
      for (const { channelId } of events.signedSupports) keys.push(this.keyOf(channelId));
      for (const { claimId } of events.of.fleeting) keys.push(this.keyOf(claimId), endedKey(claimId));
    }
    return keys;
  }

  private addCreated(keys: string[], { created, found }: BlockEvents): void {
    for (const { item } of created.values()) {
      // The id of a new claim is a hash of its outpoint, so no earlier claim has it.
      if (item.kind === 'claim') this.noted.noteAbsent(this.keyOf(item.claimId));
      else keys.push(this.keyOf(item.claimId));
    }
    for (const { facts } of found) {
      if (facts.channelId !== null) keys.push(this.keyOf(toLatin1(facts.channelId)));
      if (facts.repostedId === null) continue;
      const repostedId = toLatin1(facts.repostedId);
      keys.push(this.keyOf(repostedId), countsKey(repostedId));
    }
  }

  /** Computes the rows of the claims after a block. The rows of the block before must have been computed. */
  private compute(events: BlockEvents, outputs: ClaimOutputs): MaybePromise<void> {
    const made = [...events.created.values()];
    const isOriginNeeded = made.some(
      ({ item }) => item.kind === 'update' && this.computedRow(item.claimId) === null,
    );
    const origins = isOriginNeeded ? outputs.readOrigins() : undefined;
    if (origins) return origins.then(() => this.computeRows(events, made, outputs));
    this.computeRows(events, made, outputs);
  }

  private computeRows(events: BlockEvents, made: readonly CreatedItem[], outputs: ClaimOutputs): void {
    const { computed } = this;
    const { created, removed, found, of } = events;
    const claims = made.map(({ item }, i): NewClaim => {
      const former = this.computedRow(item.claimId);
      return { claimId: item.claimId, former, row: newRow(of.height, item, former, found[i]!, outputs) };
    });
    const signed: SignedClaim[] = [];
    const outputOf = (id: string): ClaimOutputInBlock | undefined => {
      const item = created.get(id)?.item;
      return item && outputs.byPoint.get(item.point);
    };
    for (const [i, output] of found.entries()) {
      const { channelId, signature } = output.facts;
      if (channelId === null || signature === null) continue;
      // The channel's key after the block is tried first, because it is the most likely signer.
      const id = toLatin1(channelId);
      const publicKey = (outputOf(id) ?? this.computedRow(id))?.publicKey ?? null;
      signed.push({ claim: claims[i]!, output, publicKey });
    }
    const ended: EndedClaim[] = [];
    for (const [claimId, item] of removed) {
      if (created.has(claimId)) continue;
      const row = this.computedRow(claimId);
      if (row?.point === item.point) ended.push([claimId, row]);
    }
    for (const [claimId] of ended) computed.set(claimId, null);
    for (const { claimId, row } of claims) computed.set(claimId, row);
    for (const support of events.signedSupports)
      support.publicKey = this.computedRow(support.channelId)?.publicKey ?? null;
    events.claims = claims;
    events.ended = ended;
    events.signedClaims = signed;
    events.rekeyed = rekeyedBy(claims, ended);
    events.weighed = this.weighedIn(events);
  }

  /** Claims that were created or updated, and claims whose supports were created or spent. */
  private weighedIn({ claims, supports }: BlockEvents): WeighedClaim[] {
    const weighed: WeighedClaim[] = [];
    const supportOf = (claimId: string, { rawName }: ClaimRow) =>
      supports.size === 0 ? undefined : supports.get(claimId + groupOf(rawName));
    for (const { claimId, former, row } of claims)
      weighed.push({ claimId, former, row, support: supportOf(claimId, row) });
    const isWeighed = new Set(claims.map(({ claimId }) => claimId));
    for (const { claimId, isMoved } of supports.values()) {
      if (!isMoved || isWeighed.has(claimId)) continue;
      isWeighed.add(claimId);
      const row = this.computedRow(claimId);
      const support = row && supportOf(claimId, row);
      if (row !== null && support?.isMoved === true) weighed.push({ claimId, former: row, row, support });
    }
    return weighed;
  }

  /** Finds the keys that verify the signatures of all claims and supports. */
  private async verify(changing: readonly BlockEvents[]): Promise<void> {
    const { params } = this.deps;
    const claims = changing.flatMap(({ signedClaims }) => signedClaims);
    const supports = changing.flatMap(({ signedSupports }) => signedSupports);
    if (claims.length + supports.length === 0) return;
    const checks: SignatureOfChannel[] = claims.map(({ output, publicKey }) => {
      return { signature: readSignature(output, params), publicKey };
    });
    checks.push(...supports);
    const found = await findKeys(checks);
    for (const [i, { claim }] of claims.entries()) claim.row.signers = found[i]!;
    for (const [i, support] of supports.entries()) support.tags = found[claims.length + i]!;
  }

  /** Keys of the rows of claims, counts and sums that depend on the changed claims. */
  private referredKeys(changing: readonly BlockEvents[]): string[] {
    const { noted } = this;
    const keys: string[] = [];
    const signed = new Set<string>();
    const refer = (row: ClaimRow | null): void => {
      if (row === null) return;
      for (const tag of row.signers) {
        keys.push(this.keyOf(row.channelId!));
        signed.add(row.channelId! + tag);
      }
      if (row.repostedId !== null) keys.push(this.keyOf(row.repostedId), countsKey(row.repostedId));
    };
    for (const { claims, ended, rekeyed, removedSupports, signedSupports } of changing) {
      for (const by of rekeyed) signed.add(by);
      for (const { row, former } of claims) {
        refer(row);
        refer(former);
      }
      for (const [, row] of ended) refer(row);
      for (const item of removedSupports) {
        const row = noted.former(supportSignersKey(item.point));
        if (row !== null) keys.push(...supportSumKeys(item, parseSupportSignersRow(row)));
      }
      for (const support of signedSupports) keys.push(...supportSumKeys(support.item, support));
    }
    for (const by of signed) keys.push(signedCountOf(by));
    return keys;
  }

  private loadWeights(events: BlockEvents): MaybePromise<void> {
    const { rows, rules } = this.deps;
    const { weighed } = events;
    const { height, isPresent, names, items } = events.of;
    events.after = new EffectiveAmounts(rows, rules, height, isPresent, names, items.filed);
    const after = events.after.load(weighed.map(({ row }) => row.rawName));
    if (height !== rules.normalizationForkHeight) return after;
    // The normalization fork moves claims and supports to other names, so their amounts before the block are read under
    // the former names.
    const before = new EffectiveAmounts(rows, rules, height - 1, false, null);
    events.before = before;
    return Promise.resolve(after).then(() =>
      before.load(weighed.flatMap(({ former }) => former?.rawName ?? [])),
    );
  }

  /** Changes the noted rows for a block. All rows must have been loaded. */
  private async apply(
    events: BlockEvents,
  ): Promise<{ readonly changes: NotedChanges; readonly trending: NotedTrending[] }> {
    const { noted } = this;
    const { created, removed, activated, claims, ended } = events;
    const effects: Effects = { reposts: new Map(), signed: new Map(), touched: new Set() };
    let since = performance.now();
    for (const [claimId, row] of ended) {
      this.takeOut(claimId, row, effects);
      this.applied.set(claimId, null);
      noted.set(endedKey(claimId), formatEndedRow(removed.get(claimId)!));
      const slice = yieldIfDue(since);
      since = typeof slice === 'number' ? slice : await slice;
    }
    for (const claim of claims) {
      if (claim.former !== null) this.takeOut(claim.claimId, claim.former, effects);
      this.putIn(claim, effects);
      const slice = yieldIfDue(since);
      since = typeof slice === 'number' ? slice : await slice;
    }
    if (ended.length + claims.length > 0) noted.set(TOTALS_KEY, formatTotalsRow(this.totals!));
    this.changeCounts(effects);
    this.changeSupports(events, effects);
    if (events.signedSupports.length + events.removedSupports.length > 0)
      changeSignedSupports(noted, events.signedSupports, events.removedSupports);
    for (const claimId of activated) effects.touched.add(claimId);
    const trending = await this.trending(events);
    const isAlive = (id: string): boolean => noted.get(this.keyOf(id)) !== null;
    const touched = [...effects.touched].filter((id) => !created.has(id) && isAlive(id));
    const deleted = ended.map(([claimId]) => claimId);
    const takeovers = this.touchingTakeovers(events);
    const signed = events.rekeyed.filter((by) => noted.get(signedCountOf(by)) !== null);
    return { changes: { touched, rewritten: [...created.keys()], deleted, takeovers, signed }, trending };
  }

  /**
   * Groups of names whose claims change because of a takeover. A name is omitted if its only claim was created in this block
   * and all claims of its group are stored under this name, which is true for most new names.
   */
  private touchingTakeovers({ of, created, after }: BlockEvents): string[] {
    const { takeovers } = of.items;
    if (takeovers.length === 0) return [];
    const made = new Set<string>();
    if (filesNormalized(this.deps.rules, of.height))
      for (const { item } of created.values()) if (groupOf(item.name) === item.name) made.add(item.name);
    const touching = takeovers.filter((name) => !made.has(name) || !after!.isAlone(name));
    return [...new Set(touching.map(groupOf))];
  }

  /** Deletes the rows of a claim from all lists. `row` is its index row before the block. */
  private takeOut(claimId: string, row: ClaimRow, effects: Effects): void {
    const { noted } = this;
    const group = groupOf(row.rawName);
    noted.set(this.keyOf(claimId), null);
    const id = fromLatin1(claimId);
    noted.delKnown(nameOrderKey(group, row.creationHeight, row.creationPosition, row.creationNout), id);
    for (const tag of row.signers) {
      noted.delKnown(signedKey(row.channelId!, tag, group, row.height, row.position, noutOf(row)), id);
      add(effects.signed, row.channelId! + tag, -1);
    }
    if (row.repostedId !== null) {
      noted.delKnown(repostKey(row.repostedId, claimId), EMPTY_BYTES);
      add(effects.reposts, row.repostedId, -1);
    }
    this.countKind(row, -1);
  }

  private putIn({ claimId, row }: NewClaim, effects: Effects): void {
    const { noted } = this;
    const group = groupOf(row.rawName);
    const id = fromLatin1(claimId);
    this.applied.set(claimId, row);
    noted.set(this.keyOf(claimId), formatClaimRow(row));
    noted.setNew(nameOrderKey(group, row.creationHeight, row.creationPosition, row.creationNout), id);
    for (const tag of row.signers) {
      noted.setNew(signedKey(row.channelId!, tag, group, row.height, row.position, noutOf(row)), id);
      add(effects.signed, row.channelId! + tag, 1);
    }
    if (row.repostedId !== null) {
      noted.setNew(repostKey(row.repostedId, claimId), EMPTY_BYTES);
      add(effects.reposts, row.repostedId, 1);
    }
    this.countKind(row, 1);
  }

  /**
   * Updates the counts of reposts and signed claims. A new output of a repost changes the reposted claim. If a claim was
   * signed again with the same key, the count does not change and no claim counts as changed.
   */
  private changeCounts({ reposts, signed, touched }: Effects): void {
    const { noted } = this;
    const addTo = (key: string, change: number): void =>
      noted.set(key, formatCountRow(parseCountRow(noted.get(key)) + change));
    for (const [claimId, change] of reposts) {
      if (change !== 0) addTo(countsKey(claimId), change);
      touched.add(claimId);
    }
    for (const [by, change] of signed) {
      if (change === 0) continue;
      addTo(signedCountOf(by), change);
      const channelId = by.slice(0, ID_LENGTH);
      const publicKey = this.appliedRow(channelId)?.publicKey;
      if (publicKey && keyTag(publicKey) === by.slice(ID_LENGTH)) touched.add(channelId);
    }
  }

  private countKind({ kind }: ClaimRow, change: number): void {
    this.totals ??= parseTotalsRow(this.noted.get(TOTALS_KEY));
    this.totals[kind ?? 'unknown'] += change;
  }

  private changeSupports({ supports }: BlockEvents, { touched }: Effects): void {
    const { noted } = this;
    for (const { claimId, group, sumSat } of supports.values()) {
      const key = supportsKey(claimId, group);
      if (sumSat !== 0n) noted.set(key, formatAmountRow(parseAmountRow(noted.get(key)) + sumSat));
      const row = this.appliedRow(claimId);
      if (row !== null && groupOf(row.rawName) === group) touched.add(claimId);
    }
  }

  /** Changes of the effective amounts of the weighed claims. */
  private async trending(events: BlockEvents): Promise<NotedTrending[]> {
    const { before, after, weighed, removed } = events;
    const changes: NotedTrending[] = [];
    let since = performance.now();
    for (const { claimId, former, row, support } of weighed) {
      const { amountSat, supportSat, name } = after!.weightOf(claimId, row.point, row.rawName);
      const filed = name ?? removed.get(claimId)?.name ?? '';
      const latterSat = amountSat === null ? 0n : amountSat + supportSat;
      const formerSat =
        before === null
          ? formerAmount(events, claimId, amountSat, supportSat - (support?.activeSat.get(filed) ?? 0n))
          : formerAmountIn(before, claimId, former);
      changes.push({ claimId, formerSat, latterSat });
      const slice = yieldIfDue(since);
      since = typeof slice === 'number' ? slice : await slice;
    }
    return changes;
  }

  /** Writes the rows of claims whose last output was created and spent by a block. The block must have been applied. */
  private noteFleetingEnds({ of }: BlockEvents): void {
    const { noted } = this;
    // A fill reads the claims name by name. The undo rows contain the order of the claims, so it is always that of the ids.
    for (const claim of of.fleeting.toSorted((a, b) =>
      a.claimId < b.claimId ? -1 : a.claimId > b.claimId ? 1 : 0,
    ))
      if (noted.get(this.keyOf(claim.claimId)) === null)
        noted.set(endedKey(claim.claimId), formatEndedRow(claim));
  }
}

/** Outputs of the claims that the block created or updated, in their order. */
function createdOutputs({ created }: BlockEvents, outputs: ClaimOutputs): ClaimOutputInBlock[] {
  const found: ClaimOutputInBlock[] = [];
  for (const { item } of created.values()) {
    const output = outputs.byPoint.get(item.point);
    assert(output, 'a block lacks an output that the claim trie took from it');
    found.push(output);
  }
  return found;
}

function newRow(
  height: number,
  { claimId, point, kind, rawName }: CreatedItem['item'],
  former: ClaimRow | null,
  { position, nout, facts, publicKey }: ClaimOutputInBlock,
  outputs: ClaimOutputs,
): NewClaim['row'] {
  const origin = (kind === 'update' && outputs.originOf(claimId)) || { position, nout };
  return {
    point,
    height,
    position,
    creationHeight: former?.creationHeight ?? height,
    creationPosition: former?.creationPosition ?? origin.position,
    creationNout: former?.creationNout ?? origin.nout,
    kind: facts.kind,
    channelId: facts.channelId && toLatin1(facts.channelId),
    signers: [],
    repostedId: facts.repostedId && toLatin1(facts.repostedId),
    publicKey,
    rawName,
  };
}

/**
 * Effective amount of a claim before the block. Computed from the amount after the block, by reverting the block's changes
 * of active supports.
 */
function formerAmount(
  { created, removed, activated }: BlockEvents,
  claimId: string,
  amountSat: bigint | null,
  formerSupportSat: bigint,
): bigint {
  const spent = removed.get(claimId);
  if (spent) return spent.activated === 0 ? 0n : spent.amount + formerSupportSat;
  const wasActive = amountSat !== null && !created.has(claimId) && !activated.has(claimId);
  return wasActive ? amountSat + formerSupportSat : 0n;
}

function formerAmountIn(before: EffectiveAmounts, claimId: string, row: ClaimRow | null): bigint {
  if (row === null) return 0n;
  const { amountSat, supportSat } = before.weightOf(claimId, row.point, row.rawName);
  return amountSat === null ? 0n : amountSat + supportSat;
}

/** Keys that channels lost or received in the block. Each result is a channel id followed by a key tag. */
function rekeyedBy(claims: readonly NewClaim[], ended: readonly EndedClaim[]): string[] {
  const rekeyed: string[] = [];
  const compare = (claimId: string, former: ClaimRow | null, latter: ClaimRow | null): void => {
    if (!former?.publicKey && !latter?.publicKey) return;
    const [from, to] = [former, latter].map((row) => row?.publicKey && keyTag(row.publicKey));
    if (from === to) return;
    for (const tag of [from, to]) if (tag) rekeyed.push(claimId + tag);
  };
  for (const { claimId, former, row } of claims) compare(claimId, former, row);
  for (const [claimId, row] of ended) compare(claimId, row, null);
  return rekeyed;
}

/** Row key of the count of claims signed by `by`: a channel id followed by a key tag. */
const signedCountOf = (by: string): string => signedCountKey(by.slice(0, ID_LENGTH), by.slice(ID_LENGTH));

function add(counts: Map<string, number>, key: string, change: number): void {
  counts.set(key, (counts.get(key) ?? 0) + change);
}

function noutOf({ point }: ClaimRow): number {
  return fromLatin1(point.slice(32)).readUInt32BE(0);
}
