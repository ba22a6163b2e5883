/**
 * Blocks, headers and transactions of the regtest chain as plain bytes, valid or invalid as a test requires. Like
 * `rawMessages.ts`, it shares no code with the sources.
 */
import { createHash } from 'node:crypto';
import { count, HEADER_SIZE, list, sha256d, shown, u32, u64, withLength } from './rawMessages.js';

export interface Rpc {
  rpc<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>;
}

/** A block to build on. */
export interface Place {
  hash: Buffer;
  height: number;
  timeSec: number;
  claimRoot: Buffer;
}

export interface MinedBlock extends Place {
  header: Buffer;
  txs: Buffer[];
  raw: Buffer;
}

/** Fields that may differ from the valid ones. */
export interface Changes {
  version?: number;
  timeSec?: number;
  bits?: number;
  claimRoot?: Buffer;
  merkleRoot?: Buffer;
  coinbaseSat?: bigint;
  /** A header that does not meet its target. */
  noWork?: boolean;
}

const BITS = 0x207fffff;
const SUBSIDY_SAT = 100_000_000n;

export const blockHash = (header: Buffer): Buffer => sha256d(header);

const ripemd160 = (data: Buffer): Buffer => createHash('ripemd160').update(data).digest();

/** The hash that must be below the target. It is not the block's id. */
export function workHash(header: Buffer): Buffer {
  const wide = createHash('sha512').update(sha256d(header)).digest();
  return sha256d(Buffer.concat([ripemd160(wide.subarray(0, 32)), ripemd160(wide.subarray(32))]));
}

/** Increments the nonce until the hash is certainly below the target of regtest or, with `noWork`, certainly above it. */
function mine(header: Buffer, noWork: boolean): Buffer {
  for (let nonce = 0; ; nonce++) {
    header.writeUInt32LE(nonce, HEADER_SIZE - 4);
    const highest = workHash(header)[31]!;
    if (noWork ? highest > 0x7f : highest < 0x7f) return header;
  }
}

export function mineHeader(parent: Place, merkleRoot: Buffer, changes: Changes = {}): Buffer {
  const header = Buffer.concat([
    u32(changes.version ?? 0x20000000),
    parent.hash,
    changes.merkleRoot ?? merkleRoot,
    changes.claimRoot ?? parent.claimRoot,
    u32(changes.timeSec ?? parent.timeSec + 1),
    u32(changes.bits ?? BITS),
    u32(0),
  ]);
  return mine(header, changes.noWork === true);
}

/** The script that anyone can spend: it pays to the hash of the script `1`. */
const OPEN_SCRIPT = Buffer.concat([
  Buffer.from('a914', 'hex'),
  ripemd160(createHash('sha256').update(Buffer.of(0x51)).digest()),
  Buffer.of(0x87),
]);

/** The input script that spends it. */
const OPEN_INPUT = Buffer.of(1, 0x51);

export interface Output {
  valueSat: bigint;
  script?: Buffer;
}
export interface Input {
  /** Id of the transaction, wire order. */
  txid: Buffer;
  index?: number;
  script?: Buffer;
}

const formatOutput = ({ valueSat, script = OPEN_SCRIPT }: Output): Buffer =>
  Buffer.concat([u64(valueSat), withLength(script)]);
const formatInput = ({ txid, index = 0, script = OPEN_INPUT }: Input): Buffer =>
  Buffer.concat([txid, u32(index), withLength(script), u32(0xffffffff)]);

export const transaction = (inputs: readonly Input[], outputs: readonly Output[]): Buffer =>
  Buffer.concat([u32(2), list(inputs.map(formatInput)), list(outputs.map(formatOutput)), u32(0)]);

/** A script that pays to the hash of the witness script `1`, which anyone can spend. */
export const WITNESS_SCRIPT = Buffer.concat([
  Buffer.from('0020', 'hex'),
  createHash('sha256').update(Buffer.of(0x51)).digest(),
]);

/** Spends an output with `WITNESS_SCRIPT`: with its witness, and without. */
export function witnessTransaction(
  spent: Buffer,
  outputs: readonly Output[],
): { whole: Buffer; stripped: Buffer } {
  const stripped = transaction([{ txid: spent, script: Buffer.alloc(0) }], outputs);
  const [head, body] = [stripped.subarray(0, 4), stripped.subarray(4, -4)];
  const witness = Buffer.of(1, 1, 0x51);
  return { whole: Buffer.concat([head, Buffer.of(0, 1), body, witness, u32(0)]), stripped };
}

/** The id of a transaction without witness. */
export const txid = (tx: Buffer): Buffer => sha256d(tx);

let unique = 0;

/** A height in its shortest form, in which the highest bit is the sign (BIP34, enforced on regtest from height 1,000 on). */
function heightPush(height: number): Buffer {
  const size = height < 0x80 ? 1 : height < 0x8000 ? 2 : 3;
  return Buffer.concat([Buffer.of(size), u32(height).subarray(0, size)]);
}

function coinbase(height: number, valueSat: bigint): Buffer {
  const script = Buffer.concat([heightPush(height), Buffer.of(4), u32(++unique)]);
  return transaction([{ txid: Buffer.alloc(32), index: 0xffffffff, script }], [{ valueSat }]);
}

function merkleRoot(ids: readonly Buffer[]): Buffer {
  if (ids.length === 1) return ids[0]!;
  const above: Buffer[] = [];
  for (let i = 0; i < ids.length; i += 2)
    above.push(sha256d(Buffer.concat([ids[i]!, ids[i + 1] ?? ids[i]!])));
  return merkleRoot(above);
}

/** A block on `parent` with these transactions after the coinbase. `withTxs` may change the list afterwards. */
export function mineBlock(
  parent: Place,
  txs: readonly Buffer[] = [],
  changes: Changes = {},
  withTxs: (txs: Buffer[]) => Buffer[] = (all) => all,
): MinedBlock {
  const all = withTxs([coinbase(parent.height + 1, changes.coinbaseSat ?? SUBSIDY_SAT), ...txs]);
  const header = mineHeader(parent, merkleRoot(all.map(txid)), changes);
  return {
    header,
    txs: all,
    raw: Buffer.concat([header, count(all.length), ...all]),
    ...placeOf(header, parent.height + 1),
  };
}

const placeOf = (header: Buffer, height: number): Place => ({
  hash: blockHash(header),
  height,
  timeSec: header.readUInt32LE(100),
  claimRoot: header.subarray(68, 100),
});

/** A sequence of connected blocks. */
export function mineRow(parent: Place, length: number): MinedBlock[] {
  const row: MinedBlock[] = [];
  for (let i = 0; i < length; i++) row.push(mineBlock(row.at(-1) ?? parent));
  return row;
}

/** A sequence of connected headers without blocks. */
export function mineHeaders(parent: Place, length: number): Buffer[] {
  const row: Buffer[] = [];
  let place = parent;
  for (let i = 0; i < length; i++) {
    const header = mineHeader(place, sha256d(place.hash));
    place = placeOf(header, place.height + 1);
    row.push(header);
  }
  return row;
}

/** The block of the active chain at a height; default: the tip. */
export async function placeAt(node: Rpc, height?: number): Promise<Place> {
  const at = height ?? (await node.rpc<number>('getblockcount'));
  const hash = await node.rpc<string>('getblockhash', [at]);
  return placeOf(Buffer.from(await node.rpc<string>('getblockheader', [hash, false]), 'hex'), at);
}

export async function rawBlockAt(node: Rpc, height: number): Promise<Buffer> {
  const hash = await node.rpc<string>('getblockhash', [height]);
  return Buffer.from(await node.rpc<string>('getblock', [hash, 0]), 'hex');
}

export async function coinbaseAt(node: Rpc, height: number): Promise<string> {
  const hash = await node.rpc<string>('getblockhash', [height]);
  return (await node.rpc<{ tx: string[] }>('getblock', [hash])).tx[0]!;
}

/** Whether the node has the block's data. */
export async function hasBlock(node: Rpc, hash: Buffer): Promise<boolean> {
  return node.rpc('getblock', [shown(hash), 0]).then(
    () => true,
    () => false,
  );
}
