/**
 * Reads the scripts of the outputs that contain claims and supports, spent ones too, from their blocks. On a pruned node, an
 * output whose block is deleted is read from the unspent outputs. If that output is spent, its script is not available.
 */
import type { ChainReader } from '../../chain/chainReader.js';
import type { StoredTransaction } from '../../chain/blocks/storedTransactions.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import type { OutputInfo } from '../../store/claims/query/claimQueries.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';
import { isPromise, whenResolved, type MaybePromise } from '../../util/maybePromise.js';
import { Reader, ReadError } from '../../util/reader.js';
import { Writer } from '../../util/writer.js';
import type { MetadataDeps } from '../format/claimMetadata.js';
import { ClaimOutputReader } from '../format/claimsOutput.js';

/** Maximum number of transactions whose outputs are read from disk concurrently. */
const PARALLEL_READS = 32;
/**
 * Number of outputs that are formatted between two yields to the event loop. Arbitrary: each takes microseconds.
 */
const OUTPUTS_A_STEP = 256;

export interface OutputDeps extends MetadataDeps {
  readonly chain: Pick<ChainReader, 'hasData' | 'readTransaction' | 'coin' | 'chain'>;
}

/** Reads the outputs of the items (claims and supports). Synchronous if the outputs are few and in memory. */
export function readOutputs(deps: OutputDeps, items: readonly OutputInfo[]): MaybePromise<ClaimOutputReader> {
  const reading = new ScriptReading(deps);
  return whenResolved(reading.read(items), () => new ClaimOutputReader(deps, reading.scripts));
}

/** Returns the scripts of the outputs with the given ascending numbers, read in one pass over the transaction. */
function outputScripts(reader: Reader, wanted: readonly number[]): Bytes[] {
  reader.skip(4);
  let inputs = reader.compactSize();
  if (inputs === 0) {
    // Skips the marker and flag bytes of the serialization with witness.
    reader.skip(1);
    inputs = reader.compactSize();
  }
  for (let i = 0; i < inputs; i++) {
    reader.skip(36);
    reader.skip(reader.compactSize());
    reader.skip(4);
  }
  const outputs = reader.compactSize();
  const scripts: Bytes[] = [];
  for (let i = 0; scripts.length < wanted.length; i++) {
    if (i >= outputs) throw new ReadError(`the transaction has no output ${wanted[scripts.length]}`);
    reader.skip(8);
    const script = reader.varBytes();
    while (wanted[scripts.length] === i) scripts.push(script);
  }
  return scripts;
}

function coinScript({ chain }: OutputDeps, { txid, n }: OutputInfo): MaybePromise<Bytes | null> {
  const outPoint = new Writer(36).raw(txid).u32(n).finish();
  return whenResolved(chain.coin(outPoint), (coin) => coin?.script ?? null);
}

/** Whether the item's output is unspent at the tip. */
export async function isCoinNow(deps: OutputDeps, item: OutputInfo): Promise<boolean> {
  return (await coinScript(deps, item)) !== null;
}

/** Maximum number of outputs of a transaction for which the unspent outputs are searched before the block is read. */
const FEW_OUTPUTS = 2;

/** Outputs of one transaction, at least one, in ascending order of their numbers. */
type OutputsOfTransaction = readonly OutputInfo[];

/** Groups outputs by transaction. The outputs of a transaction are in ascending order. */
function byTransaction(items: readonly OutputInfo[]): OutputsOfTransaction[] {
  if (items.length === 1) return [items];
  const groups = new Map<string, OutputInfo[]>();
  for (const item of items) {
    const id = toLatin1(item.txid);
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [item]);
    else group.push(item);
  }
  const sorted = [...groups.values()];
  for (const group of sorted) if (group.length > 1) group.sort((a, b) => a.n - b.n);
  return sorted;
}

/** Returns the scripts from the block that contains the outputs. Null if the block is pruned or was replaced in a reorg. */
function storedScripts({ chain }: OutputDeps, items: OutputsOfTransaction): MaybePromise<Bytes[] | null> {
  const { height, txid, txOffset } = items[0]!;
  const block = chain.chain.index.active.at(height);
  if (block === NO_HEADER || !chain.hasData(block)) return null;
  const stored = chain.readTransaction(block, { txid, offset: txOffset, witness: 'ignored' });
  const numbers = items.map(({ n }) => n);
  const scriptsOf = (found: StoredTransaction | null): Bytes[] | null =>
    found === null ? null : outputScripts(new Reader(found.bytes), numbers);
  if (!isPromise(stored)) return scriptsOf(stored);
  return stored.then(scriptsOf).catch((error: unknown) => {
    // The error means that the block was pruned while it was being read.
    if (chain.hasData(block)) throw error;
    return null;
  });
}

/** Collects the output scripts for one RPC result as they are read. */
class ScriptReading {
  readonly scripts = new Map<OutputInfo, Bytes>();
  private readonly deps: OutputDeps;

  constructor(deps: OutputDeps) {
    this.deps = deps;
  }

  read(items: readonly OutputInfo[]): MaybePromise<void> {
    if (items.length > PARALLEL_READS) return this.loadMany(items);
    const pending = this.loadAll(byTransaction(items));
    return pending === null ? undefined : pending.then(() => undefined);
  }

  private async loadMany(items: readonly OutputInfo[]): Promise<void> {
    let since = performance.now();
    let some: OutputsOfTransaction[] = [];
    let outputs = 0;
    for (const transaction of byTransaction(items)) {
      some.push(transaction);
      outputs += transaction.length;
      if (some.length < PARALLEL_READS && outputs < OUTPUTS_A_STEP) continue;
      await this.loadAll(some);
      since = await yieldIfDue(since);
      some = [];
      outputs = 0;
    }
    await this.loadAll(some);
  }

  /** Reads the outputs of all transactions. Returns null if no read had to be awaited. */
  private loadAll(transactions: readonly OutputsOfTransaction[]): Promise<unknown> | null {
    let pending: Promise<void>[] | null = null;
    for (const items of transactions) {
      const kept = items.length > FEW_OUTPUTS ? this.keepStored(items) : this.keepFew(items);
      if (isPromise(kept)) (pending ??= []).push(kept);
    }
    return pending && Promise.all(pending);
  }

  private keepStored(items: OutputsOfTransaction): MaybePromise<void> {
    return whenResolved(storedScripts(this.deps, items), (scripts) => this.keepAll(items, scripts));
  }

  /**
   * Reads a few outputs of a transaction from the unspent outputs first. Most of them are unspent. Reading them from the
   * transaction would require verifying the whole transaction, which may be large.
   */
  private keepFew(items: OutputsOfTransaction): MaybePromise<void> {
    const spent: OutputInfo[] = [];
    const look = (at: number): MaybePromise<void> => {
      const item = items[at];
      if (item === undefined) return spent.length > 0 ? this.keepStored(spent) : undefined;
      return whenResolved(coinScript(this.deps, item), (script) => {
        if (script === null) spent.push(item);
        else this.scripts.set(item, script);
        return look(at + 1);
      });
    };
    return look(0);
  }

  /** Caches the scripts of a transaction's outputs. Without `scripts`, the unspent outputs are searched. */
  private keepAll(items: OutputsOfTransaction, scripts: readonly Bytes[] | null): MaybePromise<void> {
    if (scripts === null) return this.keepCoins(items);
    items.forEach((item, i) => this.scripts.set(item, scripts[i]!));
  }

  private async keepCoins(items: OutputsOfTransaction): Promise<void> {
    for (const item of items) {
      const script = await coinScript(this.deps, item);
      if (script !== null) this.scripts.set(item, script);
    }
  }
}
