/**
 * Applies one block to the claim index: computes the rows from the block's claims and supports and from the values of its
 * outputs. This module has the rules for channels, signatures, reposts and counts; `notedRows.ts` disconnects a block.
 * Source: lbryio/hub hub/scribe/service.py.
 */
import type { LoadedBlock } from '../../chain/blocks/loadedBlock.js';
import type { Item } from '../../claimtrie/item.js';
import { filesNormalized } from '../../claimtrie/rules.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import type { NetworkParams } from '../../params/network.js';
import type { NamesAfter } from '../../store/claims/claimStore.js';
import type { RowTransaction } from '../../store/rows/rows.js';
import { assert } from '../../util/assert.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { EMPTY_BYTES, fromLatin1, toLatin1 } from '../../util/bytes.js';
import type { NotedChanges, NotedTrending } from './blockChanges.js';
import { wasSpent, type BlockItems, type CreatedItem } from './blockItems.js';
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
  parseTotalsRow,
  type ClaimRow,
  type KindTotals,
} from './claimRow.js';
import { formatEndedRow } from './claimPast.js';
import { findSigners } from './claimSignatures.js';
import { EffectiveAmounts } from './effectiveAmounts.js';
import type { NotedRows } from './notedRows.js';
import { changeSignedSupports } from './signedSupports.js';

export interface BlockWorkDeps {
  readonly params: Pick<NetworkParams, 'base58'>;
  readonly rules: ClaimRules;
  /** Row transaction. The rows of the claim trie are those after this block or a later one. */
  readonly rows: RowTransaction;
  /** Whether the rows of the claim trie are those immediately after this block. */
  readonly isPresent: boolean;
  /** States of names after the block, if the block is being connected; null otherwise. Rows of these names need not be read. */
  readonly names: NamesAfter | null;
  readonly noted: NotedRows;
}

/** A claim that the block created or updated. */
interface NewClaim {
  readonly claimId: string;
  readonly former: ClaimRow | null;
  readonly output: ClaimOutputInBlock;
  readonly row: ClaimRow;
}

/** A claim that ended in the block, with its row before the block. */
type EndedClaim = readonly [claimId: string, row: ClaimRow];

/** Changes of the supports of one claim in one name group (see `groupOf`). */
interface SupportChange {
  readonly claimId: string;
  readonly group: string;
  /** Change of the sum of all unspent supports, in satoshis. */
  sumSat: bigint;
  /**
   * Changes of the sums of active supports, by the name in the claim trie. A support under a name that differs from the
   * claim's name does not count.
   */
  readonly activeSat: Map<string, bigint>;
  /** Whether a support was created or spent. False if supports only became active or expired. */
  isMoved: boolean;
}

export class BlockWork {
  private readonly deps: BlockWorkDeps;
  private readonly noted: NotedRows;
  private readonly block: LoadedBlock;
  private readonly height: number;
  /** Names, as stored in the claim trie, whose takeover height changed in the block. */
  private readonly takeovers: readonly string[];
  private readonly created = new Map<string, CreatedItem>();
  private readonly removed = new Map<string, Item>();
  private readonly activated = new Set<string>();
  private readonly supports = new Map<string, SupportChange>();
  private readonly blockSupports: { readonly created: Item[]; readonly removed: Item[] };
  /** Change of the number of reposts, by claim. */
  private readonly reposts = new Map<string, number>();
  /** Change of the number of claims that a channel has signed, by channel and tag of the key. */
  private readonly signed = new Map<string, number>();
  /** Index rows of the claims in `created`, as they are after the block. */
  private readonly newRows = new Map<string, ClaimRow>();
  /** Decoded index rows as they were before the block, by claim id; null without a row. */
  private readonly formerRows = new Map<string, ClaimRow | null>();
  /** Keys of the rows of claims, by their ids. */
  private readonly claimKeys = new Map<string, string>();
  private readonly touched = new Set<string>();
  private readonly deleted: string[] = [];
  /** Numbers of all claims that are unspent and not expired, by kind; null until the block changes them. */
  private totals: KindTotals | null = null;

  constructor(deps: BlockWorkDeps, block: LoadedBlock, height: number, items: BlockItems) {
    this.deps = deps;
    this.noted = deps.noted;
    this.block = block;
    this.height = height;
    this.takeovers = items.takeovers;
    const isSupport = ({ kind }: Item): boolean => kind === 'support';
    this.blockSupports = {
      created: items.created.map(({ item }) => item).filter(isSupport),
      removed: items.removed.filter(isSupport),
    };
    for (const made of items.created) {
      const { item, isActive } = made;
      if (item.kind === 'support') this.addSupport(item, 1n, isActive, true);
      else this.created.set(item.claimId, made);
    }
    for (const item of items.removed) {
      if (item.kind === 'support') this.addSupport(item, -1n, item.activated !== 0, wasSpent(item));
      else this.removed.set(item.claimId, item);
    }
    for (const item of items.activated) {
      if (item.kind !== 'support') this.activated.add(item.claimId);
      else addActive(this.supportOf(item), item.name, item.amount);
    }
  }

  private supportOf({ claimId, name }: Item): SupportChange {
    const group = groupOf(name);
    const key = claimId + group;
    let change = this.supports.get(key);
    if (!change) {
      change = { claimId, group, sumSat: 0n, activeSat: new Map(), isMoved: false };
      this.supports.set(key, change);
    }
    return change;
  }

  private addSupport(item: Item, sign: bigint, isActive: boolean, isMoved: boolean): void {
    const change = this.supportOf(item);
    change.sumSat += sign * item.amount;
    if (isActive) addActive(change, item.name, sign * item.amount);
    change.isMoved ||= isMoved;
  }

  /** Applies the block to the rows. Returns the changes for readers that follow the index. */
  async run(): Promise<{ changes: NotedChanges; trending: NotedTrending[] }> {
    const { noted, created, removed, activated } = this;
    const outputs = await this.readOutputs();
    const found = this.createdOutputs(outputs);
    await this.loadFirst(found);
    const claims = await this.newClaims(outputs, found);
    const ended = this.endedClaims();
    const rekeyed = rekeyedBy(claims, ended);
    await this.loadReferences(claims, ended, rekeyed);
    let since = performance.now();
    for (const [claimId, row] of ended) {
      this.takeOut(claimId, row);
      this.deleted.push(claimId);
      noted.set(endedKey(claimId), formatEndedRow(removed.get(claimId)!));
      const slice = yieldIfDue(since);
      since = typeof slice === 'number' ? slice : await slice;
    }
    for (const claim of claims) {
      if (claim.former !== null) this.takeOut(claim.claimId, claim.former);
      this.putIn(claim);
      const slice = yieldIfDue(since);
      since = typeof slice === 'number' ? slice : await slice;
    }
    if (this.totals !== null) noted.set(TOTALS_KEY, formatTotalsRow(this.totals));
    this.changeCounts();
    this.changeSupports();
    await changeSignedSupports(noted, this.block, this.blockSupports, async (channelIds) => {
      await noted.load(channelIds.map((id) => this.keyOf(id)));
      return (id) => this.rowOf(id)?.publicKey ?? null;
    });
    for (const claimId of activated) this.touched.add(claimId);
    const { rows, rules, isPresent, names } = this.deps;
    const after = new EffectiveAmounts(rows, rules, this.height, isPresent, names);
    const trending = await this.trending(after);
    const isAlive = (id: string): boolean => noted.get(this.keyOf(id)) !== null;
    const touched = [...this.touched].filter((id) => !created.has(id) && isAlive(id));
    const { deleted } = this;
    const takeovers = this.touchingTakeovers(after);
    const signed = rekeyed.filter((by) => noted.get(signedCountOf(by)) !== null);
    return { changes: { touched, rewritten: [...created.keys()], deleted, takeovers, signed }, trending };
  }

  /**
   * Groups of names whose claims change because of a takeover. A name is omitted if its only claim was created in this block
   * and all claims of its group are stored under this name, which is true for most new names.
   */
  private touchingTakeovers(after: EffectiveAmounts): string[] {
    const made = new Set<string>();
    if (filesNormalized(this.deps.rules, this.height))
      for (const { item } of this.created.values()) if (groupOf(item.name) === item.name) made.add(item.name);
    const touching = this.takeovers.filter((name) => !made.has(name) || !after.isAlone(name));
    return [...new Set(touching.map(groupOf))];
  }

  private keyOf(claimId: string): string {
    let key = this.claimKeys.get(claimId);
    if (key === undefined) this.claimKeys.set(claimId, (key = claimKey(claimId)));
    return key;
  }

  /** Index row of the claim before the block; null without a row. The row must have been loaded. */
  private formerRow(claimId: string): ClaimRow | null {
    let row = this.formerRows.get(claimId);
    if (row === undefined) {
      const bytes = this.noted.former(this.keyOf(claimId));
      this.formerRows.set(claimId, (row = bytes && parseClaimRow(bytes)));
    }
    return row;
  }

  /** Index row of the claim after the block; null without a row. The row must have been loaded. */
  private rowOf(claimId: string): ClaimRow | null {
    const made = this.newRows.get(claimId);
    if (made) return made;
    // If the block changed the row, it is in `newRows` or was deleted.
    return this.noted.get(this.keyOf(claimId)) && this.formerRow(claimId);
  }

  /** Claims that ended in the block. */
  private endedClaims(): EndedClaim[] {
    const ended: EndedClaim[] = [];
    for (const [claimId, item] of this.removed) {
      if (this.created.has(claimId)) continue;
      const row = this.formerRow(claimId);
      if (row?.point === item.point) ended.push([claimId, row]);
    }
    return ended;
  }

  private readOutputs(): Promise<ClaimOutputs> {
    const points = new Map<string, string>();
    for (const { item } of this.created.values()) points.set(item.point, item.claimId);
    return ClaimOutputs.read(this.block, points);
  }

  /** Outputs of the claims in `created`, in their order. */
  private createdOutputs(outputs: ClaimOutputs): ClaimOutputInBlock[] {
    const found: ClaimOutputInBlock[] = [];
    for (const { item } of this.created.values()) {
      const output = outputs.byPoint.get(item.point);
      assert(output, 'a block lacks an output that the claim trie took from it');
      found.push(output);
    }
    return found;
  }

  /** Loads the rows whose keys follow from the block alone. `found` contains the outputs of the claims in `created`. */
  private async loadFirst(found: readonly ClaimOutputInBlock[]): Promise<void> {
    const { noted, blockSupports } = this;
    const keys = [TOTALS_KEY];
    for (const { item } of this.created.values()) {
      // The id of a new claim is a hash of its outpoint, so no earlier claim has it.
      if (item.kind === 'claim') noted.noteAbsent(this.keyOf(item.claimId));
      else keys.push(this.keyOf(item.claimId));
    }
    for (const { facts } of found) {
      if (facts.channelId !== null) keys.push(this.keyOf(toLatin1(facts.channelId)));
      if (facts.repostedId === null) continue;
      const repostedId = toLatin1(facts.repostedId);
      keys.push(this.keyOf(repostedId), countsKey(repostedId));
    }
    for (const id of this.removed.keys()) {
      keys.push(this.keyOf(id));
      if (!this.created.has(id)) keys.push(endedKey(id));
    }
    for (const id of this.activated) keys.push(this.keyOf(id));
    for (const { claimId, group } of this.supports.values())
      keys.push(this.keyOf(claimId), supportsKey(claimId, group));
    for (const { point } of blockSupports.removed) keys.push(supportSignersKey(point));
    await noted.load(keys);
  }

  private async newClaims(outputs: ClaimOutputs, found: readonly ClaimOutputInBlock[]): Promise<NewClaim[]> {
    const made = [...this.created.values()];
    const formers = made.map(({ item }) => this.formerRow(item.claimId));
    if (made.some(({ item }, i) => item.kind === 'update' && formers[i] === null))
      await outputs.readOrigins();
    const signers = await this.signersOf(
      found,
      new Map(made.map(({ item }, i) => [item.claimId, found[i]!])),
    );
    return made.map(({ item }, i) => {
      const former = formers[i]!;
      const output = found[i]!;
      return {
        claimId: item.claimId,
        former,
        output,
        row: this.newRow(item, former, output, outputs, signers.get(output) ?? []),
      };
    });
  }

  private newRow(
    { claimId, point, kind, rawName }: Item,
    former: ClaimRow | null,
    output: ClaimOutputInBlock,
    outputs: ClaimOutputs,
    signers: readonly string[],
  ): ClaimRow {
    const { position, nout, facts, publicKey } = output;
    const origin = (kind === 'update' && outputs.originOf(claimId)) || { position, nout };
    return {
      point,
      height: this.height,
      position,
      creationHeight: former?.creationHeight ?? this.height,
      creationPosition: former?.creationPosition ?? origin.position,
      creationNout: former?.creationNout ?? origin.nout,
      kind: facts.kind,
      channelId: facts.channelId && toLatin1(facts.channelId),
      signers,
      repostedId: facts.repostedId && toLatin1(facts.repostedId),
      publicKey,
      rawName,
    };
  }

  /**
   * Finds the keys that verify the signatures of the outputs, as key tags. `made` has the claim outputs of the block by
   * claim id.
   */
  private async signersOf(
    found: readonly ClaimOutputInBlock[],
    made: ReadonlyMap<string, ClaimOutputInBlock>,
  ): Promise<Map<ClaimOutputInBlock, string[]>> {
    const signed = found.filter(({ facts }) => facts.channelId !== null && facts.signature !== null);
    const channelOf = ({ facts }: ClaimOutputInBlock): string => toLatin1(facts.channelId!);
    if (signed.length === 0) return new Map();
    // The channel's key after the block is tried first, because it is the most likely signer.
    const publicKeyOf = (id: string) => (made.get(id) ?? this.formerRow(id))?.publicKey ?? null;
    const checks = signed.map((output) => ({ output, publicKey: publicKeyOf(channelOf(output)) }));
    const signers = await findSigners(checks, this.deps.params);
    return new Map(signed.map((output, i) => [output, signers[i]!]));
  }

  /** Loads the rows of claims, counts and sums that depend on the changed claims. */
  private async loadReferences(
    claims: readonly NewClaim[],
    ended: readonly EndedClaim[],
    rekeyed: readonly string[],
  ): Promise<void> {
    const keys: string[] = [];
    const signed = new Set(rekeyed);
    const refer = (row: ClaimRow | null): void => {
      if (row === null) return;
      for (const tag of row.signers) {
        keys.push(this.keyOf(row.channelId!));
        signed.add(row.channelId! + tag);
      }
      if (row.repostedId !== null) keys.push(this.keyOf(row.repostedId), countsKey(row.repostedId));
    };
    for (const { row, former } of claims) {
      refer(row);
      refer(former);
    }
    for (const [, row] of ended) refer(row);
    for (const by of signed) keys.push(signedCountOf(by));
    await this.noted.load(keys);
  }

  /** Deletes the rows of a claim from all lists. `row` is its index row before the block. */
  private takeOut(claimId: string, row: ClaimRow): void {
    const { noted } = this;
    const group = groupOf(row.rawName);
    noted.set(this.keyOf(claimId), null);
    const id = fromLatin1(claimId);
    noted.delKnown(nameOrderKey(group, row.creationHeight, row.creationPosition, row.creationNout), id);
    for (const tag of row.signers) {
      noted.delKnown(signedKey(row.channelId!, tag, group, row.height, row.position, noutOf(row)), id);
      add(this.signed, row.channelId! + tag, -1);
    }
    if (row.repostedId !== null) {
      noted.delKnown(repostKey(row.repostedId, claimId), EMPTY_BYTES);
      add(this.reposts, row.repostedId, -1);
    }
    this.countKind(row, -1);
  }

  private putIn({ claimId, row }: NewClaim): void {
    const { noted } = this;
    const group = groupOf(row.rawName);
    const id = fromLatin1(claimId);
    this.newRows.set(claimId, row);
    noted.set(this.keyOf(claimId), formatClaimRow(row));
    noted.setNew(nameOrderKey(group, row.creationHeight, row.creationPosition, row.creationNout), id);
    for (const tag of row.signers) {
      noted.setNew(signedKey(row.channelId!, tag, group, row.height, row.position, noutOf(row)), id);
      add(this.signed, row.channelId! + tag, 1);
    }
    if (row.repostedId !== null) {
      noted.setNew(repostKey(row.repostedId, claimId), EMPTY_BYTES);
      add(this.reposts, row.repostedId, 1);
    }
    this.countKind(row, 1);
  }

  /**
   * Updates the counts of reposts and signed claims. A new output of a repost changes the reposted claim. If a claim was
   * signed again with the same key, the count does not change and no claim counts as changed.
   */
  private changeCounts(): void {
    const { noted } = this;
    const addTo = (key: string, change: number): void =>
      noted.set(key, formatCountRow(parseCountRow(noted.get(key)) + change));
    for (const [claimId, change] of this.reposts) {
      if (change !== 0) addTo(countsKey(claimId), change);
      this.touched.add(claimId);
    }
    for (const [by, change] of this.signed) {
      if (change === 0) continue;
      addTo(signedCountOf(by), change);
      const channelId = by.slice(0, ID_LENGTH);
      const publicKey = this.rowOf(channelId)?.publicKey;
      if (publicKey && keyTag(publicKey) === by.slice(ID_LENGTH)) this.touched.add(channelId);
    }
  }

  private countKind({ kind }: ClaimRow, change: number): void {
    this.totals ??= parseTotalsRow(this.noted.get(TOTALS_KEY));
    this.totals[kind ?? 'unknown'] += change;
  }

  private changeSupports(): void {
    const { noted } = this;
    for (const { claimId, group, sumSat } of this.supports.values()) {
      const key = supportsKey(claimId, group);
      if (sumSat !== 0n) noted.set(key, formatAmountRow(parseAmountRow(noted.get(key)) + sumSat));
      const row = this.rowOf(claimId);
      if (row !== null && groupOf(row.rawName) === group) this.touched.add(claimId);
    }
  }

  /** Changes of effective amounts: of claims that were created or updated, and of claims whose supports were created or spent. */
  private async trending(after: EffectiveAmounts): Promise<NotedTrending[]> {
    const { rules, rows } = this.deps;
    const ids = new Set(this.created.keys());
    for (const { claimId, isMoved } of this.supports.values()) if (isMoved) ids.add(claimId);
    // The normalization fork moves claims and supports to other names, so their amounts before the block are read under
    // the former names.
    const before =
      this.height === rules.normalizationForkHeight
        ? new EffectiveAmounts(rows, rules, this.height - 1, false, null)
        : null;
    const weighed: { claimId: string; row: ClaimRow; support: SupportChange | undefined }[] = [];
    for (const claimId of ids) {
      const row = this.rowOf(claimId);
      if (row === null) continue;
      const support =
        this.supports.size === 0 ? undefined : this.supports.get(claimId + groupOf(row.rawName));
      if (this.created.has(claimId) || support?.isMoved === true) weighed.push({ claimId, row, support });
    }
    await after.load(weighed.map(({ row }) => row.rawName));
    await before?.load(weighed.flatMap(({ claimId }) => this.formerRow(claimId)?.rawName ?? []));
    const changes: NotedTrending[] = [];
    let since = performance.now();
    for (const { claimId, row, support } of weighed) {
      const { amountSat, supportSat, name } = after.weightOf(claimId, row.point, row.rawName);
      const filed = name ?? this.removed.get(claimId)?.name ?? '';
      const latterSat = amountSat === null ? 0n : amountSat + supportSat;
      const formerSat =
        before === null
          ? this.formerAmount(claimId, amountSat, supportSat - (support?.activeSat.get(filed) ?? 0n))
          : this.formerAmountIn(before, claimId);
      changes.push({ claimId, formerSat, latterSat });
      const slice = yieldIfDue(since);
      since = typeof slice === 'number' ? slice : await slice;
    }
    return changes;
  }

  /**
   * Effective amount of a claim before the block. Computed from the amount after the block, by reverting the block's changes
   * of active supports.
   */
  private formerAmount(claimId: string, amountSat: bigint | null, formerSupportSat: bigint): bigint {
    const removed = this.removed.get(claimId);
    if (removed) return removed.activated === 0 ? 0n : removed.amount + formerSupportSat;
    const wasActive = amountSat !== null && !this.created.has(claimId) && !this.activated.has(claimId);
    return wasActive ? amountSat + formerSupportSat : 0n;
  }

  private formerAmountIn(before: EffectiveAmounts, claimId: string): bigint {
    const row = this.formerRow(claimId);
    if (row === null) return 0n;
    const { amountSat, supportSat } = before.weightOf(claimId, row.point, row.rawName);
    return amountSat === null ? 0n : amountSat + supportSat;
  }
}

/** Keys that channels lost or received in the block. Each result is a channel id followed by a key tag. */
function rekeyedBy(claims: readonly NewClaim[], ended: readonly EndedClaim[]): string[] {
  const rekeyed: string[] = [];
  const compare = (claimId: string, former: ClaimRow | null, latter: ClaimRow | null): void => {
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

function addActive({ activeSat }: SupportChange, name: string, amountSat: bigint): void {
  activeSat.set(name, (activeSat.get(name) ?? 0n) + amountSat);
}

function noutOf({ point }: ClaimRow): number {
  return fromLatin1(point.slice(32)).readUInt32BE(0);
}
