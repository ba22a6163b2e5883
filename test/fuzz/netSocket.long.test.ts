/**
 * Fuzzes a running node through its socket: several connections send random valid and mutated messages at the same time. The node
 * must not end, its memory must not grow, and it must follow an honest peer meanwhile.
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
  // With -connect the node reconnects if it disconnected the peer. On regtest it disconnects a peer that needs more than a second
  // for a block.
  node = await startPeer({ args: [`-connect=${addressOf(honest)}`] });
  await untilSameTip([node, honest]);
});
afterAll(async () => {
  await Promise.all([node.stop(), honest.stop()]);
});

/** One message as bytes of the stream: valid, with a corrupt payload, or corrupt as a whole. */
function bytesOf(random: Random): Buffer {
  const { command, payload } = randomMessage(random);
  switch (random.below(10)) {
    case 0:
      return frame(command, noise(random, 500));
    case 1:
      return frame(command, payload.subarray(0, random.below(payload.length + 1)));
    case 2:
      // A corrupt header most likely ends the connection, so it is rare.
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

/** Sends this number of messages over consecutive connections. Returns the numbers of sent messages and of connections. */
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
    // A ping makes sure that the last messages were processed before the connection ends, unless the peer was disconnected.
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
  // In the first rounds V8 compiles code and caches fill. After that, memory must not grow except for uncollected garbage.
  expect(sizes.at(-1)! - sizes[2]!).toBeLessThan(64);
});
