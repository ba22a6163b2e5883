/**
 * Replays a recorded session of lbcwallet with lbcnode: the blocks of the node, each call of the wallet with the answer, and
 * the notifications, in order. `lbcwalletOverNode.long.test.ts` records it.
 */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { regtestParams } from '../../src/params/regtest.js';
import { parseTransaction, txid } from '../../src/primitives/transaction.js';
import { addressPrefixesOf, decodeDestination } from '../../src/script/address.js';
import { stripClaimPrefix } from '../../src/script/claimScript.js';
import { scriptForDestination } from '../../src/script/standard.js';
import { hashFromHex, hashToHex } from '../../src/util/bytes.js';
import { Reader } from '../../src/util/reader.js';
import { LbcdSocket, type LbcdMessage } from './support/lbcdSocket.js';
import { matches, readBlock } from './support/lightWallet.js';
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

/** The compared part of a notification. */
const shown = ({ method, params }: LbcdMessage): unknown => [method, params];

it('answers the calls of lbcwallet, and notifies it', async () => {
  const sent = new Set<unknown>();
  for (const { block, call, answer, note } of steps) {
    if (block !== undefined) expect(await node.rpc('submitblock', [block])).toBeNull();
    if (call !== undefined) {
      const { result, error } = await socket.ask(call.method, ...call.params);
      if (call.method === 'sendrawtransaction') sent.add(call.params[0]);
      expect(error, call.method).toBeNull();
      // `getinfo` contains the version of the node and its number of peers.
      if (call.method !== 'getinfo') expect(result, call.method).toEqual(answer!.result);
    }
    // A payment from outside, which the node had before it notified the wallet.
    const [hex, place] = note?.params ?? [];
    if (note?.method === 'recvtx' && place === undefined && !sent.has(hex)) {
      sent.add(hex);
      await node.rpc('sendrawtransaction', [hex]);
    }
  }
  const reported = steps.flatMap(({ note }) => (note ? [note] : []));
  expect(reported.length).toBeGreaterThan(400);
  expect((await socket.take(reported.length)).map(shown)).toEqual(reported.map(shown));
});

/** The calls of lbcwallet when it restores a seed. Source: lbcwallet chain/rpc.go `FilterBlocks`. */
it('a restored wallet finds the payments of the session by filters', async () => {
  const prefixes = addressPrefixesOf(regtestParams);
  const addresses = new Set(
    steps.flatMap(({ call }) => (call?.method === 'notifyreceived' ? (call.params[0] as string[]) : [])),
  );
  const scripts = [...addresses].map((address) =>
    Buffer.from(scriptForDestination(decodeDestination(address, prefixes)!)),
  );
  const isOwn = (script: Uint8Array): boolean =>
    scripts.some((own) => own.equals(Buffer.from(stripClaimPrefix(script))));
  const found = new Set<string>();
  let fetched = 0;
  const height = await socket.result<number>('getblockcount');
  for (let at = 1; at <= height; at++) {
    const hash = await socket.result<string>('getblockhash', at);
    const filter = Buffer.from(await socket.result<string>('getcfilter', hash, 0), 'hex');
    if (!matches(filter, hashFromHex(hash), scripts)) continue;
    fetched++;
    for (const tx of readBlock(Buffer.from(await socket.result<string>('getblock', hash, 0), 'hex')))
      if (tx.outputs.some(({ script }) => isOwn(script))) found.add(tx.txid);
  }
  const reported = steps.flatMap(({ note }) => {
    const [hex, place] = (note?.params ?? []) as [string, unknown];
    return note?.method === 'recvtx' && place !== undefined && place !== null
      ? [hashToHex(txid(parseTransaction(new Reader(Buffer.from(hex, 'hex')))))]
      : [];
  });
  expect(reported.length).toBeGreaterThan(3);
  expect([...found]).toEqual(expect.arrayContaining(reported));
  expect(fetched).toBeLessThan(height / 2);
});
