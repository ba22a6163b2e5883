/** Tells what a block did, for notifications, from its log. */
import type { WorkEvent } from '../../claimtrie/claimWork.js';
import { pointIndex, pointTxid, type Item } from '../../claimtrie/item.js';
import type { ClaimEvent } from '../../claimtrie/types.js';
import { fromLatin1 } from '../../util/bytes.js';

function describeItem(type: ClaimEvent['type'], item: Item): ClaimEvent {
  return {
    type,
    name: fromLatin1(item.name),
    claimId: fromLatin1(item.claimId),
    txid: pointTxid(item.point),
    n: pointIndex(item.point),
    amount: item.amount,
    validAtHeight: item.activated || item.dueHeight,
    isSupport: item.kind === 'support',
  };
}

/** The events behind a block's log. A spent claim that was updated is no `abandon`. */
export function describeEvents(log: readonly WorkEvent[]): ClaimEvent[] {
  const events: ClaimEvent[] = [];
  const updated = new Set<string>();
  for (const event of log) {
    if (event.op === 'create' && event.item.kind === 'update') updated.add(event.item.claimId);
  }
  for (const event of log) {
    if (event.op === 'create') events.push(describeItem(event.item.kind, event.item));
    else if (event.op === 'activate') events.push(describeItem('activation', event.item));
    else if (event.op === 'expire') events.push(describeItem('expiration', event.item));
    else if (event.op === 'spend') {
      const { item } = event;
      if (item.kind === 'support' || !updated.has(item.claimId)) events.push(describeItem('abandon', item));
    } else if (event.op === 'takeover' && event.ownerId !== event.formerId) {
      const claimId = event.ownerId === '' ? {} : { claimId: fromLatin1(event.ownerId) };
      events.push({ type: 'takeover', name: fromLatin1(event.name), ...claimId });
    }
  }
  return events;
}
