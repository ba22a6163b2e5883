/**
 * The outputs behind claims and supports: value and address, of spent ones too, from the block that holds them. On a
 * pruned node an output whose block is gone is read from the unspent outputs, and when it is spent as well it is gone.
 */
import type { ChainReader } from '../../chain/chainReader.js';
import type { StoredTransaction } from '../../chain/blocks/storedTransactions.js';
import { encodeDestination } from '../../script/address.js';
import { decodeClaimScript, type ClaimScript } from '../../script/claimScript.js';
import { isUnspendable } from '../../script/script.js';
import { extractDestination } from '../../script/standard.js';
import type { OutputInfo } from '../../store/claims/query/claimQueries.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { equalBytes, hashToHex, toHex, toLatin1, type Bytes } from '../../util/bytes.js';
import { Reader, ReadError } from '../../util/reader.js';
import { isPromise, whenResolved, type MaybePromise } from '../../util/maybePromise.js';
import { Writer } from '../../util/writer.js';
import { jsonArray, type JsonOut } from '../../util/json/jsonWrite.js';
import { addressPrefixes } from './addresses.js';
import { ClaimMetadata, type MetadataDeps } from './claimMetadata.js';

/** What an answer shows of an output. */
export interface ShownOutput {
  /** Hex; undefined for a support without metadata. */
  readonly value: string | undefined;
  /** Undefined when the script shows none. */
  readonly address: string | undefined;
  /** The block is pruned and the output is spent: nothing is known. */
  readonly isPruned: boolean;
}

const PRUNED: ShownOutput = { value: undefined, address: undefined, isPruned: true };

/** Reads under way at a time. */
const PARALLEL_READS = 32;
/** Outputs shown without a pause, if they are not of one transaction. Arbitrary: each takes microseconds. */
const OUTPUTS_A_STEP = 256;

export interface OutputDeps extends MetadataDeps {
  readonly chain: Pick<ChainReader, 'hasData' | 'readTransaction' | 'coin' | 'chain'>;
}

/** Scripts of the outputs with these ascending numbers of the transaction at the reader, which is gone through once. */
function outputScripts(reader: Reader, wanted: readonly number[]): Bytes[] {
  reader.skip(4);
  let inputs = reader.compactSize();
  if (inputs === 0) {
    // Marker and flag of the form with witness.
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

/** Whether the output is unspent at the tip. */
export async function isCoinNow(deps: OutputDeps, item: OutputInfo): Promise<boolean> {
  return (await coinScript(deps, item)) !== null;
}

/** So few outputs of a transaction are searched among the unspent ones first. */
const FEW_OUTPUTS = 2;

/** Outputs of one transaction, ascending by number. Never empty. */
type OutputsOfTransaction = readonly OutputInfo[];

/** The outputs by transaction; those of one transaction ascend. */
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

/** The scripts from the block that holds the outputs; null when that block is gone, or is another by now. */
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
    // Pruned while it was being read.
    if (chain.hasData(block)) throw error;
    return null;
  });
}

function addressIn(params: OutputDeps['params'], script: Bytes): string | undefined {
  const destination = extractDestination(script);
  return destination === null ? undefined : encodeDestination(destination, addressPrefixes(params));
}

/** What a script shows: its claim's value and the address that it pays to. */
export function showScript(params: OutputDeps['params'], script: Bytes): ShownOutput {
  const value = decodeClaimScript(script)?.value;
  return {
    value: value === undefined ? undefined : toHex(value),
    address: addressIn(params, script),
    isPruned: false,
  };
}

export class ClaimOutputs {
  private readonly deps: OutputDeps;
  private readonly scripts = new Map<OutputInfo, Bytes>();
  /** Addresses by the script after the claim prefix. */
  private readonly addresses = new Map<string, string | undefined>();
  private readonly metadata: ClaimMetadata | null;

  private constructor(deps: OutputDeps) {
    this.deps = deps;
    this.metadata = ClaimMetadata.of(deps);
  }

  /** Reads the outputs of these items; at once where they are few and in memory. */
  static read(deps: OutputDeps, items: readonly OutputInfo[]): MaybePromise<ClaimOutputs> {
    const outputs = new ClaimOutputs(deps);
    if (items.length > PARALLEL_READS) return outputs.loadMany(items);
    const pending = outputs.loadAll(byTransaction(items));
    return pending === null ? outputs : pending.then(() => outputs);
  }

  private async loadMany(items: readonly OutputInfo[]): Promise<this> {
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
    return this;
  }

  /** Null when nothing must be waited for. */
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

  /** A few outputs are mostly unspent, and the transaction, which is compared with its id as a whole, may be large. */
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

  /** Keeps the scripts of a transaction's outputs; without scripts, those of the outputs that are unspent. */
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

  /** Output info of an item, computed at each call to keep large answers out of memory. */
  of(item: OutputInfo): ShownOutput {
    const script = this.scripts.get(item);
    return script === undefined ? PRUNED : this.shownOf(script);
  }

  /** The claim operation of an item that was read; null if nothing is known of it any more. */
  claimOf(item: OutputInfo): ClaimScript | null {
    const script = this.scripts.get(item);
    return script === undefined ? null : decodeClaimScript(script);
  }

  /** What the value of an item that was read says, with `-claimmetadata`; decoded as it is written. */
  metadataOf(item: OutputInfo): JsonOut | undefined {
    const script = this.metadata === null ? undefined : this.scripts.get(item);
    return script && this.metadata?.ofScript(script);
  }

  /** Like `showScript`, with a cache, since outputs often pay to the same few addresses. */
  private shownOf(script: Bytes): ShownOutput {
    const claim = decodeClaimScript(script);
    const payment = toLatin1(script.subarray(claim?.prefixLength ?? 0));
    let address = this.addresses.get(payment);
    if (address === undefined && !this.addresses.has(payment)) {
      address = addressIn(this.deps.params, script);
      this.addresses.set(payment, address);
    }
    const value = claim?.value;
    return { value: value === undefined ? undefined : toHex(value), address, isPruned: false };
  }

  /**
   * Whether the reference, which looks among the unspent outputs, would find this one.
   * QUIRK: an output whose script is too long to be run is never among them, so that its claim shows neither value nor
   * address there. Test: test/unit/rpc/claimtrie/lbrycrd.test.ts.
   */
  isCoin(item: OutputInfo): boolean {
    const script = this.scripts.get(item);
    return script !== undefined && !isUnspendable(script);
  }
}

/** The printed ids of transactions of one answer; those of neighbours are often the same. */
export class TxidTexts {
  private latest: Bytes | null = null;
  private text = '';

  of({ txid }: OutputInfo): string {
    if (this.latest === null || !equalBytes(this.latest, txid)) {
      this.latest = txid;
      this.text = hashToHex(txid);
    }
    return this.text;
  }
}

interface HashDeps {
  readonly chain: { readonly index: { readonly active: { at(height: number): number } } };
  readonly headers: { hash(id: number): Bytes };
}

/** The printed hashes of the active blocks with some outputs, as they are now: what is written later must be of now, too. */
export class BlockHashTexts {
  private readonly byHeight = new Map<number, string>();

  constructor({ chain, headers }: HashDeps, items: readonly OutputInfo[]) {
    for (const { height } of items) {
      if (this.byHeight.has(height)) continue;
      this.byHeight.set(height, hashToHex(headers.hash(chain.index.active.at(height))));
    }
  }

  of({ height }: OutputInfo): string {
    return this.byHeight.get(height)!;
  }
}

/** Items that are shaped at once. Arbitrary: the objects of more would fill the heap before they are written. */
const SHAPED_AT_ONCE = 64;

/** An array of an answer: of many items each is shaped as it is written. `shape` must follow from nothing that may change. */
export function longArray<T>(items: readonly T[], shape: (item: T) => JsonOut): JsonOut {
  if (items.length <= SHAPED_AT_ONCE) return items.map(shape);
  return jsonArray(shapes(items, shape));
}

function* shapes<T>(items: readonly T[], shape: (item: T) => JsonOut): Generator<JsonOut> {
  for (const item of items) yield shape(item);
}
