/** Blocks above the maximum size, which a user with credentials could submit or propose. */
import { parseBlockView } from '../../../src/primitives/blockView.js';
import { Writer } from '../../../src/util/writer.js';
import { bigTransaction } from '../../support/bigTransaction.js';
import { mineBlock, mineHeader, type Place } from '../support/rawChain.js';

/** A block with a header of zeros, as hex of about `sizeBytes` digits. */
export function headlessBlock(sizeBytes: number): string {
  const tx = bigTransaction({});
  const count = Math.floor(sizeBytes / 2 / tx.length);
  const writer = new Writer(1 << 20).raw(Buffer.alloc(112)).compactSize(count);
  for (let n = 0; n < count; n++) writer.raw(tx);
  return writer.finish().toString('hex');
}

/** Only empty lists: the shortest form that can be parsed. */
const EMPTY_TX = Buffer.from('02000000000000000000', 'hex');
/** A witness marker without witness. */
const MARKED_TX = Buffer.concat([
  Buffer.from('02000000000101', 'hex'),
  Buffer.alloc(36, 3),
  Buffer.from('00ffffffff00', 'hex'),
  Buffer.alloc(5),
]);

const filled = (tx: Buffer, size: number): Buffer[] => Array<Buffer>(Math.floor(size / tx.length)).fill(tx);

/** Blocks with a coinbase, proof of work and a valid merkle root, as hex of about `sizeBytes` digits. */
export function workedBlocks(sizeBytes: number, parent: Place): [string, () => string][] {
  const size = Math.floor(sizeBytes / 2);
  const shapes: [string, () => Buffer[]][] = [
    ['many transactions', () => filled(bigTransaction({}), size)],
    ['many empty transactions', () => filled(EMPTY_TX, size)],
    ['many markers', () => filled(MARKED_TX, size)],
    ['many inputs', () => [bigTransaction({ inputs: Math.floor(size / 41) })]],
    ['many outputs', () => [bigTransaction({ outputs: Math.floor(size / 9) })]],
    ['one large script', () => [bigTransaction({ script: Buffer.alloc(size, 0xac) })]],
    ['many witness items', () => [bigTransaction({ witness: Array<Buffer>(size).fill(Buffer.alloc(0)) })]],
    [
      'witnesses of many',
      () => filled(bigTransaction({ witness: Array<Buffer>(30_000).fill(Buffer.alloc(0)) }), size),
    ],
  ];
  return shapes.map(([what, make]) => [what, () => worked(parent, make()).toString('hex')]);
}

function worked(parent: Place, txs: readonly Buffer[]): Buffer {
  const { raw } = mineBlock(parent, txs, { merkleRoot: Buffer.alloc(32) });
  mineHeader(parent, parseBlockView(raw).merkleRoot).copy(raw);
  return raw;
}
