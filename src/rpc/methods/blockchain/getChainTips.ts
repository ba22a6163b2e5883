/** `getchaintips`: the ends of all known branches. */
import type { ChainReader } from '../../../chain/chainReader.js';
import { NO_HEADER, STATUS } from '../../../store/headerTable.js';
import { hashToHex } from '../../../util/bytes.js';
import type { JsonOut } from '../../../util/jsonWrite.js';
import { defineMethod } from '../../method.js';
import { t } from '../../../schema/schema.js';

const STATUSES = ['invalid', 'headers-only', 'valid-headers', 'valid-fork', 'active'] as const;

function statusOf({ headers, chain }: ChainReader, id: number): (typeof STATUSES)[number] {
  if (chain.index.active.contains(id)) return 'active';
  if (headers.isFailed(id)) return 'invalid';
  if (headers.chainTxCount(id) === 0) return 'headers-only';
  return headers.hasStatus(id, STATUS.validScripts) ? 'valid-fork' : 'valid-headers';
}

/** Header ids of the tip and of every branch end beside the active chain, the highest first. */
function findTips({ headers, chain }: ChainReader): number[] {
  const { active } = chain.index;
  const beside: number[] = [];
  const parents = new Set<number>();
  for (let id = 0; id < headers.count; id++) {
    if (active.contains(id)) continue;
    beside.push(id);
    parents.add(headers.prev(id));
  }
  const tips = beside.filter((id) => !parents.has(id));
  tips.push(chain.tip);
  return tips.sort((a, b) => headers.height(b) - headers.height(a) || a - b);
}

function tipAnswer(reader: ChainReader, id: number): JsonOut {
  const { headers, chain } = reader;
  const { active } = chain.index;
  let fork = id;
  let first = NO_HEADER;
  for (; !active.contains(fork); fork = headers.prev(fork)) first = fork;
  const isBranch = first !== NO_HEADER;
  return {
    height: headers.height(id),
    hash: hashToHex(headers.hash(id)),
    branchlen: headers.height(id) - headers.height(fork),
    branchhash: isBranch ? hashToHex(headers.hash(fork)) : undefined,
    branchhashNext: isBranch ? hashToHex(headers.hash(first)) : undefined,
    status: statusOf(reader, id),
  };
}

export const getChainTips = defineMethod({
  name: 'getchaintips',
  category: 'blockchain',
  chainUse: 'reads',
  summary:
    'Returns information about all known tips in the block tree, including the main chain as well as orphaned ' +
    'branches.\nStatus of a tip: "invalid" its branch contains at least one invalid block, "headers-only" not all ' +
    'blocks of the branch are available, "valid-headers" all are available but were never fully validated, ' +
    '"valid-fork" the branch is fully validated but not active, "active" the tip of the main chain.',
  params: [],
  result: t.array(
    t.object({
      height: t.int('height of the tip'),
      hash: t.hash('block hash of the tip'),
      branchlen: t.int('blocks between the tip and the main chain, 0 for the main chain'),
      branchhash: t.optional(t.hash('the block where the branch left the main chain'), 'for a branch'),
      branchhashNext: t.optional(t.hash('the first block of the branch'), 'for a branch'),
      status: t.oneOf(STATUSES),
    }),
  ),
  examples: [[]],
  run: ({ services: { chain } }) => findTips(chain).map((id) => tipAnswer(chain, id)),
});
