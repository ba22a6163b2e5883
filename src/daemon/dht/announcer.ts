/**
 * Announces blobs to the DHT when their announcement is due. Source: lbry-sdk lbry/dht/blob_announcer.py `BlobAnnouncer`.
 */
import { sleep, type Clock } from '../base/clock.js';
import type { Announced } from './node.js';
import { RequestFailure } from './rpc.js';

/** Pause in ms before each round of announcements. */
const ROUND_MS = 60_000;
/** Number of blobs that are announced in a round, for each concurrent announcement. Source: `get_blobs_to_announce`. */
const BLOBS_PER_TASK = 10;
/** Maximum number of concurrent announcements; a higher number in the settings has no effect. Arbitrary: bounds the memory. */
const MAX_TASKS = 1000;
/** Number of accepting nodes that is sufficient if not all nodes accept. Source: `_run_consumer`. */
const ENOUGH = 5;

export interface AnnouncerDeps {
  readonly clock: Clock;
  readonly node: {
    joined(): Promise<void>;
    readonly isJoined: boolean;
    announce(hash: Buffer): Promise<Announced>;
  };
  /** Returns the hashes (hexadecimal digits) whose announcement is due, the longest waiting first. */
  readonly due: (limit: number) => Promise<readonly string[]>;
  /** Records the current time as that of the last announcement of the hashes. */
  readonly noteAnnounced: (hashes: readonly string[]) => Promise<void>;
  /** Number of concurrent announcements; 0 for none. Called before each round. */
  readonly concurrency: () => number;
  readonly warn: (text: string) => void;
}

export class Announcer {
  readonly #deps: AnnouncerDeps;
  readonly #stopping = new AbortController();
  #queue: string[] = [];
  #ended: Promise<void> = Promise.resolve();

  constructor(deps: AnnouncerDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#ended = this.#run();
  }

  /** Stops announcing, and records the announcements that are complete. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }

  /** Number of blobs that wait for their announcement in the current round. */
  get queueSize(): number {
    return this.#queue.length;
  }

  /** Runs the rounds. The next round follows without a pause if blobs remain and at least one was announced. */
  async #run(): Promise<void> {
    const { clock, node } = this.#deps;
    const { signal } = this.#stopping;
    const stopped = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve());
    });
    let isMore = false;
    while (!signal.aborted) {
      await Promise.race([node.joined(), stopped]);
      if (!isMore && !(await sleep(clock, ROUND_MS, signal))) return;
      isMore = node.isJoined && (await this.#roundOrWarning());
    }
  }

  async #roundOrWarning(): Promise<boolean> {
    try {
      return await this.#round();
    } catch (error) {
      this.#queue = [];
      this.#deps.warn(`Blobs could not be announced: ${(error as Error).message}`);
      return false;
    }
  }

  async #round(): Promise<boolean> {
    const { due, noteAnnounced, concurrency } = this.#deps;
    const tasks = Math.min(concurrency(), MAX_TASKS);
    if (tasks < 1) return false;
    const limit = tasks * BLOBS_PER_TASK;
    const hashes = await due(limit);
    this.#queue = [...hashes];
    const announced: string[] = [];
    await Promise.all(
      Array.from({ length: Math.min(tasks, hashes.length) }, () => this.#announceAll(announced)),
    );
    if (announced.length > 0) await noteAnnounced(announced);
    return hashes.length === limit && announced.length > 0;
  }

  async #announceAll(announced: string[]): Promise<void> {
    const { node } = this.#deps;
    while (!this.#stopping.signal.aborted) {
      const hash = this.#queue.shift();
      if (hash === undefined) return;
      try {
        if (isAnnounced(await node.announce(Buffer.from(hash, 'hex')))) announced.push(hash);
      } catch (error) {
        if (!(error instanceof RequestFailure)) throw error;
      }
    }
  }
}

/**
 * Whether a blob counts as announced: all found nodes (at least one) accepted the announcement, or more than four nodes did.
 * So a single refusing node does not cause repeated announcements. QUIRK: lbry-sdk always requires five, so in a small
 * network it announces each blob every minute.
 */
export const isAnnounced = ({ found, accepted }: Announced): boolean =>
  accepted > 0 && (accepted === found || accepted >= ENOUGH);
