/**
 * A miner that uses only `getblocktemplate`. It computes coinbase, merkle root and proof of work, and shares no code with the
 * node.
 */
import { createHash } from 'node:crypto';

export interface TemplateTransaction {
  data: string;
  txid: string;
  hash: string;
  depends: number[];
  fee: number;
  sigops: number;
  weight: number;
}

export interface Template {
  version: number;
  rules: string[];
  previousblockhash: string;
  transactions: TemplateTransaction[];
  coinbasevalue: number;
  coinbasetxn?: TemplateTransaction;
  coinbaseaux: { flags: string };
  target: string;
  curtime: number;
  mintime: number;
  bits: string;
  height: number;
  claimtrie: string;
  longpollid: string;
  default_witness_commitment?: string;
  [field: string]: unknown;
}

export interface MinedTransaction {
  /** Serialized with witness. */
  bytes: Buffer;
  /** Wire order. */
  id: Buffer;
}

export interface MinedBlock {
  version: number;
  previous: Buffer;
  merkleRoot: Buffer;
  claimRoot: Buffer;
  time: number;
  bits: number;
  nonce: number;
  transactions: MinedTransaction[];
}

const hash = (name: string, ...parts: Uint8Array[]): Buffer =>
  createHash(name).update(Buffer.concat(parts)).digest();
const double = (...parts: Uint8Array[]): Buffer => hash('sha256', hash('sha256', ...parts));
const reversed = (hex: string): Buffer => Buffer.from(hex, 'hex').reverse();
const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
};
const u64 = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
};
export const compact = (value: number): Buffer =>
  value < 0xfd ? Buffer.of(value) : Buffer.of(0xfd, value & 255, value >> 8);
/** A push of less than 76 bytes. */
export const push = (bytes: Uint8Array): Buffer => Buffer.concat([Buffer.of(bytes.length), bytes]);
const sized = (bytes: Uint8Array): Buffer => Buffer.concat([compact(bytes.length), bytes]);

export interface Spend {
  /** As printed. */
  txid: string;
  n: number;
}

export interface Output {
  value: bigint;
  script: Uint8Array;
}

/** A transaction whose inputs need no signature. */
export function makeTransaction(
  spends: readonly Spend[],
  outputs: readonly Output[],
  options: { lockTime?: number; sequence?: number; coinbaseScript?: Buffer; witness?: Buffer[] } = {},
): MinedTransaction {
  const { lockTime = 0, sequence = 0xffffffff, witness = [] } = options;
  const scriptSig = options.coinbaseScript ?? Buffer.alloc(0);
  const core = Buffer.concat([
    compact(spends.length),
    ...spends.map(({ txid, n }) => Buffer.concat([reversed(txid), u32(n), sized(scriptSig), u32(sequence)])),
    compact(outputs.length),
    ...outputs.map(({ value, script }) => Buffer.concat([u64(value), sized(script)])),
  ]);
  const bare = Buffer.concat([u32(2), core, u32(lockTime)]);
  if (witness.length === 0) return { bytes: bare, id: double(bare) };
  const stack = Buffer.concat([compact(witness.length), ...witness.map(sized)]);
  return { bytes: Buffer.concat([u32(2), Buffer.of(0, 1), core, stack, u32(lockTime)]), id: double(bare) };
}

export const printed = (id: Buffer): string => Buffer.from(id).reverse().toString('hex');

/** The id of the claim that an output creates. */
export function claimIdOf(txid: Buffer, n: number): Buffer {
  const index = Buffer.alloc(4);
  index.writeUInt32BE(n);
  return hash('ripemd160', hash('sha256', txid, index));
}

/** The height as a script number, pushed (BIP34). */
function heightPush(height: number): Buffer {
  if (height <= 16) return Buffer.of(0x50 + height);
  const digits: number[] = [];
  for (let rest = height; rest > 0; rest >>= 8) digits.push(rest & 255);
  if (digits.at(-1)! >= 0x80) digits.push(0);
  return push(Buffer.from(digits));
}

/** The coinbase of a template: reward to `script`, and the witness commitment if the template has one. */
export function makeCoinbase(
  template: Template,
  script: Uint8Array,
  height = template.height,
): MinedTransaction {
  const outputs: Output[] = [{ value: BigInt(template.coinbasevalue), script }];
  const commitment = template.default_witness_commitment;
  if (commitment !== undefined) outputs.push({ value: 0n, script: Buffer.from(commitment, 'hex') });
  return makeTransaction([{ txid: '00'.repeat(32), n: 0xffffffff }], outputs, {
    coinbaseScript: Buffer.concat([
      heightPush(height),
      Buffer.from(template.coinbaseaux.flags, 'hex'),
      push(Buffer.from('tm')),
    ]),
    // Before segwit is active, a block must not contain a witness.
    witness: commitment === undefined || !template.rules.includes('segwit') ? [] : [Buffer.alloc(32)],
  });
}

export function merkleRootOf(transactions: readonly MinedTransaction[]): Buffer {
  let level = transactions.map(({ id }) => id);
  while (level.length > 1) {
    const next: Buffer[] = [];
    for (let i = 0; i < level.length; i += 2) next.push(double(level[i]!, level[i + 1] ?? level[i]!));
    level = next;
  }
  return level[0]!;
}

/** The block of a template with this coinbase, without proof of work. */
export function makeBlock(template: Template, coinbase: MinedTransaction): MinedBlock {
  const rest = template.transactions.map(({ data, txid }) => ({
    bytes: Buffer.from(data, 'hex'),
    id: reversed(txid),
  }));
  const transactions = [coinbase, ...rest];
  return {
    version: template.version,
    previous: reversed(template.previousblockhash),
    merkleRoot: merkleRootOf(transactions),
    claimRoot: reversed(template.claimtrie),
    time: template.curtime,
    bits: Number.parseInt(template.bits, 16),
    nonce: 0,
    transactions,
  };
}

function headerOf(block: MinedBlock): Buffer {
  const { version, previous, merkleRoot, claimRoot, time, bits, nonce } = block;
  return Buffer.concat([u32(version), previous, merkleRoot, claimRoot, u32(time), u32(bits), u32(nonce)]);
}

/** The hash that is compared with the target, as hex digits of a number. */
function workOf(header: Buffer): string {
  const wide = hash('sha512', double(header));
  const halves = [wide.subarray(0, 32), wide.subarray(32)].map((half) => hash('ripemd160', half));
  return printed(double(...halves));
}

/** Finds a nonce for the template's target. */
export function mine(block: MinedBlock, target: string): MinedBlock {
  for (let nonce = 0; ; nonce++) {
    const mined = { ...block, nonce };
    if (workOf(headerOf(mined)) <= target) return mined;
  }
}

export function blockHash(block: MinedBlock): string {
  return printed(double(headerOf(block)));
}

export function blockHex(block: MinedBlock): string {
  const { transactions } = block;
  const parts = [headerOf(block), compact(transactions.length), ...transactions.map(({ bytes }) => bytes)];
  return Buffer.concat(parts).toString('hex');
}
