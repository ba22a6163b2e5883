/** `listunspent`: spendable outputs. Source: lbrycrd wallet/rpcwallet.cpp. */
import { MAX_MONEY } from '../../../../consensus/limits.js';
import { encodeDestination } from '../../../../script/address.js';
import { extractDestination } from '../../../../script/standard.js';
import { fromLatin1, hashToHex, toHex } from '../../../../util/bytes.js';
import { coins, type JsonObject, type JsonValue } from '../../../../util/json/json.js';
import { jsonArray, type JsonOut } from '../../../../util/json/jsonWrite.js';
import { inSlices } from '../../../../scheduler/slices.js';
import type { Slices } from '../../../../util/slices.js';
import { outputNumber, txKeyOf } from '../../../../wallet/ledger/entry.js';
import {
  availableCoinsInOrder,
  type CoinQuery,
  type WalletCoin,
} from '../../../../wallet/spending/availableCoins.js';
import { spendStateOf } from '../../../../wallet/spending/spendState.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { getInt64, getString, parseAmount } from '../../../declare/paramTypes.js';
import { t } from '../../../../schema/schema.js';
import { ACCOUNTS } from '../addresses/accountsOption.js';
import { addressKey } from '../addresses/addressOf.js';
import { walletOf } from '../wallets/walletOf.js';

/** Number of addresses parsed between two yields to the event loop. */
const ADDRESSES_AT_ONCE = 64;
/** Number of coins formatted between two yields to the event loop. */
const COINS_AT_ONCE = 64;

export const listUnspent = defineMethod({
  name: 'listunspent',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Returns array of unspent transaction outputs with between minconf and maxconf (inclusive) confirmations.\n' +
    'Optionally filter to only include txouts paid to specified addresses.\nClaims and supports are not among them.',
  params: [
    {
      name: 'minconf',
      type: 'integer',
      default: 1,
      strict: 'nullable',
      description: 'Minimum number of confirmations',
    },
    {
      name: 'maxconf',
      type: 'integer',
      default: 9999999,
      strict: 'nullable',
      description: 'Maximum number of confirmations',
    },
    { name: 'addresses', type: 'array', strict: 'nullable', description: 'Addresses to filter by' },
    {
      name: 'include_unsafe',
      type: 'boolean',
      default: true,
      strict: 'nullable',
      description: 'Include outputs that are not safe to spend',
    },
    {
      name: 'query_options',
      type: 'object',
      description:
        '"minimumAmount" and "maximumAmount" of each output, "maximumCount" of outputs, and "minimumSumAmount", which is ' +
        'enough',
    },
  ],
  result: t.array(
    t.object({
      txid: t.hash('the transaction id'),
      vout: t.int('the index of the output'),
      address: t.optional(t.str('the address'), 'if the script has one'),
      label: t.optional(t.str('the label of the address'), 'if the address is in the address book'),
      account: t.optional(t.str('the same value under its older name'), 'with -deprecatedrpc=accounts'),
      redeemScript: t.optional(t.hex('the redeem script'), 'if the output is P2SH and the script is known'),
      scriptPubKey: t.hex('the output script'),
      amount: t.coins('the amount of the output'),
      confirmations: t.int('the number of confirmations'),
      spendable: t.bool('whether the wallet has the private keys to spend it'),
      solvable: t.bool('whether the wallet knows how to spend it, private keys aside'),
      safe: t.bool(
        'whether it is safe to spend: unconfirmed outputs of other wallets and of replacement transactions ' +
          'are not safe, and the wallet does not spend them',
      ),
    }),
  ),
  examples: [
    [],
    ['6', '9999999', '["1PGFqEzfmQch1gKD3ra4k18PNj3tTUUSqg"]'],
    ['6', '9999999', '[]', 'true', '{"minimumAmount":0.005}'],
  ],
  async run(ctx, { minconf, maxconf, addresses, include_unsafe, query_options }) {
    const wallet = walletOf(ctx);
    const wanted = await inSlices(readAddresses(wallet, addresses ?? []));
    const limits = readOptions(query_options);
    // If the result is limited, the address filter is applied after the limits, as in the reference. Without limits,
    // outputs to other addresses are skipped earlier, which is faster.
    const isLimited = limits.enoughSat !== null || limits.enoughCoins !== null;
    const query: CoinQuery = {
      control: null,
      onlySafe: !include_unsafe,
      minDepth: minconf,
      maxDepth: maxconf,
      destinations: isLimited ? null : wanted,
      ...limits,
    };
    if (query.destinations === null) await inSlices(spendStateOf(wallet).scripts.learn());
    const found = await inSlices(describeAll(wallet, query, wanted));
    const hasAccounts = ctx.isDeprecatedEnabled(ACCOUNTS);
    return jsonArray(answers(wallet, found, hasAccounts));
  },
});

/** Returns the addresses as `destinationKey`s; null if the caller gave no addresses. */
function* readAddresses(wallet: Wallet, addresses: readonly JsonValue[]): Slices<ReadonlySet<string> | null> {
  const wanted = new Set<string>();
  for (const [n, value] of addresses.entries()) {
    if (n % ADDRESSES_AT_ONCE === ADDRESSES_AT_ONCE - 1) yield;
    const address = getString(value);
    const key = addressKey(wallet, address, `Invalid Bitcoin address: ${address}`);
    if (wanted.has(key))
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, `Invalid parameter, duplicated address: ${address}`);
    wanted.add(key);
  }
  return wanted.size === 0 ? null : wanted;
}

function readOptions(
  options: JsonObject | undefined,
): Pick<CoinQuery, 'minValueSat' | 'maxValueSat' | 'enoughSat' | 'enoughCoins'> {
  const amount = (name: string, otherwise: bigint): bigint => {
    const value = options?.get(name);
    return value === undefined ? otherwise : parseAmount(value);
  };
  const minValueSat = amount('minimumAmount', 0n);
  const maxValueSat = amount('maximumAmount', MAX_MONEY);
  const sumSat = amount('minimumSumAmount', MAX_MONEY);
  const count = options?.get('maximumCount');
  const most = count === undefined ? 0n : BigInt.asUintN(64, getInt64(count));
  return {
    minValueSat,
    maxValueSat,
    // A maximum sum equal to the total money supply means that the sum is not limited.
    enoughSat: sumSat === MAX_MONEY ? null : sumSat,
    enoughCoins: most === 0n ? null : Number(most),
  };
}

/** Formats the coins. A coin that is spent while others are formatted is omitted. */
function* describeAll(
  wallet: Wallet,
  query: CoinQuery,
  wanted: ReadonlySet<string> | null,
): Slices<WalletCoin[]> {
  const { coins: listed, describe } = availableCoinsInOrder(wallet, query);
  const found: WalletCoin[] = [];
  let seen = 0;
  for (const coin of listed) {
    if (++seen % COINS_AT_ONCE === 0) yield;
    if (wallet.ledger.entry(coin.entry.key) !== coin.entry) continue;
    if (wanted === null || wanted.has(coin.output.to)) found.push(describe(coin));
  }
  return found;
}

function* answers(wallet: Wallet, found: readonly WalletCoin[], hasAccounts: boolean): Generator<JsonOut> {
  for (const { key, script, valueSat, depth, isSpendable, isSolvable, isSafe } of found) {
    const destination = extractDestination(script);
    const address = destination === null ? undefined : encodeDestination(destination, wallet.prefixes);
    const label = address === undefined ? undefined : wallet.book.find(address)?.label;
    const isScriptHash = destination?.type === 'scripthash';
    const redeemScript = isScriptHash ? wallet.keyring.script(destination.hash) : null;
    yield {
      txid: hashToHex(fromLatin1(txKeyOf(key))),
      vout: outputNumber(key),
      address,
      label,
      account: hasAccounts ? label : undefined,
      redeemScript: redeemScript === null ? undefined : toHex(redeemScript),
      scriptPubKey: toHex(script),
      amount: coins(valueSat),
      confirmations: depth,
      spendable: isSpendable,
      solvable: isSolvable,
      safe: isSafe,
    };
  }
}
