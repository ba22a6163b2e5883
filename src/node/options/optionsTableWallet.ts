/** Options of the wallet. */
import { amount, bool, COUNT, int, INTEGER, list, text } from './optionRow.js';

const ADDRESS_TYPES = ['legacy', 'p2sh-segwit', 'bech32'] as const;

/* prettier-ignore */
export const WALLET_OPTIONS = [
  text('addresstype=<type>', 'legacy', 'Type of new addresses', { choices: ADDRESS_TYPES }),
  bool('avoidpartialspends', false, 'Spend either all outputs of an address or none, for better privacy at slightly higher fees'),
  text('changetype=<type>', undefined, 'Type of change addresses. By default it is legacy if -addresstype is legacy; otherwise bech32 if ' + 'the payment has a native witness output, or else -addresstype', { choices: ADDRESS_TYPES }),
  bool('disablewallet', false, 'Run without the wallet and its methods'),
  amount('discardfee=<amt>', 10_000n, 'Fee rate, in LBC/kB. Change is added to the fee if spending it would cost more than its amount at this rate'),
  amount('fallbackfee=<amt>', 20_000n, 'Fee rate, in LBC/kB, if there is not enough data for an estimate'),
  int('keypool=<n>', 1000, 'Number of keys in the key pool', COUNT),
  amount('mintxfee=<amt>', 1000n, 'Minimum fee rate, in LBC/kB, of created transactions'),
  amount('paytxfee=<amt>', 0n, 'Fee rate, in LBC/kB, of created transactions'),
  bool('rescan', false, 'Search the chain for missing transactions of the wallet at start'),
  bool('salvagewallet', false, 'Try to recover keys from a corrupt wallet at start'),
  bool('spendzeroconfchange', true, 'Spend our own unconfirmed change'),
  int('txconfirmtarget=<n>', 6, 'Without -paytxfee, pay enough to be confirmed within this many blocks on average', COUNT),
  int('upgradewallet=<version>', 0, 'Upgrade the wallet to this format at start; without a number, to the newest format', { ...COUNT, bare: 169_900 }),
  list('wallet=<path>', 'A wallet to load, relative to -walletdir. It is created if it does not exist', { format: 'text', networkOnly: true }),
  bool('walletbroadcast', true, 'Send the wallet\'s transactions to the network'),
  text('walletdir=<dir>', undefined, 'Folder of the wallets (default: wallets in the data folder)', { format: 'path' }),
  text('walletnotify=<cmd>', '', 'Run this command when a transaction of the wallet changes (%s in it is replaced by the txid)', { format: 'command' }),
  bool('walletrbf', false, 'Mark created transactions as replaceable (BIP125)'),
  text('walletrpccert=<file>', undefined, 'The certificate of -walletrpcport (default: that of -rpccert)', { format: 'path' }),
  text('walletrpckey=<file>', undefined, 'The private key of -walletrpccert (default: that of -rpckey)', { format: 'path' }),
  list('walletrpclisten=<addr>[:port]', 'Listen at this address for the methods of -walletrpcport. Clients on other machines are accepted only from the addresses of -rpcallowip', { format: 'hostPort', networkOnly: true }),
  bool('walletrpcnotls', false, 'Use only plain HTTP on -walletrpcport. By default the port uses TLS, and only clients on this machine can use plain HTTP'),
  int('walletrpcport=<port>', undefined, 'Serve the JSON-RPC methods of lbcwallet on this additional port, with the credentials and addresses of the JSON-RPC port (docs/wallet.md). Without a number, or with 1, it is lbcwallet\'s own port: 9244, testnet: 19244, regtest: 29244', { ...INTEGER, networkOnly: true, bare: 1 }),
  int('zapwallettxes=<mode>', 0, 'Delete the transactions of the wallet and restore them from the chain (1 = keep their metadata, 2 = delete it too)', { range: [0, 2], bare: 1 }),
] as const;

/* prettier-ignore */
export const WALLET_DEBUG_OPTIONS = [
  int('dblogsize=<n>', 100, 'Accepted for compatibility, without effect: wallets do not use Berkeley DB', { ...COUNT, debugOnly: true }),
  bool('flushwallet', true, 'Accepted for compatibility, without effect: changes of the wallet are written to disk before a call returns', { debugOnly: true }),
  bool('privdb', true, 'Accepted for compatibility, without effect: wallets do not use Berkeley DB', { debugOnly: true }),
  bool('walletrejectlongchains', undefined, 'Do not create transactions that exceed the mempool limits for chains of unconfirmed transactions (default: off with -compat=lbrycrd or lbcd, else on)', { debugOnly: true }),
] as const;
