/**
 * BIP9 version bits: the state of a deployment, the height at which it began, and the signalling of the current window.
 * Contains the state machine and its cache; `scriptFlags.ts` and `contextualCheckBlock.ts` decide the effect of a state.
 * Source: lbrycrd versionbits.cpp, validation.cpp `ComputeBlockVersion` and `WarningBitsConditionChecker`.
 */
import { ALWAYS_ACTIVE, DEPLOYMENT_IDS, type DeploymentId, type NetworkParams } from '../params/network.js';
import { assert } from '../util/assert.js';
import { NO_HEADER, type HeaderId, type HeaderTree } from './headerTree.js';

/** The last version before version bits. */
const VERSIONBITS_LAST_OLD_BLOCK_VERSION = 4;
const VERSIONBITS_TOP_BITS = 0x20000000;
const VERSIONBITS_TOP_MASK = 0xe0000000 | 0;
/** Number of version bits that deployments may use. */
export const VERSIONBITS_NUM_BITS = 29;
/** Number of blocks whose versions are examined for a warning. */
const UNEXPECTED_VERSION_SPAN = 100;

/** State of a deployment (soft fork by version bits), as `getblockchaininfo` prints it. */
export type ThresholdState = 'defined' | 'started' | 'locked_in' | 'active' | 'failed';

export interface DeploymentStatistics {
  /** Number of blocks in a window, and number of its blocks that must signal. */
  period: number;
  threshold: number;
  /** Number of blocks of the current window so far, and number of them that signal. */
  elapsed: number;
  count: number;
  /** Whether the threshold can still be reached in this window. */
  possible: boolean;
}

type Rules = Pick<
  NetworkParams,
  'deployments' | 'minerConfirmationWindow' | 'ruleChangeActivationThreshold' | 'segwitHeight'
>;

type Tree = Pick<HeaderTree, 'heightOf' | 'parentOf' | 'ancestorOf' | 'versionOf' | 'medianTimeOf'>;

/** Parameters of one state machine: a deployment of the network, or a bit unknown to this version. */
interface Condition {
  readonly startTimeSec: bigint;
  readonly timeoutSec: bigint;
  readonly period: number;
  readonly threshold: number;
  signals(id: HeaderId): boolean;
}

/**
 * States by the last block of the preceding window (`NO_HEADER` for the first window). A cache is valid for one header tree
 * and its network parameters only.
 */
type StateCache = Map<HeaderId, ThresholdState>;

/** Whether the version uses version bits and has this bit set. */
export function versionSignals(version: number, bit: number): boolean {
  return (version & VERSIONBITS_TOP_MASK) === VERSIONBITS_TOP_BITS && ((version >>> bit) & 1) !== 0;
}

/** Returns the last block of the window before the window that contains the child of `parent`. */
function windowParent(tree: Tree, parent: HeaderId, period: number): HeaderId {
  if (parent === NO_HEADER) return NO_HEADER;
  const height = tree.heightOf(parent);
  return tree.ancestorOf(parent, height - ((height + 1) % period));
}

function previousWindow(tree: Tree, id: HeaderId, period: number): HeaderId {
  return tree.ancestorOf(id, tree.heightOf(id) - period);
}

function countSignals(tree: Tree, last: HeaderId, blocks: number, condition: Condition): number {
  let count = 0;
  for (let i = 0, at = last; i < blocks; i++, at = tree.parentOf(at)) if (condition.signals(at)) count++;
  return count;
}

/** The state after a window that ends with `last`, computed from the state within it. */
function nextState(tree: Tree, last: HeaderId, state: ThresholdState, condition: Condition): ThresholdState {
  const medianTimeSec = tree.medianTimeOf(last);
  switch (state) {
    case 'defined':
      if (medianTimeSec >= condition.timeoutSec) return 'failed';
      return medianTimeSec >= condition.startTimeSec ? 'started' : 'defined';
    case 'started':
      if (medianTimeSec >= condition.timeoutSec) return 'failed';
      return countSignals(tree, last, condition.period, condition) >= condition.threshold
        ? 'locked_in'
        : 'started';
    case 'locked_in':
      return 'active';
    case 'active':
    case 'failed':
      return state;
  }
}

function stateAfter(tree: Tree, parent: HeaderId, condition: Condition, cache: StateCache): ThresholdState {
  if (condition.startTimeSec === ALWAYS_ACTIVE) return 'active';
  const pending: HeaderId[] = [];
  let state: ThresholdState | undefined;
  for (
    let at = windowParent(tree, parent, condition.period);
    ;
    at = previousWindow(tree, at, condition.period)
  ) {
    state = cache.get(at);
    if (state !== undefined) break;
    // Before the start time, and at genesis, every deployment is defined, so earlier windows need not be examined.
    if (at === NO_HEADER || tree.medianTimeOf(at) < condition.startTimeSec) {
      state = 'defined';
      cache.set(at, state);
      break;
    }
    pending.push(at);
  }
  for (let i = pending.length - 1; i >= 0; i--) {
    const last = pending[i]!;
    state = nextState(tree, last, state, condition);
    cache.set(last, state);
  }
  return state;
}

/** The first height of a state, by the last block of the window for which the state was requested. */
type SinceCache = Map<HeaderId, number>;

interface Caches {
  readonly states: StateCache;
  readonly since: SinceCache;
}

function stateSince(tree: Tree, parent: HeaderId, condition: Condition, { states, since }: Caches): number {
  if (condition.startTimeSec === ALWAYS_ACTIVE) return 0;
  const state = stateAfter(tree, parent, condition, states);
  if (state === 'defined') return 0;
  const newest = windowParent(tree, parent, condition.period);
  for (let at = newest; ;) {
    assert(at !== NO_HEADER, 'only the state defined reaches back to genesis');
    // If the preceding window has the same state, the state began at the same height. So the cache also stores the height
    // for earlier windows, and a long chain is searched only once.
    let height = since.get(at);
    const before = previousWindow(tree, at, condition.period);
    if (
      height === undefined &&
      (before === NO_HEADER || stateAfter(tree, before, condition, states) !== state)
    )
      height = tree.heightOf(at) + 1;
    if (height !== undefined) {
      since.set(newest, height);
      return height;
    }
    at = before;
  }
}

/**
 * The deployments of one network over one header tree. States are cached; a cached state never becomes invalid, because it
 * belongs to a block with all its ancestors. `parent` is the parent of the block whose state is requested; `NO_HEADER` for
 * the genesis block.
 */
export class VersionBits {
  private readonly tree: Tree;
  private readonly params: Rules;
  private readonly caches = new Map<DeploymentId, Caches>(
    DEPLOYMENT_IDS.map((id) => [id, { states: new Map(), since: new Map() }]),
  );
  private readonly warningCaches: StateCache[] = Array.from(
    { length: VERSIONBITS_NUM_BITS },
    () => new Map(),
  );

  constructor(params: Rules, tree: Tree) {
    this.params = params;
    this.tree = tree;
  }

  private condition(id: DeploymentId): Condition {
    const { bit, startTimeSec, timeoutSec } = this.params.deployments[id];
    return {
      startTimeSec,
      timeoutSec,
      period: this.params.minerConfirmationWindow,
      threshold: this.params.ruleChangeActivationThreshold,
      signals: (at) => versionSignals(this.tree.versionOf(at), bit),
    };
  }

  /**
   * The state for the block after `parent`. Source: `VersionBitsState`.
   * QUIRK: segwit is activated by height and has only two states: failed before its height and active from it on; genesis is
   * failed even at height 0. Test: test/unit/consensus/versionBits.test.ts.
   */
  state(id: DeploymentId, parent: HeaderId): ThresholdState {
    if (id === 'segwit') {
      const reached = parent !== NO_HEADER && this.tree.heightOf(parent) + 1 >= this.params.segwitHeight;
      return reached ? 'active' : 'failed';
    }
    return stateAfter(this.tree, parent, this.condition(id), this.caches.get(id)!.states);
  }

  isActive(id: DeploymentId, parent: HeaderId): boolean {
    return this.state(id, parent) === 'active';
  }

  /**
   * The height at which the state began. Source: `VersionBitsStateSinceHeight`. QUIRK: for segwit it is the height of the
   * BIP9 state, which has no effect here: 0 on regtest, and on main and test the window in which signalling ended by its
   * dates. Test: test/unit/consensus/versionBits.test.ts.
   */
  sinceHeight(id: DeploymentId, parent: HeaderId): number {
    return stateSince(this.tree, parent, this.condition(id), this.caches.get(id)!);
  }

  /** Signalling statistics of the window that contains block `tip`, up to that block. Source: `VersionBitsStatistics`. */
  statistics(id: DeploymentId, tip: HeaderId): DeploymentStatistics {
    const condition = this.condition(id);
    const { period, threshold } = condition;
    if (tip === NO_HEADER) return { period, threshold, elapsed: 0, count: 0, possible: false };
    const elapsed = (this.tree.heightOf(tip) + 1) % period;
    const count = countSignals(this.tree, tip, elapsed, condition);
    return { period, threshold, elapsed, count, possible: period - threshold >= elapsed - count };
  }

  /** The bit of a deployment as a mask over the version. Source: `VersionBitsMask`. */
  mask(id: DeploymentId): number {
    return 2 ** this.params.deployments[id].bit;
  }

  /** The version that a new block after `parent` should have. Source: `ComputeBlockVersion`. */
  computeBlockVersion(parent: HeaderId): number {
    let version = VERSIONBITS_TOP_BITS;
    for (const id of DEPLOYMENT_IDS) {
      const state = this.state(id, parent);
      if (state === 'locked_in' || state === 'started') version |= this.mask(id);
    }
    return version;
  }

  /**
   * The state of a version bit that blocks signal although this program knows no deployment for it. Source:
   * `WarningBitsConditionChecker`.
   */
  unknownBitState(bit: number, tip: HeaderId): ThresholdState {
    const condition: Condition = {
      startTimeSec: 0n,
      timeoutSec: (1n << 63n) - 1n,
      period: this.params.minerConfirmationWindow,
      threshold: this.params.ruleChangeActivationThreshold,
      signals: (at) =>
        versionSignals(this.tree.versionOf(at), bit) &&
        ((this.computeBlockVersion(this.tree.parentOf(at)) >>> bit) & 1) === 0,
    };
    return stateAfter(this.tree, tip, condition, this.warningCaches[bit]!);
  }

  /**
   * Number of blocks, among the last hundred up to `tip`, with version bits that this node would not set. Source:
   * `UpdateTip`.
   */
  unexpectedVersions(tip: HeaderId): number {
    const period = this.params.minerConfirmationWindow;
    let count = 0;
    let height = tip === NO_HEADER ? 0 : this.tree.heightOf(tip);
    let expected = 0;
    for (let i = 0, at = tip; i < UNEXPECTED_VERSION_SPAN && at !== NO_HEADER; i++, height--) {
      const version = this.tree.versionOf(at);
      const parent = this.tree.parentOf(at);
      // All blocks of a window have the same expected version.
      if (i === 0 || height % period === period - 1) expected = this.computeBlockVersion(parent);
      if (version > VERSIONBITS_LAST_OLD_BLOCK_VERSION && (version & ~expected) !== 0) count++;
      at = parent;
    }
    return count;
  }
}
