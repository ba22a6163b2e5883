/**
 * Formats the states of soft forks for `getblockchaininfo`. Source: lbrycrd rpc/blockchain.cpp `SoftForkDesc`,
 * `BIP9SoftForkDesc`.
 */
import type { BlockIndex } from '../../chain/index/blockIndex.js';
import { DEPLOYMENT_IDS, type DeploymentId, type NetworkParams } from '../../params/network.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { t } from '../../schema/schema.js';

export const SOFT_FORKS_SCHEMA = t.array(
  t.object({
    id: t.str('the name of the soft fork'),
    version: t.int('the block version that signalled the soft fork'),
    reject: t.object({ status: t.bool('whether blocks of lower versions are rejected') }),
  }),
  'soft forks activated by block height',
);

export const BIP9_SOFT_FORKS_SCHEMA = t.map(
  'name',
  t.object({
    status: t.oneOf(
      ['defined', 'started', 'locked_in', 'lockedin', 'active', 'failed'],
      '"lockedin" in the lbcd profile',
    ),
    bit: t.optional(t.int('the bit that signals'), 'for status "started"; always in the lbcd profile'),
    startTime: t.int('median time past from which signals count; 0 in the lbcd profile'),
    start_time: t.optional(t.int('median time past from which signals count'), 'in the lbcd profile'),
    timeout: t.int('median time past at which the deployment fails if it is not locked in'),
    since: t.int(
      'height of the first block with this status; in the lbcd profile the height of unconditional activation',
    ),
    statistics: t.optional(
      t.object({
        period: t.int('length of the signalling period in blocks'),
        threshold: t.int('number of signalling blocks in a period that locks the deployment in'),
        elapsed: t.int('number of blocks in the current period so far'),
        count: t.int('number of signalling blocks among them'),
        possible: t.bool('whether the threshold can still be reached in this period'),
      }),
      'for status "started"',
    ),
  }),
  'deployments by version bits',
);

export function softForksAnswer(height: number, params: NetworkParams): JsonOut {
  const fork = (id: string, version: number, from: number): JsonOut => ({
    id,
    version,
    reject: { status: height >= from },
  });
  return [
    fork('bip34', 2, params.bip34Height),
    fork('bip66', 3, params.bip66Height),
    fork('bip65', 4, params.bip65Height),
  ];
}

/**
 * Returns the states of the deployments for the block after the tip. Omits the test dummy and the deployments with a timeout
 * of 0, which are disabled.
 */
export function bip9SoftForksAnswer(index: BlockIndex, tip: number, params: NetworkParams): JsonOut {
  const shown = DEPLOYMENT_IDS.filter((id) => id !== 'testdummy' && params.deployments[id].timeoutSec > 0n);
  return new Map(shown.map((id) => [id, deploymentAnswer(index, tip, params, id)]));
}

function deploymentAnswer(index: BlockIndex, tip: number, params: NetworkParams, id: DeploymentId): JsonOut {
  const { versionBits } = index;
  const { bit, startTimeSec, timeoutSec } = params.deployments[id];
  const status = versionBits.state(id, tip);
  const started = status === 'started';
  return {
    status,
    bit: started ? bit : undefined,
    startTime: startTimeSec,
    timeout: timeoutSec,
    since: versionBits.sinceHeight(id, tip),
    statistics: started ? { ...versionBits.statistics(id, tip) } : undefined,
  };
}
