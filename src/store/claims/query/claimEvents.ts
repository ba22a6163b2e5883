/**
 * The claim events of a block, for notifications. First come the claims that the block's transactions created and abandoned,
 * in the order of the transactions. Then come the changes at the end of the block: activations and expirations in the order
 * of the log, and takeovers by name.
 */
import type { ClaimOperation, WorkEvent } from '../../../claimtrie/claimWork.js';
import { pointIndex, pointTxid, type Item } from '../../../claimtrie/item.js';
import type { ClaimEvent } from '../../../claimtrie/types.js';
import { fromLatin1, toLatin1 } from '../../../util/bytes.js';

function describeItem(type: ClaimEvent['type'], item: Item): ClaimEvent {
  return {
    type,
    name: fromLatin1(item.name),
    rawName: fromLatin1(item.rawName),
    claimId: fromLatin1(item.claimId),
    txid: pointTxid(item.point),
    n: pointIndex(item.point),
    amount: item.amount,
    validAtHeight: item.activated || item.dueHeight,
    isSupport: item.kind === 'support',
  };
}

/** Key of a claim in a transaction: the transaction id, then the claim id, in latin1. */
const updateKey = (txid: string, claimId: string): string => txid + claimId;

function describeOperations(operations: readonly ClaimOperation[]): ClaimEvent[] {
  const updates = new Set<string>();
  for (const { item, spentBy } of operations) {
    if (!spentBy && item.kind === 'update') updates.add(updateKey(item.point.slice(0, 32), item.claimId));
  }
  const events: ClaimEvent[] = [];
  for (const { item, spentBy } of operations) {
    if (!spentBy) events.push({ ...describeItem(item.kind, item), isActive: item.activated !== 0 });
    else if (item.kind === 'support' || !updates.has(updateKey(toLatin1(spentBy), item.claimId)))
      events.push({ ...describeItem('abandon', item), spentBy });
  }
  return events;
}

function describeTakeover({ name, owner, formerId }: WorkEvent & { op: 'takeover' }): ClaimEvent {
  return {
    type: 'takeover',
    name: fromLatin1(name),
    ...(owner
      ? {
          claimId: fromLatin1(owner.claimId),
          txid: pointTxid(owner.point),
          n: pointIndex(owner.point),
          amount: owner.amount,
        }
      : {}),
    ...(formerId === '' ? {} : { formerClaimId: fromLatin1(formerId) }),
  };
}

/**
 * Computes the events of a block. `operations` are those of the block's transactions. The log contains the changes at the
 * end of the block.
 */
export function describeEvents(
  operations: readonly ClaimOperation[],
  log: readonly WorkEvent[],
): ClaimEvent[] {
  const events = describeOperations(operations);
  const takeovers: (WorkEvent & { op: 'takeover' })[] = [];
  for (const event of log) {
    if (event.op === 'activate') events.push(describeItem('activation', event.item));
    else if (event.op === 'expire') events.push(describeItem('expiration', event.item));
    else if (event.op === 'takeover' && (event.owner?.claimId ?? '') !== event.formerId)
      takeovers.push(event);
  }
  takeovers.sort((a, b) => (a.name < b.name ? -1 : 1));
  return [...events, ...takeovers.map(describeTakeover)];
}
