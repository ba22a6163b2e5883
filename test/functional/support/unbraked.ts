/**
 * Floods a node by peers and measures an honest peer and an RPC client beside them: the times of the answers and of the honest
 * peer's blocks, and how long the event loop is blocked at a time. All times are those in which the node's thread ran, so that
 * other programs of the machine do not count.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { Flooders } from './flooders.js';
import { addressOf, heightOf, peersOf, startPeer, until } from './network.js';
import { ADDRESS, type RegtestNode } from './node.js';
import { peakWhile } from './residentMemory.js';

const MIB = 1 << 20;
const CONNECTIONS = 20;
/** Maximum heap of the node. Unbounded memory ends the node. */
const HEAP_MIB = 256;
/** Memory limits: of the process, of its heap, and for each peer of bytes read ahead, a chunk, and answers. */
const MOST_BYTES = (150 + HEAP_MIB + CONNECTIONS * 6) * MIB;
/** Time limits: of 99 % of the answers and of all answers, of blocks, and of one iteration of the event loop. */
const P99_MS = 50;
const SLOWEST_MS = 250;
const BLOCK_MS = 1000;
const MOST_HELD_MS = 100;
/** For slower machines the limits are increased by this multiple of the times without a flood, measured in the same minute. */
const TIMES_QUIET = 5;
/** Pauses of the collector or the system are ignored if they do not occur again. */
const ATTEMPTS = 3;
const CALLS = 100;
const full = process.env['LBCNODE_FULL'] === '1';
const ROUNDS = full ? 5 : 2;

export interface UnbrakedOptions {
  /** The node disconnects no peer for these messages, because a disconnect would end the flood. */
  isWhitelisted: boolean;
  args?: readonly string[];
}

interface Figures {
  /** In ascending order. */
  readonly rpcMs: readonly number[];
  /** Times by the clock of the client, only for the report. */
  readonly clockMs: readonly number[];
  readonly blockMs: readonly number[];
  readonly heldMs: number;
}

/** Only Linux reports the time in which a thread ran. */
export const CAN_TELL = existsSync('/proc/thread-self/schedstat');

/** Files that `heartbeat.mjs` writes. */
const HELD = 'held';
const ANSWERS = 'answers';
const ascending = (a: number, b: number): number => a - b;
const share = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!;

export class UnbrakedPeers {
  readonly node: RegtestNode;
  readonly honest: RegtestNode;
  private readonly folder: string;

  private constructor(node: RegtestNode, honest: RegtestNode, folder: string) {
    this.node = node;
    this.honest = honest;
    this.folder = folder;
  }

  /** A node that follows an honest node. Both are stopped together. */
  static async start(
    honest: RegtestNode,
    { isWhitelisted, args = [] }: UnbrakedOptions,
  ): Promise<UnbrakedPeers> {
    const folder = mkdtempSync(join(tmpdir(), 'lbcnode-unbraked-'));
    const [held, answers] = [join(folder, HELD), join(folder, ANSWERS)];
    for (const notes of [held, answers]) writeFileSync(notes, '');
    const heartbeat = fileURLToPath(new URL('./heartbeat.mjs', import.meta.url));
    const node = await startPeer({
      args: [
        `-connect=${addressOf(honest)}`,
        ...(isWhitelisted ? ['-whitelist=127.0.0.1'] : []),
        '-peerbloomfilters=1',
        '-blockfilterindex=1',
        '-peerblockfilters=1',
        ...args,
      ],
      env: {
        NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB} --import=${heartbeat}`,
        HEARTBEAT_FILE: held,
        ANSWERS_FILE: answers,
      },
    });
    const peers = new UnbrakedPeers(node, honest, folder);
    await peers.untilInStep();
    return peers;
  }

  async untilInStep(): Promise<void> {
    const goal = await heightOf(this.honest);
    await until('the first sync', async () => (await heightOf(this.node)) >= goal);
  }

  async stop(): Promise<void> {
    await Promise.all([this.node.stop(), this.honest.stop()]);
    rmSync(this.folder, { recursive: true });
  }

  /** For each line since the last call, the milliseconds in which the thread ran, in ascending order. */
  private takeNotes(name: string): number[] {
    const path = join(this.folder, name);
    const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
    writeFileSync(path, '');
    return lines.map((line) => Number(line.split(' ')[1])).sort(ascending);
  }

  /** Time in which the thread of the node's event loop ran since its start. */
  private ranMs(): number {
    const { pid } = this.node;
    return Number.parseInt(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1'), 10) / 1e6;
  }

  /** Sends requests while blocks arrive one after the other, but at least this number of requests. */
  private async figures(rounds: number): Promise<Figures> {
    const { node, honest } = this;
    for (const name of [HELD, ANSWERS]) this.takeNotes(name);
    const clockMs: number[] = [];
    const blockMs: number[] = [];
    let height = 0;
    let isOver = false;
    const ask = async (): Promise<void> => {
      while (!isOver || clockMs.length < CALLS) {
        const asked = performance.now();
        height = await heightOf(node);
        clockMs.push(performance.now() - asked);
        await sleep(3);
      }
    };
    const asking = ask();
    for (let round = 0; round < rounds; round++) {
      await honest.rpc('generatetoaddress', [1, ADDRESS]);
      const goal = await heightOf(honest);
      const since = this.ranMs();
      while (height < goal) await sleep(2);
      blockMs.push(this.ranMs() - since);
      await sleep(200);
    }
    isOver = true;
    await asking;
    return {
      rpcMs: this.takeNotes(ANSWERS),
      clockMs: clockMs.sort(ascending),
      blockMs: blockMs.sort(ascending),
      heldMs: this.takeNotes(HELD).at(-1) ?? 0,
    };
  }

  private async receivedBytes(): Promise<number> {
    return (await this.node.rpc<{ totalbytesrecv: number }>('getnettotals')).totalbytesrecv;
  }

  /** Floods with the bytes that `make` returns, and expects that no limit is exceeded. */
  async expectToStand(name: string, make: () => Buffer | Promise<Buffer>, reads = true): Promise<void> {
    const complaints: string[] = [];
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const complaint = await this.attempt(name, await make(), reads);
      if (complaint === '') return;
      complaints.push(complaint);
    }
    expect(complaints).toEqual([]);
  }

  /** The limits that were exceeded; empty if there are none. */
  private async attempt(name: string, bytes: Buffer, reads: boolean): Promise<string> {
    const { node } = this;
    const quiet = await this.figures(1);
    const flooders = await Flooders.start({ port: node.p2pPort, connections: CONNECTIONS, bytes, reads });
    await sleep(300);
    const takenBefore = flooders.takenBytes;
    const [receivedBefore, ranBefore] = [await this.receivedBytes(), this.ranMs()];
    let flooded = quiet;
    const peak = await peakWhile(node.pid, async () => {
      flooded = await this.figures(ROUNDS);
    });
    const taken = flooders.takenBytes - takenBefore;
    const [received, ranMs] = [(await this.receivedBytes()) - receivedBefore, this.ranMs() - ranBefore];
    await flooders.stop();
    await this.sendAway();
    const { rpcMs, clockMs, blockMs, heldMs } = flooded;
    const figures = {
      'RPC p99': [share(rpcMs, 0.99), P99_MS + TIMES_QUIET * share(quiet.rpcMs, 0.99)],
      'slowest RPC': [rpcMs.at(-1)!, SLOWEST_MS + TIMES_QUIET * quiet.rpcMs.at(-1)!],
      block: [share(blockMs, 0.5), BLOCK_MS + TIMES_QUIET * quiet.blockMs[0]!],
      'loop held': [heldMs, MOST_HELD_MS],
      MiB: [peak / MIB, MOST_BYTES / MIB],
    } as const;
    const reported = Object.entries(figures).map(
      ([what, [is, most]]) => `${what} ${is.toFixed(1)} (${most.toFixed()})`,
    );
    console.log(
      `${name}: ${(taken / MIB).toFixed(1)} MiB taken, ${(received / MIB).toFixed(2)} read, ${ranMs.toFixed()} ms run; by the clock p50 ${share(clockMs, 0.5).toFixed(1)}, p99 ${share(clockMs, 0.99).toFixed(1)} of ${clockMs.length}; ${reported.join(', ')}`,
    );
    const isFine = Object.values(figures).every(([is, most]) => is <= most);
    return isFine ? '' : reported.join(', ');
  }

  /** Otherwise the node would process bytes of the flood that the system still holds. */
  private async sendAway(): Promise<void> {
    const { node } = this;
    await until('quiet', async () => {
      for (const { id, inbound } of await peersOf(node))
        if (inbound) await node.rpc('disconnectnode', ['', id]).catch(() => undefined);
      return (await peersOf(node)).every(({ inbound }) => !inbound);
    });
  }
}
