import { describe, expect, it } from 'vitest';
import { blockClaims } from '../../../../src/chain/connect/blockClaims.js';
import { loadBlock } from '../../../../src/chain/blocks/loadedBlock.js';
import type { ResolvedInputs } from '../../../../src/native/binding.js';
import { TX_START, TX_STRIDE } from '../../../../src/primitives/blockLayout.js';
import { claimKind } from '../../../../src/primitives/scriptScan.js';
import {
  emptyInput,
  formatTransaction,
  txid,
  type Transaction,
} from '../../../../src/primitives/transaction.js';
import {
  buildClaimPrefix,
  buildSupportPrefix,
  buildUpdatePrefix,
  claimIdOf,
} from '../../../../src/script/claimScript.js';
import { AssertionError } from '../../../../src/util/assert.js';
import { Random, coinbaseTx, formatRawBlock } from '../../../differential/support.js';

const random = new Random(650);
const P2PKH = Buffer.concat([Buffer.of(0x76, 0xa9, 20), Buffer.alloc(20), Buffer.of(0x88, 0xac)]);
const withPrefix = (prefix: Buffer): Buffer => Buffer.concat([prefix, P2PKH]);
const id = Buffer.alloc(20, 5);
const name = Buffer.from('name');
const value = Buffer.from('value');

interface Spent {
  script: Buffer;
  amount: bigint;
  height: number;
}

function transaction(prevouts: [number, number][], scripts: Buffer[]): Transaction {
  return {
    version: 1,
    inputs: prevouts.map(([fill, index]) => emptyInput({ hash: Buffer.alloc(32, fill), index })),
    outputs: scripts.map((script, i) => ({ value: BigInt(100 + i), script })),
    lockTime: 0,
  };
}

/** The claims of a block with a coinbase of these output scripts and with these transactions. The inputs spend `spent` in order. */
function claimsOf(transactions: Transaction[], spent: Spent[], coinbaseScripts: Buffer[] = [P2PKH]) {
  const coinbase = coinbaseTx(random);
  coinbase.outputs = coinbaseScripts.map((script) => ({ value: 1n, script }));
  const all = [coinbase, ...transactions];
  const block = loadBlock(
    formatRawBlock(
      random,
      all.map((tx) => formatTransaction(tx)),
    ),
  );
  const rows: Spent[] = [{ script: Buffer.alloc(0), amount: 0n, height: 0 }, ...spent];
  let at = 0;
  const resolved: ResolvedInputs = {
    heightCodes: Uint32Array.from(rows, ({ height }) => height * 2),
    amounts: BigInt64Array.from(rows, ({ amount }) => amount),
    scriptOffsets: Uint32Array.from(rows, ({ script }) => (at += script.length) - script.length),
    scriptLengths: Uint32Array.from(rows, ({ script }) => script.length),
    scripts: Buffer.concat(rows.map(({ script }) => script)),
    status: new Uint8Array(rows.length),
    claimKinds: Uint8Array.from(rows, ({ script }) => claimKind(script, 0, script.length)),
    duplicates: new Uint32Array(0),
  };
  return { claims: blockClaims(block, resolved, 77), block, resolved };
}

describe('blockClaims', () => {
  it('leaves out transactions without claims, and all outputs of a coinbase', () => {
    const plain = transaction([[1, 0]], [P2PKH]);
    const { claims } = claimsOf(
      [plain],
      [{ script: P2PKH, amount: 5n, height: 3 }],
      [withPrefix(buildClaimPrefix(name, value))],
    );
    expect(claims).toEqual({ height: 77, transactions: [] });
  });

  it('lists the outputs of every form', () => {
    const tx = transaction(
      [[1, 0]],
      [
        P2PKH,
        withPrefix(buildClaimPrefix(name, value)),
        withPrefix(buildSupportPrefix(name, id)),
        withPrefix(buildSupportPrefix(name, id, value)),
        withPrefix(buildUpdatePrefix(Buffer.alloc(0), id, Buffer.alloc(0))),
        withPrefix(buildClaimPrefix(name, value)).subarray(0, 10),
      ],
    );
    const { claims, block } = claimsOf(
      [transaction([[9, 9]], [P2PKH]), tx],
      [
        { script: P2PKH, amount: 5n, height: 3 },
        { script: P2PKH, amount: 5n, height: 3 },
      ],
    );
    expect(claims.transactions).toHaveLength(1);
    const [only] = claims.transactions;
    expect(Buffer.from(only!.txid).equals(txid(tx))).toBe(true);
    expect(only!.txOffset).toBe(block.parsed.txs[2 * TX_STRIDE + TX_START]);
    expect(only!.spends).toEqual([]);
    const plain = only!.outputs.map((output) => ({
      ...output,
      name: Buffer.from(output.name).toString(),
      ...(output.claimId ? { claimId: Buffer.from(output.claimId).toString('hex') } : {}),
    }));
    const claimId = id.toString('hex');
    expect(plain).toEqual([
      { n: 1, kind: 'claim', hasMetadata: false, name: 'name', amount: 101n },
      { n: 2, kind: 'support', hasMetadata: false, name: 'name', amount: 102n, claimId },
      { n: 3, kind: 'support', hasMetadata: true, name: 'name', amount: 103n, claimId },
      { n: 4, kind: 'update', hasMetadata: false, name: '', amount: 104n, claimId },
    ]);
  });

  it('lists spent claims, with the id that a claim has by its outpoint', () => {
    const tx = transaction(
      [
        [1, 0],
        [2, 7],
        [3, 300],
        [4, 1],
      ],
      [P2PKH],
    );
    const { claims } = claimsOf(
      [tx],
      [
        { script: P2PKH, amount: 1n, height: 1 },
        { script: withPrefix(buildClaimPrefix(name, value)), amount: 2n, height: 20 },
        { script: withPrefix(buildSupportPrefix(name, id, value)), amount: 3n, height: 30 },
        { script: withPrefix(buildUpdatePrefix(name, id, value)), amount: 4n, height: 40 },
      ],
    );
    const spends = claims.transactions[0]!.spends.map((spend) => ({
      ...spend,
      txid: spend.txid[0],
      name: Buffer.from(spend.name).toString(),
      claimId: Buffer.from(spend.claimId).toString('hex'),
    }));
    const own = claimIdOf(Buffer.alloc(32, 2), 7).toString('hex');
    const given = id.toString('hex');
    expect(spends).toEqual([
      {
        txid: 2,
        n: 7,
        coinHeight: 20,
        kind: 'claim',
        hasMetadata: false,
        name: 'name',
        claimId: own,
        amount: 2n,
      },
      {
        txid: 3,
        n: 300,
        coinHeight: 30,
        kind: 'support',
        hasMetadata: true,
        name: 'name',
        claimId: given,
        amount: 3n,
      },
      {
        txid: 4,
        n: 1,
        coinHeight: 40,
        kind: 'update',
        hasMetadata: false,
        name: 'name',
        claimId: given,
        amount: 4n,
      },
    ]);
  });

  it('keeps the order of the block', () => {
    const claim = withPrefix(buildClaimPrefix(name, value));
    const transactions = [1, 2, 3].map((fill) => transaction([[fill, 0]], [claim]));
    const spent = transactions.map(() => ({ script: P2PKH, amount: 1n, height: 1 }));
    const { claims } = claimsOf(transactions, spent);
    expect(claims.transactions.map((tx) => Buffer.from(tx.txid).toString('hex'))).toEqual(
      transactions.map((tx) => txid(tx).toString('hex')),
    );
  });

  it('treats a disagreement with the coin table as a bug', () => {
    const tx = transaction([[1, 0]], [P2PKH]);
    const { block, resolved } = claimsOf([tx], [{ script: P2PKH, amount: 1n, height: 1 }]);
    resolved.claimKinds[1] = 0xb5;
    expect(() => blockClaims(block, resolved, 1)).toThrow(AssertionError);
  });
});
