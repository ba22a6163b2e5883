/** `getnetworkhashps`: hashes per second, estimated from the chain's work. */
import type { ChainReader } from '../../../chain/chainReader.js';
import { retargetIntervalBlocks } from '../../../primitives/retarget.js';
import type { NetworkParams } from '../../../params/network.js';
import { NO_HEADER } from '../../../store/files/headerTable.js';
import { defineMethod, type Profile } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const DEFAULT_LOOKUP_BLOCKS = 120;

/**
 * Returns the work per second over the last `lookup` blocks up to `height`. If `lookup` is not positive, the blocks since
 * the last retarget are used. If `height` is negative or above the tip, the tip is used. Source: `GetNetworkHashPS`.
 */
export function networkHashesPerSec(
  { chain, headers }: ChainReader,
  params: NetworkParams,
  lookup: number,
  height: number,
): number {
  const { active } = chain.index;
  const last = height >= 0 && height < active.height ? active.at(height) : active.tip;
  if (last === NO_HEADER || headers.height(last) === 0) return 0;
  const wanted = lookup <= 0 ? (headers.height(last) % retargetIntervalBlocks(params)) + 1 : lookup;
  const blocks = Math.min(wanted, headers.height(last));
  let first = last;
  let earliestSec = headers.timeSec(last);
  let latestSec = earliestSec;
  for (let i = 0; i < blocks; i++) {
    first = headers.prev(first);
    earliestSec = Math.min(earliestSec, headers.timeSec(first));
    latestSec = Math.max(latestSec, headers.timeSec(first));
  }
  if (earliestSec === latestSec) return 0;
  return Number(headers.work(last) - headers.work(first)) / (latestSec - earliestSec);
}

/** Source: lbcd rpcserver.go `handleGetNetworkHashPS`, which divides integers. */
export function shownHashesPerSec(hashesPerSec: number, profile: Profile): number {
  return profile === 'lbcd' ? Math.floor(hashesPerSec) : hashesPerSec;
}

export const getNetworkHashPs = defineMethod({
  name: 'getnetworkhashps',
  category: 'mining',
  explorer: 'console',
  chainUse: 'reads',
  summary:
    'Returns the estimated network hashes per second based on the last n blocks.\nPass in nblocks to override the ' +
    'number of blocks, -1 for those since the last difficulty change. Pass in height to estimate the network speed at ' +
    'the time when a certain block was found.',
  params: [
    {
      name: 'nblocks',
      type: 'integer',
      default: DEFAULT_LOOKUP_BLOCKS,
      description: 'The number of blocks, or -1 for blocks since last difficulty change',
    },
    {
      name: 'height',
      type: 'integer',
      default: -1,
      description: 'To estimate at the time of the given height',
    },
  ],
  result: t.num('hashes per second; in the lbcd profile a whole number, and 0 for a height above the tip'),
  examples: [[]],
  run({ services: { chain, params }, profile }, { nblocks, height }) {
    if (profile === 'lbcd' && height > chain.chain.height) return 0;
    return shownHashesPerSec(networkHashesPerSec(chain, params, nblocks, height), profile);
  },
});
