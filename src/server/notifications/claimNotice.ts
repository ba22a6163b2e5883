/**
 * The message about one thing that a block did to a claim, a support or a name: the same for every way of telling it.
 * The fields are described in docs/notifications.md.
 */
import { decodeUtf8 } from '../../claimtrie/unicode/utf8.js';
import type { ClaimEvent } from '../../claimtrie/types.js';
import type { ConnectedBlock } from '../../chain/chainEvents.js';
import { nameText } from '../../rpc/format/claimsText.js';
import { equalBytes, hashToHex, toHex, type Bytes } from '../../util/bytes.js';
import { coins } from '../../util/json.js';
import { stringifyJson, type JsonOut } from '../../util/jsonWrite.js';

export interface ClaimNotice {
  readonly event: ClaimEvent;
  /** The message. */
  readonly json: string;
}

/** Of a block that was disconnected the list is reversed: what came last is taken back first. */
export function claimNotices(
  block: Pick<ConnectedBlock, 'hash' | 'height' | 'claimEvents'>,
  isConnected: boolean,
): ClaimNotice[] {
  const events = block.claimEvents;
  const place = {
    disconnected: !isConnected,
    blockhash: hashToHex(block.hash),
    height: block.height,
    events: events.length,
  };
  const notices = events.map((event, index) => ({
    event,
    json: stringifyJson({ event: event.type, ...place, index, ...claimFields(event) }),
  }));
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

/** Whether `isSupport` says more than the event's own name. */
function isAboutOutput({ type }: ClaimEvent): boolean {
  return type === 'activation' || type === 'abandon' || type === 'expiration';
}

/** The bytes in hex stand beside a name that text cannot show. */
function nameFields(name: Bytes): Fields {
  return { name: nameText(name), namehex: decodeUtf8(name, []) ? undefined : toHex(name) };
}
