/**
 * Fuzzing a running node through its socket: several connections at once that send random messages, whole and mutated.
 * The node lives on, its memory does not grow, and it follows an honest peer meanwhile.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Random } from '../differential/support.js';
import { addressOf, startPeer, until, untilSameTip } from '../functional/support/network.js';
import { ADDRESS, type RegtestNode } from '../functional/support/node.js';
import { frame, RawPeer } from '../functional/support/rawPeer.js';
import { residentBytes } from '../functional/support/residentMemory.js';
import { mutateBytes, noise } from './support/mutate.js';
import { randomMessage } from './support/netMessages.js';

const CONNECTIONS = 8;
const MESSAGES = 40_000;
/** Number of messages of a connection before another replaces it, unless it is disconnected earlier. */
const MESSAGES_EACH = 400;
const ROUNDS = 8;
const MIB = 1 << 20;

let node: RegtestNode;
let honest: RegtestNode;
beforeAll(async () => {
  honest = await startPeer();
  await honest.rpc('generatetoaddress', [110, ADDRESS]);
  // It comes back when it was too slow: on regtest a block may take no longer than a second.
  node = await startPeer({ args: [`-connect=${addressOf(honest)}`] });
  await untilSameTip([node, honest]);
});
afterAll(async () => {
  await Promise.all([node.stop(), honest.stop()]);
});

/** One message as bytes on the stream: sound, or damaged in its payload, or as a whole. */
function bytesOf(random: Random): Buffer {
  const { command, payload } = randomMessage(random);
  switch (random.below(10)) {
    case 0:
      return frame(command, noise(random, 500));
    case 1:
      return frame(command, payload.subarray(0, random.below(payload.length + 1)));
    case 2:
      // The stream is likely useless from here on.
      return random.chance(40) ? mutateBytes(random, frame(command, payload)) : frame(command, payload);
    case 3:
      return frame(random.pick(['x', 'constructor', '__proto__', 'alert']), noise(random, 100));
    case 4:
    case 5:
      return frame(command, payload);
    default:
      return frame(command, mutateBytes(random, payload, randomMessage(random).payload));
  }
}

/** Sends so many messages over one connection after another; answers how many were handled or refused. */
async function attack(seed: number, count: number): Promise<{ sent: number; connections: number }> {
  const random = new Random(seed);
  let [sent, connections] = [0, 0];
  while (sent < count) {
    const peer = await (random.chance(10) ? RawPeer.open(node.p2pPort) : RawPeer.greet(node.p2pPort));
    connections++;
    for (let i = 0; i < MESSAGES_EACH && sent < count && !peer.isClosed; i++) {
      await peer.flood(bytesOf(random));
      sent++;
      peer.inbox.length = 0;
    }
    // The last messages are processed too before the connection ends, unless the stream is cut or the peer is disconnected.
    if (!peer.isClosed) {
      peer.send('ping', Buffer.alloc(8, 1));
      const end = Date.now() + 2000;
      const isAnswered = (): boolean => peer.inbox.some(({ command }) => command === 'pong');
      while (!peer.isClosed && !isAnswered() && Date.now() < end)
        await new Promise((go) => setTimeout(go, 5));
    }
    peer.close();
  }
  return { sent, connections };
}

it('survives, follows the honest peer, and frees its memory', async () => {
  const sizes: number[] = [];
  let total = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const share = MESSAGES / ROUNDS / CONNECTIONS;
    const attackers = Array.from({ length: CONNECTIONS }, (_, i) =>
      attack(round * CONNECTIONS + i + 1, share),
    );
    await honest.rpc('generatetoaddress', [10, ADDRESS]);
    await untilSameTip([node, honest]);
    const done = await Promise.all(attackers);
    total += done.reduce((sum, { sent }) => sum + sent, 0);
    await until(
      'the end of all but the honest one',
      async () => (await node.rpc('getconnectioncount')) === 1,
    );
    sizes.push(Math.round(residentBytes(node.pid) / MIB));
  }
  console.log(`${total} messages; resident after each round: ${sizes.join(', ')} MiB`);
  expect(total).toBe(MESSAGES);
  expect(await node.rpc('getblockcount')).toBe(110 + 10 * ROUNDS);
  expect(node.output()).not.toMatch(/fatal internal error|AssertionError|TypeError/);
  // The code warms up and caches fill in the first rounds; from then on nothing is added but what the collector leaves.
  expect(sizes.at(-1)! - sizes[2]!).toBeLessThan(64);
});
