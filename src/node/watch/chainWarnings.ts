/**
 * Warnings about the chain for the log, for RPC results and for `-alertnotify`: unknown rules, and an invalid branch with
 * much work. The warnings have no effect on the validity of blocks. Source: lbrycrd validation.cpp `UpdateTip`, `DoWarning`,
 * `CheckForkWarningConditions`; warnings.cpp `GetWarnings`.
 */
import type { Chain } from '../../chain/chain.js';
import { blockWork } from '../../primitives/compactTarget.js';
import { VERSIONBITS_NUM_BITS } from '../../consensus/versionBits.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { hashToHex } from '../../util/bytes.js';
import type { Logger } from '../../util/logging.js';

/** Number of blocks with unexpected versions among the last 100 up to which no warning is shown. */
const TOLERATED_VERSIONS = 50;
/** Number of blocks by whose work an invalid branch must exceed the active chain to cause a warning. */
const INVALID_BRANCH_BLOCKS = 6n;

const UNKNOWN_VERSIONS =
  "Warning: Unknown block versions being mined! It's possible unknown rules are in effect";
const INVALID_BRANCH =
  'Warning: We do not appear to fully agree with our peers! You may need to upgrade, or other nodes may need to upgrade.';

export interface ChainWarningsDeps {
  readonly chain: Chain;
  readonly log: Logger;
  /** Called with messages that the operator must see immediately. */
  readonly alert: (message: string) => void;
}

export class ChainWarnings {
  private readonly deps: ChainWarningsDeps;
  /** Warning about unknown rules. Not removed once it is set. */
  private misc = '';
  private hasInvalidBranch = false;
  /** Latest tip, which waits for its check while an earlier tip is checked. */
  private waiting: number = NO_HEADER;
  private running: Promise<void> | null = null;
  /** Height up to which the block versions have been checked. */
  private reachedHeight = 0;

  constructor(deps: ChainWarningsDeps) {
    this.deps = deps;
    const { chain } = deps;
    chain.afterStep.push(() => Promise.resolve(this.checkInvalidBranch()));
    chain.events.on('tipChanged', ({ id, initialDownload }) => {
      if (!initialDownload) this.checkLater(id);
    });
  }

  /** Returns the most important warning; empty if there is none. */
  text(): string {
    return this.hasInvalidBranch ? INVALID_BRANCH : this.misc;
  }

  /** Resolves when the latest tip has been checked. */
  async settled(): Promise<void> {
    await this.running;
  }

  private checkInvalidBranch(): void {
    const { chain, log, alert } = this.deps;
    const { bestInvalid, headers } = chain.index;
    const { tip } = chain;
    if (tip === NO_HEADER || chain.isInitialDownload()) return;
    const ahead = headers.work(tip) + blockWork(headers.bits(tip)) * INVALID_BRANCH_BLOCKS;
    const found = bestInvalid !== NO_HEADER && headers.work(bestInvalid) > ahead;
    if (found && !this.hasInvalidBranch) {
      log.warn(
        `Found invalid chain at least ~${INVALID_BRANCH_BLOCKS} blocks longer than our best chain, up to ${hashToHex(headers.hash(bestInvalid))} at height ${headers.height(bestInvalid)}.`,
      );
      alert(INVALID_BRANCH);
    }
    this.hasInvalidBranch = found;
  }

  private checkLater(tip: number): void {
    this.waiting = tip;
    this.running ??= this.checkTips()
      .catch((error: unknown) => this.deps.log.warn(`Versions could not be checked: ${String(error)}`))
      .finally(() => {
        this.running = null;
      });
  }

  private async checkTips(): Promise<void> {
    while (this.waiting !== NO_HEADER) {
      const tip = this.waiting;
      this.waiting = NO_HEADER;
      await this.prepare(tip);
      this.checkVersions(tip);
    }
  }

  /**
   * Processes the version-bits windows below a tip one at a time, with yields between them, so that their states are cached.
   * Processing all windows at once after the initial download would block the node.
   */
  private async prepare(tip: number): Promise<void> {
    const { active, headers, versionBits } = this.deps.chain.index;
    const window = this.deps.chain.deps.params.minerConfirmationWindow;
    let since = performance.now();
    for (; this.reachedHeight < headers.height(tip); this.reachedHeight += window) {
      const id = active.ancestorOf(tip, this.reachedHeight);
      for (let bit = 0; bit < VERSIONBITS_NUM_BITS; bit++) {
        versionBits.unknownBitState(bit, id);
        since = await yieldIfDue(since);
      }
    }
  }

  private checkVersions(tip: number): void {
    const { versionBits } = this.deps.chain.index;
    const remarks: string[] = [];
    for (let bit = 0; bit < VERSIONBITS_NUM_BITS; bit++) {
      const state = versionBits.unknownBitState(bit, tip);
      const warning = `Warning: unknown new rules activated (versionbit ${bit})`;
      if (state === 'active') this.warn(warning);
      else if (state === 'locked_in') remarks.push(warning);
    }
    const unexpected = versionBits.unexpectedVersions(tip);
    if (unexpected > 0) remarks.push(`${unexpected} of last 100 blocks have unexpected version`);
    if (unexpected > TOLERATED_VERSIONS) this.warn(UNKNOWN_VERSIONS);
    if (remarks.length > 0) this.deps.log.info(`UpdateTip: warning='${remarks.join(', ')}'`);
  }

  /**
   * Sets a warning. The operator is notified only of the first warning, because the same warning occurs again with every
   * block.
   */
  private warn(message: string): void {
    const isFirst = this.misc === '';
    this.misc = message;
    if (!isFirst) return;
    this.deps.log.warn(message);
    this.deps.alert(message);
  }
}
