/**
 * Replays a recorded session of lbcwallet with lbcnode: the blocks of the node, each call of the wallet with the answer, and the
 * notifications, in order. `lbcwalletOverNode.long.test.ts` records it.
 */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LbcdSocket, type LbcdMessage } from './support/lbcdSocket.js';
import { startRegtest, type RegtestNode } from './support/node.js';

interface Step {
  readonly block?: string;
  readonly call?: { readonly method: string; readonly params: readonly unknown[] };
  readonly answer?: LbcdMessage;
  readonly note?: LbcdMessage;
}

const file = new URL('../vectors/lbcwalletSession.json.gz', import.meta.url);
const steps = JSON.parse(gunzipSync(readFileSync(file)).toString('utf8')) as readonly Step[];

let node: RegtestNode;
let socket: LbcdSocket;

beforeAll(async () => {
  node = await startRegtest({ args: ['-compat=lbcd', '-txindex', '-blockfilterindex=1'] });
  const { username, password } = new URL(node.url);
  socket = await new LbcdSocket(`ws://127.0.0.1:${node.rpcPort}/ws`, `${username}:${password}`).opened();
});
afterAll(async () => {
  await socket?.end();
  await node?.stop();
});

/** What is compared of a notification. */
const shown = ({ method, params }: LbcdMessage): unknown => [method, params];

it('answers the calls of lbcwallet, and tells it the same', async () => {
  const sent = new Set<unknown>();
  for (const { block, call, answer, note } of steps) {
    if (block !== undefined) expect(await node.rpc('submitblock', [block])).toBeNull();
    if (call !== undefined) {
      const { result, error } = await socket.ask(call.method, ...call.params);
      if (call.method === 'sendrawtransaction') sent.add(call.params[0]);
      expect(error, call.method).toBeNull();
      // It reports the node and of its peers.
      if (call.method !== 'getinfo') expect(result, call.method).toEqual(answer!.result);
    }
    // A payment from outside, which the node had before the wallet heard of it.
    const [hex, place] = note?.params ?? [];
    if (note?.method === 'recvtx' && place === undefined && !sent.has(hex)) {
      sent.add(hex);
      await node.rpc('sendrawtransaction', [hex]);
    }
  }
  const told = steps.flatMap(({ note }) => (note ? [note] : []));
  expect(told.length).toBeGreaterThan(400);
  expect((await socket.take(told.length)).map(shown)).toEqual(told.map(shown));
});
