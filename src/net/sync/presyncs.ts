/**
 * The syncs in two passes that are under way, one a peer at most: asks for what each needs next, and ends those that get
 * no answer. The passes themselves are in headersPresync.ts. Keeps nothing of a peer's chain in the table of headers.
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

/** A peer that has not answered for so long is asked from the beginning. Source: `HEADERS_RESPONSE_TIME`. */
const RESPONSE_LIMIT_MS = 2 * 60 * 1000;
/** Headers taken in one turn of the loop. */
const SLICE_HEADERS = 250;
/** Notified of in the log every so often. */
const LOG_INTERVAL_HEADERS = 100_000;

/** Headers of one message, in a row, whose work was checked. */
export interface Arrived {
  readonly headers: readonly Buffer[];
  /** Their ids. */
  readonly hashes: readonly Buffer[];
  /** Whether the message was full, so that there may be more. */
  readonly isFull: boolean;
}

export interface PresyncStep {
  /** Headers that may be kept, in order. */
  readonly ready: readonly Buffer[];
  /** The chain breaks a rule. */
  readonly error: ValidationError | null;
  /** The peer's chain has ended, and this is all its work: too little. Null otherwise. */
  readonly weakWork: bigint | null;
}

const NOTHING: PresyncStep = { ready: [], error: null, weakWork: null };

interface RunningSync {
  readonly state: SyncPeer;
  readonly sync: HeadersPresync;
  /** The header of the table behind which it began. */
  readonly start: number;
  /** When the peer was asked last. */
  askedMs: number;
  loggedHeight: number;
}

export class Presyncs {
  private readonly deps: SyncDeps & { readonly random: RandomSource };
  private readonly running = new Map<number, RunningSync>();
  /** Whose chain was another one at the second fetching, and was looked at again. */
  private readonly restarted = new WeakSet<SyncPeer>();

  constructor(deps: SyncDeps & { readonly random: RandomSource }) {
    this.deps = deps;
  }

  /** Begins one behind a header of the table; the peer's headers that follow are to be handed to `take`. */
  begin(state: SyncPeer, start: number): void {
    const { chain, clock, random, log } = this.deps;
    const { index } = chain;
    const height = index.headers.height(start);
    log.debug('net', `Initial headers sync started with peer=${state.peer.id}: height=${height}`);
    const sync = new HeadersPresync({
      beginWalk: () => index.beginWalk(start),
      startHash: Buffer.from(index.headers.hash(start)),
      requiredWork: chain.leastBranchWork,
      nowSec: clock.adjustedTimeSec(),
      salt: random.bytes(32),
    });
    this.running.set(state.peer.id, { state, sync, start, askedMs: clock.nowMs(), loggedHeight: height });
    state.isPresyncing = true;
  }

  /** Forgets what is under way with the peer, if anything. */
  end(peer: Peer): void {
    const run = this.running.get(peer.id);
    if (!run) return;
    run.state.isPresyncing = false;
    this.running.delete(peer.id);
    if (this.running.size === 0) this.deps.chain.events.emit('progress', null);
  }

  /** Whether headers that follow `parent` are what the peer was asked for. */
  isAwaiting(peer: Peer, parent: Bytes): boolean {
    const run = this.running.get(peer.id);
    return run !== undefined && equalBytes(run.sync.lastHash, parent);
  }

  /** Whether the peer owes an answer for too long. */
  isStale(peer: Peer): boolean {
    const run = this.running.get(peer.id);
    return run !== undefined && this.deps.clock.nowMs() - run.askedMs > RESPONSE_LIMIT_MS;
  }

  /** Extends deadlines by the time in which nothing was read. */
  excuse(ms: number): void {
    for (const run of this.running.values()) run.askedMs += ms;
  }

  /** About how much memory all take. */
  get usageBytes(): number {
    let sum = 0;
    for (const { sync } of this.running.values()) sum += sync.usageBytes;
    return sum;
  }

  /** Takes what the peer was asked for, and asks for more. */
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
          ? 'more headers than there can be'
          : 'another chain than before';
    log.debug('net', `Initial headers sync aborted with peer=${peer.id}: ${why} at height=${sync.height}`);
    if (fault.kind === 'invalid') return { ...NOTHING, error: fault.error };
    if (fault.kind === 'changed' && !this.restarted.has(state)) this.restart(state, start);
    else peer.disconnect(`its headers are ${why}`);
    return NOTHING;
  }

  /**
   * Begins again with a peer that brought another chain. Where the work sufficed just at its tip, a reorganisation
   * between the two fetchings changes what was compared; it hardly does so twice.
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
