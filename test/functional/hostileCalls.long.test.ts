/**
 * Calls by somebody with credentials who wants the node to stand still (`scenarios/hostileCalls.ts`): none of them holds
 * the event loop for long, whatever it says, and what it takes of memory is bounded. The loop tells for itself how long
 * it was held, by the time in which its thread ran: what other programs take of the machine does not count.
 *
 * With HOSTILE_BYTES the calls are larger (31000000 is what a request may be), with HOSTILE_ONLY (a pattern) only some
 * are made, and HOSTILE_REPORT names a file that gets a line for each.
 */
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { envelopeCalls, generalCalls, specialCalls, type HostileCall } from './scenarios/hostileCalls.js';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';
import { peakBytes, resetPeak } from './support/residentMemory.js';

const { HOSTILE_BYTES, HOSTILE_ONLY, HOSTILE_REPORT } = process.env;
const MIB = 1 << 20;
/** Of a request that only some methods understand; a tenth of what it may be. */
const SPECIAL_BYTES = Number(HOSTILE_BYTES ?? 3_000_000);
/** Of each of the thousands that all parameters of all methods get. */
const GENERAL_BYTES = Number(HOSTILE_BYTES ?? 400_000);
/** The goal is 100 ms; the rest is for slow machines. */
const MOST_HELD_MS = 300;
/** Garbage included, which the collector leaves as long as there is memory. */
const MOST_BYTES = 1500 * MIB;

const GROUPS: [string, () => HostileCall[]][] = [
  ['large in whole', () => envelopeCalls(SPECIAL_BYTES)],
  ['large in what a method understands', () => specialCalls(SPECIAL_BYTES)],
  ['large in any parameter', () => generalCalls(GENERAL_BYTES)],
];

// The time in which a thread ran is Linux's to tell.
describe.runIf(existsSync('/proc/thread-self/schedstat'))('calls', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lbcnode-heartbeat-'));
  const notes = join(folder, 'held');
  let node: RegtestNode;
  beforeAll(async () => {
    writeFileSync(notes, '');
    const heartbeat = fileURLToPath(new URL('./support/heartbeat.mjs', import.meta.url));
    node = await startRegtest({
      args: ['-txindex', '-addressindex', '-deprecatedrpc=signrawtransaction', '-rpcservertimeout=600'],
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

  async function costOf({ name, body }: HostileCall): Promise<Cost> {
    const text = body();
    writeFileSync(notes, '');
    resetPeak(node.pid);
    const began = performance.now();
    const { status, text: answer } = await node.post(text);
    const tookMs = performance.now() - began;
    // What the loop was held is noted in its next turn.
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

  it.each(GROUPS)('that are %s do not hold the event loop', async (_, make) => {
    const offenders: string[] = [];
    let calls = 0;
    for (const call of make()) {
      if (HOSTILE_ONLY !== undefined && !new RegExp(HOSTILE_ONLY).test(call.name)) continue;
      calls++;
      const { heldMs, peakBytes: peak } = await costOf(call);
      if (heldMs > MOST_HELD_MS || peak > MOST_BYTES) {
        offenders.push(`${call.name}: ${heldMs.toFixed()} ms held, ${(peak / MIB).toFixed()} MiB`);
      }
    }
    if (HOSTILE_ONLY === undefined) expect(calls).toBeGreaterThan(20);
    expect(offenders).toEqual([]);
  });
});
