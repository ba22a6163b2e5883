/**
 * The message about one event of a claim, a support or a name. All notification channels send the same message.
 * `getblockevents` returns the same message (`rpc/format/claimEvents.ts`).
 */
import type { ClaimEvent } from '../../claimtrie/types.js';
import type { ConnectedBlock } from '../../chain/chainEvents.js';
import { claimEventShower, type ClaimValues } from '../../rpc/format/claimEvents.js';
import { stringifyJson } from '../../util/json/jsonStream.js';

export type { ClaimValues } from '../../rpc/format/claimEvents.js';

export class ClaimNotice {
  readonly event: ClaimEvent;
  private readonly make: () => string;
  private made: string | null = null;

  constructor(event: ClaimEvent, make: () => string) {
    this.event = event;
    this.make = make;
  }

  /** Message as JSON. Created when it is needed: a block may have many messages, and decoding claim values is slow. */
  get json(): string {
    return (this.made ??= this.make());
  }
}

/**
 * Creates the notices of a block's claim events. For a disconnected block the list is reversed, because the last event is
 * undone first.
 */
export function claimNotices(
  { hash, height, claimEvents }: Pick<ConnectedBlock, 'hash' | 'height' | 'claimEvents'>,
  isConnected: boolean,
  values: ClaimValues | null = null,
): ClaimNotice[] {
  const events = claimEvents;
  const show = claimEventShower({ hash, height, events, isConnected }, values);
  const notices = events.map((event, index) => new ClaimNotice(event, () => stringifyJson(show(index))));
  return isConnected ? notices : notices.reverse();
}
