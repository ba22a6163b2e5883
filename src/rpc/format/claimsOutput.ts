/** Output data of claims and supports in results: value, address, and decoded metadata. */
import { encodeDestination } from '../../script/address.js';
import { decodeClaimScript, type ClaimScript } from '../../script/claimScript.js';
import { isUnspendable } from '../../script/script.js';
import { extractDestination } from '../../script/standard.js';
import type { OutputInfo } from '../../store/claims/query/claimQueries.js';
import { equalBytes, hashToHex, toHex, toLatin1, type Bytes } from '../../util/bytes.js';
import { jsonArray, type JsonOut } from '../../util/json/jsonWrite.js';
import { addressPrefixes } from './addresses.js';
import { ShownMetadata, type MetadataDeps } from './claimMetadata.js';

/** Output fields of a claim or support in a result. */
export interface ShownOutput {
  /** Value in hex; undefined for a support without metadata. */
  readonly value: string | undefined;
  /** Address of the output; undefined if the script has no address. */
  readonly address: string | undefined;
  /** Whether value and address are unknown because the output is spent and its block is pruned. */
  readonly isPruned: boolean;
}

const PRUNED: ShownOutput = { value: undefined, address: undefined, isPruned: true };

function addressIn(params: MetadataDeps['params'], script: Bytes): string | undefined {
  const destination = extractDestination(script);
  return destination === null ? undefined : encodeDestination(destination, addressPrefixes(params));
}

/** Returns the fields derived from an output script: value and address. */
export function showScript(params: MetadataDeps['params'], script: Bytes): ShownOutput {
  const value = decodeClaimScript(script)?.value;
  return {
    value: value === undefined ? undefined : toHex(value),
    address: addressIn(params, script),
    isPruned: false,
  };
}

export class ClaimOutputReader {
  private readonly deps: MetadataDeps;
  private readonly scripts: ReadonlyMap<OutputInfo, Bytes>;
  /** Addresses by the part of the output script after the claim prefix, so that equal scripts are encoded once. */
  private readonly addresses = new Map<string, string | undefined>();
  private readonly metadata: ShownMetadata | null;

  /** Creates the reader. `scripts` has the output scripts that `lookup/outputScripts.ts` found for the items. */
  constructor(deps: MetadataDeps, scripts: ReadonlyMap<OutputInfo, Bytes>) {
    this.deps = deps;
    this.scripts = scripts;
    this.metadata = ShownMetadata.of(deps);
  }

  /**
   * Returns the output fields of an item. They are computed at each call and not stored, so that large results use little
   * memory.
   */
  of(item: OutputInfo): ShownOutput {
    const script = this.scripts.get(item);
    return script === undefined ? PRUNED : this.shownOf(script);
  }

  /** Returns the claim operation in an item's output script; null if the script is not available. */
  claimOf(item: OutputInfo): ClaimScript | null {
    const script = this.scripts.get(item);
    return script === undefined ? null : decodeClaimScript(script);
  }

  /** Returns the decoded value of an item; undefined without `-claimmetadata`. Called while the result is written. */
  metadataOf(item: OutputInfo): JsonOut | undefined {
    const script = this.metadata === null ? undefined : this.scripts.get(item);
    return script && this.metadata?.ofScript(script);
  }

  /** Like `showScript`, but caches addresses, because many outputs pay to the same few addresses. */
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
   * Whether the reference finds this output among its unspent outputs. QUIRK: an output whose script is too long to be run
   * is never stored there, so its claim has neither value nor address in the reference. Test:
   * test/unit/rpc/claimtrie/lbrycrd.test.ts.
   */
  isCoin(item: OutputInfo): boolean {
    const script = this.scripts.get(item);
    return script !== undefined && !isUnspendable(script);
  }
}

/** Formats the txids of one result. Consecutive items often have the same txid, so the last text is cached. */
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

/**
 * Hashes of the active blocks that contain the outputs of a result, formatted. The hashes are read when the object is
 * created, because the whole result must describe one state although it is written later.
 */
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

/**
 * Maximum number of items of a list that is formatted in one step. Arbitrary: the objects of more items would fill the heap
 * before they are written.
 */
const SHAPED_AT_ONCE = 64;

/**
 * Returns an array for a result. Items of a long array are formatted when they are written, so `shape` must not depend on
 * data that may change.
 */
export function longArray<T>(items: readonly T[], shape: (item: T) => JsonOut): JsonOut {
  if (items.length <= SHAPED_AT_ONCE) return items.map(shape);
  return jsonArray(shapes(items, shape));
}

function* shapes<T>(items: readonly T[], shape: (item: T) => JsonOut): Generator<JsonOut> {
  for (const item of items) yield shape(item);
}
