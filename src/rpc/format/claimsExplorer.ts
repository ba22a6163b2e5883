/**
 * Formats names, their history and upcoming events for `listnames`, `getnamehistory` and `listupcoming`. The format is the
 * same in all profiles and uses the terms of the claim notifications (docs/notifications.md).
 */
import { isUtf8 } from 'node:buffer';
import type { ChainReader } from '../../chain/chainReader.js';
import type { NameOwner } from '../../claimtrie/forecast.js';
import { pointIndex, pointTxid, type Item } from '../../claimtrie/item.js';
import type { ListedName } from '../../store/claims/query/nameList.js';
import {
  isTakeover,
  NAME_EVENTS,
  type NameBlock,
  type NameBlockPart,
  type NameEvent,
} from '../../store/claims/query/nameHistory.js';
import type { UpcomingEvent } from '../../store/claims/query/upcoming.js';
import { fromLatin1, hashToHex, toHex, type Bytes } from '../../util/bytes.js';
import { coins } from '../../util/json/json.js';
import { jsonArray, type JsonOut } from '../../util/json/jsonWrite.js';
import { t, type SchemaFields } from '../../schema/schema.js';
import { nameText } from './claimsText.js';

type Answer = Record<string, JsonOut | undefined>;

/** Schema of the fields that identify the block to which a result applies. */
export const OF_BLOCK_FIELDS: SchemaFields = {
  height: t.int('the height of the block after which this result is valid'),
  blockhash: t.hash('the hash of that block'),
};

const NORMALIZED_NAME = t.str(
  'the normalized name, by which the claim trie stores the claims (names are normalized from the ' +
    'normalization fork on)',
);
export const NAME_HEX = t.optional(t.hex('the bytes of the name'), 'if the name is not valid UTF-8');

/** Returns the bytes of a name in hex if the name is not valid UTF-8; otherwise undefined. */
export function nameHex(name: Bytes): string | undefined {
  return isUtf8(name) ? undefined : toHex(name);
}

const OWNER_FIELDS: SchemaFields = {
  claimId: t.claimId('the id of the controlling claim'),
  txid: t.hash('the transaction that contains its output'),
  n: t.int('the index of the output'),
  amount: t.coins('the amount of the output'),
  effectiveAmount: t.coins('the effective amount: the amount with that of the active supports'),
};

export const LISTED_NAME_SCHEMA = t.named(
  'ListedName',
  t.object({
    name: t.str('the name in the output of the controlling claim'),
    normalized_name: NORMALIZED_NAME,
    namehex: NAME_HEX,
    claims: t.int('the number of active claims'),
    ...OWNER_FIELDS,
    height: t.int('the height of the block that contains its output'),
    lastTakeoverHeight: t.int('the height at which the controlling claim of the name last changed'),
  }),
);

export function listedName(listed: ListedName): Answer {
  return {
    name: nameText(listed.rawName),
    normalized_name: nameText(listed.name),
    namehex: nameHex(listed.name),
    claims: listed.claims,
    claimId: hashToHex(listed.claimId),
    txid: hashToHex(listed.txid),
    n: listed.n,
    amount: coins(listed.amount),
    effectiveAmount: coins(listed.effectiveAmount),
    height: listed.height,
    lastTakeoverHeight: listed.lastTakeoverHeight,
  };
}

const ITEM_FIELDS: SchemaFields = {
  name: t.optional(t.str('the name in the output'), 'for a claim or support'),
  claimId: t.optional(
    t.claimId('the id of the claim, or of the supported claim; for a takeover the new controlling claim'),
    'absent for a takeover after which no claim controls the name',
  ),
  txid: t.optional(t.hash('the transaction that contains the output'), 'if there is a claim id'),
  n: t.optional(t.int('the index of the output'), 'if there is a claim id'),
  amount: t.optional(t.coins('the amount of the output'), 'if there is a claim id'),
  effectiveAmount: t.optional(
    t.coins('the effective amount: the amount with that of the active supports'),
    'for a takeover with a new controlling claim',
  ),
  isSupport: t.optional(t.bool('whether it is a support'), 'for a claim or support'),
  formerClaimId: t.optional(
    t.claimId('the id of the claim that controlled the name before'),
    'for a takeover, if a claim controlled the name before',
  ),
};

const EVENT_SCHEMA = t.named(
  'NameEvent',
  t.object({
    event: t.oneOf(
      [...NAME_EVENTS, 'takeover'],
      'claim, update, support: a transaction created the output; abandon: a transaction spent it without ' +
        'an update; departure, arrival: the normalization fork moved it to or from another spelling of the ' +
        'name; activation: a pending claim or support became active; expiration: it expired; takeover: ' +
        'another claim controls the name, or no claim does',
    ),
    ...ITEM_FIELDS,
    validAtHeight: t.optional(t.int('the activation height'), 'for a claim or support'),
    active: t.optional(
      t.bool('whether it was active at the end of this block'),
      'for a claim, an update, a support or an arrival',
    ),
    replaces: t.optional(
      t.object({
        txid: t.hash('the transaction of the output that was updated'),
        n: t.int('the index of that output'),
        amount: t.coins('the amount of the output'),
      }),
      'for an update of an output under this name',
    ),
    otherName: t.optional(t.str('the name in its other spelling'), 'for an arrival or a departure'),
  }),
);

export const NAME_BLOCK_SCHEMA = t.named(
  'NameBlock',
  t.object({
    height: t.int('the height of the block'),
    blockhash: t.hash('the hash of the block'),
    events: t.array(EVENT_SCHEMA, 'the events of the block for this name'),
    claims: t.int('the number of active claims after the block'),
    owner: t.optional(t.object(OWNER_FIELDS), 'if a claim controls the name after the block'),
    lastTakeoverHeight: t.optional(
      t.int('the height at which the controlling claim last changed'),
      'if a claim controls the name after the block',
    ),
    amounts: t.array(
      t.object({
        claimId: t.claimId('the id of a claim'),
        effectiveAmount: t.coins(
          'its effective amount: the amount with that of the active supports; 0 if it is not active any more',
        ),
      }),
      'the effective amounts that changed in the block',
    ),
  }),
);

function idText(id: string): string {
  return hashToHex(fromLatin1(id));
}

function itemFields(item: Item): Answer {
  return {
    name: nameText(fromLatin1(item.rawName)),
    claimId: idText(item.claimId),
    txid: hashToHex(pointTxid(item.point)),
    n: pointIndex(item.point),
    amount: coins(item.amount),
    isSupport: item.kind === 'support',
  };
}

/** Formats an event as of block `height`. Later changes of the claim or support are not included. */
function eventAnswer({ type, item, isActive, replaces, otherName }: NameEvent, height: number): Answer {
  const { activated, dueHeight } = item;
  return {
    event: type,
    ...itemFields(item),
    validAtHeight: activated !== 0 && activated <= height ? activated : dueHeight,
    active: isActive,
    replaces: replaces && {
      txid: hashToHex(pointTxid(replaces.point)),
      n: pointIndex(replaces.point),
      amount: coins(replaces.amount),
    },
    otherName: otherName === undefined ? undefined : nameText(fromLatin1(otherName)),
  };
}

function ownerFields({ claimId, point, amount, effective }: NameOwner): Answer {
  return {
    claimId: idText(claimId),
    txid: hashToHex(pointTxid(point)),
    n: pointIndex(point),
    amount: coins(amount),
    effectiveAmount: coins(effective),
  };
}

function takeoverFields(owner: NameOwner | null, formerId: string): Answer {
  return {
    ...(owner && ownerFields(owner)),
    formerClaimId: formerId === '' ? undefined : idText(formerId),
  };
}

const takeoverAnswer = ({ owner, formerId }: NameBlock): Answer => ({
  event: 'takeover',
  ...takeoverFields(owner, formerId),
});

function* blockEvents(block: NameBlock): Generator<JsonOut> {
  for (const event of block.events) yield eventAnswer(event, block.height);
  if (isTakeover(block)) yield takeoverAnswer(block);
}

function* latestEvents(block: NameBlockPart): Generator<JsonOut> {
  if (block.showsTakeover) yield takeoverAnswer(block);
  for (const event of block.events) yield eventAnswer(event, block.height);
}

function* changedAmounts({ amounts }: NameBlock): Generator<JsonOut> {
  for (const [claimId, amount] of amounts) {
    yield { claimId: idText(claimId), effectiveAmount: coins(amount) };
  }
}

/**
 * Formats the events of a name in one block. `blockHash` is in wire order. If `block` has only part of the events, the
 * latest event is first.
 */
export function nameBlock(block: NameBlock | NameBlockPart, blockHash: Bytes): Answer {
  const { height, claims, owner, takeover } = block;
  return {
    height,
    blockhash: hashToHex(blockHash),
    events: jsonArray('showsTakeover' in block ? latestEvents(block) : blockEvents(block)),
    claims,
    owner: owner === null ? undefined : ownerFields(owner),
    lastTakeoverHeight: owner === null ? undefined : takeover,
    amounts: jsonArray(changedAmounts(block)),
  };
}

export const UPCOMING_KINDS = ['activation', 'expiration', 'takeover'] as const;

export const UPCOMING_EVENT_SCHEMA = t.named(
  'UpcomingEvent',
  t.object({
    event: t.oneOf(
      UPCOMING_KINDS,
      'activation: a pending claim or support becomes active; expiration: it expires; takeover: another ' +
        'claim controls the name, or no claim does',
    ),
    height: t.int('the height of the block after which it takes effect'),
    normalized_name: NORMALIZED_NAME,
    namehex: NAME_HEX,
    ...ITEM_FIELDS,
  }),
);

export function upcomingEvent({ name, event }: UpcomingEvent): Answer {
  const bytes = fromLatin1(name);
  return {
    event: event.type,
    height: event.height,
    normalized_name: nameText(bytes),
    namehex: nameHex(bytes),
    ...(event.type === 'takeover' ? takeoverFields(event.owner, event.formerId) : itemFields(event.item)),
  };
}

/** Returns the values of the fields in `OF_BLOCK_FIELDS`. */
export function ofBlock({ headers }: Pick<ChainReader, 'headers'>, id: number, height: number): Answer {
  return { height, blockhash: hashToHex(headers.hash(id)) };
}
