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

function addressIn(params: MetadataDeps['params'], script: Bytes): string | undefined {
  const destination = extractDestination(script);
  return destination === null ? undefined : encodeDestination(destination, addressPrefixes(params));
}

/** What a script shows: its claim's value and the address that it pays to. */
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
