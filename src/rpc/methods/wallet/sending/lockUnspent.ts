/** `lockunspent`: locks outputs against spending, or unlocks them. Source: lbrycrd wallet/rpcwallet.cpp. */
import { hashFromHex, isHex } from '../../../../util/bytes.js';
import type { JsonValue } from '../../../../util/json/json.js';
import { yieldIfDue } from '../../../../scheduler/yield.js';
import { outputKey } from '../../../../wallet/ledger/entry.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { RPC_ERROR, rpcError, type RpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { getInt, getObject, getString } from '../../../declare/paramTypes.js';
import { t } from '../../../../schema/schema.js';
import { requireMembers } from './spendArguments.js';
import { walletOf } from '../wallets/walletOf.js';

export const lockUnspent = defineMethod({
  name: 'lockunspent',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Updates list of temporarily unspendable outputs.\nTemporarily lock (unlock=false) or unlock (unlock=true) specified ' +
    'transaction outputs.\nIf no transaction outputs are specified when unlocking then all current locked transaction ' +
    'outputs are unlocked.\nA locked transaction output will not be chosen by automatic coin selection.\nLocks are ' +
    'stored in memory only: a node starts with zero locked outputs.\nAlso see the listunspent call.',
  params: [
    {
      name: 'unlock',
      type: 'boolean',
      required: true,
      strict: true,
      description: 'Whether to unlock (true) or lock (false) the outputs',
    },
    {
      name: 'transactions',
      type: 'array',
      strict: 'nullable',
      description: 'Outputs, each an object of "txid" (string) and "vout" (numeric)',
    },
  ],
  result: t.bool('whether the command succeeded'),
  examples: [
    ['false', '[{"txid":"a08e6907dbbd3d809776dbfc5d82e371b764ed838b5655e72f463568df1aadf0","vout":1}]'],
  ],
  async run(ctx, { unlock, transactions }) {
    const wallet = walletOf(ctx);
    const { lockedOutputs } = wallet;
    if (transactions === undefined) {
      if (unlock) lockedOutputs.clear();
      return true;
    }
    const keys: string[] = [];
    let since = performance.now();
    for (const value of transactions) {
      keys.push(readOutput(wallet, value, unlock));
      since = await yieldIfDue(since);
    }
    for (const key of keys) {
      if (unlock) lockedOutputs.delete(key);
      else lockedOutputs.add(key);
    }
    return true;
  },
});

const invalid = (what: string): RpcError =>
  rpcError(RPC_ERROR.INVALID_PARAMETER, `Invalid parameter, ${what}`);

function readOutput({ ledger, lockedOutputs }: Wallet, value: JsonValue, unlock: boolean): string {
  const object = getObject(value);
  requireMembers(object, { txid: 'string', vout: 'number' });
  const text = getString(object.get('txid')!);
  if (text === '' || !isHex(text)) throw invalid('expected hex txid');
  const n = getInt(object.get('vout')!);
  if (n < 0) throw invalid('vout must be positive');
  const entry = ledger.find(hashFromHex(text.slice(-64).padStart(64, '0')));
  if (entry === undefined) throw invalid('unknown transaction');
  const isThere =
    entry.outputs.some((output) => output.n === n) || n < ledger.transaction(entry).outputs.length;
  if (!isThere) throw invalid('vout index out of bounds');
  const key = outputKey(entry.key, n);
  if (ledger.isSpent(key)) throw invalid('expected unspent output');
  const isLocked = lockedOutputs.has(key);
  if (unlock && !isLocked) throw invalid('expected locked output');
  if (!unlock && isLocked) throw invalid('output already locked');
  return key;
}
