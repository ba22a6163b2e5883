/** `listnameclaims`: the claims and supports that the wallet created. */
import { encodeDestination } from '../../../../script/address.js';
import { extractDestination } from '../../../../script/standard.js';
import { nameTransactions, type NameTransaction } from '../../../../wallet/claims/nameTransactions.js';
import { outputKey } from '../../../../wallet/ledger/entry.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { fromLatin1, hashToHex, toHex } from '../../../../util/bytes.js';
import { coins } from '../../../../util/json/json.js';
import { jsonArray, type JsonOut } from '../../../../util/json/jsonWrite.js';
import { inSlices } from '../../../../scheduler/slices.js';
import { nameText } from '../../../format/claimsText.js';
import { defineMethod } from '../../../declare/method.js';
import { t, type SchemaFields } from '../../../../schema/schema.js';
import { walletOf } from '../wallets/walletOf.js';

type Answer = Record<string, JsonOut | undefined>;

const IN_BLOCK = 'if the transaction is in a block';
const STANDING: SchemaFields = {
  'expiration height': t.optional(t.int('the height at which the claim or support expires'), IN_BLOCK),
  expired: t.optional(t.bool('whether it has expired'), IN_BLOCK),
  'blocks to expiration': t.optional(t.int('number of blocks until it expires'), 'if it has not expired'),
};
const IN_TRIE: SchemaFields = {
  'is spent': t.bool('whether the output is spent'),
  'is in name trie': t.optional(t.bool('whether it is active'), 'for a claim'),
  'is in support map': t.optional(t.bool('whether it is active'), 'for a support'),
};
const VALUE = t.optional(t.hex('the value of the claim'), 'when there is one');
const ADDRESS = t.optional(t.str('the address of the output'), 'when there is one');

const RESULT = t.array(
  t.union([
    {
      when: 'in the documented profile',
      schema: t.object({
        name: t.str('the name'),
        claimtype: t.oneOf(['CLAIM', 'SUPPORT']),
        claimId: t.claimId('the id of the claim, or of the supported claim'),
        value: VALUE,
        account: t.str('the account from which it was sent; empty for the default account'),
        address: ADDRESS,
        category: t.oneOf(['name']),
        amount: t.coins('the amount of the output'),
        vout: t.int('the index of the output'),
        fee: t.coins('the fee of the transaction'),
        height: t.optional(t.int('the height of the block'), IN_BLOCK),
        confirmations: t.int('the confirmations'),
        blockhash: t.optional(t.hash('the hash of the block'), IN_BLOCK),
        blockindex: t.optional(t.int('the position of the transaction in the block'), IN_BLOCK),
        txid: t.hash('the transaction'),
        time: t.time('the time at which the transaction was created'),
        timereceived: t.time('the time at which the wallet first saw it'),
        comment: t.optional(t.str('the comment of the transaction'), 'when there is one'),
        ...STANDING,
        ...IN_TRIE,
      }),
    },
    {
      when: 'in the other profiles',
      schema: t.object({
        name: t.str('the name'),
        claimtype: t.oneOf(['CLAIM', 'SUPPORT']),
        claimId: t.optional(t.claimId('the claim id'), 'for a claim'),
        supported_claimid: t.optional(t.claimId('the id of the supported claim'), 'for a support'),
        value: VALUE,
        txid: t.hash('the transaction'),
        account: t.str('the account from which it was sent; empty for the default account'),
        address: ADDRESS,
        amount: t.coins('the amount of the output'),
        vout: t.int('the index of the output'),
        fee: t.coins('the fee of the transaction'),
        height: t.optional(t.int('the height of the block'), IN_BLOCK),
        ...STANDING,
        confirmations: t.int('the confirmations'),
        ...IN_TRIE,
      }),
    },
  ]),
);

function addressOf(wallet: Wallet, { script }: NameTransaction): string | undefined {
  const destination = extractDestination(script);
  return destination === null ? undefined : encodeDestination(destination, wallet.prefixes);
}

function expiration({ node, followedHeight }: Wallet, madeAt: number): Answer {
  const expires = node.claims.expirationHeight(madeAt);
  const left = expires - followedHeight;
  return {
    'expiration height': expires,
    expired: left <= 0,
    'blocks to expiration': left > 0 ? left : undefined,
  };
}

/**
 * Returns the state in the claim trie. With `inDocumented` the result also covers updates, for which the reference returns
 * no state.
 */
async function trieAnswer(wallet: Wallet, item: NameTransaction, inDocumented: boolean): Promise<Answer> {
  const { entry, n, kind, name, isSpent } = item;
  const answer: Answer = { 'is spent': isSpent };
  if (kind === 'update' && !inDocumented) return answer;
  const standing = await wallet.node.claims.standing(name, fromLatin1(outputKey(entry.key, n)));
  answer[kind === 'support' ? 'is in support map' : 'is in name trie'] = standing?.isInTrie === true;
  return answer;
}

async function documentedItem(wallet: Wallet, item: NameTransaction): Promise<JsonOut> {
  const { entry, n, kind, name, claimId, value, valueSat, feeSat } = item;
  const { row, height, state } = entry;
  const isInBlock = state === 'confirmed';
  return {
    name: nameText(name),
    claimtype: kind === 'support' ? 'SUPPORT' : 'CLAIM',
    claimId: hashToHex(claimId),
    value: value === null ? undefined : toHex(value),
    account: row.fromAccount,
    address: addressOf(wallet, item),
    category: 'name',
    amount: coins(valueSat),
    vout: n,
    fee: coins(feeSat),
    height: isInBlock ? height : undefined,
    confirmations: wallet.ledger.depth(entry),
    blockhash: isInBlock ? hashToHex(row.blockHash) : undefined,
    blockindex: isInBlock ? row.index : undefined,
    txid: hashToHex(fromLatin1(entry.key)),
    time: row.timeSmartSec === 0 ? row.timeReceivedSec : row.timeSmartSec,
    timereceived: row.timeReceivedSec,
    comment: row.notes.get('comment'),
    ...(isInBlock ? expiration(wallet, height) : {}),
    ...(await trieAnswer(wallet, item, true)),
  };
}

async function lbrycrdItem(wallet: Wallet, item: NameTransaction): Promise<JsonOut> {
  const { entry, n, kind, name, claimId, value, valueSat, feeSat } = item;
  const isSupport = kind === 'support';
  const id = hashToHex(claimId);
  return {
    name: nameText(name),
    claimtype: isSupport ? 'SUPPORT' : 'CLAIM',
    claimId: isSupport ? undefined : id,
    supported_claimid: isSupport ? id : undefined,
    value: value === null ? undefined : toHex(value),
    txid: hashToHex(fromLatin1(entry.key)),
    account: entry.row.fromAccount,
    address: addressOf(wallet, item),
    amount: coins(valueSat),
    vout: n,
    fee: coins(feeSat),
    ...(entry.height >= 0 ? { height: entry.height, ...expiration(wallet, entry.height) } : {}),
    confirmations: wallet.ledger.depth(entry),
    ...(await trieAnswer(wallet, item, false)),
  };
}

async function* items(
  found: readonly NameTransaction[],
  item: (one: NameTransaction) => Promise<JsonOut>,
): AsyncGenerator<JsonOut> {
  for (const one of found) yield await item(one);
}

export const listNameClaims = defineMethod({
  name: 'listnameclaims',
  category: 'claimtrie',
  needsWallet: 'one',
  summary: 'Returns the claims and supports in transactions of the wallet, oldest first.',
  params: [
    {
      name: 'includesuppports|includesupports',
      type: 'boolean',
      default: true,
      description: 'Whether to include supports',
    },
    {
      name: 'activeonly',
      type: 'boolean',
      defaultText: 'false; true in the other profiles',
      description: 'Whether to include only unspent outputs',
    },
    { name: 'minconf', type: 'integer', default: 1, description: 'Minimum number of confirmations' },
  ],
  result: RESULT,
  examples: [[], ['false', 'true', '6']],
  async run(ctx, { includesuppports, activeonly, minconf }) {
    const wallet = walletOf(ctx);
    const isDocumented = ctx.profile === 'documented';
    const found = await inSlices(
      nameTransactions(wallet.ledger, {
        supports: includesuppports,
        spent: !(activeonly ?? !isDocumented),
        minDepth: minconf,
      }),
    );
    const item = isDocumented ? documentedItem : lbrycrdItem;
    return jsonArray(items(found, (one) => item(wallet, one)));
  },
});
