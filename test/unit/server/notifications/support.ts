/** A chain with a mempool that reports its changes, and claims for its blocks. */
import { formatTransaction, txid, type Transaction } from '../../../../src/primitives/transaction.js';
import {
  buildClaimPrefix,
  buildSupportPrefix,
  buildUpdatePrefix,
  claimIdOf,
} from '../../../../src/script/claimScript.js';
import { NotificationStream } from '../../../../src/server/notifications/stream.js';
import type { Bytes } from '../../../../src/util/bytes.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { OPEN_SCRIPT, spend } from '../../../support/testChain.js';
import { PoolWorld } from '../../mempool/support.js';

export interface Output {
  readonly txid: Bytes;
  readonly n: number;
}

const VALUE = Buffer.from('value');
const CLAIM_SAT = 1_000_000n;

export const claimScript = (name: Bytes): Buffer =>
  Buffer.concat([buildClaimPrefix(name, VALUE), OPEN_SCRIPT]);
export const supportScript = (name: Bytes, claimId: Bytes): Buffer =>
  Buffer.concat([buildSupportPrefix(name, claimId), OPEN_SCRIPT]);
export const updateScript = (name: Bytes, claimId: Bytes): Buffer =>
  Buffer.concat([buildUpdatePrefix(name, claimId, VALUE), OPEN_SCRIPT]);

/** A transaction that spends outputs for one with a script. */
export const make = (inputs: readonly Output[], script: Bytes, value = CLAIM_SAT): Transaction =>
  spend(inputs, [{ value, script }]);

export const outputOf = (tx: Transaction, n = 0): Output => ({ txid: txid(tx), n });
export const claimIdIn = (tx: Transaction, n = 0): Buffer => claimIdOf(txid(tx), n);
export const bytesOf = (tx: Transaction): Buffer => Buffer.from(formatTransaction(tx));

export class ReportedWorld {
  readonly pool: PoolWorld;
  readonly stream = new NotificationStream(true, SILENT_LOGGER);
  private nextCoinbase = 1;

  private constructor(pool: PoolWorld) {
    this.pool = pool;
    this.stream.follow({ chain: pool.chain.opened.chain, mempool: pool.mempool });
  }

  static async open(blocks = 115): Promise<ReportedWorld> {
    return new ReportedWorld(await PoolWorld.open(blocks));
  }

  /** A mature coinbase, a different one at each call. */
  async coin(): Promise<Output> {
    return this.pool.coinbase(this.nextCoinbase++);
  }

  close(): Promise<void> {
    return this.pool.close();
  }
}
