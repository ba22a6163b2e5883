/** `dumpsnapshot`: writes a snapshot of the chain state (docs/snapshots.md). */
import { SnapshotError } from '../../../chain/snapshot/snapshotFile.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

/** Converts a rejected snapshot error to an RPC error for the caller. */
export async function orRefuse<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof SnapshotError ? rpcError(RPC_ERROR.MISC_ERROR, error.message) : error;
  }
}

export const PARTS_SCHEMA = t.array(
  t.object({
    name: t.str('headers, coins, claims or claimindex'),
    rows: t.int('headers or rows of the database'),
    hash: t.hex('SHA-256 of its pieces'),
  }),
);

export const dumpSnapshot = defineMethod({
  name: 'dumpsnapshot',
  category: 'blockchain',
  summary:
    'Writes a snapshot of the chain state to a file on the server: headers, unspent outputs, claims and the claim index after one block, from which another node starts by -loadsnapshot. Nodes with the same chain write the same bytes. Needs -claimindex. Blocks are connected meanwhile. The file is written under a temporary name and renamed when it is complete.',
  params: [
    {
      name: 'file',
      type: 'string',
      required: true,
      description: "The name of the file, absolute or relative to the network's folder. It must not exist",
    },
    {
      name: 'height',
      type: 'integer',
      description:
        'The height of the block; the tip without it. Blocks above it are taken back in memory, at most 2016',
    },
  ],
  result: t.object({
    height: t.int('the height of the block'),
    blockhash: t.hash('its id'),
    filename: t.str('the absolute path of the file'),
    hash: t.hex('SHA-256 of the file, by which others check it (-snapshothash)'),
    bytes: t.int('the size of the file'),
    parts: PARTS_SCHEMA,
  }),
  examples: [['"main.snapshot"'], ['"main.snapshot"', '1000000']],
  async run({ services: { snapshots }, signal }, { file, height }) {
    if (height !== undefined && height < 0)
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'The height must not be negative');
    if (file === '') throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'The name of the file is empty');
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
