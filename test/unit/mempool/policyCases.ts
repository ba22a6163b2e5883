/**
 * Transactions at the limits of the policy, each with the answer of a node that requires standard transactions. One block funds
 * all of them, so that they are independent.
 */
import { hash160, sha256 } from '../../../src/crypto/hash.js';
import { NULL_HASH, NULL_INDEX, txid, type Transaction } from '../../../src/primitives/transaction.js';
import { OP } from '../../../src/script/opcodes.js';
import { buildScript, pushData } from '../../../src/script/script.js';
import { buildClaimPrefix } from '../../../src/script/claimScript.js';
import { scriptForDestination, scriptForMultisig } from '../../../src/script/standard.js';
import { concatBytes, type Bytes } from '../../../src/util/bytes.js';
import { spendCoins, type Coin, type PoolWorld } from './support.js';

export interface PolicyCase {
  readonly name: string;
  readonly tx: Transaction;
  /** Code and reason, or `accepted`. */
  readonly expected: string;
}

const TRUE = Buffer.of(OP.OP_1);
const P2PKH = scriptForDestination({ type: 'pubkeyhash', hash: Buffer.alloc(20, 9) });
const P2WPKH = scriptForDestination({ type: 'witness_v0_keyhash', hash: Buffer.alloc(20, 9) });
const KEY = Buffer.concat([Buffer.of(2), Buffer.alloc(32, 0x79)]);
const CLAIM = buildClaimPrefix(Buffer.from('name'), Buffer.from('value'));

const p2sh = (redeem: Bytes): Buffer => scriptForDestination({ type: 'scripthash', hash: hash160(redeem) });
const p2wsh = (script: Bytes): Buffer =>
  scriptForDestination({ type: 'witness_v0_scripthash', hash: sha256(script) });

/** Signature operations which are not executed. */
const idleSigops = (count: number): Buffer =>
  concatBytes(
    Buffer.of(OP.OP_0, OP.OP_IF),
    Buffer.alloc(count, OP.OP_CHECKSIG),
    Buffer.of(OP.OP_ENDIF, OP.OP_1),
  );
/** A script that removes this number of items and leaves true. */
const dropping = (count: number): Buffer => concatBytes(Buffer.alloc(count, OP.OP_DROP), TRUE);

const VALUE = 1_000_000n;
const FEE = 200_000n;

interface Spend {
  /** Output script that is spent; P2SH of OP_TRUE by default. */
  readonly from?: Bytes;
  readonly scriptSig?: Bytes;
  readonly witness?: Bytes[];
  /** Outputs; for a script, an output with a default amount. */
  readonly to?: readonly (Bytes | { value: bigint; script: Bytes })[];
  readonly version?: number;
  readonly feeSat?: bigint;
}

const SPENDS: readonly (Spend & { readonly name: string; readonly expected: string })[] = [
  { name: 'an ordinary payment', expected: 'accepted' },
  { name: 'version 1', version: 1, expected: 'accepted' },
  { name: 'version 0', version: 0, expected: '64: version' },
  { name: 'version 3', version: 3, expected: '64: version' },
  { name: 'a large weight', to: Array<Bytes>(2950).fill(P2PKH), expected: '64: tx-size' },
  {
    name: 'a scriptSig of 1,651 bytes',
    scriptSig: pushData(Buffer.alloc(1648, 1)),
    expected: '64: scriptsig-size',
  },
  {
    name: 'a scriptSig of 1,650 bytes',
    scriptSig: concatBytes(pushData(Buffer.alloc(1645, 1)), pushData(TRUE)),
    expected: '64: non-mandatory-script-verify-flag (Extra items left on stack after execution)',
  },
  {
    name: 'a scriptSig that does more than pushing',
    scriptSig: concatBytes(Buffer.of(OP.OP_NOP), pushData(TRUE)),
    expected: '64: scriptsig-not-pushonly',
  },
  { name: 'an unknown output', to: [TRUE], expected: '64: scriptpubkey' },
  {
    name: 'an output of a later witness version',
    to: [buildScript(OP.OP_1, Buffer.alloc(32, 1))],
    expected: '64: scriptpubkey',
  },
  {
    name: 'multisig of four keys',
    to: [scriptForMultisig(1, [KEY, KEY, KEY, KEY])],
    expected: '64: scriptpubkey',
  },
  { name: 'multisig of three keys', to: [scriptForMultisig(1, [KEY, KEY, KEY])], expected: 'accepted' },
  { name: 'a claim of an ordinary output', to: [concatBytes(CLAIM, P2PKH)], expected: 'accepted' },
  { name: 'a claim of a script hash', to: [concatBytes(CLAIM, p2sh(TRUE))], expected: 'accepted' },
  { name: 'a claim of an unknown output', to: [concatBytes(CLAIM, TRUE)], expected: '64: scriptpubkey' },
  { name: 'a claim that is cut short', to: [CLAIM.subarray(0, 5)], expected: '64: scriptpubkey' },
  {
    name: 'data of 80 bytes',
    to: [P2PKH, { value: 0n, script: buildScript(OP.OP_RETURN, Buffer.alloc(80)) }],
    expected: 'accepted',
  },
  {
    name: 'data of 81 bytes',
    to: [P2PKH, { value: 0n, script: buildScript(OP.OP_RETURN, Buffer.alloc(81)) }],
    expected: '64: scriptpubkey',
  },
  {
    name: 'two data outputs',
    to: [P2PKH, ...Array(2).fill({ value: 0n, script: Buffer.of(OP.OP_RETURN) })],
    expected: '64: multi-op-return',
  },
  { name: 'dust', to: [P2PKH, { value: 181n, script: P2PKH }], expected: '65: dust' },
  { name: 'just no dust', to: [P2PKH, { value: 182n, script: P2PKH }], expected: 'accepted' },
  { name: 'witness dust', to: [P2PKH, { value: 97n, script: P2WPKH }], expected: '65: dust' },
  { name: 'just no witness dust', to: [P2PKH, { value: 98n, script: P2WPKH }], expected: 'accepted' },
  {
    name: 'dust of a claim, with a higher limit because of its prefix',
    to: [P2PKH, { value: 195n, script: concatBytes(CLAIM, P2PKH) }],
    expected: '65: dust',
  },
  {
    name: 'just no dust of a claim',
    to: [P2PKH, { value: 196n, script: concatBytes(CLAIM, P2PKH) }],
    expected: 'accepted',
  },
  {
    name: 'a witness claim, whose prefix hides that it is cheap to spend',
    to: [P2PKH, { value: 191n, script: concatBytes(CLAIM, P2WPKH) }],
    expected: '65: dust',
  },
  {
    name: 'spending an unknown output',
    from: TRUE,
    scriptSig: Buffer.alloc(0),
    expected: '64: bad-txns-nonstandard-inputs',
  },
  { name: 'spending a claim', from: concatBytes(CLAIM, p2sh(TRUE)), expected: 'accepted' },
  {
    name: 'a redeem script of 15 signature operations',
    from: p2sh(idleSigops(15)),
    scriptSig: pushData(idleSigops(15)),
    expected: 'accepted',
  },
  {
    name: 'a redeem script of 16 signature operations',
    from: p2sh(idleSigops(16)),
    scriptSig: pushData(idleSigops(16)),
    expected: '64: bad-txns-nonstandard-inputs',
  },
  {
    name: 'a claim of a redeem script of 16 signature operations',
    from: concatBytes(CLAIM, p2sh(idleSigops(16))),
    scriptSig: pushData(idleSigops(16)),
    expected: '64: bad-txns-nonstandard-inputs',
  },
  {
    name: 'no redeem script',
    from: p2sh(TRUE),
    scriptSig: Buffer.alloc(0),
    expected: '64: bad-txns-nonstandard-inputs',
  },
  {
    name: 'a witness where none belongs',
    from: p2sh(TRUE),
    witness: [TRUE],
    expected: '64: bad-witness-nonstandard',
  },
  {
    name: 'a witness of 100 items',
    from: p2wsh(dropping(100)),
    scriptSig: Buffer.alloc(0),
    witness: [...Array<Bytes>(100).fill(TRUE), dropping(100)],
    expected: 'accepted',
  },
  {
    name: 'a witness of 101 items',
    from: p2wsh(dropping(101)),
    scriptSig: Buffer.alloc(0),
    witness: [...Array<Bytes>(101).fill(TRUE), dropping(101)],
    expected: '64: bad-witness-nonstandard',
  },
  {
    name: 'a claim with a witness of 101 items',
    from: concatBytes(CLAIM, p2wsh(dropping(101))),
    scriptSig: Buffer.alloc(0),
    witness: [...Array<Bytes>(101).fill(TRUE), dropping(101)],
    expected: '64: bad-witness-nonstandard',
  },
  {
    name: 'a witness item of 81 bytes',
    from: p2wsh(dropping(1)),
    scriptSig: Buffer.alloc(0),
    witness: [Buffer.alloc(81), dropping(1)],
    expected: '64: bad-witness-nonstandard',
  },
  {
    name: 'a witness script of 3,601 bytes in a script hash',
    from: p2sh(p2wsh(Buffer.alloc(3601, OP.OP_NOP))),
    scriptSig: pushData(p2wsh(Buffer.alloc(3601, OP.OP_NOP))),
    witness: [Buffer.alloc(3601, OP.OP_NOP)],
    expected: '64: bad-witness-nonstandard',
  },
  {
    name: 'a witness that was stripped',
    from: p2wsh(TRUE),
    scriptSig: Buffer.alloc(0),
    expected: '64: non-mandatory-script-verify-flag (Witness program was passed an empty witness)',
  },
  {
    name: 'many signature operations',
    to: Array<Bytes>(201).fill(scriptForMultisig(1, [KEY])),
    expected: '64: bad-txns-too-many-sigops',
  },
  {
    name: 'as many signature operations as may be, which make it count as large',
    to: Array<Bytes>(200).fill(scriptForMultisig(1, [KEY])),
    feeSat: 79_999n,
    expected: '66: min relay fee not met',
  },
  {
    name: 'as many signature operations as may be, paid for',
    to: Array<Bytes>(200).fill(scriptForMultisig(1, [KEY])),
    feeSat: 80_000n,
    expected: 'accepted',
  },
  {
    name: 'a wrong signature',
    from: scriptForDestination({ type: 'pubkeyhash', hash: hash160(KEY) }),
    scriptSig: concatBytes(Buffer.of(OP.OP_0), pushData(KEY)),
    expected:
      '16: mandatory-script-verify-flag-failed (Script evaluated without error but finished with a false/empty top stack element)',
  },
  {
    name: 'a signature that is none',
    from: scriptForDestination({ type: 'pubkeyhash', hash: hash160(KEY) }),
    scriptSig: concatBytes(pushData(Buffer.alloc(9, 1)), pushData(KEY)),
    expected: '16: mandatory-script-verify-flag-failed (Non-canonical DER signature)',
  },
  { name: 'no outputs', to: [], expected: '16: bad-txns-vout-empty' },
  { name: 'too small a fee', feeSat: 80n, expected: '66: min relay fee not met' },
];

/** Makes the cases. Their coins are in a new block. */
export async function policyCases(world: PoolWorld): Promise<PolicyCase[]> {
  const coin = await world.coinbase(1);
  const funding = spendCoins([coin], 0n);
  const outputs = SPENDS.map(({ from = p2sh(TRUE) }) => ({ value: VALUE, script: from }));
  funding.outputs = outputs;
  const plain = spendCoins([await world.coinbase(2)], 0n, { script: P2PKH });
  await world.mineBlock([funding, plain]);
  const fundingId = txid(funding);
  const cases = SPENDS.map((spend, n): PolicyCase => {
    const { name, expected, to = [P2PKH], version = 2, feeSat = FEE } = spend;
    const fixed = to.map((output) => ('script' in output ? output : null));
    const given = fixed.reduce((sum, output) => sum + (output?.value ?? 0n), 0n);
    const open = fixed.filter((output) => output === null).length;
    const share = open === 0 ? 0n : (VALUE - feeSat - given) / BigInt(open);
    let rest = VALUE - feeSat - given - share * BigInt(open);
    const made = to.map((output) => {
      if ('script' in output) return output;
      const value = share + rest;
      rest = 0n;
      return { value, script: output };
    });
    const { scriptSig = pushData(TRUE), witness = [] } = spend;
    const prevout = { hash: fundingId, index: n };
    return {
      name,
      expected,
      tx: {
        version,
        inputs: [{ prevout, scriptSig, sequence: 0xffffffff, witness }],
        outputs: made,
        lockTime: 0,
      },
    };
  });
  cases.push({ name: 'a coinbase', tx: looseCoinbase(), expected: '16: coinbase' });
  cases.push({ name: 'what is confirmed', tx: plain, expected: '18: txn-already-known' });
  return cases;
}

function looseCoinbase(): Transaction {
  const nothing: Coin = { txid: NULL_HASH, n: NULL_INDEX, value: VALUE };
  const tx = spendCoins([nothing], 0n, { script: P2PKH });
  tx.inputs[0]!.scriptSig = Buffer.alloc(4);
  return tx;
}
