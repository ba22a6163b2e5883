/** Calls of a wallet and of the claim index that are large in ways that only these methods accept. */
import { bigTransaction } from '../../support/bigTransaction.js';
import { proof, psbts, transactions, type HostileCall } from './hostileCalls.js';
import {
  addressAt,
  call,
  hex32,
  KEY,
  levels,
  list,
  many,
  quoted,
  repeat,
  secret,
  type Make,
} from './hostileValues.js';

const P2PKH = Buffer.from(`76a914${'00'.repeat(20)}88ac`, 'hex');

/** Like `specialCalls`. */
export function walletAndSearchCalls(sizeBytes: number): HostileCall[] {
  const calls: HostileCall[] = [];
  const add: Add = (method, what, params) => {
    calls.push({ name: `${method}: ${what}`, body: () => call(method, params()) });
  };
  addWalletCalls(add, sizeBytes);
  addSearchCalls(add, sizeBytes);
  return calls;
}

type Add = (method: string, what: string, params: () => string) => void;

function addWalletCalls(add: Add, sizeBytes: number): void {
  const importOf = (what: string): string => `{"scriptPubKey":${what},"timestamp":"now"}`;
  const noScan = '{"rescan":false}';
  add(
    'importmulti',
    'many addresses',
    () => `[${list(sizeBytes, (n) => importOf(`{"address":"${addressAt(n)}"}`))},${noScan}]`,
  );
  add(
    'importmulti',
    'many scripts',
    () => `[${list(sizeBytes, (n) => importOf(`"51${hex32(n)}"`))},${noScan}]`,
  );
  add('importmulti', 'a long script', () => `[[${importOf(quoted('51', sizeBytes))}],${noScan}]`);
  add(
    'importmulti',
    'many keys of one',
    () =>
      `[[{"scriptPubKey":{"address":"${addressAt(0)}"},"timestamp":"now","keys":${list(sizeBytes, () => `"${secret}"`)}}],${noScan}]`,
  );
  add('sendmany', 'many payments', () => `["",{${many(sizeBytes, (n) => `"${addressAt(n)}":1`)}}]`);
  add(
    'fundrawtransaction',
    'many payments',
    () => `["${bigTransaction({ outputs: Math.floor(sizeBytes / 68), script: P2PKH }).toString('hex')}"]`,
  );
  add(
    'walletcreatefundedpsbt',
    'many payments',
    () => `[[],{${many(sizeBytes, (n) => `"${addressAt(n)}":1`)}}]`,
  );
  add(
    'signrawtransactionwithwallet',
    'many inputs',
    () => `["${bigTransaction({ inputs: Math.floor(sizeBytes / 82) }).toString('hex')}"]`,
  );
  add(
    'fundrawtransaction',
    'many payers of the fee',
    () =>
      `["${bigTransaction({ outputs: Math.floor(sizeBytes / 180), script: P2PKH }).toString('hex')}",{"subtractFeeFromOutputs":${list(sizeBytes / 2, String)}}]`,
  );
  add(
    'sendmany',
    'many payers',
    () => `["",{"${addressAt(0)}":1},1,"",${list(sizeBytes, (n) => `"${addressAt(n)}"`)}]`,
  );
  add(
    'walletcreatefundedpsbt',
    'many inputs',
    () => `[${list(sizeBytes, (n) => `{"txid":"${hex32(n)}","vout":1}`)},{"${addressAt(0)}":1}]`,
  );
  for (const [what, make] of psbts(sizeBytes)) add('walletprocesspsbt', what, () => `["${make()}"]`);
  for (const [what, make] of transactions(sizeBytes / 2))
    add('importprunedfunds', what, () => `["${make()}","${proof(sizeBytes / 2)}"]`);
  add(
    'signrawtransactionwithwallet',
    'many prevtxs',
    () =>
      `["${bigTransaction({}).toString('hex')}",${list(sizeBytes, (n) => `{"txid":"${hex32(n)}","vout":1,"scriptPubKey":"51"}`)}]`,
  );
  add(
    'importmulti',
    'many labels',
    () =>
      `[${list(sizeBytes, (n) => `{"scriptPubKey":{"address":"${addressAt(n)}"},"timestamp":0,"label":"l${n}"}`)},${noScan}]`,
  );
  add('listunspent', 'many addresses', () => `[0,9,${list(sizeBytes, (n) => `"${addressAt(n)}"`)}]`);
  add(
    'lockunspent',
    'many outputs',
    () => `[false,${list(sizeBytes, (n) => `{"txid":"${hex32(n)}","vout":1}`)}]`,
  );
  add('addmultisigaddress', 'many keys', () => `[1,${list(sizeBytes, () => `"${KEY}"`)}]`);
}

function addSearchCalls(add: Add, sizeBytes: number): void {
  add('claimname', 'a long value', () => `["a",${quoted('00', sizeBytes)},1]`);
  add('resolve', 'many URLs', () => `[${list(sizeBytes, (n) => `"lbry://@a${n}/b"`)}]`);
  add(
    'resolve',
    'long URLs',
    () => `[["lbry://${repeat('a', sizeBytes / 2)}","${repeat('@/#:$', sizeBytes / 2)}"]]`,
  );
  add('resolve', 'a long name in another writing', () => `[${quoted('\u0315\u0300\u05ae', sizeBytes / 6)}]`);
  const sought: [string, Make][] = [
    ['a long text', (size) => `"text":${quoted('word ', size)}`],
    ['a text of one word', (size) => `"text":${quoted('a', size)}`],
    ['a text of quotes', (size) => `"text":${quoted('\\"-', size)}`],
    ['many tags', (size) => `"any_tags":${list(size, (n) => `"tag${n}"`)}`],
    [
      'tags without and with',
      (size) =>
        `"not_tags":${list(size / 2, (n) => `"t${n}"`)},"all_tags":${list(size / 2, (n) => `"u${n}"`)}`,
    ],
    ['many ids', (size) => `"claim_ids":${list(size, (n) => `"${hex32(n).slice(24)}"`)}`],
    ['many channels', (size) => `"channel_ids":${list(size, (n) => `"${hex32(n).slice(24)}"`)}`],
    ['many orders', (size) => `"order_by":${list(size, (n) => `"height${n}"`)}`],
    ['a long name', (size) => `"name":${quoted('n', size)}`],
    ['a long number', (size) => `"release_time":"<${repeat('9', size)}"`],
    ['many constraints', (size) => many(size, (n) => `"k${n}":1`)],
    ['constraints in constraints', (size) => `"text":${levels(Math.min(size, 20_000))}`],
  ];
  for (const [what, make] of sought) add('searchclaims', what, () => `[{${make(sizeBytes)}}]`);
}
