/**
 * The outputs behind claims and supports: value and address, of spent ones too, from the block that holds them. On a
 * pruned node an output whose block is gone is read from the unspent outputs, and when it is spent as well it is gone.
 */
import type { ChainReader } from '../../chain/chainReader.js';
import type { StoredTransaction } from '../../chain/storedTransactions.js';
import { encodeDestination } from '../../script/address.js';
import { decodeClaimScript } from '../../script/claimScript.js';
import { isUnspendable } from '../../script/script.js';
import { extractDestination } from '../../script/standard.js';
import type { OutputInfo } from '../../store/claims/claimQueries.js';
import { NO_HEADER } from '../../store/headerTable.js';
import { breathe } from '../../util/breathe.js';
import { toHex, type Bytes } from '../../util/bytes.js';
import { Reader, ReadError } from '../../util/reader.js';
import { isPromise, whenSoon, type Soon } from '../../util/soon.js';
import { Writer } from '../../util/writer.js';
import type { JsonOut } from '../../util/jsonWrite.js';
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

export interface OutputDeps extends MetadataDeps {
  readonly chain: Pick<ChainReader, 'hasData' | 'readTransaction' | 'coin' | 'chain'>;
}

/** Script of output `n` of the transaction at the reader. */
function outputScript(reader: Reader, n: number): Bytes {
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
  if (n >= reader.compactSize()) throw new ReadError(`the transaction has no output ${n}`);
  for (let i = 0; ; i++) {
    reader.skip(8);
    const script = reader.varBytes();
    if (i === n) return script;
  }
}

function coinScript({ chain }: OutputDeps, { txid, n }: OutputInfo): Soon<Bytes | null> {
  const outPoint = new Writer(36).raw(txid).u32(n).finish();
  return whenSoon(chain.coin(outPoint), (coin) => coin?.script ?? null);
}

/** Whether the output is unspent at the tip. */
export async function isCoinNow(deps: OutputDeps, item: OutputInfo): Promise<boolean> {
  return (await coinScript(deps, item)) !== null;
}

/** The script from the block that holds the output; null when that block is gone, or is another by now. */
function storedScript({ chain }: OutputDeps, item: OutputInfo): Soon<Bytes | null> {
  const block = chain.chain.index.active.at(item.height);
  if (block === NO_HEADER || !chain.hasData(block)) return null;
  const wanted = { txid: item.txid, offset: item.txOffset, witness: 'ignored' } as const;
  const stored = chain.readTransaction(block, wanted);
  const scriptOf = (found: StoredTransaction | null): Bytes | null =>
    found === null ? null : outputScript(new Reader(found.bytes), item.n);
  if (!isPromise(stored)) return scriptOf(stored);
  return stored.then(scriptOf).catch((error: unknown) => {
    // Pruned while it was being read.
    if (chain.hasData(block)) throw error;
    return null;
  });
}

/**
 * Null when the output is to be had neither from its block nor from the unspent outputs. Throws `BlockFileError` when the
 * block is damaged.
 */
function readScript(deps: OutputDeps, item: OutputInfo): Soon<Bytes | null> {
  return whenSoon(storedScript(deps, item), (script) => script ?? coinScript(deps, item));
}

/** What a script shows: its claim's value and the address that it pays to. */
export function showScript(params: OutputDeps['params'], script: Bytes): ShownOutput {
  const value = decodeClaimScript(script)?.value;
  const destination = extractDestination(script);
  return {
    value: value === undefined ? undefined : toHex(value),
    address: destination === null ? undefined : encodeDestination(destination, addressPrefixes(params)),
    isPruned: false,
  };
}

export class ClaimOutputs {
  private readonly deps: OutputDeps;
  private readonly shown = new Map<OutputInfo, ShownOutput>();
  private readonly unspendable = new Set<OutputInfo>();
  private readonly metadata: ClaimMetadata | null;
  /** The scripts, where what their values say is wanted. */
  private readonly scripts = new Map<OutputInfo, Bytes>();

  private constructor(deps: OutputDeps) {
    this.deps = deps;
    this.metadata = ClaimMetadata.of(deps);
  }

  /** Reads the outputs of these items; at once where they are few and in memory. */
  static read(deps: OutputDeps, items: readonly OutputInfo[]): Soon<ClaimOutputs> {
    const outputs = new ClaimOutputs(deps);
    if (items.length > PARALLEL_READS) return outputs.loadMany(items);
    const pending = outputs.loadAll(items);
    return pending === null ? outputs : pending.then(() => outputs);
  }

  private async loadMany(items: readonly OutputInfo[]): Promise<this> {
    const wanted = [...new Set(items)];
    let since = performance.now();
    for (let at = 0; at < wanted.length; at += PARALLEL_READS) {
      await this.loadAll(wanted.slice(at, at + PARALLEL_READS));
      since = await breathe(since);
    }
    return this;
  }

  /** Null when nothing must be waited for. */
  private loadAll(items: readonly OutputInfo[]): Promise<unknown> | null {
    let pending: Promise<void>[] | null = null;
    for (const item of items) {
      const script = readScript(this.deps, item);
      if (isPromise(script)) (pending ??= []).push(script.then((read) => this.show(item, read)));
      else this.show(item, script);
    }
    return pending && Promise.all(pending);
  }

  /** Of an item that was read. */
  of(item: OutputInfo): ShownOutput {
    return this.shown.get(item) ?? PRUNED;
  }

  /** What the value of an item that was read says, with `-claimmetadata`; decoded as it is written. */
  metadataOf(item: OutputInfo): JsonOut | undefined {
    const script = this.scripts.get(item);
    return script && this.metadata?.ofScript(script);
  }

  private show(item: OutputInfo, script: Bytes | null): void {
    if (script === null) return;
    if (this.metadata !== null) this.scripts.set(item, script);
    this.shown.set(item, showScript(this.deps.params, script));
    if (isUnspendable(script)) this.unspendable.add(item);
  }

  /**
   * Whether the reference, which looks among the unspent outputs, would find this one.
   * QUIRK: an output whose script is too long to be run is never among them, so that its claim shows neither value nor
   * address there. Test: test/unit/rpc/claimtrie/lbrycrd.test.ts.
   */
  isCoin(item: OutputInfo): boolean {
    return this.shown.has(item) && !this.unspendable.has(item);
  }
}
