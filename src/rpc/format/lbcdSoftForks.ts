/**
 * Formats version-bits deployments as in lbcd's `getblockchaininfo`, including the deployments "dummy" and "taproot". Each
 * has its bit and the height from which lbcd treats it as active. Source: lbcd rpcserver.go `handleGetBlockChainInfo`,
 * chaincfg/params.go, blockchain/thresholdstate.go `deploymentState`.
 */
import type { BlockIndex } from '../../chain/index/blockIndex.js';
import type { Deployment, DeploymentId, NetworkParams } from '../../params/network.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';

interface LbcdDeployment extends Deployment {
  /** Deployment of this node that is signalled in the same way; null if there is none. */
  readonly sameAs: DeploymentId | null;
  /** Height from which lbcd treats the deployment as active; 0 if only version bits count. */
  readonly forceActiveHeight: number;
}

const FORCE_ACTIVE_HEIGHTS: Readonly<Record<string, { csv: number; segwit: number }>> = {
  main: { csv: 200_000, segwit: 680_770 },
  test: { csv: 0, segwit: 1_198_600 },
  regtest: { csv: 1, segwit: 150 },
};

/** Deployment that lbcd does not define (taproot). lbcd returns zeros for it. */
const UNDEFINED: LbcdDeployment = {
  sameAs: null,
  bit: 0,
  startTimeSec: 0n,
  timeoutSec: 0n,
  forceActiveHeight: 0,
};

function deploymentsOf({ name, deployments }: NetworkParams): Map<string, LbcdDeployment> {
  const heights = FORCE_ACTIVE_HEIGHTS[name] ?? { csv: 0, segwit: 0 };
  const { testdummy, csv, segwit } = deployments;
  // lbcd has no deployments that are always active. The deployments of regtest that are always active here have the start
  // time 0 in lbcd.
  const startOf = ({ startTimeSec }: Deployment): bigint => (startTimeSec < 0n ? 0n : startTimeSec);
  const shown = (sameAs: DeploymentId, own: Deployment, forceActiveHeight: number): LbcdDeployment => ({
    ...own,
    startTimeSec: startOf(own),
    sameAs: own.startTimeSec < 0n ? null : sameAs,
    forceActiveHeight,
  });
  return new Map([
    ['dummy', shown('testdummy', testdummy, 0)],
    ['csv', shown('csv', csv, heights.csv)],
    ['segwit', shown('segwit', segwit, heights.segwit)],
    ['taproot', UNDEFINED],
  ]);
}

/** Returns the state of a deployment for the block after the tip. */
function statusOf(index: BlockIndex, tip: number, params: NetworkParams, deployment: LbcdDeployment): string {
  const { forceActiveHeight, sameAs, timeoutSec } = deployment;
  const next = index.headers.height(tip) + 1;
  if (forceActiveHeight > 0 && next >= forceActiveHeight) return 'active';
  if (sameAs !== null) {
    const state = index.versionBits.state(sameAs, tip);
    return state === 'locked_in' ? 'lockedin' : state;
  }
  // Deployments for which this node never signals: the state depends only on the first window and the timeout.
  if (next < params.minerConfirmationWindow) return 'defined';
  return timeoutSec === 0n ? 'failed' : 'started';
}

/**
 * Returns the states of the four deployments after the tip. `since` is the height from which lbcd treats a deployment as
 * active.
 */
export function lbcdBip9SoftForks(index: BlockIndex, tip: number, params: NetworkParams): JsonOut {
  const answers = [...deploymentsOf(params)].map(([name, deployment]): [string, JsonOut] => [
    name,
    {
      status: statusOf(index, tip, params, deployment),
      bit: deployment.bit,
      startTime: 0,
      start_time: deployment.startTimeSec,
      timeout: deployment.timeoutSec,
      since: deployment.forceActiveHeight,
    },
  ]);
  return new Map(answers);
}
