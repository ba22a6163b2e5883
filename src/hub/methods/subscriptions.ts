/** Methods by which a client subscribes to scripts. Source: lbryio/hub herald/session.py. */
import type { JsonValue } from '../../util/json/json.js';
import { badRequest } from '../protocol/hubError.js';
import type { HubCall, HubMethod } from './method.js';
import { addressKey, scriptHashKey, type KeyOf } from './scriptKeys.js';

/** Source: `address_subscribe`. */
const MAX_ADDRESSES = 1000;

/** Copies a text, because a substring would keep the whole received line in memory. */
const ownText = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');

async function subscribe(
  { client, hub, turn }: HubCall,
  keyOf: KeyOf,
  texts: readonly (JsonValue | undefined)[],
): Promise<readonly (string | null)[]> {
  if (texts.length > MAX_ADDRESSES)
    throw badRequest(`too many addresses in subscription request: ${texts.length}`);
  const keys: string[] = [];
  for (const text of texts) {
    keys.push(keyOf(text, hub.facts.addressPrefixes));
    const pause = turn.yieldIfDue();
    if (pause !== null) await pause;
  }
  // The client is subscribed before the statuses are computed, because a change during the computation must be notified.
  for (const [n, key] of keys.entries()) client.subscribe(key, ownText(texts[n] as string));
  return hub.node.statuses(client, turn, keys);
}

function unsubscribe(prefix: string, param: string, keyOf: KeyOf): HubMethod {
  return {
    name: `blockchain.${prefix}.unsubscribe`,
    params: [param],
    run({ client, hub }, [text]) {
      client.unsubscribe(keyOf(text, hub.facts.addressPrefixes));
      return null;
    },
  };
}

export const SUBSCRIPTION_METHODS: readonly HubMethod[] = [
  {
    name: 'blockchain.address.subscribe',
    spread: true,
    run: (call, texts) => subscribe(call, addressKey, texts),
  },
  {
    name: 'blockchain.scripthash.subscribe',
    params: ['scripthash'],
    run: async (call, texts) => (await subscribe(call, scriptHashKey, texts))[0]!,
  },
  unsubscribe('address', 'address', addressKey),
  unsubscribe('scripthash', 'scripthash', scriptHashKey),
];
