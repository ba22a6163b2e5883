/** What answers show of the outputs behind claims and supports: value, address, and what their metadata say. */
import { encodeDestination } from '../../script/address.js';
import { decodeClaimScript, type ClaimScript } from '../../script/claimScript.js';
import { isUnspendable } from '../../script/script.js';
import { extractDestination } from '../../script/standard.js';
import type { OutputInfo } from '../../store/claims/query/claimQueries.js';
import { equalBytes, hashToHex, toHex, toLatin1, type Bytes } from '../../util/bytes.js';
import { jsonArray, type JsonOut } from '../../util/json/jsonWrite.js';
import { addressPrefixes } from './addresses.js';
import { ClaimMetadata, type MetadataDeps } from './claimMetadata.js';

/** The fields of an output in a result. */
export interface ShownOutput {
  /** Hex; undefined for a support without metadata. */
  readonly value: string | undefined;
  /** Undefined when the script has no address. */
  readonly address: string | undefined;
  /** The block is pruned and the output is spent: nothing is known. */
  readonly isPruned: boolean;
}

const PRUNED: ShownOutput = { value: undefined, address: undefined, isPruned: true };

function addressIn(params: MetadataDeps['params'], script: Bytes): string | undefined {
  const destination = extractDestination(script);
  return destination === null ? undefined : encodeDestination(destination, addressPrefixes(params));
}

/** The fields derived from a script: its claim's value and its address. */
export function showScript(params: MetadataDeps['params'], script: Bytes): ShownOutput {
  const value = decodeClaimScript(script)?.value;
  return {
    value: value === undefined ? undefined : toHex(value),
    address: addressIn(params, script),
    isPruned: false,
  };
}

export class ClaimOutputs {
  private readonly deps: MetadataDeps;
  private readonly scripts: ReadonlyMap<OutputInfo, Bytes>;
  /** Addresses by the script after the claim prefix. */
  private readonly addresses = new Map<string, string | undefined>();
  private readonly metadata: ClaimMetadata | null;

  /** `scripts` are those that were found of the items (`lookup/outputScripts.ts`). */
  constructor(deps: MetadataDeps, scripts: ReadonlyMap<OutputInfo, Bytes>) {
    this.deps = deps;
    this.scripts = scripts;
    this.metadata = ClaimMetadata.of(deps);
  }

  /** The output fields of an item, computed at each call to keep large results out of memory. */
  of(item: OutputInfo): ShownOutput {
    const script = this.scripts.get(item);
    return script === undefined ? PRUNED : this.shownOf(script);
  }

  /** The claim operation of an item that was read; null if it is unavailable. */
  claimOf(item: OutputInfo): ClaimScript | null {
    const script = this.scripts.get(item);
    return script === undefined ? null : decodeClaimScript(script);
  }

  /** The decoded value of an item that was read, with `-claimmetadata`; decoded while it is written. */
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
   * Whether the reference would find this output among the unspent ones. QUIRK: an output whose script is too long to be run
   * is never among them, so its claim has neither value nor address there. Test: test/unit/rpc/claimtrie/lbrycrd.test.ts.
   */
  isCoin(item: OutputInfo): boolean {
    const script = this.scripts.get(item);
    return script !== undefined && !isUnspendable(script);
  }
}

/** The printed txids of one result; consecutive items often have the same one. */
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

/** The printed hashes of the active blocks with some outputs, as of now: data written later must describe the same state. */
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

/** Number of items formatted at once. Arbitrary: the objects of more items would fill the heap before they are written. */
const SHAPED_AT_ONCE = 64;

/** An array in a result; of many items, each is formatted when it is written. `shape` must not depend on data that may change. */
export function longArray<T>(items: readonly T[], shape: (item: T) => JsonOut): JsonOut {
  if (items.length <= SHAPED_AT_ONCE) return items.map(shape);
  return jsonArray(shapes(items, shape));
}

function* shapes<T>(items: readonly T[], shape: (item: T) => JsonOut): Generator<JsonOut> {
  for (const item of items) yield shape(item);
}
