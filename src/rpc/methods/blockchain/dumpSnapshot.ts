/** `dumpsnapshot`: writes a snapshot of the chain state (docs/snapshots.md). */
import { SnapshotError } from '../../../chain/snapshot/snapshotFile.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { callErrorText } from '../../../util/text/environmentError.js';

/** Waits for a task on a snapshot. Converts its error to an RPC error, whose advice is for a node that continues to run. */
export async function orRefuse<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof SnapshotError ? rpcError(RPC_ERROR.MISC_ERROR, callErrorText(error)) : error;
  }
}

export const PARTS_SCHEMA = t.array(
  t.object({
    name: t.str('name of the section: headers, coins, claims or claimindex'),
    rows: t.int('number of headers or database rows'),
    hash: t.hex("SHA-256 of the section's chunks"),
  }),
);

export const dumpSnapshot = defineMethod({
  name: 'dumpsnapshot',
  category: 'blockchain',
  summary:
    'Writes a snapshot of the chain state after one block to a file on the server: headers, unspent ' +
    'outputs, claims and the claim index. Another node can start from it with -loadsnapshot. The file ' +
    'depends only on the chain: two nodes write identical bytes for the same block. Needs -claimindex. ' +
    'Blocks continue to be connected meanwhile. The file has a temporary name until it is complete.',
  params: [
    {
      name: 'file',
      type: 'string',
      required: true,
      description:
        "Path of the file, absolute or relative to the network's data folder. The file must not exist",
    },
    {
      name: 'height',
      type: 'integer',
      description:
        'The height of the block, by default the tip. At most 2016 blocks below the tip; later blocks are ' +
        'undone in memory',
    },
  ],
  result: t.object({
    height: t.int('the height of the block'),
    blockhash: t.hash('the hash of the block'),
    filename: t.str('the absolute path of the file'),
    hash: t.hex('SHA-256 of the file, for comparison with other nodes and for -snapshothash'),
    bytes: t.int('the size of the file in bytes'),
    parts: PARTS_SCHEMA,
  }),
  examples: [['"main.snapshot"'], ['"main.snapshot"', '1000000']],
  async run({ services: { snapshots }, signal }, { file, height }) {
    if (height !== undefined && height < 0)
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'The height must not be negative');
    if (file === '') throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'The file name is empty');
    const path = snapshots.resolve(file);
    const dumped = await orRefuse(snapshots.dump(path, height ?? null, signal));
    return {
      height: dumped.height,
      blockhash: dumped.block,
      filename: path,
      hash: dumped.hash,
      bytes: dumped.sizeBytes,
      parts: dumped.parts.map(({ name, rows, hash }) => ({ name, rows, hash })),
    };
  },
});
