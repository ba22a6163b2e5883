/** Notifications of the node: to a ZeroMQ subscriber in a process of its own, and to a WebSocket client. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { formatTransaction, txid } from '../../src/primitives/transaction.js';
import {
  buildClaimPrefix,
  buildSupportPrefix,
  buildUpdatePrefix,
  claimIdOf,
} from '../../src/script/claimScript.js';
import { scriptForDestination } from '../../src/script/standard.js';
import { hashFromHex, hashToHex, toHex, type Bytes } from '../../src/util/bytes.js';
import { OPEN, OPEN_ADDRESS } from './support/network.js';
import { ADDRESS, freePort, startRegtest, type RegtestNode } from './support/node.js';
import { startProcess } from './support/process.js';

interface Received {
  address: number;
  topic: string;
  sequence: number;
  body: string;
}

interface ClaimMessage {
  event: string;
  name: string;
  disconnected: boolean;
  blockhash: string;
  claimId?: string;
}

const OPEN_SCRIPT = scriptForDestination(OPEN);
const NAME = Buffer.from('hello');
const VALUE = Buffer.from('value');
const FEE_SAT = 1_000_000n;

interface Coin {
  hash: Bytes;
  index: number;
  value: bigint;
}

/** Spends coins that anyone can spend for one output. */
function spendTo(coins: readonly Coin[], prefix: Bytes): { hex: string; coin: Coin } {
  const value = coins.reduce((sum, coin) => sum + coin.value, 0n) - FEE_SAT;
  const tx = {
    version: 2,
    inputs: coins.map(({ hash, index }) => ({
      prevout: { hash, index },
      scriptSig: Buffer.of(1, 0x51),
      sequence: 0xffffffff,
      witness: [],
    })),
    outputs: [{ value, script: Buffer.concat([prefix, OPEN_SCRIPT]) }],
    lockTime: 0,
  };
  return { hex: toHex(formatTransaction(tx)), coin: { hash: txid(tx), index: 0, value } };
}

let node: RegtestNode;
let subscriber: ChildProcess;
const received: Received[] = [];
let addresses: string[];

beforeAll(async () => {
  addresses = [`tcp://127.0.0.1:${await freePort()}`, `tcp://127.0.0.1:${await freePort()}`];
  const [all, second] = addresses;
  node = await startRegtest({
    args: [
      ...['hashblock', 'hashtx', 'rawblock', 'rawtx', 'claim'].map((topic) => `-zmqpub${topic}=${all}`),
      `-zmqpubhashblock=${second}`,
      // Messages of a burst of blocks must not be dropped here.
      '-zmqpubrawtxhwm=0',
      '-zmqpubhashblockhwm=0',
      '-ws',
      '-claimmetadata',
    ],
  });
  const script = fileURLToPath(new URL('./support/zmqSubscriber.mjs', import.meta.url));
  subscriber = spawn(process.execPath, [script, ...addresses], { stdio: ['pipe', 'pipe', 'inherit'] });
  createInterface({ input: subscriber.stdout! }).on('line', (line) => {
    const [address, topic, sequence, body] = line.split(' ');
    received.push({ address: Number(address), topic: topic!, sequence: Number(sequence), body: body ?? '' });
  });
});
afterAll(async () => {
  subscriber.stdin!.end();
  await once(subscriber, 'close');
  await node.stop();
});

const mine = (count: number, to = ADDRESS): Promise<string[]> => node.rpc('generatetoaddress', [count, to]);
const send = (hex: string): Promise<string> => node.rpc('sendrawtransaction', [hex, true]);

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}

/** Mines until the subscriber has received messages from both addresses. After that it receives all messages. */
async function join(): Promise<void> {
  for (;;) {
    const [hash] = await mine(1);
    const reported = (): boolean =>
      [0, 1].every((address) =>
        received.some((message) => message.address === address && message.body === hash),
      );
    for (let wait = 0; wait < 20 && !reported(); wait++) await sleep(10);
    if (!reported()) continue;
    // The last message about a block.
    const raw = await node.rpc<string>('getblock', [hash, 0]);
    await until(() => received.some(({ body }) => body === raw));
    received.length = 0;
    return;
  }
}

interface Block {
  hash: string;
  raw: string;
  txs: { txid: string; hex: string }[];
}

async function blockOf(hash: string): Promise<Block> {
  const raw = await node.rpc<string>('getblock', [hash, 0]);
  const { tx } = await node.rpc<{ tx: { txid: string; hex: string }[] }>('getblock', [hash, 2]);
  return { hash, raw, txs: tx };
}

const ofTxs = (txs: readonly { txid: string; hex: string }[]): string[] =>
  txs.flatMap(({ txid: id, hex }) => [`hashtx ${id}`, `rawtx ${hex}`]);
const ofTip = ({ hash, raw }: Block): string[] => [`hashblock ${hash}`, `rawblock ${raw}`];

/** A message in the format of `expected`: claim messages are reduced to event and name. */
function shown({ topic, body }: Received): string {
  if (topic !== 'claim') return `${topic} ${body}`;
  const message = JSON.parse(Buffer.from(body, 'hex').toString()) as ClaimMessage;
  return `claim ${message.event} ${message.name} ${message.disconnected ? 'undone' : 'done'} ${message.blockhash}`;
}

const claimsOf = (hash: string, isDone: boolean, ...events: string[]): string[] =>
  events.map((event) => `claim ${event} hello ${isDone ? 'done' : 'undone'} ${hash}`);

/** Checks that the numbers of each topic have no gap. Returns the last number by address and topic. */
function checkedSequences(received: readonly Received[]): Map<string, number> {
  const sequences = new Map<string, number>();
  for (const { address, topic, sequence } of received) {
    const key = `${address} ${topic}`;
    const before = sequences.get(key);
    if (before !== undefined) expect(sequence, key).toBe(before + 1);
    sequences.set(key, sequence);
  }
  return sequences;
}

describe('ZeroMQ', () => {
  it('lists the published notifications', async () => {
    expect(await node.rpc('getzmqnotifications')).toEqual([
      { type: 'pubhashblock', address: addresses[0] },
      { type: 'pubhashblock', address: addresses[1] },
      ...['pubhashtx', 'pubrawblock', 'pubrawtx', 'pubclaim'].map((type) => ({
        type,
        address: addresses[0],
      })),
    ]);
  });

  it('sends a subscriber every message in order: blocks, mempool, claims, a reorganisation', async () => {
    await join();
    const expected: string[] = [];
    const tips: string[] = [];
    const connected = async (hash: string, ...events: string[]): Promise<Block> => {
      const block = await blockOf(hash);
      expected.push(...ofTxs(block.txs), ...claimsOf(hash, true, ...events), ...ofTip(block));
      tips.push(hash);
      return block;
    };
    const sent = async ({ hex, coin }: { hex: string; coin: Coin }): Promise<Coin> => {
      const id = await send(hex);
      expect(id).toBe(hashToHex(coin.hash));
      expected.push(...ofTxs([{ txid: id, hex }]));
      return coin;
    };

    const ripe = await mine(103, OPEN_ADDRESS);
    const blocks: Block[] = [];
    for (const hash of ripe) blocks.push(await connected(hash));
    const coinbases = blocks.map(({ txs }) => ({
      hash: hashFromHex(txs[0]!.txid),
      index: 0,
      value: 100_000_000n,
    }));

    const claim = await sent(spendTo([coinbases[0]!], buildClaimPrefix(NAME, VALUE)));
    const claimId = claimIdOf(claim.hash, 0);
    const [first] = await mine(1);
    await connected(first!, 'claim', 'takeover');

    const support = await sent(spendTo([coinbases[1]!], buildSupportPrefix(NAME, claimId)));
    const update = await sent(spendTo([claim], buildUpdatePrefix(NAME, claimId, VALUE)));
    const [second] = await mine(1);
    const { txs } = await blockOf(second!);
    // The order of the transactions in the block.
    const order = txs.slice(1).map((tx) => (tx.txid === hashToHex(support.hash) ? 'support' : 'update'));
    await connected(second!, ...order);

    await node.rpc('invalidateblock', [second]);
    expected.push(...ofTxs(txs), ...claimsOf(second!, false, ...order.toReversed()));
    // The disconnected transactions return to the mempool in the order of the block.
    expected.push(...ofTxs(txs.slice(1)));
    const [third, fourth] = await mine(2, OPEN_ADDRESS);
    const again = (await blockOf(third!)).txs
      .slice(1)
      .map((tx) => (tx.txid === hashToHex(support.hash) ? 'support' : 'update'));
    await connected(third!, ...again);
    await connected(fourth!);
    // The branch has less work, so nothing changes.
    await node.rpc('reconsiderblock', [second]);

    await sent(spendTo([update, support], Buffer.alloc(0)));
    const [last] = await mine(1);
    await connected(last!, 'abandon', 'abandon', 'takeover');

    const main = (): Received[] => received.filter(({ address }) => address === 0);
    await until(() => main().length >= expected.length);
    expect(main().map(shown)).toEqual(expected);
    await until(() => received.length >= expected.length + tips.length);
    const second2 = received.filter(({ address }) => address === 1);
    expect(second2.map(({ topic, body }) => `${topic} ${body}`)).toEqual(
      tips.map((hash) => `hashblock ${hash}`),
    );

    const sequences = checkedSequences(received);
    expect([...sequences.keys()].sort()).toEqual([
      '0 claim',
      '0 hashblock',
      '0 hashtx',
      '0 rawblock',
      '0 rawtx',
      '1 hashblock',
    ]);
  });

  it('prevents the start if an address cannot be used', async () => {
    const folder = mkdtempSync(joinPath(tmpdir(), 'zmq-start-'));
    try {
      const [port, rpcPort] = [await freePort(), await freePort()];
      const failing = startProcess(folder, [
        `-rpcport=${rpcPort}`,
        `-zmqpubhashtx=tcp://127.0.0.1:${port}`,
        `-zmqpubrawtx=${addresses[0]}`,
      ]);
      expect(await failing.exited).toBe(1);
      expect(failing.output()).toContain(
        `Error: Cannot publish at ${addresses[0]} (-zmqpubrawtx): Address already in use`,
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('WebSocket', () => {
  it('notifies a client of its subscriptions, until the node stops', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${node.rpcPort}/ws`, { auth: 'regtest:regtest' });
    const messages: Record<string, unknown>[] = [];
    socket.on('message', (data: Buffer) =>
      messages.push(JSON.parse(data.toString()) as Record<string, unknown>),
    );
    const closed = once(socket, 'close') as Promise<[number, Buffer]>;
    await once(socket, 'open');
    const ask = async (id: number, params: object): Promise<unknown> => {
      socket.send(JSON.stringify({ id, method: 'subscribe', params }));
      await until(() => messages.some((message) => message['id'] === id));
      return messages.find((message) => message['id'] === id)!['result'];
    };
    expect(await ask(1, { topic: 'claims', names: ['watched'] })).toEqual({ subscription: 1 });
    expect(await ask(2, { topic: 'transactions', addresses: [OPEN_ADDRESS] })).toEqual({ subscription: 2 });
    expect(await ask(3, { topic: 'blocks' })).toEqual({ subscription: 3 });
    messages.length = 0;
    received.length = 0;

    const height = await node.rpc<number>('getblockcount');
    const ripe = await node.rpc<string>('getblockhash', [height - 104]);
    const { tx } = await node.rpc<{ tx: string[] }>('getblock', [ripe]);
    const coin = { hash: hashFromHex(tx[0]!), index: 0, value: 100_000_000n };
    const { hex } = spendTo([coin], buildClaimPrefix(Buffer.from('watched'), VALUE));
    const id = await send(hex);
    const [hash] = await mine(1);
    await until(() => messages.some(({ type }) => type === 'tip'));
    await until(() => received.filter(({ topic }) => topic === 'claim').length === 2);

    const tells = (type: string): unknown[] =>
      messages.filter((message) => message['type'] === type).map(({ data }) => data);
    expect(messages.map(({ subscriptions, type }) => [subscriptions, type])).toEqual([
      [[2], 'transaction'],
      [[3], 'block'],
      [[2], 'transaction'],
      [[1], 'claim'],
      [[1], 'claim'],
      [[3], 'tip'],
    ]);
    expect(tells('transaction')).toEqual([
      expect.objectContaining({ event: 'added', txid: id }),
      expect.objectContaining({
        event: 'connected',
        txid: id,
        blockhash: hash,
        height: height + 1,
        index: 1,
      }),
    ]);
    expect(tells('block')).toEqual([
      expect.objectContaining({ event: 'connected', hash, height: height + 1, nTx: 2 }),
    ]);
    expect(tells('tip')).toEqual([{ hash, height: height + 1, initialblockdownload: false }]);
    expect(tells('claim')[0]).toMatchObject({
      event: 'claim',
      value: VALUE.toString('hex'),
      metadata: { error: expect.any(String) as string },
    });
    expect(tells('claim')[1]).not.toHaveProperty('metadata');
    // WebSocket and ZeroMQ messages are equal.
    expect(tells('claim')).toEqual(
      received
        .filter(({ topic }) => topic === 'claim')
        .map(({ body }) => JSON.parse(Buffer.from(body, 'hex').toString()) as unknown),
    );
    await node.stop();
    expect((await closed)[0]).toBe(1001);
    expect(await node.exited).toBe(0);
  });
});
