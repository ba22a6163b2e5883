/** `getchaintips`: the ends of all known branches. */
import type { ChainReader } from '../../../chain/chainReader.js';
import { NO_HEADER, STATUS } from '../../../store/files/headerTable.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { hashToHex } from '../../../util/bytes.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

/** Number of headers that are processed between two checks for a yield. Arbitrary: some microseconds. */
const HEADERS_A_LOOK = 4096;

const STATUSES = ['invalid', 'headers-only', 'valid-headers', 'valid-fork', 'active'] as const;

function statusOf({ headers, chain }: ChainReader, id: number): (typeof STATUSES)[number] {
  if (chain.index.active.contains(id)) return 'active';
  if (headers.isFailed(id)) return 'invalid';
  if (headers.chainTxCount(id) === 0) return 'headers-only';
  return headers.hasStatus(id, STATUS.validScripts) ? 'valid-fork' : 'valid-headers';
}

/** Finds the headers outside the active chain, the latest first. Null if the chain changed during the search. */
async function findOutside({ headers, chain }: ChainReader): Promise<number[] | null> {
  const { tip } = chain;
  const { active } = chain.index;
  const outside: number[] = [];
  // Branches are mostly near the tip, so the search usually ends long before the first header.
  let left = headers.count - (headers.height(tip) + 1);
  let since = performance.now();
  for (let id = headers.count - 1; id >= 0 && left > 0; id--) {
    if (!active.contains(id)) {
      outside.push(id);
      left--;
    }
    if (id % HEADERS_A_LOOK !== 0) continue;
    since = await yieldIfDue(since);
    if (chain.tip !== tip) return null;
  }
  return outside;
}

/**
 * Returns the header ids of the tip and of all branch ends outside the active chain, highest first. During the first sync
 * more than a million headers are outside the active chain, so the search yields to the event loop.
 */
async function findTips(reader: ChainReader): Promise<number[]> {
  const { headers, chain } = reader;
  let outside = await findOutside(reader);
  while (outside === null) outside = await findOutside(reader);
  // A block that follows a block outside the active chain is itself outside. So it is sufficient to look at the parents of
  // these blocks.
  const hasChild = new Uint8Array(headers.count);
  for (const id of outside) hasChild[headers.prev(id)] = 1;
  const tips = [chain.tip, ...outside.filter((id) => hasChild[id] !== 1)];
  return tips.sort((a, b) => headers.height(b) - headers.height(a) || a - b);
}

/** Finds the lowest block of each branch. A block that one search has visited is not visited again. */
class Branches {
  private readonly reader: ChainReader;
  /** For each header id: the id of the lowest header of its branch plus one; 0 if unknown. */
  private readonly lowest: Int32Array;

  constructor(reader: ChainReader) {
    this.reader = reader;
    this.lowest = new Int32Array(reader.headers.count);
  }

  /** Returns the lowest block of the branch that contains a header; `NO_HEADER` for a block in the active chain. */
  lowestOf(id: number): number {
    const { headers, chain } = this.reader;
    const { active } = chain.index;
    let found = NO_HEADER;
    let at = id;
    for (; !active.contains(at); at = headers.prev(at)) {
      if (this.lowest[at] !== 0) {
        found = this.lowest[at]! - 1;
        break;
      }
      found = at;
    }
    for (let back = id; back !== at; back = headers.prev(back)) this.lowest[back] = found + 1;
    return found;
  }
}

function tipAnswer(reader: ChainReader, id: number, branches: Branches): JsonOut {
  const { headers } = reader;
  const first = branches.lowestOf(id);
  const isBranch = first !== NO_HEADER;
  const fork = isBranch ? headers.prev(first) : id;
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
  explorer: 'console',
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
      branchlen: t.int(
        'number of blocks on the branch, from the main chain to the tip; 0 for the main chain',
      ),
      branchhash: t.optional(
        t.hash('the hash of the last block that the branch shares with the main chain'),
        'for a branch',
      ),
      branchhashNext: t.optional(t.hash('the hash of the first block of the branch'), 'for a branch'),
      status: t.oneOf(STATUSES),
    }),
  ),
  examples: [[]],
  async run({ services: { chain } }) {
    const tips = await findTips(chain);
    const branches = new Branches(chain);
    return tips.map((id) => tipAnswer(chain, id, branches));
  },
});
