/**
 * Methods of the wallet port (`-walletrpcport`): lbcwallet's own methods, and the node's methods for all others, because
 * lbcwallet forwards these to lbcd. Source: lbcwallet rpc/legacyrpc/methods.go `rpcHandlers`.
 */
import { PROFILES, type RpcMethod } from './method.js';
import {
  createNewAccount,
  getAccount,
  getAccountAddress,
  getAddressesByAccount,
  listAccounts,
  renameAccount,
} from '../methods/lbcwallet/accounts.js';
import {
  addMultisigAddress,
  getAddressInfo,
  getNewAddress,
  getRawChangeAddress,
  importPrivKey,
  keypoolRefill,
  validateAddress,
} from '../methods/lbcwallet/addresses.js';
import {
  getBalance,
  getReceivedByAccount,
  getReceivedByAddress,
  getUnconfirmedBalance,
  listReceivedByAccount,
  listReceivedByAddress,
  listUnspent,
} from '../methods/lbcwallet/balances.js';
import {
  sendFrom,
  sendMany,
  sendToAddress,
  setTxFee,
  signRawTransaction,
} from '../methods/lbcwallet/sending.js';
import {
  getBestBlock,
  getInfo,
  REFUSED,
  walletIsLocked,
  walletPassphrase,
  walletPassphraseChange,
} from '../methods/lbcwallet/state.js';
import {
  getTransaction,
  listAddressTransactions,
  listAllTransactions,
  listSinceBlock,
  listTransactions,
} from '../methods/lbcwallet/transactions.js';
import { MethodTable } from './table.js';

export const LBCWALLET_METHODS: readonly RpcMethod[] = [
  addMultisigAddress,
  createNewAccount,
  getAccount,
  getAccountAddress,
  getAddressInfo,
  getAddressesByAccount,
  getBalance,
  getBestBlock,
  getInfo,
  getNewAddress,
  getRawChangeAddress,
  getReceivedByAccount,
  getReceivedByAddress,
  getTransaction,
  getUnconfirmedBalance,
  importPrivKey,
  keypoolRefill,
  listAccounts,
  listAddressTransactions,
  listAllTransactions,
  listReceivedByAccount,
  listReceivedByAddress,
  listSinceBlock,
  listTransactions,
  listUnspent,
  renameAccount,
  sendFrom,
  sendMany,
  sendToAddress,
  setTxFee,
  signRawTransaction,
  validateAddress,
  walletIsLocked,
  walletPassphrase,
  walletPassphraseChange,
  ...REFUSED,
];

/**
 * Creates the table of the wallet port. `methods` are the node's methods. In profiles other than lbcd these methods behave
 * as on the node's port.
 */
export function lbcwalletTable(methods: readonly RpcMethod[]): MethodTable {
  const replaced = new Set(LBCWALLET_METHODS.map(({ name }) => name));
  const others = methods.map((method) =>
    replaced.has(method.name)
      ? { ...method, profiles: (method.profiles ?? PROFILES).filter((profile) => profile !== 'lbcd') }
      : method,
  );
  return new MethodTable([...LBCWALLET_METHODS, ...others]);
}
