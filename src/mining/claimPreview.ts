/**
 * The claim root of a block that would follow the tip, computed again for slightly different transactions: only the names
 * affected by the difference are recomputed. Nothing is written. A preview is valid for one tip. The method requires that
 * names do not influence each other. This holds after the last fork, except where the shape of the trie matters, i.e.
 * whether a name without claims is a branching point. In that case, around the forks, and if normalizing a name twice gives
 * another name, the whole block is computed as when it is connected.
 */
import type { ClaimWork } from '../claimtrie/claimWork.js';
import { claimsHash } from '../claimtrie/claimsHash.js';
import { namesInvolved } from '../claimtrie/blockTransactions.js';
import type { Item } from '../claimtrie/item.js';
import { normalizeKey } from '../claimtrie/nameKey.js';
import type { NameState } from '../claimtrie/nameState.js';
import { hashesAllClaims, inRemovalWorkaround, isHashFork, matchesNormalized } from '../claimtrie/rules.js';
import { WorkTrie } from '../claimtrie/workTrie.js';
import { dueKey, SUMMARY_KEY } from '../store/claims/rows/claimKeys.js';
import type { ClaimOutput, ClaimSpend, ClaimStore, ClaimTx } from '../store/claims/claimStore.js';
import { expiringItems, processDueItems, processTransactions, settle } from '../store/claims/connect.js';
import { parseDueRow, type DueEntry } from '../store/claims/rows/queueRow.js';
import { parseSummaryRow, type Summary } from '../store/claims/rows/summaryRow.js';
import { VersionWriter } from '../store/claims/versions.js';
import { WorkStore } from '../store/claims/workStore.js';
import type { RowTransaction } from '../store/rows/rows.js';
import { assert } from '../util/assert.js';
import { toLatin1, type Bytes } from '../util/bytes.js';

/** Error: the result depends on the shape of the claim trie, so that the whole block must be computed. */
class Undecided extends Error {}

/**
 * Replaces the claim trie while single names are computed. It knows for each name whether the name has claims, but not the
 * nodes around it.
 */
class LoneNames extends WorkTrie {
  /**
   * Whether the controlling claims of names are being determined. During that phase, lookups only decide the takeover
   * heights of names without claims.
   */
  settling = false;
  private readonly work: ClaimWork;

  constructor(work: ClaimWork) {
    super();
    this.work = work;
  }

  override begin(): void {}
  override wanted(): string[] {
    return [];
  }
  override insert(): void {}
  override remove(): void {}
  override childPaths(): string[] {
    return [];
  }
  override takeRemovedPaths(): string[] {
    return [];
  }

  override isNode(name: string): boolean {
    if (this.work.name(name).state.claims.length > 0) return true;
    if (this.settling) return false;
    throw new Undecided(name);
  }
}

/** Creates row transactions whose changes are discarded. */
export interface ScratchRows {
  begin(): RowTransaction;
  discard(rows: RowTransaction): Promise<void>;
}

/**
 * Effects of the block under one normalized name: the parts of its transactions that concern the name, in order, and all
 * names that are loaded for them.
 */
interface NameGroup {
  parts: readonly ClaimTx[];
  names: readonly string[];
}

type Outcome = Pick<NameState, 'claims' | 'takeover'>;

export class ClaimPreview {
  private readonly store: ScratchRows;
  private readonly claims: ClaimStore;
  private readonly height: number;
  /** Whether names may be computed separately at this height. Around the forks this is not possible. */
  private readonly divides: boolean;
  private readonly allClaims: boolean;
  private summary: Summary | null = null;
  private due: readonly DueEntry[] = [];
  private expiring: readonly Item[] = [];
  /** Claim trie with the results of the last computation, hashed. */
  private trie = this.newTrie();
  private groups = new Map<string, NameGroup>();
  /** For each loaded name, the result that is currently in the trie. */
  private readonly outcomes = new Map<string, Outcome>();
  /** Store from which nodes that were not prefetched are read; null unless a root is being computed. */
  private paths: WorkStore | null = null;
  private readonly split = new WeakMap<ClaimTx, ReadonlyMap<string, ClaimTx> | null>();
  private last: { transactions: readonly ClaimTx[]; root: Buffer } | null = null;

  /** Creates a preview of the block at `height`, the next block after the tip. */
  constructor(store: ScratchRows, claims: ClaimStore, height: number) {
    const { rules } = claims;
    this.store = store;
    this.claims = claims;
    this.height = height;
    this.divides =
      matchesNormalized(rules, height) && !inRemovalWorkaround(rules, height) && !isHashFork(rules, height);
    this.allClaims = hashesAllClaims(rules, height - 1);
  }

  /** Computes the claim root after a block with these operations. The chain must not change during the call. */
  async root(transactions: readonly ClaimTx[]): Promise<Buffer> {
    if (this.last && sameItems(this.last.transactions, transactions)) return this.last.root;
    const rows = this.store.begin();
    try {
      const root = (await this.update(rows, transactions)) ?? (await this.whole(rows, transactions));
      this.last = { transactions, root };
      return root;
    } catch (error) {
      // After an error the partial results are deleted, because they must not be used again.
      this.forget();
      throw error;
    } finally {
      await this.store.discard(rows);
    }
  }

  private forget(): void {
    this.summary = null;
    this.last = null;
    this.trie = this.newTrie();
    this.groups.clear();
    this.outcomes.clear();
  }

  private newTrie(): WorkTrie {
    return new WorkTrie((path) => {
      assert(this.paths, 'a claim preview was used before it was loaded');
      return this.paths.readNode(path);
    });
  }

  private async whole(rows: RowTransaction, transactions: readonly ClaimTx[]): Promise<Buffer> {
    const block = { height: this.height, transactions: [...transactions] };
    return Buffer.from((await this.claims.connect(rows, block)).root);
  }

  /**
   * Computes the root from the changed names. Returns null, without changing the preview, if names cannot be computed
   * separately.
   */
  private async update(rows: RowTransaction, transactions: readonly ClaimTx[]): Promise<Buffer | null> {
    if (!this.divides) return null;
    const { summary, due, expiring } = await this.begin(rows);
    const parts = this.partsByName(transactions);
    if (!parts) return null;
    for (const { name } of [...due, ...expiring]) {
      const group = this.groupOf(name);
      if (group === null) return null;
      if (!parts.has(group)) parts.set(group, []);
    }
    const stale: string[] = [];
    for (const [name, list] of parts) {
      const known = this.groups.get(name);
      if (!known || !sameItems(known.parts, list)) stale.push(name);
    }
    for (const name of this.groups.keys()) if (!parts.has(name)) stale.push(name);
    if (stale.length === 0) return Buffer.from(this.trieRoot(summary));
    try {
      await this.compute(rows, stale, parts);
    } catch (error) {
      if (error instanceof Undecided) return null;
      throw error;
    }
    return Buffer.from(this.trieRoot(summary));
  }

  private trieRoot(summary: Summary): Bytes {
    return this.groups.size === 0 ? summary.root : this.trie.rootHash(this.allClaims);
  }

  private async begin(
    rows: RowTransaction,
  ): Promise<{ summary: Summary; due: readonly DueEntry[]; expiring: readonly Item[] }> {
    if (!this.summary) {
      this.summary = parseSummaryRow(await rows.get(SUMMARY_KEY));
      this.due = parseDueRow(await rows.get(dueKey(this.height)));
      this.expiring = await expiringItems(this.claims.rules, this.height, { rows });
    }
    return { summary: this.summary, due: this.due, expiring: this.expiring };
  }

  /** Normalized name that identifies the group of a name. Null if a second normalization changes the result. */
  private groupOf(name: string): string | null {
    const normalized = normalizeKey(name);
    return normalizeKey(normalized) === normalized ? normalized : null;
  }

  private partsByName(transactions: readonly ClaimTx[]): Map<string, ClaimTx[]> | null {
    const parts = new Map<string, ClaimTx[]>();
    for (const tx of transactions) {
      let split = this.split.get(tx);
      if (split === undefined) this.split.set(tx, (split = this.splitByName(tx)));
      if (!split) return null;
      for (const [name, part] of split) {
        const list = parts.get(name);
        if (list) list.push(part);
        else parts.set(name, [part]);
      }
    }
    return parts;
  }

  private splitByName(tx: ClaimTx): ReadonlyMap<string, ClaimTx> | null {
    const split = new Map<string, ClaimTx & { spends: ClaimSpend[]; outputs: ClaimOutput[] }>();
    const partOf = (rawName: Bytes): ClaimTx | null => {
      const name = this.groupOf(toLatin1(rawName));
      if (name === null) return null;
      let part = split.get(name);
      if (!part) split.set(name, (part = { ...tx, spends: [], outputs: [] }));
      return part;
    };
    for (const spend of tx.spends) {
      const part = partOf(spend.name);
      if (!part) return null;
      part.spends.push(spend);
    }
    for (const output of tx.outputs) {
      const part = partOf(output.name);
      if (!part) return null;
      part.outputs.push(output);
    }
    return split;
  }

  private storeOf(rows: RowTransaction): WorkStore {
    const { rules, proofWindow, lateReads } = this.claims;
    assert(this.summary, 'a claim preview was used before it was loaded');
    const generation = this.allClaims ? '1' : '0';
    const block = { rules, height: this.height, summary: { ...this.summary }, generation } as const;
    return new WorkStore(block, { rows, versions: new VersionWriter(proofWindow), idle: null, lateReads });
  }

  /** Computes the outdated name groups again and stores their results in the trie. */
  private async compute(
    rows: RowTransaction,
    stale: readonly string[],
    parts: ReadonlyMap<string, readonly ClaimTx[]>,
  ): Promise<void> {
    const { rules } = this.claims;
    const store = this.storeOf(rows);
    const { work } = store;
    const lone = new LoneNames(work);
    work.trie = lone;
    const wanted = new Set(stale);
    const concerned = ({ name }: { name: string }): boolean => wanted.has(normalizeKey(name));
    await store.loadNames(
      stale.flatMap((name) => [
        ...namesInvolved(rules, this.height, name),
        ...(this.groups.get(name)?.names ?? []),
      ]),
    );
    const transactions = stale.flatMap((name) => parts.get(name) ?? []);
    await processTransactions(store, { height: this.height, transactions });
    await processDueItems(store, this.due.filter(concerned), this.expiring.filter(concerned));
    lone.settling = true;
    await settle(store);

    const names = new Map<string, string[]>(stale.map((name) => [name, []]));
    for (const name of work.names.keys()) names.get(normalizeKey(name))?.push(name);
    await this.place(rows, work, store);
    for (const name of stale) {
      const list = parts.get(name);
      if (list) this.groups.set(name, { parts: list, names: names.get(name)! });
      else this.groups.delete(name);
    }
  }

  /** Replaces the previous results in the trie with those of `work`, and hashes the trie. */
  private async place(rows: RowTransaction, work: ClaimWork, computed: WorkStore): Promise<void> {
    const { trie, outcomes } = this;
    const paths = this.storeOf(rows);
    paths.work.trie = trie;
    this.paths = paths;
    await paths.loadPaths(work.names.keys());
    for (const [name, { state }] of paths.work.names) if (!outcomes.has(name)) outcomes.set(name, state);
    for (const [name, { state, base }] of work.names) {
      const had = (outcomes.get(name)?.claims.length ?? Number(base.hadClaims)) > 0;
      const has = state.claims.length > 0;
      outcomes.set(name, state);
      if (has && !had) trie.insert(name);
      else if (has) trie.touch(name);
      else if (had) trie.remove(name);
    }
    trie.takeRemovedPaths();
    for (const node of trie.unhashedNodes()) {
      const outcome = outcomes.get(node.path) ?? paths.work.name(node.path).state;
      trie.setClaimsHash(node, claimsHash(outcome.claims, outcome.takeover, this.allClaims));
      if (computed.yieldTimer.isDue) await computed.yieldTimer.pause();
    }
    for (const node of trie.dirtyNodes()) {
      trie.hashNode(node, this.allClaims);
      if (computed.yieldTimer.isDue) await computed.yieldTimer.pause();
    }
    trie.settle();
  }
}

function sameItems<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i]);
}
