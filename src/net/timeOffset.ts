/**
 * Offset between the clock of this node and the network-adjusted time: the median of the clock offsets of the first 200 peer
 * addresses, within a limit. Source: Core timedata.cpp `AddTimeData`.
 */
import { toLatin1 } from '../util/bytes.js';
import type { Logger } from '../util/logging.js';
import type { HostAddress } from './netAddress.js';

/**
 * Maximum number of samples. QUIRK: includes the initial sample 0 for the clock of this node. Test:
 * test/unit/net/timeOffset.test.ts.
 */
const MAX_SAMPLES = 200;
/** Minimum number of samples for a median, including the initial 0. */
const MIN_SAMPLES = 5;
/** Maximum offset in seconds at which the clock of a peer agrees with that of this node. */
const AGREEMENT_SEC = 5 * 60;

export const CLOCK_WARNING =
  "Please check that your computer's date and time are correct! If your clock is wrong, lbcnode will not work properly.";

export interface TimeOffsetOptions {
  /** Maximum median in seconds that is applied (`-maxtimeadjustment`). If the median is larger, the offset is 0. */
  readonly maxAdjustmentSec: number;
}

export interface TimeOffsetDeps {
  readonly log: Logger;
  /** Called once if the clock of this node is probably wrong. */
  readonly warn: (message: string) => void;
}

export class TimeOffset {
  private readonly maxAdjustmentSec: number;
  private readonly deps: TimeOffsetDeps;
  private readonly known = new Set<string>();
  /** Clock offsets in seconds, sorted. The initial 0 stands for the clock of this node. */
  private readonly samples: number[] = [0];
  private hasWarned = false;
  private offset = 0;

  constructor(options: TimeOffsetOptions, deps: TimeOffsetDeps) {
    this.maxAdjustmentSec = Math.max(0, options.maxAdjustmentSec);
    this.deps = deps;
  }

  /** Warning that the node's clock is probably wrong; empty if the clock agrees with peers. */
  get warning(): string {
    return this.hasWarned ? CLOCK_WARNING : '';
  }

  /** Seconds to add to the clock of this node to get the network-adjusted time. */
  get offsetSec(): number {
    return this.offset;
  }

  /** Adds the clock offset of a peer. Each address counts only once. */
  add(peer: HostAddress, sampleSec: number): void {
    const key = toLatin1(peer.ip);
    // QUIRK: the offset is updated only if the number of samples is odd. After 200 samples the number stays even, and the
    // offset does not change any more.
    if (this.known.size >= MAX_SAMPLES || this.known.has(key)) return;
    this.known.add(key);
    if (this.samples.length >= MAX_SAMPLES) return;
    const at = this.samples.findIndex((other) => other > sampleSec);
    this.samples.splice(at < 0 ? this.samples.length : at, 0, sampleSec);
    const { log } = this.deps;
    log.debug(
      'net',
      `added time data, samples ${this.samples.length}, offset ${signed(sampleSec)} (${signed(Math.trunc(sampleSec / 60))} minutes)`,
    );
    if (this.samples.length >= MIN_SAMPLES && this.samples.length % 2 === 1) this.update();
  }

  private update(): void {
    const median = this.samples[(this.samples.length - 1) / 2]!;
    const isCredible = Math.abs(median) <= this.maxAdjustmentSec;
    this.offset = isCredible ? median : 0;
    if (!isCredible) this.warnUnlessSomebodyAgrees();
    this.deps.log.debug(
      'net',
      () =>
        `${this.samples.map(signed).join('  ')}  |  nTimeOffset = ${signed(this.offset)}  (${signed(Math.trunc(this.offset / 60))} minutes)`,
    );
  }

  /** Warns if no peer's clock agrees with the node's clock. The sample 0 of the node's own clock does not count. */
  private warnUnlessSomebodyAgrees(): void {
    if (this.hasWarned) return;
    if (this.samples.some((sample) => sample !== 0 && Math.abs(sample) < AGREEMENT_SEC)) return;
    this.hasWarned = true;
    this.deps.warn(CLOCK_WARNING);
  }
}

function signed(value: number): string {
  return value < 0 ? String(value) : `+${value}`;
}
