/**
 * The claims of the mempool in the state that they would have if the whole mempool were mined. For each claim it has the
 * latest output that no other mempool transaction spends, indexed by claim id, name, channel and reposted claim. It also has
 * the changes of supports. Each thread that answers queries has one instance and receives the transactions that enter or
 * leave the mempool. This module does not read the chain.
 */
import { ChannelClaims } from './channelClaims.js';
import type { WaitingOutput, WaitingSupport, IndexedTransaction } from './waitingOutputs.js';

export interface WaitingListener {
  /**
   * Called after each change of the latest output of a claim, including its addition and removal. Also called with the same
   * output twice when an earlier output was added or removed: without the output that creates it, a claim is not shown.
   */
  changed(claimId: string, before: WaitingOutput | null, after: WaitingOutput | null): void;
  /** Called after the mempool supports of a claim changed. */
  supported(claimId: string): void;
}

const NO_CLAIMS: Pick<ChannelClaims, 'outputs' | 'updated' | 'countSigned'> = new ChannelClaims();

export class WaitingClaims {
  /** Number that increases with each change, so that callers can detect changes. */
  version = 0;
  private readonly listeners = new Set<WaitingListener>();
  private readonly transactions = new Map<string, IndexedTransaction>();
  /**
   * Mempool outputs of each claim, by claim id, in order of arrival. When a block is disconnected, its output arrives after
   * the mempool outputs that update it.
   */
  private readonly versions = new Map<string, WaitingOutput[]>();
  /** Ids of the mempool transactions that spend claim outputs, by outpoint. */
  private readonly spenders = new Map<string, string>();
  private readonly current = new Map<string, WaitingOutput>();
  private readonly byName = new Map<string, Set<WaitingOutput>>();
  private readonly byChannel = new Map<string, ChannelClaims>();
  private readonly byReposted = new Map<string, Set<WaitingOutput>>();
  /**
   * Claims with an output spent by the mempool, by the channel and the reposted claim that the spent output names. The
   * number counts such outputs.
   */
  private readonly spentOfChannel = new Map<string, Map<string, number>>();
  private readonly spentOfReposted = new Map<string, Map<string, number>>();
  private readonly supportSums = new Map<string, bigint>();
  /** Cache of the claims of each name, the largest amount first. A change of the name's claims removes its entry. */
  private readonly ranked = new Map<string, readonly WaitingOutput[]>();

  /** Number of claims in the mempool. */
  get size(): number {
    return this.current.size;
  }

  listen(listener: WaitingListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  add(transaction: IndexedTransaction): void {
    const { txid, outputs, spends, supports, spentSupports } = transaction;
    if (this.transactions.has(txid)) return;
    this.transactions.set(txid, transaction);
    const touched = new Set<string>();
    for (const { claimId, point, channelId, repostedId } of spends) {
      this.spenders.set(point, txid);
      count(this.spentOfChannel, channelId, claimId, 1);
      count(this.spentOfReposted, repostedId, claimId, 1);
      touched.add(claimId);
    }
    for (const output of outputs) {
      const known = this.versions.get(output.claimId);
      if (known === undefined) this.versions.set(output.claimId, [output]);
      else known.push(output);
      touched.add(output.claimId);
    }
    this.settle(touched);
    for (const support of supports) this.support(support, support.amountSat);
    for (const support of spentSupports) this.support(support, -support.amountSat);
  }

  remove(txid: string): void {
    const transaction = this.transactions.get(txid);
    if (transaction === undefined) return;
    this.transactions.delete(txid);
    const touched = new Set<string>();
    for (const { claimId, point, channelId, repostedId } of transaction.spends) {
      if (this.spenders.get(point) === txid) this.spenders.delete(point);
      count(this.spentOfChannel, channelId, claimId, -1);
      count(this.spentOfReposted, repostedId, claimId, -1);
      touched.add(claimId);
    }
    for (const { claimId, point } of transaction.outputs) {
      const left = this.versions.get(claimId)!.filter((output) => output.point !== point);
      if (left.length === 0) this.versions.delete(claimId);
      else this.versions.set(claimId, left);
      touched.add(claimId);
    }
    this.settle(touched);
    for (const support of transaction.supports) this.support(support, -support.amountSat);
    for (const support of transaction.spentSupports) this.support(support, support.amountSat);
  }

  /** All transactions with claims or supports, in order of arrival. */
  all(): Iterable<IndexedTransaction> {
    return this.transactions.values();
  }

  /** Latest mempool output of a claim; null if the mempool contains no output of the claim. */
  of(claimId: string): WaitingOutput | null {
    return this.current.get(claimId) ?? null;
  }

  outputs(): Iterable<WaitingOutput> {
    return this.current.values();
  }

  /** Mempool output that creates the claim; null for a confirmed claim. */
  originOf(claimId: string): WaitingOutput | null {
    return this.versions.get(claimId)?.find(({ isUpdate }) => !isUpdate) ?? null;
  }

  /** Mempool claims of a name, ordered by amount including mempool supports, then by age. */
  ofName(group: string): readonly WaitingOutput[] {
    const outputs = this.byName.get(group);
    if (outputs === undefined) return [];
    let ranked = this.ranked.get(group);
    if (ranked === undefined) {
      const weighed = Array.from(outputs, (output) => ({
        output,
        amountSat: output.amountSat + this.supportsOf(output.claimId, group),
      }));
      weighed.sort((a, b) =>
        a.amountSat === b.amountSat ? compareAge(a.output, b.output) : a.amountSat > b.amountSat ? -1 : 1,
      );
      this.ranked.set(group, (ranked = weighed.map(({ output }) => output)));
    }
    return ranked;
  }

  /** Mempool claims that name a channel. Their signatures may be invalid. */
  ofChannel(channelId: string): typeof NO_CLAIMS {
    return this.byChannel.get(channelId) ?? NO_CLAIMS;
  }

  hasOfChannel(channelId: string): boolean {
    return this.byChannel.has(channelId);
  }

  repostsOf(claimId: string): Iterable<WaitingOutput> {
    return this.byReposted.get(claimId) ?? [];
  }

  /** Whether the mempool adds or removes reposts of a claim. */
  hasReposts(claimId: string): boolean {
    return this.byReposted.has(claimId) || this.spentOfReposted.has(claimId);
  }

  /** Ids of claims with an output spent by the mempool that names the channel. */
  spentInChannel(channelId: string): Iterable<string> {
    return this.spentOfChannel.get(channelId)?.keys() ?? [];
  }

  spentReposts(claimId: string): Iterable<string> {
    return this.spentOfReposted.get(claimId)?.keys() ?? [];
  }

  /** Amount by which the mempool changes the sum of a claim's confirmed supports. It may be negative. */
  supportsOf(claimId: string, group: string): bigint {
    return this.supportSums.get(claimId + group) ?? 0n;
  }

  private support({ claimId, group }: WaitingSupport, amountSat: bigint): void {
    const key = claimId + group;
    const sum = (this.supportSums.get(key) ?? 0n) + amountSat;
    if (sum === 0n) this.supportSums.delete(key);
    else this.supportSums.set(key, sum);
    this.ranked.delete(group);
    this.version++;
    for (const listener of this.listeners) listener.supported(claimId);
  }

  private settle(claimIds: Iterable<string>): void {
    for (const claimId of claimIds) {
      const before = this.current.get(claimId) ?? null;
      const after = this.versions.get(claimId)?.findLast(({ point }) => !this.spenders.has(point)) ?? null;
      if (before === null && after === null) continue;
      this.version++;
      if (before !== after) {
        if (before !== null) this.leave(before);
        if (after !== null) this.enter(after);
      }
      for (const listener of this.listeners) listener.changed(claimId, before, after);
    }
  }

  private enter(output: WaitingOutput): void {
    this.current.set(output.claimId, output);
    join(this.byName, output.group, output);
    if (output.channelId !== null) {
      const claims = this.byChannel.get(output.channelId) ?? new ChannelClaims();
      this.byChannel.set(output.channelId, claims);
      claims.add(output);
    }
    if (output.repostedId !== null) join(this.byReposted, output.repostedId, output);
    this.ranked.delete(output.group);
  }

  private leave(output: WaitingOutput): void {
    this.current.delete(output.claimId);
    part(this.byName, output.group, output);
    if (output.channelId !== null) {
      const claims = this.byChannel.get(output.channelId);
      claims?.delete(output);
      if (claims?.outputs.size === 0) this.byChannel.delete(output.channelId);
    }
    if (output.repostedId !== null) part(this.byReposted, output.repostedId, output);
    this.ranked.delete(output.group);
  }
}

/** Compares two outputs by their order of arrival. */
export function compareAge(a: WaitingOutput, b: WaitingOutput): number {
  return a.arrival - b.arrival || a.nout - b.nout;
}

function join<Value>(map: Map<string, Set<Value>>, key: string, value: Value): void {
  const set = map.get(key);
  if (set === undefined) map.set(key, new Set([value]));
  else set.add(value);
}

function part<Value>(map: Map<string, Set<Value>>, key: string, value: Value): void {
  const set = map.get(key);
  set?.delete(value);
  if (set?.size === 0) map.delete(key);
}

function count(map: Map<string, Map<string, number>>, key: string | null, claimId: string, by: number): void {
  if (key === null) return;
  const counts = map.get(key) ?? new Map<string, number>();
  map.set(key, counts);
  const left = (counts.get(claimId) ?? 0) + by;
  if (left === 0) counts.delete(claimId);
  else counts.set(claimId, left);
  if (counts.size === 0) map.delete(key);
}
