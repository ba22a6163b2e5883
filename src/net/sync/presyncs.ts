/**
 * Two-pass header syncs in progress, at most one per peer. Requests the next headers, and ends a sync whose peer does not
 * respond. `headersPresync.ts` implements the passes. Stores no headers in the header table.
 */
import { headerProgress } from '../../chain/progress.js';
import type { ValidationError } from '../../consensus/reject.js';
import { parseHeaderBytes } from '../../primitives/header.js';
import { hashToHex, equalBytes, type Bytes } from '../../util/bytes.js';
import { yieldIfDue } from '../../scheduler/peerQueue.js';
import type { Peer, RandomSource } from '../messageHandler.js';
import { HeadersPresync } from './headersPresync.js';
import type { SyncPeer } from './peerTable.js';
import { askForHeaders, type SyncDeps } from './syncDeps.js';

/** Milliseconds without a response after which a two-pass header sync is aborted. Source: `HEADERS_RESPONSE_TIME`. */
const RESPONSE_LIMIT_MS = 2 * 60 * 1000;
/** Number of headers processed between two yields to the event loop. */
const SLICE_HEADERS = 250;
/** Number of headers between two progress lines in the log. */
const LOG_INTERVAL_HEADERS = 100_000;

/** Consecutive headers of one message. Their proof of work was checked. */
export interface Arrived {
  readonly headers: readonly Buffer[];
  /** Their ids. */
  readonly hashes: readonly Buffer[];
  /** Whether the message had the maximum number of headers, so that more may follow. */
  readonly isFull: boolean;
}

export interface PresyncStep {
  /** Headers that may be stored, in order. */
  readonly ready: readonly Buffer[];
  /** The rule that the peer's chain violates; null if none. */
  readonly error: ValidationError | null;
  /** Total work of the peer's chain if that chain has ended with too little work; otherwise null. */
  readonly weakWork: bigint | null;
}

const NOTHING: PresyncStep = { ready: [], error: null, weakWork: null };

interface RunningSync {
  readonly state: SyncPeer;
  readonly sync: HeadersPresync;
  /** Header id, in the header table, after which the sync began. */
  readonly start: number;
  /** Time of the last request for headers, in milliseconds. */
  askedMs: number;
  loggedHeight: number;
}

export class Presyncs {
  private readonly deps: SyncDeps & { readonly random: RandomSource };
  private readonly running = new Map<number, RunningSync>();
  /** Peers whose two-pass sync was restarted once, because they sent another chain in the second pass. */
  private readonly restarted = new WeakSet<SyncPeer>();

  constructor(deps: SyncDeps & { readonly random: RandomSource }) {
    this.deps = deps;
  }

  /**
   * Starts a sync after the header `start` of the header table. The caller then passes the peer's following headers to
   * `take`.
   */
  begin(state: SyncPeer, start: number): void {
    const { chain, clock, random, log } = this.deps;
    const { index } = chain;
    const height = index.headers.height(start);
    log.debug('net', `Initial headers sync started with peer=${state.peer.id}: height=${height}`);
    const sync = new HeadersPresync({
      beginWalk: () => index.beginWalk(start),
      startHash: Buffer.from(index.headers.hash(start)),
      requiredWork: chain.acceptance.leastBranchWork,
      nowSec: clock.adjustedTimeSec(),
      salt: random.bytes(32),
    });
    this.running.set(state.peer.id, { state, sync, start, askedMs: clock.nowMs(), loggedHeight: height });
    state.isPresyncing = true;
  }

  /** Ends the two-pass sync with the peer, if one is in progress. */
  end(peer: Peer): void {
    const run = this.running.get(peer.id);
    if (!run) return;
    run.state.isPresyncing = false;
    this.running.delete(peer.id);
    if (this.running.size === 0) this.deps.chain.events.emit('progress', null);
  }

  /** Whether headers after `parent` are the headers that the sync has requested from the peer. */
  isAwaiting(peer: Peer, parent: Bytes): boolean {
    const run = this.running.get(peer.id);
    return run !== undefined && equalBytes(run.sync.lastHash, parent);
  }

  /** Whether the peer has exceeded the time limit for a response. */
  isStale(peer: Peer): boolean {
    const run = this.running.get(peer.id);
    return run !== undefined && this.deps.clock.nowMs() - run.askedMs > RESPONSE_LIMIT_MS;
  }

  /** Extends the time limits of all syncs by `ms`, a period in which this node read no messages. */
  excuse(ms: number): void {
    for (const run of this.running.values()) run.askedMs += ms;
  }

  /** Approximate memory usage of all syncs, in bytes. */
  get usageBytes(): number {
    let sum = 0;
    for (const { sync } of this.running.values()) sum += sync.usageBytes;
    return sum;
  }

  /** Processes headers that the sync requested, and requests more. */
  async take({ peer }: SyncPeer, { headers, hashes, isFull }: Arrived): Promise<PresyncStep> {
    const run = this.running.get(peer.id);
    if (!run) return NOTHING;
    run.askedMs = this.deps.clock.nowMs();
    const { sync } = run;
    let since = performance.now();
    for (const [i, header] of headers.entries()) {
      const fault = sync.take(header, hashes[i]!);
      if (fault) {
        this.end(peer);
        return this.refuse(peer, run, fault);
      }
      if (i % SLICE_HEADERS !== SLICE_HEADERS - 1) continue;
      since = await yieldIfDue(since, peer);
      if (peer.isGone) return NOTHING;
    }
    const { phase, walkedWork } = sync;
    const ready = sync.endMessage(isFull);
    if (sync.phase === 'done') {
      this.end(peer);
      this.deps.log.debug(
        'net',
        `Initial headers sync with peer=${peer.id} ended (${phase} phase, ${ready.length} headers in the last step)`,
      );
      return { ...NOTHING, ready, weakWork: phase === 'presync' ? walkedWork : null };
    }
    this.ask(peer, run);
    if (sync.phase === 'presync') this.tell(peer, run, headers.at(-1)!);
    return { ...NOTHING, ready };
  }

  private refuse(
    peer: Peer,
    { state, sync, start }: RunningSync,
    fault: NonNullable<ReturnType<HeadersPresync['take']>>,
  ): PresyncStep {
    const { log } = this.deps;
    const why =
      fault.kind === 'invalid'
        ? `invalid header (${fault.error.reason})`
        : fault.kind === 'tooLong'
          ? 'more headers than the time since the genesis block allows'
          : 'a different chain than before';
    log.debug('net', `Initial headers sync aborted with peer=${peer.id}: ${why} at height=${sync.height}`);
    if (fault.kind === 'invalid') return { ...NOTHING, error: fault.error };
    if (fault.kind === 'changed' && !this.restarted.has(state)) this.restart(state, start);
    else peer.disconnect(`its headers are ${why}`);
    return NOTHING;
  }

  /**
   * Restarts the sync with a peer that sent another chain in the second pass. A reorg of the peer between the passes can
   * cause this, but hardly twice.
   */
  private restart(state: SyncPeer, start: number): void {
    this.restarted.add(state);
    this.begin(state, start);
    this.ask(state.peer, this.running.get(state.peer.id)!);
  }

  private ask(peer: Peer, run: RunningSync): void {
    const { headerChain, clock } = this.deps;
    run.askedMs = clock.nowMs();
    const { lastHash } = run.sync;
    const behind = headerChain.locator(run.start);
    askForHeaders(peer, equalBytes(lastHash, behind[0]!) ? behind : [lastHash, ...behind]);
  }

  private tell(peer: Peer, run: RunningSync, last: Buffer): void {
    const { chain, clock, params } = this.deps;
    const { height, lastHash } = run.sync;
    const { timeSec } = parseHeaderBytes(last);
    const network = { nowSec: clock.adjustedTimeSec(), targetSpacingSec: params.targetSpacingSec };
    chain.events.emit('progress', headerProgress('Checking headers', { height, timeSec }, network));
    if (height - run.loggedHeight < LOG_INTERVAL_HEADERS) return;
    run.loggedHeight = height;
    this.deps.log.info(
      `Pre-synchronizing block headers, height: ${height} (peer=${peer.id}, ${hashToHex(lastHash)})`,
    );
  }
}
