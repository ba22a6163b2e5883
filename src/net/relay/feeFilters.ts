/**
 * Minimum fee rates of transaction announcements (BIP133): the rates that peers requested, and the rate that this node
 * requests. The latter is the minimum fee rate of the mempool, rounded and sent with a delay. Source: Core
 * net_processing.cpp `ProcessMessage` (feefilter), `SendMessages`.
 */
import { isMoneyRange } from '../../consensus/limits.js';
import type { RelaySource } from '../../mempool/mempoolReader.js';
import type { Logger } from '../../util/logging.js';
import type { FeeFilterMessage } from '../messages/feefilter.js';
import type { MessageHandler, Peer, PeerStateInfo, RandomSource } from '../messageHandler.js';
import { FeeRounder } from './feeRounder.js';
import { poissonNextMs } from './poisson.js';
import { forcesRelay, type RelayOptions } from './relayOptions.js';

export interface FeeFilterOptions extends RelayOptions {
  /** `-feefilter`. */
  readonly sendsFeeFilters: boolean;
  /** Minimum fee rate of relayed transactions (`-minrelaytxfee`), in satoshis per 1,000 virtual bytes. */
  readonly minRelayFeeRatePerKb: bigint;
}

export interface FeeFilterDeps {
  readonly mempool: Pick<RelaySource, 'rollingFeeRatePerKb'>;
  readonly random: RandomSource;
  readonly log: Logger;
}

interface PeerFees {
  /** Minimum fee rate that the peer requested. */
  wantedRatePerKb: bigint;
  /** Minimum fee rate that this node sent to the peer. */
  sentRatePerKb: bigint;
  nextSendMs: number;
}

/** Minimum protocol version of peers that understand feefilter. */
const FEEFILTER_VERSION = 70_013;
const SEND_INTERVAL_MS = 10 * 60_000;
/** Maximum delay in seconds of a feefilter message after a large change of the rate. */
const CHANGE_DELAY_SEC = 5 * 60;
/**
 * Minimum relay fee rate of a node with default options. It does not depend on this node's options, so that all nodes use
 * the same rounding steps. Source: `DEFAULT_MIN_RELAY_TX_FEE`.
 */
const DEFAULT_FEE_RATE_PER_KB = 1000n;

export class FeeFilters implements MessageHandler {
  readonly handlers = {
    feefilter: (peer: Peer, message: FeeFilterMessage) => this.onFeeFilter(peer, message),
  };
  private readonly options: FeeFilterOptions;
  private readonly deps: FeeFilterDeps;
  private readonly rounder: FeeRounder;
  private readonly states = new Map<Peer, PeerFees>();

  constructor(options: FeeFilterOptions, deps: FeeFilterDeps) {
    this.options = options;
    this.deps = deps;
    this.rounder = new FeeRounder(DEFAULT_FEE_RATE_PER_KB, deps.random);
  }

  /** Minimum fee rate of transactions announced to the peer, satoshis per 1,000 virtual bytes. */
  rateOf(peer: Peer): bigint {
    return this.states.get(peer)?.wantedRatePerKb ?? 0n;
  }

  onReady(peer: Peer): void {
    this.states.set(peer, { wantedRatePerKb: 0n, sentRatePerKb: 0n, nextSendMs: 0 });
  }

  onGone(peer: Peer): void {
    this.states.delete(peer);
  }

  describe(peer: Peer): Partial<PeerStateInfo> {
    return { minFeeFilterRatePerKb: this.rateOf(peer) };
  }

  private onFeeFilter(peer: Peer, { feeRatePerKb }: FeeFilterMessage): void {
    const state = this.states.get(peer);
    if (!state || !isMoneyRange(feeRatePerKb)) return;
    state.wantedRatePerKb = feeRatePerKb;
    this.deps.log.debug('net', `received: feefilter of ${feeRatePerKb} satoshis per kB from peer=${peer.id}`);
  }

  onTick(peer: Peer, nowMs: number): void {
    const state = this.states.get(peer);
    if (!state || !this.options.sendsFeeFilters || forcesRelay(this.options, peer)) return;
    if (peer.version!.protocolVersion < FEEFILTER_VERSION) return;
    if (nowMs > state.nextSendMs) this.send(peer, state, nowMs);
    else if (nowMs + CHANGE_DELAY_SEC * 1000 < state.nextSendMs && this.hasChangedMuch(state)) {
      state.nextSendMs = nowMs + this.deps.random.int(CHANGE_DELAY_SEC) * 1000;
    }
  }

  private send(peer: Peer, state: PeerFees, nowMs: number): void {
    const { minRelayFeeRatePerKb } = this.options;
    const rounded = this.rounder.round(this.deps.mempool.rollingFeeRatePerKb());
    const feeRatePerKb = rounded > minRelayFeeRatePerKb ? rounded : minRelayFeeRatePerKb;
    if (feeRatePerKb !== state.sentRatePerKb) {
      peer.send('feefilter', { feeRatePerKb });
      state.sentRatePerKb = feeRatePerKb;
    }
    state.nextSendMs = poissonNextMs(nowMs, SEND_INTERVAL_MS, this.deps.random);
  }

  private hasChangedMuch({ sentRatePerKb }: PeerFees): boolean {
    const rate = this.deps.mempool.rollingFeeRatePerKb();
    return rate < (3n * sentRatePerKb) / 4n || rate > (4n * sentRatePerKb) / 3n;
  }
}
