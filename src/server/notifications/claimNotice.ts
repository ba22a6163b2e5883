/**
 * The message about one thing that a block did to a claim, a support or a name: the same for every way of telling it.
 * The fields are described in docs/notifications.md.
 */
import { decodeUtf8 } from '../../claimtrie/unicode/utf8.js';
import type { ClaimEvent } from '../../claimtrie/types.js';
import type { ConnectedBlock } from '../../chain/chainEvents.js';
import { TX_FIRST_OUTPUT, TX_STRIDE } from '../../primitives/blockLayout.js';
import { outputScriptAt, txidAt } from '../../primitives/blockView.js';
import type { ClaimMetadata } from '../../rpc/format/claimMetadata.js';
import { nameText } from '../../rpc/format/claimsText.js';
import { decodeClaimScript } from '../../script/claimScript.js';
import { equalBytes, hashToHex, toHex, toLatin1, type Bytes } from '../../util/bytes.js';
import { coins } from '../../util/json.js';
import { stringifyJson, type JsonOut } from '../../util/jsonWrite.js';

export class ClaimNotice {
  readonly event: ClaimEvent;
  private readonly make: () => string;
  private made: string | null = null;

  constructor(event: ClaimEvent, make: () => string) {
    this.event = event;
    this.make = make;
  }

  /** The message, made when it is asked for: a block may have many, and values take long to decode. */
  get json(): string {
    return (this.made ??= this.make());
  }
}

/** Where the outputs of a block are, and how what they say is shown (`-claimmetadata`). */
export interface ClaimValues {
  readonly block: Pick<ConnectedBlock, 'raw' | 'parsed'>;
  readonly metadata: ClaimMetadata;
}

/** Of a block that was disconnected the list is reversed: what came last is taken back first. */
export function claimNotices(
  block: Pick<ConnectedBlock, 'hash' | 'height' | 'claimEvents'>,
  isConnected: boolean,
  values: ClaimValues | null = null,
): ClaimNotice[] {
  const events = block.claimEvents;
  const place = {
    disconnected: !isConnected,
    blockhash: hashToHex(block.hash),
    height: block.height,
    events: events.length,
  };
  const shown = values && new ShownValues(values);
  const notices = events.map(
    (event, index) =>
      new ClaimNotice(event, () =>
        stringifyJson({
          event: event.type,
          ...place,
          index,
          ...claimFields(event),
          ...shown?.of(event),
        }),
      ),
  );
  return isConnected ? notices : notices.reverse();
}

type Fields = Record<string, JsonOut | undefined>;

function claimFields(event: ClaimEvent): Fields {
  const { name, rawName = name, claimId, formerClaimId, txid, n, amount, spentBy } = event;
  return {
    ...nameFields(rawName),
    normalized_name: equalBytes(rawName, name) ? undefined : nameText(name),
    claimId: claimId && hashToHex(claimId),
    formerClaimId: formerClaimId && hashToHex(formerClaimId),
    txid: txid && hashToHex(txid),
    n,
    amount: amount === undefined ? undefined : coins(amount),
    isSupport: isAboutOutput(event) ? event.isSupport : undefined,
    validAtHeight: event.validAtHeight,
    active: event.isActive,
    spentBy: spentBy && hashToHex(spentBy),
  };
}

/** The values of the outputs that a block's events are about. */
class ShownValues {
  private readonly values: ClaimValues;
  /** Transactions of the block by id, a byte a character. */
  private places: Map<string, number> | null = null;

  constructor(values: ClaimValues) {
    this.values = values;
  }

  /** Of an event that tells of a new output; of others nothing: their outputs may be of any block. */
  of({ type, txid, n }: ClaimEvent): Fields {
    if (type !== 'claim' && type !== 'update' && type !== 'support') return {};
    const { block, metadata } = this.values;
    const tx = txid && this.place(txid);
    if (tx === undefined || n === undefined) return {};
    const first = block.parsed.txs[tx * TX_STRIDE + TX_FIRST_OUTPUT]!;
    const value = decodeClaimScript(outputScriptAt(block.raw, block.parsed, first + n))?.value;
    if (value === undefined) return {};
    return { value: toHex(value), metadata: metadata.now(value, type === 'support') };
  }

  private place(txid: Bytes): number | undefined {
    const { parsed } = this.values.block;
    if (this.places === null) {
      this.places = new Map();
      for (let tx = 0; tx < parsed.txCount; tx++) this.places.set(toLatin1(txidAt(parsed, tx)), tx);
    }
    return this.places.get(toLatin1(txid));
  }
}

/** Whether `isSupport` says more than the event's own name. */
function isAboutOutput({ type }: ClaimEvent): boolean {
  return type === 'activation' || type === 'abandon' || type === 'expiration';
}

/** The bytes in hex stand beside a name that text cannot show. */
function nameFields(name: Bytes): Fields {
  return { name: nameText(name), namehex: decodeUtf8(name, []) ? undefined : toHex(name) };
}
