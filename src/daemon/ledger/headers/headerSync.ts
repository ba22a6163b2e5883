/**
 * Syncs the headers with a hub. Switches to the hub's branch after a fork if it has more work. Headers from a hub are
 * checked before they are accepted. Source of the calls: lbry-sdk lbry/wallet/ledger.py `update_headers`.
 */
import { inflateRawSync } from 'node:zlib';
import { headerHash, HEADER_SIZE_BYTES } from '../../../primitives/header.js';
import { fromHex, isHex } from '../../../util/bytes.js';
import { HubGone, HubLie } from '../hub/hubErrors.js';
import type { HubSession } from '../hub/hubSession.js';
import { BadHeader, type LedgerHeaders } from './ledgerHeaders.js';

/** Number of headers per request; hubs send up to 40,960. */
const AT_ONCE = 2000;
/**
 * Maximum number of headers that a fork may replace. Arbitrary: more than two weeks of the main chain. A deeper fork has
 * another cause.
 */
const MAX_FORK_DEPTH = 10_000;

export interface HubTip {
  readonly height: number;
  readonly header: Buffer;
}

/** Position of a hub relative to the headers after a sync. */
export type HubStanding =
  /** The tip of the hub is the tip of the chain here. */
  | 'level'
  /** The tip of the hub is below the local tip, on the same chain. */
  | 'behind'
  /** The hub is on a branch with less work than the chain here. */
  | 'weaker';

/** Parses the result of `blockchain.headers.subscribe`. Throws `HubLie`. */
export function parseTip(session: HubSession, value: unknown): HubTip {
  const { hex, height } = (value ?? {}) as { hex?: unknown; height?: unknown };
  const isHeader = typeof hex === 'string' && hex.length === HEADER_SIZE_BYTES * 2 && isHex(hex);
  if (!isHeader || !Number.isSafeInteger(height) || (height as number) < 0)
    throw new HubLie(`The hub ${session.name} sent an invalid header`);
  return { height: height as number, header: fromHex(hex) };
}

export interface HeaderUser {
  /** Replaces the headers above the fork. `accept` stores the new headers. */
  replace(forkHeight: number, accept: () => void): Promise<void>;
  /** Called with the new height after each accepted group of headers. */
  grew(height: number): void;
}

export class HeaderSync {
  readonly #chain: LedgerHeaders;
  readonly #user: HeaderUser;

  constructor(chain: LedgerHeaders, user: HeaderUser) {
    this.#chain = chain;
    this.#user = user;
  }

  async subscribe(session: HubSession): Promise<HubTip> {
    return parseTip(session, await session.call('blockchain.headers.subscribe', [true]));
  }

  /** Syncs the headers up to the tip of a hub. Throws `HubLie` and `HubGone`. */
  async follow(session: HubSession, tip: HubTip): Promise<HubStanding> {
    try {
      return await this.#follow(session, tip);
    } catch (error) {
      if (error instanceof BadHeader)
        throw new HubLie(`The hub ${session.name} sent invalid data: ${error.message}`);
      throw error;
    }
  }

  async #follow(session: HubSession, tip: HubTip): Promise<HubStanding> {
    const chain = this.#chain;
    const ours = chain.hashAt(tip.height);
    const theirs = headerHash(tip.header);
    if (ours?.equals(theirs)) return tip.height === chain.height ? 'level' : 'behind';
    const isNext =
      tip.height === chain.height + 1 && tip.header.subarray(4, 36).equals(chain.hashAt(chain.height)!);
    if (isNext) return this.#acceptNext(tip);
    const start = await this.#forkHeight(session, tip.height);
    let headers: Buffer = Buffer.alloc(0);
    let work = 0n;
    const needed = chain.workAbove(start);
    const isFork = start < chain.height;
    const next = (): number => start + 1 + headers.length / HEADER_SIZE_BYTES;
    while (next() <= tip.height) {
      const more = await this.#headers(session, next(), Math.min(AT_ONCE, tip.height - next() + 1));
      if (more.length === 0) break;
      work += await chain.check({ forkHeight: start, headers }, more);
      headers = Buffer.concat([headers, more]);
      if (work <= needed && next() - start > MAX_FORK_DEPTH + AT_ONCE)
        throw new HubLie(`The hub ${session.name} sent a long branch of headers with very little work`);
      // A branch with the same work as the chain is also accepted, so that the headers match the address histories of this
      // hub.
      const isWhole = next() > tip.height;
      if (work < needed || (work === needed && !isWhole)) continue;
      const accept = (): void => chain.accept({ forkHeight: start, headers });
      if (isFork) await this.#user.replace(start, accept);
      else accept();
      this.#user.grew(chain.height);
      await this.#extend(session, tip.height);
      return 'level';
    }
    return 'weaker';
  }

  async #acceptNext(tip: HubTip): Promise<HubStanding> {
    const branch = { forkHeight: tip.height - 1, headers: Buffer.alloc(0) };
    await this.#chain.check(branch, tip.header);
    this.#chain.accept({ ...branch, headers: tip.header });
    this.#user.grew(tip.height);
    return 'level';
  }

  async #extend(session: HubSession, height: number): Promise<void> {
    while (this.#chain.height < height) {
      const from = this.#chain.height + 1;
      const more = await this.#headers(session, from, Math.min(AT_ONCE, height - from + 1));
      // The hub has fewer headers than its tip had before: it may have reorganised during the sync. In that case it sends
      // a notification of the new tip.
      if (more.length === 0) return;
      const branch = { forkHeight: from - 1, headers: Buffer.alloc(0) };
      await this.#chain.check(branch, more);
      this.#chain.accept({ ...branch, headers: more });
      this.#user.grew(this.#chain.height);
    }
  }

  /** Height of the last header that the local chain and the hub's chain have in common. */
  async #forkHeight(session: HubSession, theirHeight: number): Promise<number> {
    const chain = this.#chain;
    const top = Math.min(chain.height, theirHeight);
    let below = top + 1;
    for (let step = 1; ; step *= 4) {
      const from = Math.max(0, below - step);
      const headers = await this.#headers(session, from, below - from);
      if (headers.length !== (below - from) * HEADER_SIZE_BYTES)
        throw new HubGone(`The hub ${session.name} does not have the headers that it announced`);
      for (let height = below - 1; height >= from; height--) {
        const at = (height - from) * HEADER_SIZE_BYTES;
        if (chain.headerAt(height)!.equals(headers.subarray(at, at + HEADER_SIZE_BYTES))) return height;
      }
      if (from === 0)
        throw new HubLie(
          `The hub ${session.name} sent invalid data: its first header belongs to another chain`,
        );
      if (top - from > MAX_FORK_DEPTH)
        throw new HubLie(
          `The hub ${session.name} is on a branch that began more than ${MAX_FORK_DEPTH} blocks ago`,
        );
      below = from;
    }
  }

  async #headers(session: HubSession, start: number, count: number): Promise<Buffer> {
    const answer = await session.call('blockchain.block.headers', [start, count, 0, true]);
    const { base64 } = (answer ?? {}) as { base64?: unknown };
    if (typeof base64 !== 'string') throw new HubLie(`The hub ${session.name} sent no headers`);
    if (base64 === '') return Buffer.alloc(0);
    let headers: Buffer;
    try {
      const maxOutputLength = count * HEADER_SIZE_BYTES;
      headers = inflateRawSync(Buffer.from(base64, 'base64'), { maxOutputLength });
    } catch {
      throw new HubLie(`The hub ${session.name} sent invalid headers, or too many`);
    }
    if (headers.length % HEADER_SIZE_BYTES !== 0)
      throw new HubLie(`The hub ${session.name} sent truncated headers`);
    return headers;
  }
}
