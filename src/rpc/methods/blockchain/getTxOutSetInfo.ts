/** `gettxoutsetinfo`: statistics and hash of the set of unspent outputs. Source: lbrycrd rpc/blockchain.cpp `GetUTXOStats`. */
import { createHash, type Hash } from 'node:crypto';
import type { CoinRowEntry } from '../../../chain/chainReader.js';
import { sha256 } from '../../../crypto/hash.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { equalBytes, hashToHex, type Bytes } from '../../../util/bytes.js';
import { coins } from '../../../util/json/json.js';
import { Writer } from '../../../util/writer.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

/** Size in bytes of a coin besides its script: txid, output number, height and coinbase flag, amount, script length. */
const BOGO_BYTES = 32 + 4 + 4 + 8 + 2;
/** Number of bytes that are collected before they are hashed in one call. */
const HASH_CHUNK_BYTES = 1 << 16;

interface SetFigures {
  transactions: number;
  outputs: number;
  bogoSizeBytes: number;
  totalSat: bigint;
}

/** Hashes the set of unspent outputs, transaction by transaction, and collects its statistics. */
class SetHasher {
  readonly figures: SetFigures = { transactions: 0, outputs: 0, bogoSizeBytes: 0, totalSat: 0n };
  private readonly hash: Hash = createHash('sha256');
  private pending = new Writer(HASH_CHUNK_BYTES * 2);
  /** Outputs of the current transaction. They must be sorted, because the database orders output numbers by their first byte. */
  private outputs: CoinRowEntry[] = [];

  constructor(tipHash: Bytes) {
    this.hash.update(tipHash);
  }

  add(entry: CoinRowEntry): void {
    const last = this.outputs[0];
    if (last && !equalBytes(last.outPoint.subarray(0, 32), entry.outPoint.subarray(0, 32))) {
      this.endTransaction();
    }
    this.outputs.push(entry);
  }

  /**
   * Hashes the outputs of the current transaction. Source: `ApplyStats`. QUIRK: the value hashed for height and coinbase is
   * 1 unless both are 0, because operator precedence in the reference's expression differs from its apparent meaning. Test:
   * test/unit/rpc/methods/blockchain/getTxOutSetInfo.test.ts.
   */
  private endTransaction(): void {
    const { figures, outputs } = this;
    const first = outputs[0];
    if (!first) return;
    this.pending.raw(first.outPoint.subarray(0, 32)).varInt(first.coin.heightCode === 0 ? 0 : 1);
    const numbered = outputs.map((entry) => ({ n: entry.outPoint.readUInt32LE(32), coin: entry.coin }));
    for (const { n, coin } of numbered.sort((a, b) => a.n - b.n)) {
      this.pending
        .varInt(n + 1)
        .varBytes(coin.script)
        .varBigInt(coin.amount);
      figures.totalSat += coin.amount;
      figures.bogoSizeBytes += BOGO_BYTES + coin.script.length;
      if (this.pending.size >= HASH_CHUNK_BYTES) this.drain();
    }
    this.pending.varInt(0);
    figures.outputs += outputs.length;
    figures.transactions++;
    this.outputs = [];
  }

  private drain(): void {
    this.hash.update(this.pending.finish());
    this.pending = new Writer(HASH_CHUNK_BYTES * 2);
  }

  finish(): Buffer {
    this.endTransaction();
    this.drain();
    return sha256(this.hash.digest());
  }
}

export const getTxOutSetInfo = defineMethod({
  name: 'gettxoutsetinfo',
  category: 'blockchain',
  summary: 'Returns statistics about the unspent transaction output set.\nNote this call may take some time.',
  params: [],
  result: t.object({
    height: t.int('the height of the chain'),
    bestblock: t.hash('the tip of the chain'),
    transactions: t.int('the number of transactions with unspent outputs'),
    txouts: t.int('the number of unspent outputs'),
    bogosize: t.int('a value without meaning for the database size, for compatibility'),
    hash_serialized_2: t.hash('the hash over the set of unspent outputs'),
    disk_size: t.int('an estimate of the size of the set on disk, in bytes'),
    total_amount: t.coins('the total amount'),
  }),
  examples: [[]],
  async run({ services: { chain }, signal }) {
    const { tip, coins: entries } = await chain.allCoins();
    const hasher = new SetHasher(chain.headers.hash(tip));
    let since = performance.now();
    for await (const entry of entries) {
      hasher.add(entry);
      since = await yieldIfDue(since);
      if (signal.aborted) throw rpcError(RPC_ERROR.CLIENT_NOT_CONNECTED, 'Shutting down');
    }
    const hash = hasher.finish();
    const { figures } = hasher;
    return {
      height: chain.headers.height(tip),
      bestblock: hashToHex(chain.headers.hash(tip)),
      transactions: figures.transactions,
      txouts: figures.outputs,
      bogosize: figures.bogoSizeBytes,
      hash_serialized_2: hashToHex(hash),
      disk_size: await chain.coinsSizeOnDisk(),
      total_amount: coins(figures.totalSat),
    };
  },
});
