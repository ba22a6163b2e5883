/**
 * Compares spending with lbrycrd (`LBRYCRDD`): the same calls and error texts, and where nothing is random the same coins, fees
 * and change.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { regtestParams } from '../../src/params/regtest.js';
import { addressPrefixesOf, encodeDestination } from '../../src/script/address.js';
import { startRegtest, type RegtestNode } from './support/node.js';
import {
  envelopeFrom,
  referenceBinary,
  startReference,
  type Call,
  type ReferenceNode,
} from './support/reference.js';

const binary = referenceBinary();
const OTHER = 'mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8';
const WITNESS = encodeDestination(
  { type: 'witness_v0_keyhash', hash: Buffer.alloc(20, 1) },
  addressPrefixesOf(regtestParams),
);
const UNKNOWN_TXID = '00'.repeat(32);
const ARGS = ['-deprecatedrpc=signrawtransaction', '-keypool=20', '-txindex'];

interface Unspent {
  txid: string;
  vout: number;
  amount: number;
  scriptPubKey: string;
}
interface Decoded {
  vin: { txid: string; vout: number; sequence: number }[];
  vout: { value: number; scriptPubKey: { type: string } }[];
  vsize: number;
  locktime: number;
  version: number;
}

/** Calls that both refuse. */
const REFUSED_CALLS: readonly [string, ...unknown[]][] = [
  ['sendtoaddress', 'x', 1],
  ['sendtoaddress', OTHER, 0],
  ['sendtoaddress', OTHER, -1],
  ['sendtoaddress', OTHER, 'much'],
  ['sendtoaddress', OTHER, 0.00000001],
  ['sendtoaddress', OTHER, 10_000_000_000],
  ['sendtoaddress', OTHER, 1, 5],
  ['sendtoaddress', OTHER, 1, '', '', 1],
  ['sendtoaddress', OTHER, 0.00001, '', '', true],
  ['sendtoaddress', OTHER, 1, '', '', false, false, 0],
  ['sendtoaddress', OTHER, 1, '', '', false, false, 1009],
  ['sendtoaddress', OTHER, 1, '', '', false, false, 6, 'FAST'],
  ['sendfrom', '', OTHER, 1],
  ['sendmany', 'x', { [OTHER]: 1 }],
  ['sendmany', '*', { [OTHER]: 1 }],
  ['sendmany', '', { nowhere: 1 }],
  ['sendmany', '', { [OTHER]: 0 }],
  ['sendmany', '', { [OTHER]: 10_000_000_000 }],
  ['sendmany', '', {}],
  ['sendmany', '', [OTHER]],
  ['sendmany', '', { [OTHER]: 1 }, 1, '', [5]],
  ['sendmany', '', { [OTHER]: 1 }, 1, '', [], false, 0],
  ['sendmany', '', { [OTHER]: 0.00000001 }],
  ['settxfee', -1],
  ['settxfee', 'x'],
  ['abandontransaction', UNKNOWN_TXID],
  ['lockunspent', 'x'],
  ['lockunspent', true, 'x'],
  ['lockunspent', false, [1]],
  ['lockunspent', false, [{ vout: 0 }]],
  ['lockunspent', false, [{ txid: UNKNOWN_TXID }]],
  ['lockunspent', false, [{ txid: 'zz', vout: 0 }]],
  ['lockunspent', false, [{ txid: UNKNOWN_TXID, vout: -1 }]],
  ['lockunspent', false, [{ txid: UNKNOWN_TXID, vout: 0 }]],
  ['lockunspent', false, [{ txid: 5, vout: 0 }]],
  ['listunspent', 'x'],
  ['listunspent', 1, 'x'],
  ['listunspent', 1, 9, 'x'],
  ['listunspent', 1, 9, [5]],
  ['listunspent', 1, 9, ['x']],
  ['listunspent', 1, 9, [OTHER, OTHER]],
  ['listunspent', 1, 9, [], 'x'],
  ['listunspent', 1, 9, [], true, 5],
  ['listunspent', 1, 9, [], true, { minimumAmount: 'x' }],
  ['listunspent', 1, 9, [], true, { maximumCount: 'x' }],
  ['listunspent', 1000],
  ['bumpfee', 5],
  ['bumpfee', UNKNOWN_TXID],
  ['bumpfee', UNKNOWN_TXID, 5],
  ['bumpfee', UNKNOWN_TXID, { x: 1 }],
  ['bumpfee', UNKNOWN_TXID, { confTarget: 'x' }],
  ['bumpfee', UNKNOWN_TXID, { confTarget: 0 }],
  ['bumpfee', UNKNOWN_TXID, { confTarget: 6, totalFee: 1 }],
  ['bumpfee', UNKNOWN_TXID, { totalFee: 0 }],
  ['bumpfee', UNKNOWN_TXID, { totalFee: -5 }],
  ['bumpfee', UNKNOWN_TXID, { estimate_mode: 'x' }],
  ['fundrawtransaction', 5],
  ['fundrawtransaction', 'zz'],
  ['fundrawtransaction', '01000000000000000000'],
  ['fundrawtransaction', '01000000000000000000', 5],
  ['fundrawtransaction', '01000000000000000000', { x: 1 }],
  ['fundrawtransaction', '01000000000000000000', { changePosition: 'x' }],
  ['fundrawtransaction', '01000000000000000000', { changeAddress: 'x' }],
  ['fundrawtransaction', '01000000000000000000', { changeAddress: OTHER, change_type: 'legacy' }],
  ['fundrawtransaction', '01000000000000000000', { change_type: 'x' }],
  ['fundrawtransaction', '01000000000000000000', { feeRate: 'x' }],
  ['fundrawtransaction', '01000000000000000000', { feeRate: 1, conf_target: 6 }],
  ['fundrawtransaction', '01000000000000000000', { feeRate: 1, estimate_mode: 'UNSET' }],
  ['fundrawtransaction', '01000000000000000000', { conf_target: 0 }],
  ['fundrawtransaction', '01000000000000000000', { estimate_mode: 'x' }],
  ['fundrawtransaction', '01000000000000000000', {}, 'x'],
  ['walletcreatefundedpsbt', 5, []],
  ['walletcreatefundedpsbt', [], []],
  ['walletcreatefundedpsbt', [], [{ [OTHER]: 1 }], 'x'],
  ['walletcreatefundedpsbt', [], [{ [OTHER]: 1 }], 0, 5],
  ['walletcreatefundedpsbt', [], [{ [OTHER]: 1 }], 0, { changePosition: 7 }],
  ['walletcreatefundedpsbt', [], [{ [OTHER]: 1 }], 0, { subtractFeeFromOutputs: [0, 0] }],
  ['walletcreatefundedpsbt', [], [{ [OTHER]: 1 }], 0, { subtractFeeFromOutputs: [-1] }],
  ['walletcreatefundedpsbt', [], [{ [OTHER]: 1 }], 0, { subtractFeeFromOutputs: [1] }],
  ['walletcreatefundedpsbt', [], [{ [OTHER]: 10_000_000_000 }]],
  ['walletcreatefundedpsbt', [], [{ [OTHER]: 0.00000001 }]],
  ['walletcreatefundedpsbt', [], [{ [OTHER]: 1 }], 0, { feeRate: 0.00000001 }],
  ['walletcreatefundedpsbt', [{ txid: UNKNOWN_TXID, vout: 0 }], [{ [OTHER]: 1 }]],
  ['walletprocesspsbt', 5],
  ['walletprocesspsbt', 'x'],
  ['walletprocesspsbt', 'cHNidP8=', 'x'],
  ['signrawtransactionwithwallet', 5],
  ['signrawtransactionwithwallet', 'zz'],
  ['signrawtransactionwithwallet', '01000000000000000000', 5],
  ['signrawtransactionwithwallet', '01000000000000000000', null, 'x'],
  ['signrawtransactionwithwallet', '01000000000000000000'],
  ['signrawtransaction', '01000000000000000000'],
  ['listlockunspent'],
];

/** One side: a new node whose wallet has mined. */
class Side {
  readonly call: Call;

  constructor(call: Call) {
    this.call = call;
  }

  async rpc<T = unknown>(method: string, ...params: unknown[]): Promise<T> {
    const { result, error } = await this.call(method, params);
    if (error) throw new Error(`${method}: ${error.code} ${error.message}`);
    return result as T;
  }

  /** The result, or code and first line of an error. */
  async reported(method: string, params: readonly unknown[]): Promise<unknown> {
    const { result, error } = await this.call(method, params);
    return error ? `${error.code} ${error.message.split('\n')[0]}` : { result };
  }

  async shape(hex: string): Promise<unknown> {
    const tx = await this.rpc<Decoded>('decoderawtransaction', hex);
    const spent: number[] = [];
    for (const { txid, vout } of tx.vin) {
      const parent = await this.rpc<{ vout: { value: number }[] }>('getrawtransaction', txid, true);
      spent.push(parent.vout[vout]!.value);
    }
    const { vsize, version } = tx;
    return {
      spent: spent.sort((a, b) => a - b),
      outputs: tx.vout.map(({ value, scriptPubKey }) => `${value} ${scriptPubKey.type}`).sort(),
      sequences: tx.vin.map(({ sequence }) => sequence),
      vsize,
      version,
    };
  }
}

describe.skipIf(binary === undefined)('spending beside lbrycrd', () => {
  let node: RegtestNode;
  let reference: ReferenceNode;
  let sides: Side[];
  beforeAll(async () => {
    node = await startRegtest({ args: ARGS });
    reference = await startReference(binary!, ['-disablewallet=0', ...ARGS]);
    sides = [
      new Side(envelopeFrom(node.url.replace(/\/\/.*@/, '//'), credentials(node.url))),
      new Side(reference.call),
    ];
    for (const side of sides) {
      await side.rpc('generate', 120);
      await side.rpc('settxfee', 0.0002);
    }
  });
  afterAll(async () => {
    await node?.stop();
    await reference?.stop();
  });

  /** Runs the function on both sides. The results must be equal. */
  async function same(label: string, run: (side: Side) => Promise<unknown>): Promise<unknown> {
    const [ours, theirs] = [await run(sides[0]!), await run(sides[1]!)];
    expect(ours, label).toEqual(theirs);
    return ours;
  }

  it('refuses the same calls with the same messages', async () => {
    for (const [method, ...params] of REFUSED_CALLS)
      await same(`${method} ${JSON.stringify(params)}`, (side) => side.reported(method, params));
  });

  it('chooses the same coins and pays the same', async () => {
    await same('what is unspent', async (side) => {
      const unspent = await side.rpc<Unspent[]>('listunspent', 0);
      return unspent.map(({ amount }) => amount).sort((a, b) => a - b);
    });
    const funded = (side: Side, outputs: unknown, options: unknown) => async (): Promise<unknown> => {
      const raw = await side.rpc<string>('createrawtransaction', [], outputs);
      const { hex, fee, changepos } = await side.rpc<{ hex: string; fee: number; changepos: number }>(
        'fundrawtransaction',
        raw,
        options,
      );
      return { fee, changepos, ...((await side.shape(hex)) as object) };
    };
    const cases: [unknown, unknown][] = [
      [[{ [OTHER]: 0.5 }], { changePosition: 0 }],
      [[{ [OTHER]: 0.5 }], { changePosition: 1, feeRate: 0.001 }],
      [[{ [OTHER]: 1 }], { changePosition: 1, subtractFeeFromOutputs: [0] }],
      [[{ [OTHER]: 2.9995 }], { changePosition: 1 }],
      [[{ [OTHER]: 2.99985 }], { changePosition: 1 }],
      [[{ [OTHER]: 5.5 }], { changePosition: 0, replaceable: true }],
      [[{ [WITNESS]: 0.5 }], { changePosition: 0 }],
      [[{ [OTHER]: 0.5 }], { changePosition: 0, change_type: 'bech32' }],
      [[{ [OTHER]: 0.5 }], { changePosition: 0, change_type: 'p2sh-segwit' }],
      [[{ data: '00010203' }], { changePosition: 1 }],
      [[{ [OTHER]: 0.5 }, { [WITNESS]: 0.25 }], { changePosition: 2, subtractFeeFromOutputs: [0, 1] }],
    ];
    for (const [outputs, options] of cases)
      await same(JSON.stringify([outputs, options]), (side) => funded(side, outputs, options)());
  });

  it('sends, bumps and abandons in the same way', async () => {
    await same('a payment', payAndBump);
    await same('several payments', paySeveral);
    await same('PSBT', usePsbt);
  });
});

async function payAndBump(side: Side): Promise<unknown> {
  const txid = await side.rpc<string>('sendtoaddress', OTHER, 1.5, 'what', 'whom', false, true);
  const { vsize, ...shape } = (await side.shape(await side.rpc<string>('getrawtransaction', txid))) as {
    vsize: number;
  };
  const bumped = await side.rpc<{ txid: string; origfee: number; fee: number; errors: string[] }>(
    'bumpfee',
    txid,
  );
  const again = await side.reported('bumpfee', [txid]);
  const low = await side.reported('bumpfee', [bumped.txid, { totalFee: 1000 }]);
  const high = await side.reported('bumpfee', [bumped.txid, { totalFee: 50_000_000_000 }]);
  const abandoned = await side.reported('abandontransaction', [bumped.txid]);
  // lbrycrd notifies its wallet asynchronously when a transaction leaves the mempool.
  await side.rpc('syncwithvalidationinterfacequeue');
  const unspent = await side.rpc<unknown[]>('listunspent', 0, 0);
  await side.rpc('generate', 1);
  const mined = await side.reported('bumpfee', [bumped.txid]);
  // The selected coins are random here, and so are sizes and fees.
  const hide = (text: unknown): unknown =>
    String(text)
      .replace(/[0-9a-f]{64}/g, 'txid')
      .replace(/0\.0\d+/g, 'fee');
  return {
    sequences: (shape as { sequences: number[] }).sequences.every((one) => one === 0xfffffffd),
    size: Math.abs(vsize - 373) < 250,
    fees: [bumped.origfee < bumped.fee, bumped.errors],
    reported: [again, low, high, abandoned, mined].map(hide),
    unspent: unspent.length,
  };
}

async function paySeveral(side: Side): Promise<unknown> {
  const own = await side.rpc<string>('getnewaddress', '', 'p2sh-segwit');
  const witness = await side.rpc<string>('getnewaddress', 'w', 'bech32');
  const txid = await side.rpc<string>('sendmany', '', { [own]: 1, [witness]: 2, [OTHER]: 0.5 }, 1, 'c', [
    OTHER,
  ]);
  const shape = (await side.shape(await side.rpc<string>('getrawtransaction', txid))) as {
    vsize: number;
  };
  const safe = await side.rpc<{ safe: boolean }[]>('listunspent', 0, 0);
  await side.rpc('generate', 1);
  const nested = await side.rpc<Record<string, unknown>[]>('listunspent', 1, 9_999_999, [own, witness]);
  return {
    outputs: (shape as unknown as { outputs: string[] }).outputs,
    safe: safe.map((one) => one.safe),
    nested: nested
      .map((one) => Object.keys(one).join() + String(one['amount']) + String(one['solvable']))
      .sort(),
  };
}

async function usePsbt(side: Side): Promise<unknown> {
  const created = await side.rpc<{ psbt: string; fee: number; changepos: number }>(
    'walletcreatefundedpsbt',
    [],
    [{ [OTHER]: 1.25 }],
    0,
    { changePosition: 1, lockUnspents: true },
    true,
  );
  const locked = await side.rpc<{ txid: string; vout: number }[]>('listlockunspent');
  const relock = await side.reported('lockunspent', [false, locked]);
  const unlocked = await side.reported('lockunspent', [true, locked]);
  const reunlock = await side.reported('lockunspent', [true, locked]);
  const decoded = await side.rpc<{
    inputs: Record<string, unknown>[];
    outputs: Record<string, unknown>[];
  }>('decodepsbt', created.psbt);
  const signed = await side.rpc<{ psbt: string; complete: boolean }>('walletprocesspsbt', created.psbt);
  const wrong = await side.reported('walletprocesspsbt', [created.psbt, true, 'x']);
  const final = await side.rpc<{ hex: string; complete: boolean }>('finalizepsbt', signed.psbt);
  const accepted = await side.rpc<{ allowed: boolean }[]>('testmempoolaccept', [final.hex]);
  return {
    changepos: created.changepos,
    locked: locked.length > 0,
    reported: [relock, unlocked, reunlock, wrong],
    // The selected coins are random. Each has the derivation path of its key.
    paths: decoded.inputs.every((input) => input['bip32_derivs'] !== undefined),
    outputs: decoded.outputs.map((output) => Object.keys(output)),
    complete: [signed.complete, final.complete, accepted[0]!.allowed],
  };
}

function credentials(url: string): string {
  const { username, password } = new URL(url);
  return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
}
