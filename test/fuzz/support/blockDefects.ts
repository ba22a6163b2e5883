/** Valid random blocks, and every defect that can be found without coins, each with its reason. */
import { coinbaseHeightPush, type BlockContext } from '../../../src/consensus/contextualCheckBlock.js';
import { MAX_MONEY } from '../../../src/consensus/limits.js';
import { witnessCommitmentScript, witnessMerkleRoot } from '../../../src/consensus/witnessCommitment.js';
import { merkleRoot } from '../../../src/crypto/merkle.js';
import { formatBlock, type Block } from '../../../src/primitives/block.js';
import type { BlockHeader } from '../../../src/primitives/header.js';
import { txid, wtxid, type Transaction, type TxOutput } from '../../../src/primitives/transaction.js';
import { buildClaimPrefix, buildSupportPrefix, buildUpdatePrefix } from '../../../src/script/claimScript.js';
import { OP } from '../../../src/script/opcodes.js';
import { buildScript } from '../../../src/script/script.js';
import { randomClaimPrefix, randomOutPoint, randomScript, type Random } from '../../differential/support.js';

export const HEIGHT = 1500;
/** The context in which the drafts are valid. */
export const CONTEXT: BlockContext = {
  height: HEIGHT,
  parentMedianTimeSec: 1_600_000_000,
  csvActive: true,
  segwitActive: true,
};
const RESERVED = Buffer.alloc(32, 9);

/** A block under construction. `seal` computes commitment, merkle root and header from it, unless a defect changes them. */
export interface Draft {
  transactions: Transaction[];
  commits: boolean;
  /** Changes between the computation of the witness commitment and that of the merkle root. */
  afterCommitment: ((block: Block) => void)[];
  afterRoot: ((block: Block) => void)[];
}

function output(random: Random): TxOutput {
  const prefix = random.chance(3) ? randomClaimPrefix(random) : Buffer.alloc(0);
  const script = randomScript(random);
  // Long random scripts may have many signature operations. They are left out, so that valid blocks stay below the limit.
  const body = script.length > 2000 ? Buffer.of(OP.OP_1) : script;
  return { value: BigInt(random.u32()), script: Buffer.concat([prefix, body]) };
}

function spend(random: Random): Transaction {
  return {
    version: random.pick([1, 2]),
    inputs: Array.from({ length: 1 + random.below(random.chance(10) ? 20 : 3) }, () => ({
      prevout: randomOutPoint(random),
      scriptSig: random.bytes(random.below(20)),
      sequence: random.pick([0xffffffff, 0xfffffffe, 0]),
      witness: random.chance(3) ? [random.bytes(5), random.bytes(random.below(40))] : [],
    })),
    outputs: Array.from({ length: 1 + random.below(3) }, () => output(random)),
    lockTime: random.pick([0, 0, HEIGHT - 1, CONTEXT.parentMedianTimeSec - 1]),
  };
}

export function draft(random: Random): Draft {
  const scriptSig: Buffer = Buffer.concat([coinbaseHeightPush(HEIGHT), random.bytes(random.below(60))]);
  const coinbase: Transaction = {
    version: 1,
    inputs: [
      {
        prevout: { hash: Buffer.alloc(32), index: 0xffffffff },
        scriptSig,
        sequence: 0xffffffff,
        witness: [],
      },
    ],
    outputs: [{ value: 100_000_000n, script: Buffer.of(OP.OP_1) }],
    lockTime: 0,
  };
  const spends = Array.from({ length: 2 + random.below(4) }, () => spend(random));
  return { transactions: [coinbase, ...spends], commits: true, afterCommitment: [], afterRoot: [] };
}

export function seal({ transactions, commits, afterCommitment, afterRoot }: Draft): Buffer {
  const header: BlockHeader = {
    version: 0x20000000,
    prevHash: Buffer.alloc(32, 1),
    merkleRoot: Buffer.alloc(32),
    claimRoot: Buffer.alloc(32),
    timeSec: CONTEXT.parentMedianTimeSec + 1000,
    bits: 0x207fffff,
    nonce: 0,
  };
  const block: Block = { header, transactions };
  const coinbase = transactions[0];
  if (commits && coinbase?.inputs[0]) {
    const script = witnessCommitmentScript(witnessMerkleRoot(transactions.map(wtxid)), RESERVED);
    coinbase.outputs.push({ value: 0n, script });
    coinbase.inputs[0].witness = [RESERVED];
  }
  for (const change of afterCommitment) change(block);
  header.merkleRoot = merkleRoot(block.transactions.map(txid)).root;
  for (const change of afterRoot) change(block);
  return formatBlock(block);
}

const last = <T>(items: T[]): T => items[items.length - 1]!;
const coinbaseOf = (block: Block | Draft): Transaction => block.transactions[0]!;
const pushOutput = (d: Draft, value: bigint, script: Buffer = Buffer.of(OP.OP_1)): void => {
  last(d.transactions).outputs.push({ value, script });
};
const CHECKSIGS = (count: number): Buffer => Buffer.alloc(count, OP.OP_CHECKSIG);
const id = Buffer.alloc(20, 5);

export interface Defect {
  readonly name: string;
  /** The verdict on a block with only this defect; null if the block is still valid. */
  readonly reason: string | null;
  readonly apply: (d: Draft, random: Random) => void;
  /** Takes long, because it processes megabytes. Not combined with other defects. */
  readonly heavy?: true;
}

export const DEFECTS: readonly Defect[] = [
  { name: 'nothing', reason: null, apply: () => undefined },
  {
    name: 'a wrong merkle root',
    reason: 'bad-txnmrklroot',
    apply: (d) => d.afterRoot.push((block) => (block.header.merkleRoot = Buffer.alloc(32, 3))),
  },
  {
    name: 'a transaction changed',
    reason: 'bad-txnmrklroot',
    apply: (d) => d.afterRoot.push((block) => last(block.transactions).lockTime++),
  },
  {
    name: 'the last transactions doubled (CVE-2012-2459)',
    reason: 'bad-txns-duplicate',
    apply: (d) =>
      d.afterCommitment.push((block) => {
        if (block.transactions.length % 2 === 0) block.transactions.pop();
        block.transactions.push(last(block.transactions));
      }),
  },
  {
    name: 'two equal neighbours in the middle',
    reason: 'bad-txns-duplicate',
    apply: (d) =>
      d.afterCommitment.push((block) =>
        block.transactions.splice(2, 1, ...Array(2).fill(block.transactions[2]!)),
      ),
  },
  {
    name: 'no coinbase',
    reason: 'bad-cb-missing',
    apply: (d) => d.afterCommitment.push((block) => block.transactions.shift()),
  },
  {
    name: 'the coinbase in second place',
    reason: 'bad-cb-missing',
    apply: (d) =>
      d.afterCommitment.push(({ transactions }) => transactions.unshift(...transactions.splice(1, 1))),
  },
  {
    name: 'a second coinbase',
    reason: 'bad-cb-multiple',
    apply: (d, random) => {
      const second = spend(random);
      second.inputs = [{ ...coinbaseOf(d).inputs[0]!, scriptSig: random.bytes(8) }];
      d.transactions.push(second);
    },
  },
  {
    name: 'a null prevout among others',
    reason: 'bad-txns-prevout-null',
    apply: (d) => {
      const tx = last(d.transactions);
      tx.inputs.push({ ...tx.inputs[0]!, prevout: { hash: Buffer.alloc(32), index: 0xffffffff } });
    },
  },
  {
    name: 'a zero hash with index 0, which is not a null prevout',
    reason: null,
    apply: (d) => {
      const tx = last(d.transactions);
      tx.inputs.push({ ...tx.inputs[0]!, prevout: { hash: Buffer.alloc(32), index: 0 } });
    },
  },
  {
    name: 'no inputs',
    reason: 'bad-txns-vin-empty',
    apply: (d) => {
      last(d.transactions).inputs = [];
      last(d.transactions).outputs = [];
    },
  },
  {
    name: 'no outputs',
    reason: 'bad-txns-vout-empty',
    apply: (d) => void (last(d.transactions).outputs = []),
  },
  {
    name: 'a coinbase without outputs',
    reason: 'bad-txns-vout-empty',
    apply: (d) => {
      d.commits = false;
      d.transactions = [{ ...coinbaseOf(d), outputs: [] }];
    },
  },
  { name: 'a negative output', reason: 'bad-txns-vout-negative', apply: (d) => pushOutput(d, -1n) },
  {
    name: 'the most negative output',
    reason: 'bad-txns-vout-negative',
    apply: (d) => pushOutput(d, -(1n << 63n)),
  },
  {
    name: 'an output above the money',
    reason: 'bad-txns-vout-toolarge',
    apply: (d) => pushOutput(d, MAX_MONEY + 1n),
  },
  {
    name: 'the largest output',
    reason: 'bad-txns-vout-toolarge',
    apply: (d) => pushOutput(d, (1n << 63n) - 1n),
  },
  {
    name: 'all the money',
    reason: null,
    apply: (d) => {
      last(d.transactions).outputs = [];
      pushOutput(d, MAX_MONEY);
    },
  },
  {
    name: 'more than all the money in two outputs',
    reason: 'bad-txns-txouttotal-toolarge',
    apply: (d) => {
      pushOutput(d, MAX_MONEY);
      pushOutput(d, 1n);
    },
  },
  {
    name: 'outputs that overflow 64 bits',
    reason: 'bad-txns-txouttotal-toolarge',
    apply: (d) => {
      for (let i = 0; i < 9; i++) pushOutput(d, MAX_MONEY - 1n);
    },
  },
  {
    name: 'outputs of 2^48 each',
    reason: null,
    apply: (d) => {
      for (let i = 0; i < 5; i++) pushOutput(d, 1n << 48n);
    },
  },
  {
    name: 'a total too large in the coinbase',
    reason: 'bad-txns-txouttotal-toolarge',
    apply: (d) => {
      coinbaseOf(d).outputs.push({ value: MAX_MONEY, script: Buffer.alloc(0) });
    },
  },
  {
    name: 'a claim script too large',
    reason: 'bad-txns-claimscriptsize-toolarge',
    apply: (d) => {
      pushOutput(d, 1n, buildClaimPrefix(Buffer.from('n'), Buffer.alloc(8192)));
    },
  },
  {
    name: 'a claim script of the largest size',
    reason: null,
    apply: (d) => {
      pushOutput(d, 1n, buildClaimPrefix(Buffer.from('n'), Buffer.alloc(8192 - 8)));
    },
  },
  {
    name: 'a claim script a byte above it',
    reason: 'bad-txns-claimscriptsize-toolarge',
    apply: (d) => {
      pushOutput(d, 1n, buildUpdatePrefix(Buffer.from('n'), id, Buffer.alloc(8193 - 29)));
    },
  },
  {
    name: 'a claim name too large',
    reason: 'bad-txns-claimscriptname-toolarge',
    apply: (d) => {
      pushOutput(d, 1n, buildSupportPrefix(Buffer.alloc(256, 0x61), id));
    },
  },
  {
    name: 'a claim name of the largest size',
    reason: null,
    apply: (d) => {
      pushOutput(d, 1n, buildUpdatePrefix(Buffer.alloc(255, 0x61), id, Buffer.alloc(0)));
    },
  },
  {
    name: 'a broken claim script as large as it likes',
    reason: null,
    apply: (d) => {
      pushOutput(d, 1n, buildClaimPrefix(Buffer.alloc(300), Buffer.alloc(9000)).subarray(0, -1));
    },
  },
  {
    name: 'a claim too large in the coinbase',
    reason: 'bad-txns-claimscriptname-toolarge',
    apply: (d) => {
      coinbaseOf(d).outputs.push({ value: 0n, script: buildClaimPrefix(Buffer.alloc(256), Buffer.alloc(0)) });
    },
  },
  {
    name: 'an input twice',
    reason: 'bad-txns-inputs-duplicate',
    apply: (d) => {
      const tx = last(d.transactions);
      tx.inputs.push({ ...tx.inputs[0]!, sequence: 7 });
    },
  },
  {
    name: 'an input twice among many',
    reason: 'bad-txns-inputs-duplicate',
    apply: (d, random) => {
      const tx = last(d.transactions);
      for (let i = 0; i < 40; i++) tx.inputs.push({ ...tx.inputs[0]!, prevout: randomOutPoint(random) });
      tx.inputs.splice(random.below(40), 0, tx.inputs[random.below(40)]!);
    },
  },
  {
    name: 'inputs alike in their first and last bytes',
    reason: null,
    apply: (d) => {
      const tx = last(d.transactions);
      for (const fill of [1, 2]) {
        const hash = Buffer.alloc(32, 7);
        hash[16] = fill;
        tx.inputs.push({ ...tx.inputs[0]!, prevout: { hash, index: 1 } });
      }
    },
  },
  {
    name: 'two outputs of one transaction spent',
    reason: null,
    apply: (d) => {
      const tx = last(d.transactions);
      const { hash, index } = tx.inputs[0]!.prevout;
      tx.inputs.push({ ...tx.inputs[0]!, prevout: { hash, index: index === 5 ? 6 : 5 } });
    },
  },
  {
    name: 'a coinbase script too short',
    reason: 'bad-cb-length',
    apply: (d) => {
      coinbaseOf(d).inputs[0]!.scriptSig = Buffer.alloc(1);
    },
  },
  {
    name: 'a coinbase script too long',
    reason: 'bad-cb-length',
    apply: (d) => {
      coinbaseOf(d).inputs[0]!.scriptSig = Buffer.alloc(101);
    },
  },
  {
    name: 'signature operations too many',
    reason: 'bad-blk-sigops',
    apply: (d) => pushOutput(d, 0n, CHECKSIGS(20_001)),
  },
  {
    name: 'signature operations too many in a scriptSig',
    reason: 'bad-blk-sigops',
    apply: (d) => {
      last(d.transactions).inputs[0]!.scriptSig = Buffer.alloc(1001, OP.OP_CHECKMULTISIG);
    },
  },
  {
    name: 'signature operations behind a broken push',
    reason: null,
    apply: (d) => {
      pushOutput(d, 0n, Buffer.concat([Buffer.of(OP.OP_PUSHDATA4, 255, 255, 255, 127), CHECKSIGS(20_001)]));
    },
  },
  {
    name: 'a lock time not reached',
    reason: 'bad-txns-nonfinal',
    apply: (d) => {
      last(d.transactions).lockTime = HEIGHT;
      last(d.transactions).inputs[0]!.sequence = 0;
    },
  },
  {
    name: 'a lock time by time not reached',
    reason: 'bad-txns-nonfinal',
    apply: (d) => {
      last(d.transactions).lockTime = CONTEXT.parentMedianTimeSec;
      last(d.transactions).inputs[0]!.sequence = 0xfffffffe;
    },
  },
  {
    name: 'a lock time that final inputs lift',
    reason: null,
    apply: (d) => {
      last(d.transactions).lockTime = 0xffffffff;
      for (const input of last(d.transactions).inputs) input.sequence = 0xffffffff;
    },
  },
  {
    name: 'a coinbase that is not final',
    reason: 'bad-txns-nonfinal',
    apply: (d) => {
      coinbaseOf(d).lockTime = HEIGHT;
      coinbaseOf(d).inputs[0]!.sequence = 1;
    },
  },
  {
    name: 'the height of another block',
    reason: 'bad-cb-height',
    apply: (d) => {
      coinbaseOf(d).inputs[0]!.scriptSig = coinbaseHeightPush(HEIGHT + 1);
    },
  },
  {
    name: 'the height in a longer push',
    reason: 'bad-cb-height',
    apply: (d) => {
      coinbaseOf(d).inputs[0]!.scriptSig = buildScript(Buffer.of(HEIGHT & 255, HEIGHT >> 8, 0));
    },
  },
  {
    name: 'witness without commitment',
    reason: 'unexpected-witness',
    apply: (d) => {
      d.commits = false;
      last(d.transactions).inputs[0]!.witness = [Buffer.alloc(0)];
    },
  },
  {
    name: 'a reserved value alone',
    reason: 'unexpected-witness',
    apply: (d) => {
      d.commits = false;
      for (const tx of d.transactions) for (const input of tx.inputs) input.witness = [];
      coinbaseOf(d).inputs[0]!.witness = [RESERVED];
    },
  },
  {
    name: 'no witness and no commitment',
    reason: null,
    apply: (d) => {
      d.commits = false;
      for (const tx of d.transactions) for (const input of tx.inputs) input.witness = [];
    },
  },
  {
    name: 'a witness changed',
    reason: 'bad-witness-merkle-match',
    apply: (d) => {
      d.afterRoot.push((block) => (last(block.transactions).inputs[0]!.witness = [Buffer.of(1, 2, 3)]));
    },
  },
  {
    name: 'another reserved value',
    reason: 'bad-witness-merkle-match',
    apply: (d) => {
      d.afterRoot.push((block) => (coinbaseOf(block).inputs[0]!.witness = [Buffer.alloc(32)]));
    },
  },
  ...[
    [],
    [Buffer.alloc(31)],
    [Buffer.alloc(33)],
    [RESERVED, RESERVED],
    Array<Buffer>(500).fill(RESERVED),
  ].map((witness): Defect => ({
    name: `a reserved value in ${witness.length} items of ${witness[0]?.length ?? 0} bytes`,
    reason: 'bad-witness-nonce-size',
    apply: (d) => d.afterRoot.push((block) => (coinbaseOf(block).inputs[0]!.witness = witness)),
  })),
  {
    name: 'a later commitment that is wrong',
    reason: 'bad-witness-merkle-match',
    apply: (d) => {
      const script = witnessCommitmentScript(Buffer.alloc(32), RESERVED);
      d.afterCommitment.push((block) => coinbaseOf(block).outputs.push({ value: 0n, script }));
    },
  },
  {
    name: 'an earlier commitment that is wrong',
    reason: null,
    apply: (d) => {
      coinbaseOf(d).outputs.unshift({
        value: 0n,
        script: witnessCommitmentScript(Buffer.alloc(32), RESERVED),
      });
    },
  },
  {
    name: 'a block too long without witness',
    reason: 'bad-blk-length',
    heavy: true,
    apply: (d) => {
      for (let i = 0; i < 200; i++) pushOutput(d, 0n, Buffer.alloc(10_000));
    },
  },
  // Such a block exceeds the block size limit, which is checked first. So no block gets the verdict `bad-txns-oversize`.
  {
    name: 'a transaction too large',
    reason: 'bad-blk-length',
    heavy: true,
    apply: (d) => {
      pushOutput(d, 0n, Buffer.alloc(2_000_000));
    },
  },
  {
    name: 'a block too heavy by its witness',
    reason: 'bad-blk-weight',
    heavy: true,
    apply: (d) => {
      last(d.transactions).inputs[0]!.witness = [Buffer.alloc(8_000_000)];
    },
  },
];
