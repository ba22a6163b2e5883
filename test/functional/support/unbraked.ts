/**
 * Peers without brakes beside an honest one and someone who asks by RPC: how long the answers and the honest peer's blocks
 * take, and how long the event loop is held at a time. All of it in the time in which the node's thread ran: so nothing
 * counts that other programs take of the machine, and where the node has a processor for itself it is the time by the clock.
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
/** The heap that the node gets: what is not bounded ends it. */
const HEAP_MIB = 256;
/** What may be held: the process, its heap, and of each peer what is read ahead, a chunk, and answers. */
const MOST_BYTES = (150 + HEAP_MIB + CONNECTIONS * 6) * MIB;
/** The goals: answers, in a hundred and all of them, blocks, and one turn of the loop. */
const P99_MS = 50;
const SLOWEST_MS = 250;
const BLOCK_MS = 1000;
const MOST_HELD_MS = 100;
/** For machines that are slower: so many times what it takes in the same minute without a flood may be added. */
const TIMES_QUIET = 5;
/** What the collector did, or the system, is not met each time. */
const ATTEMPTS = 3;
const CALLS = 100;
const full = process.env['LBCNODE_FULL'] === '1';
const ROUNDS = full ? 5 : 2;

export interface UnbrakedOptions {
  /** No one is disconnected for what it says then, which would be a way out. */
  isWhitelisted: boolean;
  args?: readonly string[];
}

interface Figures {
  /** In ascending order. */
  readonly rpcMs: readonly number[];
  /** By the clock of who asks, for the report alone. */
  readonly clockMs: readonly number[];
  readonly blockMs: readonly number[];
  readonly heldMs: number;
}

/** The time in which a thread ran is Linux's to tell. */
export const CAN_TELL = existsSync('/proc/thread-self/schedstat');

/** Files of notes. */
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

  /** A node that follows an honest one, which is stopped with it. */
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

  /** Milliseconds in which the thread ran, of each line since the last call, in ascending order. */
  private takeNotes(name: string): number[] {
    const path = join(this.folder, name);
    const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
    writeFileSync(path, '');
    return lines.map((line) => Number(line.split(' ')[1])).sort(ascending);
  }

  /** How long the thread of the node's loop ran since it began. */
  private ranMs(): number {
    const { pid } = this.node;
    return Number.parseInt(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1'), 10) / 1e6;
  }

  /** Asks as long as blocks come, of which it waits for each, and so many times at least. */
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

  /** Floods with what `make` gives, and expects that no one is kept waiting. */
  async expectToStand(name: string, make: () => Buffer | Promise<Buffer>, reads = true): Promise<void> {
    const complaints: string[] = [];
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const complaint = await this.attempt(name, await make(), reads);
      if (complaint === '') return;
      complaints.push(complaint);
    }
    expect(complaints).toEqual([]);
  }

  /** What took too long or too much; empty when nothing did. */
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
    const told = Object.entries(figures).map(
      ([what, [is, most]]) => `${what} ${is.toFixed(1)} (${most.toFixed()})`,
    );
    console.log(
      `${name}: ${(taken / MIB).toFixed(1)} MiB taken, ${(received / MIB).toFixed(2)} read, ${ranMs.toFixed()} ms run; by the clock p50 ${share(clockMs, 0.5).toFixed(1)}, p99 ${share(clockMs, 0.99).toFixed(1)} of ${clockMs.length}; ${told.join(', ')}`,
    );
    const isFine = Object.values(figures).every(([is, most]) => is <= most);
    return isFine ? '' : told.join(', ');
  }

  /** What the system still holds of theirs would be handled else. */
  private async sendAway(): Promise<void> {
    const { node } = this;
    await until('quiet', async () => {
      for (const { id, inbound } of await peersOf(node))
        if (inbound) await node.rpc('disconnectnode', ['', id]).catch(() => undefined);
      return (await peersOf(node)).every(({ inbound }) => !inbound);
    });
  }
}
