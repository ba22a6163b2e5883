/**
 * Calls of a user with credentials that could block the node (`scenarios/hostileCalls.ts`), WebSocket messages, and REST requests
 * by anyone (`scenarios/hostileRequests.ts`). None of them blocks the event loop for long, and the memory for each is bounded.
 * Only the time in which the event loop's thread ran counts, so that other programs have no effect. LBCNODE_FULL=1 sets the size
 * of a call to the maximum size of a request, HOSTILE_BYTES to another size. HOSTILE_ONLY (a pattern) selects calls.
 * HOSTILE_REPORT names a file to which a line is written for each call.
 */
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { envelopeCalls, generalCalls, specialCalls, type HostileCall } from './scenarios/hostileCalls.js';
import { walletAndSearchCalls } from './scenarios/hostileWalletCalls.js';
import { hostileMessages, hostileRequests } from './scenarios/hostileRequests.js';
import { ADDRESS, freePort, startRegtest, type RegtestNode } from './support/node.js';
import { placeAt, type Place } from './support/rawChain.js';
import { peakBytes, resetPeak } from './support/residentMemory.js';

const { HOSTILE_BYTES, HOSTILE_ONLY, HOSTILE_REPORT } = process.env;
const full = process.env['LBCNODE_FULL'] === '1';
const MIB = 1 << 20;
/** Size of a call that only some methods accept: the maximum size of a request, or a tenth of it. */
const SPECIAL_BYTES = Number(HOSTILE_BYTES ?? (full ? 31_000_000 : 3_000_000));
/** Size of each of the thousands of calls with all values for all parameters. */
const GENERAL_BYTES = Number(HOSTILE_BYTES ?? (full ? 3_000_000 : 400_000));
/** Time limit in which the loop's thread may run without a break, independent of other programs. */
const MOST_HELD_MS = 100;
/** Maximum memory, including garbage. V8 does not collect garbage while there is enough memory. */
const MOST_BYTES = 1500 * MIB;

/** The port that answers as lbcwallet does. */
let walletPort = 0;

interface Hostile {
  readonly name: string;
  /** Resolves with the status and text of the answer. */
  send(node: RegtestNode): Promise<{ status: number; text: string }>;
}

const calls = (made: readonly HostileCall[]): Hostile[] =>
  made.map(({ name, target = 'node', body }) => ({
    name,
    send: async (node) => {
      if (target !== 'wallet') return node.post(body(), target === 'lbcd' ? '/lbcd' : '/');
      const { username, password } = new URL(node.url);
      const response = await fetch(`http://127.0.0.1:${walletPort}/`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${username}:${password}`)}` },
        body: body(),
      });
      return { status: response.status, text: await response.text() };
    },
  }));

const requests = (): Hostile[] =>
  hostileRequests(SPECIAL_BYTES).map(({ name, path, body }) => ({
    name,
    async send({ rpcPort }) {
      const options = body ? { method: 'POST', body: Uint8Array.from(body()) } : {};
      try {
        const response = await fetch(`http://127.0.0.1:${rpcPort}${path}`, options);
        return { status: response.status, text: await response.text() };
      } catch (error) {
        // The server closes the connection after it has refused a body, although the client may still be sending.
        const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
        if (body === undefined || !/^(EPIPE|ECONNRESET|UND_ERR_SOCKET)$/.test(code ?? '')) throw error;
        return { status: 0, text: `closed: ${code}` };
      }
    },
  }));

const messages = (): Hostile[] =>
  hostileMessages().map(({ name, text }) => ({
    name,
    async send({ url }) {
      const socket = new WebSocket(new URL('ws', url.replace(/^http/, 'ws')));
      await once(socket, 'open');
      socket.send(text());
      const [answer] = (await once(socket, 'message')) as [Buffer];
      socket.terminate();
      return { status: 200, text: answer.toString() };
    },
  }));

const GROUPS: [string, (tip: Place) => Hostile[]][] = [
  ['large in whole', () => calls(envelopeCalls(SPECIAL_BYTES))],
  ['large in what a method understands', (tip) => calls(specialCalls(SPECIAL_BYTES, tip))],
  ['large in what wallets and searches understand', () => calls(walletAndSearchCalls(SPECIAL_BYTES))],
  ['large in any parameter', () => calls(generalCalls(GENERAL_BYTES))],
  ['requests of REST', requests],
  // 20 messages of the maximum length.
  ['messages of a WebSocket', messages],
];

// Only Linux reports the time in which a thread ran.
describe.runIf(existsSync('/proc/thread-self/schedstat'))('calls', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lbcnode-heartbeat-'));
  const notes = join(folder, 'held');
  let node: RegtestNode;
  beforeAll(async () => {
    writeFileSync(notes, '');
    walletPort = await freePort();
    const heartbeat = fileURLToPath(new URL('./support/heartbeat.mjs', import.meta.url));
    node = await startRegtest({
      args: [
        '-txindex',
        '-addressindex',
        '-claimindex',
        '-claimsearch',
        '-deprecatedrpc=signrawtransaction',
        '-rpcservertimeout=600',
        '-rest',
        '-ws',
        '-metrics',
        `-walletrpcport=${walletPort}`,
      ],
      env: { NODE_OPTIONS: `--import=${heartbeat}`, HEARTBEAT_FILE: notes },
    });
    await node.rpc('generatetoaddress', [5, ADDRESS]);
  });
  afterAll(async () => {
    await node.stop();
    rmSync(folder, { recursive: true });
  });

  interface Cost {
    readonly heldMs: number;
    readonly peakBytes: number;
  }

  async function costOf({ name, send }: Hostile): Promise<Cost> {
    writeFileSync(notes, '');
    resetPeak(node.pid);
    const began = performance.now();
    const { status, text: answer } = await send(node);
    const tookMs = performance.now() - began;
    // The time for which the loop was blocked is written in its next turn.
    await node.rpc('uptime');
    const held = readFileSync(notes, 'utf8').trim().split('\n');
    const cost: Cost = {
      heldMs: Math.max(0, ...held.filter(Boolean).map((line) => Number(line.split(' ')[1]))),
      peakBytes: peakBytes(node.pid),
    };
    if (HOSTILE_REPORT !== undefined) {
      const figures = [cost.heldMs, tookMs, cost.peakBytes / MIB].map((figure) =>
        figure.toFixed(0).padStart(7),
      );
      const shown = answer.slice(0, 110).replaceAll('\n', ' ');
      appendFileSync(HOSTILE_REPORT, `${figures.join(' ')}  ${name} -> ${status} ${shown}\n`);
    }
    return cost;
  }

  it.each(GROUPS)('with %s do not block the event loop', async (_, make) => {
    const offenders: string[] = [];
    let sent = 0;
    for (const call of make(await placeAt(node))) {
      if (HOSTILE_ONLY !== undefined && !new RegExp(HOSTILE_ONLY).test(call.name)) continue;
      sent++;
      let { heldMs, peakBytes: peak } = await costOf(call);
      // Pauses of the collector or of the machine do not occur each time.
      for (let again = 0; again < 2 && (heldMs > MOST_HELD_MS || peak > MOST_BYTES); again++) {
        const cost = await costOf(call);
        heldMs = Math.min(heldMs, cost.heldMs);
        peak = Math.min(peak, cost.peakBytes);
      }
      if (heldMs > MOST_HELD_MS || peak > MOST_BYTES) {
        offenders.push(`${call.name}: ${heldMs.toFixed()} ms held, ${(peak / MIB).toFixed()} MiB`);
      }
    }
    if (HOSTILE_ONLY === undefined) expect(sent).toBeGreaterThanOrEqual(20);
    expect(offenders).toEqual([]);
  });
});
