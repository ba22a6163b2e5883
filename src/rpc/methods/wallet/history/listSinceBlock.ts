/** `listsinceblock`: wallet transactions since a block. Source: lbrycrd wallet/rpcwallet.cpp. */
import { NO_HEADER } from '../../../../store/files/headerTable.js';
import { txidAt } from '../../../../primitives/blockView.js';
import { hashToHex, toLatin1 } from '../../../../util/bytes.js';
import { jsonArray, type JsonOut } from '../../../../util/json/jsonWrite.js';
import type { Entry } from '../../../../wallet/ledger/entry.js';
import type { ListSelection } from '../../../../wallet/listing/selection.js';
import { ofOneState } from '../../../../wallet/listing/oneState.js';
import { entriesSince } from '../../../../wallet/listing/sinceBlock.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { parseLooseHash } from '../../../declare/paramTypes.js';
import { t } from '../../../../schema/schema.js';
import type { RpcServices } from '../../../../interfaces/services.js';
import { ACCOUNTS } from '../addresses/accountsOption.js';
import { filterOf, LISTED_TRANSACTION, transactionItems, WATCHED_PARAM } from './listedTransaction.js';
import { walletOf } from '../wallets/walletOf.js';

/** Maximum number of transactions of a result that is created at once. Longer results are created while they are sent. */
const ENTRIES_AT_ONCE = 256;
const NO_HASH = Buffer.alloc(32);

export const listSinceBlock = defineMethod({
  name: 'listsinceblock',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Get all transactions in blocks since block [blockhash], or all transactions if omitted.\n' +
    'If "blockhash" is no longer a part of the main chain, transactions from the fork point onward are included.\n' +
    'Additionally, if include_removed is set, transactions affecting the wallet which were removed are returned in the "removed" array.',
  params: [
    { name: 'blockhash', type: 'string', default: '', description: 'The block to list transactions since' },
    {
      name: 'target_confirmations',
      type: 'integer',
      default: 1,
      description:
        'The number of confirmations of the block returned as "lastblock": 1 for the tip, 2 for the block before it',
    },
    WATCHED_PARAM,
    {
      name: 'include_removed',
      type: 'boolean',
      default: true,
      description:
        'Include transactions of blocks that a reorganisation disconnected (needs the data of those blocks)',
    },
  ],
  result: t.object({
    transactions: t.array(LISTED_TRANSACTION, 'transactions, by id'),
    removed: t.optional(t.array(LISTED_TRANSACTION), 'absent if include_removed is false'),
    lastblock: t.hash('the block to pass to the next call'),
  }),
  examples: [[], ['"000000000000000bacf66f7497b7dc45ef753ee9a7d38571037cdb1a57f663ad"', '6']],
  async run(ctx, { blockhash, target_confirmations, include_watchonly, include_removed }) {
    const wallet = walletOf(ctx);
    const filter = filterOf(include_watchonly);
    const withAccounts = ctx.isDeprecatedEnabled(ACCOUNTS);
    const branch = blockhash === '' ? null : branchFrom(ctx.services, parseLooseHash(blockhash));
    if (target_confirmations < 1) throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Invalid parameter');
    const removed = include_removed && branch !== null ? await entriesOf(ctx.services, wallet, branch) : [];
    const entries = await ofOneState(wallet, () => entriesSince(wallet, branch?.forkHeight ?? -1));
    const list = (listed: readonly Entry[], minDepth: number): JsonOut => {
      const items = itemsOf(wallet, { filter, label: null, withAccounts, minDepth }, listed);
      return listed.length <= ENTRIES_AT_ONCE ? [...items] : jsonArray(items);
    };
    const last = wallet.node.chain.hashAt(wallet.followedHeight + 1 - target_confirmations);
    return {
      transactions: list(entries, 0),
      ...(include_removed ? { removed: list(removed, -Infinity) } : {}),
      lastblock: hashToHex(last ?? NO_HASH),
    };
  },
});

function* itemsOf(wallet: Wallet, selection: ListSelection, entries: readonly Entry[]): Generator<JsonOut> {
  for (const entry of entries) {
    // The transaction may have been removed from the wallet while earlier transactions were sent.
    if (!wallet.ledger.has(entry.key)) continue;
    yield* transactionItems(wallet, selection, entry, wallet.ledger.record(entry), true);
  }
}

/** A block's branch: the height where it leaves the active chain, and its blocks above that height, highest first. */
interface Branch {
  readonly forkHeight: number;
  readonly ids: readonly number[];
}

function branchFrom({ chain: { headers, chain } }: RpcServices, hash: Buffer): Branch {
  let id = headers.find(hash);
  if (id === NO_HEADER) throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'Block not found');
  const ids: number[] = [];
  for (; !chain.index.active.contains(id); id = headers.prev(id)) ids.push(id);
  return { forkHeight: headers.height(id), ids };
}

/** Returns the wallet's transactions in the blocks of a branch. */
async function entriesOf({ chain }: RpcServices, { ledger }: Wallet, { ids }: Branch): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const id of ids) {
    const { parsed } = await readBlock(chain, id);
    for (let n = 0; n < parsed.txCount; n++) {
      const entry = ledger.entry(toLatin1(txidAt(parsed, n)));
      if (entry !== undefined) entries.push(entry);
    }
  }
  return entries;
}

async function readBlock(
  chain: RpcServices['chain'],
  id: number,
): ReturnType<RpcServices['chain']['readBlock']> {
  try {
    return await chain.readBlock(id);
  } catch {
    throw rpcError(RPC_ERROR.INTERNAL_ERROR, "Can't read block from disk");
  }
}
