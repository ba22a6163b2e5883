/**
 * Calls of a user with credentials that could block the node: for every declared method and parameter, values of the maximum
 * size of a request. One body is made at a time; `sizeBytes` is about the size of each.
 */
import { paramNames, type ParamDecl, type RpcMethod } from '../../../src/rpc/declare/method.js';
import { LBCWALLET_METHODS } from '../../../src/rpc/declare/lbcwalletTable.js';
import { METHODS } from '../../../src/rpc/declare/methodTable.js';
import { Writer } from '../../../src/util/writer.js';
import { bigTransaction } from '../../support/bigTransaction.js';
import type { Place } from '../support/rawChain.js';
import { headlessBlock, workedBlocks } from './hostileBlocks.js';
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

/** Where a call is sent: the node's port, its path for the profile of lbcd, or the port that answers as lbcwallet does. */
export type Target = 'node' | 'lbcd' | 'wallet';

export interface HostileCall {
  readonly name: string;
  /** Default: the node's port. */
  readonly target?: Target;
  body(): string;
}

/** They end the node or wait for an event. */
const LEFT_OUT = new Set([
  'stop',
  'waitforblock',
  'waitforblockheight',
  'waitfornewblock',
  'generatetoaddress',
]);

/** JSON texts for any parameter. */
const VALUES: readonly (readonly [name: string, make: Make])[] = [
  ['zeros', (size) => quoted('0', size)],
  ['hex', (size) => quoted('ab', size)],
  ['base58', (size) => quoted('z', size)],
  ['spaces', (size) => quoted(' ', size)],
  ['accents', (size) => quoted('\u00e9', size / 2)],
  ['marks', (size) => quoted('\u0315\u0300\u05ae', size / 6)],
  ['escapes', (size) => quoted('\\u00e9', size)],
  ['a decimal of zeros', (size) => `"1.${repeat('0', size)}"`],
  ['digits', (size) => repeat('9', size)],
  ['a fraction', (size) => `0.${repeat('0', size)}1`],
  ['an exponent', (size) => `1e${repeat('0', size)}1`],
  ['nulls', (size) => list(size, () => 'null')],
  ['ids', (size) => list(size, (n) => `"${hex32(n)}"`)],
  ['addresses', (size) => list(size, (n) => `"${addressAt(n % 1000)}"`)],
  ['empty objects', (size) => list(size, () => '{}')],
  ['keys', (size) => `{${many(size, (n) => `"k${n}":${n}`)}}`],
  ['the same key', (size) => `{${many(size, () => `"data":"00"`)}}`],
];

/** A value that the checks of a parameter accept. */
function filler({ type, name }: ParamDecl): string {
  switch (type) {
    case 'hash':
    case 'looseHash':
    case 'hashOrHeight':
      return `"${hex32(1)}"`;
    case 'integer':
    case 'int64':
    case 'number':
    case 'verbosity':
    case 'amount':
    case 'unreadInteger':
      return '1';
    case 'boolean':
      return 'false';
    case 'object':
      return '{}';
    case 'array':
    case 'arrayOrNull':
    case 'arrayOrObject':
      return '[]';
    case 'hex':
      return '"00"';
    default:
      return name.includes('address') ? `"${addressAt(0)}"` : '"00"';
  }
}

function forParameter(method: RpcMethod, at: number, sizeBytes: number, target: Target): HostileCall[] {
  const before = method.params.slice(0, at).map(filler);
  // The methods of lbcd check no parameter before all required ones are present.
  const behind = method.params.slice(at + 1).filter(({ required }) => target !== 'node' && required);
  const after = behind.map(filler);
  const name = paramNames(method.params[at]!)[0]!;
  return VALUES.map(([what, make]) => ({
    name: `${target === 'node' ? '' : `${target} `}${method.name} ${name}: ${what}`,
    target,
    body: () => call(method.name, `[${[...before, make(sizeBytes), ...after].join(',')}]`),
  }));
}

/** Every parameter of every method with every value. */
export function generalCalls(sizeBytes: number): HostileCall[] {
  const to = (methods: readonly RpcMethod[], target: Target): HostileCall[] =>
    methods
      .filter(({ name }) => !LEFT_OUT.has(name))
      .flatMap((method) => method.params.flatMap((_, at) => forParameter(method, at, sizeBytes, target)));
  const isOfLbcd = ({ profiles }: RpcMethod): boolean => profiles?.length === 1 && profiles[0] === 'lbcd';
  return [
    ...to(
      METHODS.filter((method) => !isOfLbcd(method)),
      'node',
    ),
    ...to(METHODS.filter(isOfLbcd), 'lbcd'),
    ...to(LBCWALLET_METHODS, 'wallet'),
  ];
}

/** Requests that are large outside their parameters. */
export function envelopeCalls(sizeBytes: number): HostileCall[] {
  const made: [string, () => string][] = [
    ['nothing but white space', () => repeat(' ', sizeBytes)],
    ['white space within', () => `{"id":1,${repeat(' ', sizeBytes)}"method":"getblockcount"}`],
    ['white space after', () => `${call('getblockcount', '[]')}${repeat('\n', sizeBytes)}`],
    ['a long method', () => `{"id":1,"method":${quoted('a', sizeBytes)}}`],
    ['a long id', () => `{"id":${quoted('a', sizeBytes)},"method":"getblockcount"}`],
    ['an id of accents', () => `{"id":${quoted('\u00e9', sizeBytes / 2)},"method":"getblockcount"}`],
    ['an id of escapes', () => `{"id":${quoted('\\n\\"', sizeBytes)},"method":"getblockcount"}`],
    ['an id of digits', () => `{"id":${repeat('7', sizeBytes)},"method":"getblockcount"}`],
    ['an id of many values', () => `{"id":${list(sizeBytes, String)},"method":"getblockcount"}`],
    ['an id of many levels', () => `{"id":${levels(sizeBytes)},"method":"uptime"}`],
    ['a long string that does not end', () => `{"id":"${repeat('a', sizeBytes)}`],
    ['escapes that do not end', () => `{"id":"${repeat('\\n', sizeBytes)}`],
    ['levels that do not end', () => repeat('[', sizeBytes)],
    ['levels of objects that do not end', () => repeat('{"a":', sizeBytes)],
    ['keys beside the method', () => `{${many(sizeBytes, (n) => `"k${n}":0`)},"method":"getblockcount"}`],
    ['keys long', () => `{${quoted('k', sizeBytes)}:1,"method":"getblockcount"}`],
    ['named parameters', () => call('getblock', `{${many(sizeBytes, (n) => `"k${n}":0`)}}`)],
    ['many parameters', () => call('getblockcount', list(sizeBytes, String))],
    [
      'echo of strings',
      () =>
        call(
          'echo',
          list(sizeBytes, (n) => `"${n}"`),
        ),
    ],
    [
      'echo of objects',
      () =>
        call(
          'echo',
          list(sizeBytes, (n) => `{"a":${n}}`),
        ),
    ],
    [
      'echo of doubles',
      () =>
        call(
          'echo',
          list(sizeBytes, (n) => `${n}.12345678`),
        ),
    ],
    ['echo of keys', () => call('echo', `[{${many(sizeBytes, (n) => `"k${n}":0`)}}]`)],
    ['a batch of numbers', () => list(sizeBytes, String)],
    ['a batch of nothing', () => list(sizeBytes, () => '{}')],
    ['a batch of calls', () => list(sizeBytes / 4, () => call('getblockcount', '[]'))],
    ['a batch of one large call', () => `[${call('echo', list(sizeBytes, String))}]`],
    ['a batch that is none', () => `[${many(sizeBytes, String)},]`],
    ['a batch of one long string', () => `[${quoted('a', sizeBytes)}]`],
  ];
  return made.map(([name, body]) => ({ name: `request: ${name}`, body }));
}

const P2PKH = Buffer.from(`76a914${'00'.repeat(20)}88ac`, 'hex');
/** A script with many keys that `solveScript` must parse. */
const claimScript = (size: number): Buffer =>
  Buffer.concat([
    Buffer.from('b5016e4e', 'hex'),
    le32(size),
    Buffer.alloc(size, 0x61),
    Buffer.from('6d75', 'hex'),
    P2PKH,
  ]);

function le32(n: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(n);
  return bytes;
}

/** Transactions of many shapes as hex, `sizeBytes` digits each. */
export function transactions(sizeBytes: number): [string, () => string][] {
  const size = sizeBytes / 2;
  const made: [string, () => Buffer][] = [
    ['many inputs', () => bigTransaction({ inputs: Math.floor(size / 41) })],
    ['many outputs', () => bigTransaction({ outputs: Math.floor(size / 9) })],
    ['many payments', () => bigTransaction({ outputs: Math.floor(size / 34), script: P2PKH })],
    [
      'many signed inputs',
      () => bigTransaction({ inputs: Math.floor(size / 148), scriptSig: Buffer.alloc(107, 0x01) }),
    ],
    ['one large script', () => bigTransaction({ script: Buffer.alloc(Math.floor(size), 0x61) })],
    ['one script of zeros', () => bigTransaction({ script: Buffer.alloc(Math.floor(size), 0x00) })],
    ['one script of pushes', () => bigTransaction({ script: Buffer.alloc(Math.floor(size), 0x02) })],
    ['one large claim', () => bigTransaction({ script: claimScript(Math.floor(size)) })],
    ['one large scriptSig', () => bigTransaction({ scriptSig: Buffer.alloc(Math.floor(size), 0x51) })],
    [
      'many witness items',
      () => bigTransaction({ witness: Array<Buffer>(Math.floor(size)).fill(Buffer.alloc(0)) }),
    ],
    ['one large witness item', () => bigTransaction({ witness: [Buffer.alloc(Math.floor(size))] })],
    ['many witnesses', () => bigTransaction({ inputs: Math.floor(size / 43), witness: [Buffer.alloc(1)] })],
    ['an end missing', () => bigTransaction({ inputs: Math.floor(size / 41) }).subarray(0, -1)],
    [
      'an input count beyond the end',
      () => Buffer.concat([Buffer.from('02000000fe00000002', 'hex'), Buffer.alloc(Math.floor(size))]),
    ],
  ];
  return made.map(([name, make]) => [name, () => make().toString('hex')]);
}

function psbtOf(
  tx: Buffer,
  inputs: number,
  outputs: number,
  perInput: Uint8Array = Buffer.alloc(0),
  global: Uint8Array = Buffer.alloc(0),
): string {
  const writer = new Writer(1 << 20).raw(Buffer.from('70736274ff', 'hex'));
  writer.varBytes(Buffer.of(0)).varBytes(tx).raw(global).u8(0);
  for (let n = 0; n < inputs; n++) writer.raw(perInput).u8(0);
  for (let n = 0; n < outputs; n++) writer.u8(0);
  return writer.finish().toString('base64');
}

function unknownPairs(count: number): Buffer {
  const writer = new Writer(1 << 20);
  for (let n = 0; n < count; n++)
    writer.varBytes(Buffer.concat([Buffer.of(0xfc), le32(n)])).varBytes(Buffer.of(0));
  return writer.finish();
}

export function psbts(sizeBytes: number): [string, () => string][] {
  const size = (sizeBytes * 3) / 4;
  const inputs = Math.floor(size / 42);
  const outputs = Math.floor(size / 10);
  return [
    ['many inputs', () => psbtOf(bigTransaction({ inputs }), inputs, 1)],
    ['many outputs', () => psbtOf(bigTransaction({ outputs }), 1, outputs)],
    ['many unknown pairs', () => psbtOf(bigTransaction({}), 1, 1, unknownPairs(Math.floor(size / 8)))],
    [
      'many unknown pairs of all',
      () => psbtOf(bigTransaction({}), 1, 1, undefined, unknownPairs(Math.floor(size / 8))),
    ],
  ];
}

export function proof(sizeBytes: number): string {
  const count = Math.floor(sizeBytes / 2 / 32);
  const writer = new Writer(1 << 20).raw(Buffer.alloc(112)).u32(count).compactSize(count);
  for (let n = 0; n < count; n++) writer.raw(Buffer.alloc(32, n & 0xff));
  return writer
    .varBytes(Buffer.alloc(Math.ceil(count / 4), 0xff))
    .finish()
    .toString('hex');
}

const TX_METHODS: readonly (readonly [string, (hex: string) => string])[] = [
  ['decoderawtransaction', (hex) => `["${hex}"]`],
  ['sendrawtransaction', (hex) => `["${hex}"]`],
  ['testmempoolaccept', (hex) => `[["${hex}"]]`],
  ['signrawtransactionwithkey', (hex) => `["${hex}",["${secret}"]]`],
  ['combinerawtransaction', (hex) => `[["${hex}"]]`],
  ['converttopsbt', (hex) => `["${hex}",true]`],
];

/** Requests that are large in ways that only some methods accept. `tip` is the tip of the node's chain. */
export function specialCalls(sizeBytes: number, tip: Place): HostileCall[] {
  const calls: HostileCall[] = [];
  const add: Add = (method, what, params) => {
    calls.push({ name: `${method}: ${what}`, body: () => call(method, params()) });
  };
  addTransactionCalls(add, sizeBytes);
  addSigningCalls(add, sizeBytes);
  addBlockCalls(add, sizeBytes, tip);
  addQueryCalls(add, sizeBytes);
  return calls;
}

type Add = (method: string, what: string, params: () => string) => void;

function addTransactionCalls(add: Add, sizeBytes: number): void {
  for (const [method, params] of TX_METHODS) {
    for (const [what, make] of transactions(sizeBytes)) add(method, what, () => params(make()));
  }
  const small = bigTransaction({}).toString('hex');
  add('combinerawtransaction', 'many copies', () => `[${list(sizeBytes, () => `"${small}"`)}]`);
  for (const method of ['decodepsbt', 'finalizepsbt']) {
    for (const [what, make] of psbts(sizeBytes)) add(method, what, () => `["${make()}"]`);
  }
  const smallPsbt = psbtOf(bigTransaction({}), 1, 1);
  add('combinepsbt', 'many copies', () => `[${list(sizeBytes, () => `"${smallPsbt}"`)}]`);
  for (const [what, make] of psbts(sizeBytes / 2)) {
    add('combinepsbt', what, () => {
      const text = make();
      return `[["${text}","${text}"]]`;
    });
  }
  for (const method of ['createrawtransaction', 'createpsbt']) {
    add(method, 'many inputs', () => `[${list(sizeBytes, (n) => `{"txid":"${hex32(n)}","vout":1}`)},[]]`);
    add(method, 'many payments', () => `[[],${list(sizeBytes, (n) => `{"${addressAt(n)}":1}`)}]`);
    add(method, 'an object of payments', () => `[[],{${many(sizeBytes, (n) => `"${addressAt(n)}":1`)}}]`);
    add(method, 'much data', () => `[[],{"data":${quoted('00', sizeBytes)}}]`);
    add(method, 'an amount of zeros', () => `[[],{"${addressAt(0)}":"1.${repeat('0', sizeBytes)}"}]`);
    add(method, 'an amount of digits', () => `[[],{"${addressAt(0)}":${repeat('9', sizeBytes)}}]`);
    add(method, 'one output of many keys', () => `[[],[{${many(sizeBytes, (n) => `"k${n}":1`)}}]]`);
    add(method, 'an input of many keys', () => `[[{${many(sizeBytes, (n) => `"k${n}":1`)}}],[]]`);
    add(method, 'a long address', () => `[[],{${quoted('1', sizeBytes)}:1}]`);
  }
}

function addSigningCalls(add: Add, sizeBytes: number): void {
  const small = bigTransaction({}).toString('hex');
  const prevTx = (n: number): string => `{"txid":"${hex32(n)}","vout":1,"scriptPubKey":"51"}`;
  add('signrawtransactionwithkey', 'many keys', () => `["${small}",${list(sizeBytes, () => `"${secret}"`)}]`);
  add('signrawtransactionwithkey', 'many prevtxs', () => `["${small}",[],${list(sizeBytes, prevTx)}]`);
  add(
    'signrawtransactionwithkey',
    'a large redeem script',
    () =>
      `["${small}",[],[{"txid":"${hex32(1)}","vout":1,"scriptPubKey":"a914${'00'.repeat(20)}87","redeemScript":${quoted('51', sizeBytes)}}]]`,
  );
  add(
    'signrawtransactionwithkey',
    'two large scripts',
    () =>
      `["${small}",[],[{"txid":"${hex32(1)}","vout":1,"scriptPubKey":${quoted('51', sizeBytes / 2)}},{"txid":"${hex32(1)}","vout":1,"scriptPubKey":${quoted('52', sizeBytes / 2)}}]]`,
  );
}

function addBlockCalls(add: Add, sizeBytes: number, tip: Place): void {
  add('gettxoutproof', 'ids in a block', () => `[${list(sizeBytes, (n) => `"${hex32(n)}"`)},"${hex32(1)}"]`);
  add('verifytxoutproof', 'many hashes', () => `["${proof(sizeBytes)}"]`);
  add('submitblock', 'many transactions', () => `["${headlessBlock(sizeBytes)}"]`);
  for (const [what, make] of workedBlocks(sizeBytes, tip)) {
    add('submitblock', `${what}, with work`, () => `["${make()}"]`);
    add('getblocktemplate', `a proposal of ${what}`, () => `[{"mode":"proposal","data":"${make()}"}]`);
  }
  for (const [what, make] of transactions(sizeBytes)) {
    add('submitblock', what, () => `["${'00'.repeat(112)}01${make()}"]`);
  }
  add('getblocktemplate', 'a proposal', () => `[{"mode":"proposal","data":"${headlessBlock(sizeBytes)}"}]`);
  add('getblocktemplate', 'many rules', () => `[{"rules":${list(sizeBytes, (n) => `"${n}"`)}}]`);
  add(
    'getblocktemplate',
    'a long longpollid',
    () => `[{"rules":["segwit"],"longpollid":${quoted('1', sizeBytes)}}]`,
  );
}

function addQueryCalls(add: Add, sizeBytes: number): void {
  add('createmultisig', 'many keys', () => `[1,${list(sizeBytes, () => `"${KEY}"`)}]`);
  add('createmultisig', 'a long key', () => `[1,[${quoted('02', sizeBytes)}]]`);
  for (const [what, make] of [
    ['many addresses', (size: number) => list(size, (n) => `"addr(${addressAt(n)})"`)],
    ['a raw script', (size: number) => `["raw(${repeat('51', size)})"]`],
    ['a multisig', (size: number) => `["multi(1,${many(size, () => KEY)})"]`],
    ['a deep one', (size: number) => `["${repeat('sh(', size * 0.75)}${repeat(')', size / 4)}"]`],
    [
      'a long path',
      (size: number) =>
        `["pkh(tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJCTKvosUCJZL5B/${repeat('0/', size)}*)"]`,
    ],
    ['large ranges', (size: number) => list(size / 1000, () => `{"desc":"pk(${KEY})","range":1000000}`)],
    ['many keys of an object', (size: number) => `[{${many(size, (n) => `"k${n}":1`)}}]`],
  ] as const) {
    add('scantxoutset', what, () => `["start",${make(sizeBytes)}]`);
  }
  for (const method of ['getaddressbalance', 'getaddresstxids', 'getaddressutxos', 'getaddressmempool']) {
    add(method, 'many addresses', () => `[{"addresses":${list(sizeBytes, (n) => `"${addressAt(n)}"`)}}]`);
    add(method, 'a long script', () => `[{"addresses":[${quoted('51', sizeBytes)}]}]`);
    add(method, 'a long mark', () => `[{"addresses":["51"],"after":${quoted('51', sizeBytes)}}]`);
  }
  add('getblockstats', 'many names', () => `[1,${list(sizeBytes, (n) => `"n${n}"`)}]`);
  add('getblockstats', 'many known names', () => `[1,${list(sizeBytes, () => `"txs"`)}]`);
  add('signmessagewithprivkey', 'a long message', () => `["${secret}",${quoted('m', sizeBytes)}]`);
  add(
    'verifymessage',
    'a long message',
    () => `["${addressAt(0)}","${Buffer.alloc(65, 31).toString('base64')}",${quoted('m', sizeBytes)}]`,
  );
  add('verifymessage', 'a long signature', () => `["${addressAt(0)}",${quoted('AAAA', sizeBytes)},"m"]`);
  add('logging', 'many categories', () => `[${list(sizeBytes, () => `"net"`)}]`);
  add('logging', 'many categories off', () => `[[],${list(sizeBytes, () => `"net"`)}]`);
}
