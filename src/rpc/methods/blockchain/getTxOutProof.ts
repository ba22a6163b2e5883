/** `gettxoutproof`: proof that transactions are in a block. Source: lbrycrd rpc/rawtransaction.cpp. */
import {
  buildPartialMerkleTreeInSlices,
  writePartialMerkleTree,
} from '../../../consensus/partialMerkleTree.js';
import { HEADER_SIZE_BYTES } from '../../../primitives/header.js';
import { txidAt } from '../../../primitives/blockView.js';
import { NO_HEADER } from '../../../store/files/headerTable.js';
import { hashFromHex, isHex, toLatin1, type Bytes } from '../../../util/bytes.js';
import type { JsonValue } from '../../../util/json/json.js';
import { hexOf } from '../../../util/json/jsonWrite.js';
import { inSlices } from '../../../scheduler/slices.js';
import type { Slices } from '../../../util/slices.js';
import { Writer } from '../../../util/writer.js';
import {
  blockOfFirstCoin,
  findTransaction,
  readBlockOrNull,
  requireBlock,
} from '../../lookup/blockLookup.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { getString } from '../../declare/paramTypes.js';
import { t } from '../../../schema/schema.js';
import type { RpcServices } from '../../../interfaces/services.js';

/** Parses the txids. Returns a map with the bytes of each txid in wire order (latin1) as key, sorted by key. */
function* parseTxids(values: readonly JsonValue[]): Slices<Map<string, Buffer>> {
  const txids = new Map<string, Buffer>();
  for (const value of values) {
    yield;
    const text = getString(value);
    if (text.length !== 64 || !isHex(text)) {
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, `Invalid txid ${text}`);
    }
    const txid = hashFromHex(text);
    const key = toLatin1(txid);
    if (txids.has(key)) {
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, `Invalid parameter, duplicated txid: ${text}`);
    }
    txids.set(key, txid);
  }
  return txids;
}

async function findBlock(services: RpcServices, txids: Iterable<Bytes>): Promise<number> {
  const block = await blockOfFirstCoin(services, txids);
  if (block !== NO_HEADER) return block;
  let last: Bytes | undefined;
  for (const txid of txids) last = txid;
  const found = last === undefined ? null : await findTransaction(services, last, false);
  if (found === null || found.block === NO_HEADER) {
    throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'Transaction not yet in block');
  }
  return found.block;
}

export const getTxOutProof = defineMethod({
  name: 'gettxoutproof',
  category: 'blockchain',
  explorer: 'console',
  chainUse: 'reads',
  summary:
    'Returns a hex-encoded proof that "txid" was included in a block.\n' +
    'Without a block hash this works only if one of the transactions has an unspent output, or with ' +
    '-txindex.',
  params: [
    { name: 'txids', type: 'array', required: true, description: 'A json array of txids to filter' },
    { name: 'blockhash', type: 'looseHash', description: 'Hash of the block in which to look for the txids' },
  ],
  result: t.hex('the serialized proof'),
  examples: [['["mytxid"]'], ['["mytxid"]', '"blockhash"']],
  async run({ services }, args) {
    const { chain } = services;
    const wanted = await inSlices(parseTxids(args.txids));
    const id =
      args.blockhash === undefined
        ? await findBlock(services, [...wanted.values()])
        : requireBlock(chain, args.blockhash);
    const block = await readBlockOrNull(services, id);
    if (block === null)
      throw rpcError(RPC_ERROR.INTERNAL_ERROR, chain.behindSnapshot(id) ?? "Can't read block from disk");
    const { raw, parsed } = block;
    const txids = Array.from({ length: parsed.txCount }, (_, n) => txidAt(parsed, n));
    const matches = txids.map((hash) => wanted.has(toLatin1(hash)));
    if (matches.filter(Boolean).length !== wanted.size) {
      const message = 'Not all transactions found in specified or retrieved block';
      throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, message);
    }
    const writer = new Writer(1024).raw(raw.subarray(0, HEADER_SIZE_BYTES));
    writePartialMerkleTree(
      writer,
      await inSlices(buildPartialMerkleTreeInSlices(txids, (index) => matches[index]!)),
    );
    return hexOf(writer.finish());
  },
});
