/**
 * Invalid calls of wallet methods: each parameter with each of many values in place of a valid one, options one by one, lists
 * that are too short or too long. Calls are valid if a value happens to fit.
 */

/** Values for valid arguments; each node has its own. */
export interface CallPlaces {
  /** An address of the wallet that has received a payment, and one that belongs to no wallet. */
  readonly own: string;
  readonly other: string;
  /** A segregated witness address that belongs to no wallet. */
  readonly witness: string;
  /** A confirmed and an unconfirmed transaction of the wallet, and ones with a claim and a support. */
  readonly txid: string;
  readonly waitingTxid: string;
  readonly claimTxid: string;
  readonly supportTxid: string;
  readonly claimId: string;
  readonly blockHash: string;
  /** A private key that belongs to no wallet, with its public key. */
  readonly secret: string;
  readonly publicKey: string;
  /** A transaction without inputs that pays to `other`, and a PSBT of one. */
  readonly rawTx: string;
  readonly psbt: string;
  /** A folder to which both nodes can write. */
  readonly folder: string;
}

export interface WalletCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

type Right = (places: CallPlaces) => unknown[];

const UNKNOWN_TXID = '00'.repeat(32);

/** By method: arguments with a valid form. */
export const RIGHT_CALLS: Readonly<Record<string, Right>> = {
  abandontransaction: () => [UNKNOWN_TXID],
  abortrescan: () => [],
  addmultisigaddress: ({ publicKey }) => [1, [publicKey], 'label', 'legacy'],
  addtimelockedaddress: ({ own }) => [1000, own, 'label', 'legacy'],
  addwitnessaddress: ({ own }) => [own, true],
  backupwallet: ({ folder }) => [`${folder}/backup`],
  bumpfee: () => [UNKNOWN_TXID, {}],
  claimname: () => ['name', '00', 1],
  createwallet: () => ['another', false],
  dumpprivkey: ({ own }) => [own],
  dumpwallet: ({ folder }) => [`${folder}/nothere/dump`],
  encryptwallet: () => [''],
  fundrawtransaction: ({ rawTx }) => [rawTx, {}, false],
  generate: () => [0, 10],
  getaccount: ({ own }) => [own],
  getaccountaddress: () => ['label'],
  getaddressesbyaccount: () => ['label'],
  getaddressesbylabel: () => ['nolabel'],
  getaddressinfo: ({ own }) => [own],
  getbalance: () => ['*', 1, false],
  getnewaddress: () => ['', 'legacy'],
  getrawchangeaddress: () => ['legacy'],
  getreceivedbyaccount: () => ['', 1],
  getreceivedbyaddress: ({ own }) => [own, 1],
  getreceivedbylabel: () => ['', 1],
  gettransaction: ({ txid }) => [txid, false],
  getunconfirmedbalance: () => [],
  getwalletinfo: () => [],
  importaddress: ({ other }) => [other, 'label', false, false],
  importmulti: ({ other }) => [[{ scriptPubKey: { address: other }, timestamp: 'now' }], { rescan: false }],
  importprivkey: ({ secret }) => [secret, 'label', false],
  importprunedfunds: ({ rawTx }) => [rawTx, '00'],
  importpubkey: ({ publicKey }) => [publicKey, 'label', false],
  importwallet: ({ folder }) => [`${folder}/nothere`],
  keypoolrefill: () => [10],
  listaccounts: () => [1, false],
  listaddressgroupings: () => [],
  listlabels: () => ['receive'],
  listlockunspent: () => [],
  listnameclaims: () => [false, true, 1],
  listreceivedbyaccount: () => [1, false, false],
  listreceivedbyaddress: ({ own }) => [1, false, false, own],
  listreceivedbylabel: () => [1, false, false],
  listsinceblock: ({ blockHash }) => [blockHash, 1, false, true],
  listtransactions: () => ['*', 1, 0, false],
  listunspent: ({ own }) => [1, 100, [own], true, {}],
  listwallets: () => [],
  loadwallet: () => ['nobody'],
  lockunspent: ({ txid }) => [false, [{ txid, vout: 9 }]],
  move: () => ['', 'label', 1, 1, 'comment'],
  removeprunedfunds: () => [UNKNOWN_TXID],
  rescanblockchain: () => [0, 1],
  resendwallettransactions: () => [],
  sendfrom: ({ other }) => ['', other, 0.1, 1, 'comment', 'to'],
  sendmany: ({ other }) => ['', { [other]: 0.1 }, 1, 'comment', [], false, 6, 'UNSET'],
  sendtoaddress: ({ other }) => [other, 0.1, 'comment', 'to', false, false, 6, 'UNSET'],
  setaccount: ({ own }) => [own, 'label'],
  sethdseed: () => [false, 'x'],
  setlabel: ({ own }) => [own, 'label'],
  settxfee: () => [0.001],
  signmessage: ({ own }) => [own, 'message'],
  signrawtransactionwithwallet: ({ rawTx }) => [rawTx, [], 'ALL'],
  supportclaim: ({ claimId }) => ['taken', claimId, 1, '', false],
  unloadwallet: () => ['nobody'],
  updateclaim: () => [UNKNOWN_TXID, '00', 1],
  walletcreatefundedpsbt: ({ other }) => [[], [{ [other]: 0.1 }], 0, {}, false],
  walletlock: () => [],
  walletpassphrase: () => ['wrong', 10],
  walletpassphrasechange: () => ['wrong', 'new'],
  walletprocesspsbt: ({ psbt }) => [psbt, false, 'ALL', false],
  // Methods that abandon claims come last, because others need the claims.
  abandonclaim: ({ own }) => [UNKNOWN_TXID, own],
  abandonsupport: ({ own }) => [UNKNOWN_TXID, own],
};

/** Values in place of a valid argument. */
function wrongValues({ own, other, txid, witness }: CallPlaces): unknown[] {
  return [
    null,
    true,
    false,
    0,
    1,
    -1,
    1.5,
    5_000_000_000,
    '',
    'x',
    '1',
    '-1',
    'zz',
    '00',
    '*',
    'abc',
    'bech32',
    UNKNOWN_TXID,
    'ff'.repeat(31),
    txid,
    own,
    other,
    witness,
    'é',
    [],
    [null],
    [1],
    ['x'],
    [{}],
    [[]],
    {},
    { x: 1 },
    { '': null },
  ];
}

/** Options of an object (or of the items of a list): its position, and the names. */
interface Nested {
  readonly method: string;
  readonly at: number;
  readonly keys: readonly string[];
  /** The argument with one of its fields set. */
  make(places: CallPlaces, key: string, value: unknown): unknown;
}

const FUND_KEYS = [
  'changeAddress',
  'changePosition',
  'change_type',
  'includeWatching',
  'lockUnspents',
  'reserveChangeKey',
  'feeRate',
  'subtractFeeFromOutputs',
  'replaceable',
  'conf_target',
  'estimate_mode',
];
const set = (_places: CallPlaces, key: string, value: unknown): unknown => ({ [key]: value });

const NESTED: readonly Nested[] = [
  { method: 'fundrawtransaction', at: 1, keys: FUND_KEYS, make: set },
  { method: 'walletcreatefundedpsbt', at: 3, keys: FUND_KEYS, make: set },
  {
    method: 'walletcreatefundedpsbt',
    at: 0,
    keys: ['txid', 'vout', 'sequence'],
    make: ({ txid }, key, value) => [{ txid, vout: 0, [key]: value }],
  },
  {
    method: 'bumpfee',
    at: 1,
    keys: ['confTarget', 'totalFee', 'replaceable', 'estimate_mode'],
    make: set,
  },
  {
    method: 'listunspent',
    at: 4,
    keys: ['minimumAmount', 'maximumAmount', 'maximumCount', 'minimumSumAmount'],
    make: set,
  },
  {
    method: 'lockunspent',
    at: 1,
    keys: ['txid', 'vout'],
    make: ({ txid }, key, value) => [{ txid, vout: 9, [key]: value }],
  },
  {
    method: 'importmulti',
    at: 0,
    keys: ['scriptPubKey', 'timestamp', 'redeemscript', 'pubkeys', 'keys', 'internal', 'watchonly', 'label'],
    make: ({ other }, key, value) => [{ scriptPubKey: { address: other }, timestamp: 'now', [key]: value }],
  },
  { method: 'importmulti', at: 1, keys: ['rescan'], make: set },
  {
    method: 'signrawtransactionwithwallet',
    at: 1,
    keys: ['txid', 'vout', 'scriptPubKey', 'redeemScript', 'amount'],
    make: ({ txid }, key, value) => [{ txid, vout: 0, scriptPubKey: '51', amount: 1, [key]: value }],
  },
  {
    method: 'sendmany',
    at: 1,
    keys: ['address'],
    make: ({ other }, _key, value) => ({ [other]: value }),
  },
  {
    method: 'walletcreatefundedpsbt',
    at: 1,
    keys: ['address', 'data'],
    make: ({ other }, key, value) => [{ [key === 'data' ? key : other]: value }],
  },
];

/** Further calls that pass the checks which refuse the others. */
function deepCalls(places: CallPlaces): WalletCall[] {
  return [...deepCallsToImportmulti(places), ...deepCallsAfterImportmulti(places)].map(
    ([method, ...params]) => ({ method, params }),
  );
}

function deepCallsToImportmulti({
  own,
  other,
  txid,
  waitingTxid,
  claimTxid,
  supportTxid,
  publicKey,
  secret,
  folder,
}: CallPlaces): [string, ...unknown[]][] {
  return [
    ['abandonclaim', txid, own],
    ['abandonclaim', claimTxid, 'x'],
    ['abandonsupport', txid, own],
    ['abandonsupport', supportTxid, 'x'],
    ['abandontransaction', txid],
    ['abandontransaction', waitingTxid],
    ['addmultisigaddress', 2, [publicKey]],
    ['addmultisigaddress', 0, [publicKey]],
    ['addmultisigaddress', 1, []],
    ['addmultisigaddress', 1, [other]],
    ['addmultisigaddress', 1, Array(17).fill(publicKey)],
    ['addmultisigaddress', 16, Array(16).fill(publicKey)],
    ['addmultisigaddress', 1, [publicKey], '*'],
    ['addmultisigaddress', 1, ['02' + 'ff'.repeat(32)]],
    ['addtimelockedaddress', 1000, other],
    ['addtimelockedaddress', 500_000_001, own],
    ['backupwallet', `${folder}/nothere/backup`],
    ['backupwallet', folder],
    ['bumpfee', txid],
    ['bumpfee', waitingTxid],
    ['bumpfee', waitingTxid, { totalFee: 1 }],
    ['bumpfee', claimTxid],
    ['claimname', '', '00', 1],
    ['claimname', 'name', 'zz', 1],
    ['claimname', 'name', '00', 0],
    ['claimname', 'name', '00', '0.000000001'],
    ['claimname', 'name', '00', 10_000_000],
    ['dumpprivkey', other],
    ['dumpwallet', `${folder}/backup`],
    ['fundrawtransaction', '02000000000000000000', {}],
    ['getaccount', other],
    ['getaddressesbylabel', 'label'],
    ['getreceivedbyaddress', other],
    ['getreceivedbylabel', 'nobody'],
    ['gettransaction', UNKNOWN_TXID],
    ['importaddress', own, '', false],
    ['importaddress', '51', '', false, true],
    ['importaddress', other, '', false, true],
    ['importmulti', [{ scriptPubKey: own, timestamp: 0 }], { rescan: false }],
    ['importmulti', [{ scriptPubKey: { address: own }, timestamp: 0, label: 'x', internal: true }]],
    ['importmulti', [{ scriptPubKey: { address: other }, timestamp: 0, keys: [secret], watchonly: true }]],
    ['importmulti', [{ scriptPubKey: { address: other }, timestamp: 0, keys: [secret] }]],
    ['importmulti', [{ scriptPubKey: { address: other }, timestamp: 0, pubkeys: [publicKey] }]],
    ['importmulti', [{ scriptPubKey: { address: other } }]],
    ['importmulti', [{ timestamp: 0 }]],
  ];
}

function deepCallsAfterImportmulti({
  own,
  other,
  txid,
  claimTxid,
  claimId,
  secret,
  psbt,
  folder,
}: CallPlaces): [string, ...unknown[]][] {
  return [
    ['importprivkey', own],
    ['importpubkey', '02' + 'ff'.repeat(32)],
    ['importwallet', folder],
    ['listreceivedbyaddress', 1, false, false, 'x'],
    ['listsinceblock', UNKNOWN_TXID],
    ['listsinceblock', txid, 0],
    ['listtransactions', 'nobody'],
    ['listunspent', 1, 9, [own, own]],
    ['lockunspent', false, [{ txid: UNKNOWN_TXID, vout: 0 }]],
    ['move', '', 'x', 0],
    ['move', '', '*', 1],
    ['removeprunedfunds', 'zz'],
    ['rescanblockchain', 5, 1],
    ['rescanblockchain', 1000],
    ['rescanblockchain', 0, 1000],
    ['sendfrom', 'nobody', other, 1],
    ['sendfrom', '*', other, 1],
    ['sendmany', '', { [other]: 1, x: 1 }],
    ['sendmany', '', { [other]: 1 }, 1, '', [own]],
    ['sendmany', '', { [other]: 1 }, 1, '', [other, other]],
    ['sendtoaddress', other, 10_000_000],
    ['sendtoaddress', other, 1, '', '', false, false, 6, 'economical'],
    ['setlabel', other, '*'],
    ['sethdseed', false, secret],
    ['sethdseed', true, '5'],
    ['signmessage', other, 'x'],
    ['supportclaim', 'taken', UNKNOWN_TXID, 1],
    ['supportclaim', 'nobody', claimId, 1],
    ['supportclaim', 'taken', 'zz', 1],
    ['supportclaim', 'taken', claimId, 0],
    ['supportclaim', 'taken', claimId, 10_000_000],
    ['supportclaim', 'taken', claimId, 1, '', 'x'],
    ['updateclaim', txid, '00', 1],
    ['updateclaim', claimTxid, 'zz', 1],
    ['updateclaim', claimTxid, '00', 0],
    ['updateclaim', claimTxid, '00', 10_000_000],
    ['walletpassphrase', '', 1],
    ['walletpassphrase', 'x', -1],
    ['walletpassphrase', 'x', 200_000_000],
    ['walletpassphrasechange', '', 'x'],
    ['walletpassphrasechange', 'x', ''],
    ['walletprocesspsbt', psbt, true, 'x'],
  ];
}

/** Whether a call is tested. Left out: effects that a test cannot undo (encryption, files), and random answers. */
function isFit({ method, params }: WalletCall): boolean {
  const [first, second] = params;
  // It is random which output is change, and whether it is spent.
  if (method === 'lockunspent' && /"vout":[01]\b/u.test(JSON.stringify(params))) return false;
  // The first digits of an id are random.
  if (method === 'supportclaim' && (second === '00' || second === '1')) return false;
  if (method === 'encryptwallet') return typeof first !== 'string' || first === '';
  if (['backupwallet', 'dumpwallet', 'importwallet'].includes(method))
    return typeof first !== 'string' || first.startsWith('/');
  // Another test creates, opens and closes wallets.
  if (['createwallet', 'loadwallet', 'unloadwallet'].includes(method))
    return typeof first !== 'string' && first !== null && params.length > 0;
  return true;
}

/** All calls of a method. */
export function malformedCalls(method: string, places: CallPlaces): WalletCall[] {
  const right = RIGHT_CALLS[method]!(places);
  const wrong = wrongValues(places);
  const lists: unknown[][] = [];
  for (let length = 0; length <= right.length; length++) {
    lists.push(right.slice(0, length));
    lists.push(Array<null>(length).fill(null));
  }
  lists.push([...right, 1], Array<null>(12).fill(null));
  for (const at of right.keys())
    for (const value of wrong) {
      lists.push(right.with(at, value));
      // A later parameter may be refused first.
      lists.push([...right.slice(0, at), value]);
    }
  const replace = (at: number, value: unknown): unknown[] => [
    ...right.slice(0, at),
    value,
    ...right.slice(at + 1),
  ];
  for (const nested of NESTED)
    if (nested.method === method)
      for (const key of nested.keys)
        for (const value of wrong) lists.push(replace(nested.at, nested.make(places, key, value)));
  const made = new Set<string>();
  return [...lists.map((params) => ({ method, params })), ...deepCalls(places)].filter((call) => {
    const text = JSON.stringify(call.params);
    if (call.method !== method || made.has(text) || !isFit(call)) return false;
    made.add(text);
    return true;
  });
}
