/**
 * Formats an event of a claim, support or name in a block. Notifications and `getblockevents` share this format, which
 * docs/notifications.md describes.
 */
import { decodeUtf8 } from '../../claimtrie/unicode/utf8.js';
import type { ClaimEvent } from '../../claimtrie/types.js';
import type { LoadedBlock } from '../../chain/blocks/loadedBlock.js';
import { TX_FIRST_OUTPUT, TX_STRIDE } from '../../primitives/blockLayout.js';
import { outputScriptAt, txidAt } from '../../primitives/blockView.js';
import { decodeClaimScript } from '../../script/claimScript.js';
import { equalBytes, hashToHex, toHex, toLatin1, type Bytes } from '../../util/bytes.js';
import { coins } from '../../util/json/json.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { t } from '../../schema/schema.js';
import type { ShownMetadata } from './claimMetadata.js';
import { METADATA } from './claimMetadata.js';
import { nameText } from './claimsText.js';

type Fields = Record<string, JsonOut | undefined>;

export const CLAIM_EVENT_TYPES = [
  'claim',
  'update',
  'support',
  'abandon',
  'activation',
  'expiration',
  'takeover',
] as const;

const OF_OUTPUT = 'absent for a takeover after which no claim controls the name';

export const CLAIM_EVENT_SCHEMA = t.named(
  'ClaimEvent',
  t.object({
    event: t.oneOf(CLAIM_EVENT_TYPES, 'type of the event'),
    disconnected: t.bool('whether the block was disconnected by a reorganisation, which reverts the event'),
    blockhash: t.hash('the hash of the block'),
    height: t.int('the height of the block'),
    events: t.int('the number of events of the block'),
    index: t.int('the position of this event among them, from 0'),
    name: t.str('the name in the output; for a takeover the normalized name'),
    namehex: t.optional(t.hex('the bytes of the name'), 'if the name is not valid UTF-8'),
    normalized_name: t.optional(
      t.str('the normalized name, by which the claim trie stores the claim'),
      'if it differs from the name',
    ),
    claimId: t.optional(
      t.claimId('the id of the claim, or of the supported claim; for a takeover the new controlling claim'),
      OF_OUTPUT,
    ),
    formerClaimId: t.optional(
      t.claimId('the id of the claim that controlled the name before'),
      'for a takeover, if a claim controlled the name before',
    ),
    txid: t.optional(t.hash('the transaction that contains the output'), OF_OUTPUT),
    n: t.optional(t.int('the index of the output'), OF_OUTPUT),
    amount: t.optional(t.coins('the amount of the output'), OF_OUTPUT),
    isSupport: t.optional(
      t.bool('whether the event concerns a support'),
      'for an activation, an abandon or an expiration',
    ),
    validAtHeight: t.optional(t.int('the activation height'), 'absent for a takeover'),
    active: t.optional(
      t.bool(
        'whether the claim or support is active from this block on; otherwise an activation event follows in ' +
          'a later block',
      ),
      'for a claim, an update or a support',
    ),
    spentBy: t.optional(t.hash('the transaction that spends the output'), 'for an abandon'),
    value: t.optional(
      t.hex('the serialized value of the claim'),
      'with -claimmetadata, for a claim, an update, or a support with a value',
    ),
    metadata: METADATA,
  }),
);

/** Access to the outputs of a block, used to add the decoded values of claims to events (`-claimmetadata`). */
export interface ClaimValues {
  readonly block: Pick<LoadedBlock, 'raw' | 'parsed'>;
  readonly metadata: ShownMetadata;
}

/** A block and its claim events. */
export interface EventsOfBlock {
  /** Wire order. */
  readonly hash: Bytes;
  readonly height: number;
  readonly events: readonly ClaimEvent[];
  readonly isConnected: boolean;
}

/** Returns a function that formats event number `n` of the block. */
export function claimEventShower(
  { hash, height, events, isConnected }: EventsOfBlock,
  values: ClaimValues | null,
): (index: number) => Fields {
  const place = {
    disconnected: !isConnected,
    blockhash: hashToHex(hash),
    height,
    events: events.length,
  };
  const shown = values && new ShownValues(values);
  return (index) => {
    const event = events[index]!;
    return { event: event.type, ...place, index, ...claimFields(event), ...shown?.of(event) };
  };
}

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

/** Finds the values of the outputs to which the events of a block refer. */
class ShownValues {
  private readonly values: ClaimValues;
  /** Position of each transaction in the block, by txid as a latin1 string. Filled when it is first needed. */
  private places: Map<string, number> | null = null;

  constructor(values: ClaimValues) {
    this.values = values;
  }

  /** Returns the decoded metadata for an event that creates an output; an empty object for other events. */
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

/** Whether an event of this type may concern a claim or a support. If so, the event needs the field `isSupport`. */
function isAboutOutput({ type }: ClaimEvent): boolean {
  return type === 'activation' || type === 'abandon' || type === 'expiration';
}

/** Returns the fields with a name. If the name is not valid UTF-8, its bytes in hex are included. */
function nameFields(name: Bytes): Fields {
  return { name: nameText(name), namehex: decodeUtf8(name, []) ? undefined : toHex(name) };
}
