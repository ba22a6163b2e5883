/** `verifysnapshot`: checks a file that `dumpsnapshot` wrote. */
import { hashFromHex } from '../../../util/bytes.js';
import { NO_HEADER } from '../../../store/files/headerTable.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { orRefuse, PARTS_SCHEMA } from './dumpSnapshot.js';

export const verifySnapshot = defineMethod({
  name: 'verifysnapshot',
  category: 'blockchain',
  summary:
    'Reads a whole snapshot file on the server and checks its checksums, network and rules, the proof of ' +
    'work of the headers, and the claims against the claim trie root of its block. The unspent outputs ' +
    'can only be checked by the hash: compare it with a hash that you trust, or with that of ' +
    'dumpsnapshot at the same height.',
  params: [
    {
      name: 'file',
      type: 'string',
      required: true,
      description: "Path of the file, absolute or relative to the network's data folder",
    },
  ],
  result: t.object({
    height: t.int('the height of the block'),
    blockhash: t.hash('the hash of the block'),
    hash: t.hex('SHA-256 of the file'),
    bytes: t.int('the size of the file in bytes'),
    inmainchain: t.bool("whether the block is in this node's active chain"),
    parts: PARTS_SCHEMA,
  }),
  examples: [['"main.snapshot"']],
  async run({ services: { snapshots, chain }, signal }, { file }) {
    if (file === '') throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'The file name is empty');
    const { head, hash, sizeBytes, parts } = await orRefuse(
      snapshots.verify(snapshots.resolve(file), signal),
    );
    const known = chain.headers.find(hashFromHex(head.block));
    return {
      height: head.height,
      blockhash: head.block,
      hash,
      bytes: sizeBytes,
      inmainchain: known !== NO_HEADER && chain.chain.index.active.contains(known),
      parts: parts.map((part) => ({ name: part.name, rows: part.rows, hash: part.hash })),
    };
  },
});
