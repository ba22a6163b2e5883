/** A recording of a whole lbry-sdk daemon, which is not part of the repository, and its transactions. */
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { sha256 } from '../../src/crypto/hash.js';
import { decodeDestination } from '../../src/script/address.js';
import { payKeyHash } from '../../src/daemon/wallet/tx/newOutputs.js';
import { parseTransaction } from '../../src/primitives/transaction.js';
import { Reader } from '../../src/util/reader.js';
import { hashToHex } from '../../src/util/bytes.js';
import { made, regtest, transactionOf, type MadeTransaction } from './ledgerTransactions.js';

const RECORDED = new URL('../../../shared/conformance/sdk/daemon.jsonl.gz', import.meta.url);

export interface RecordedCall {
  readonly kind: 'call';
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly answer: {
    readonly result?: unknown;
    readonly error?: { readonly data: { readonly name: string }; readonly message: string };
  };
}

export type RecordedEvent =
  | RecordedCall
  | { readonly kind: 'fund'; readonly address: string; readonly dewies: number; readonly txid: string }
  | { readonly kind: 'mine'; readonly count: number; readonly height: number };

/** Null, with a printed line, if the recording is absent. */
export function recordedDaemon(): RecordedEvent[] | null {
  if (!existsSync(RECORDED)) {
    console.log('skipped: the recordings are not present');
    return null;
  }
  const lines = gunzipSync(readFileSync(RECORDED)).toString('utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as RecordedEvent);
}

/** A payment like the `n`th transaction of the fake hub: it is not signed. */
export function recordedPayment(address: string, dewies: number, n: number): MadeTransaction {
  const destination = decodeDestination(address, regtest.addressPrefixes);
  if (destination?.type !== 'pubkeyhash') throw new Error(`${address} is of no key`);
  const tx = transactionOf(
    [{ hash: sha256(Buffer.from(`fund ${n}`)), index: 0 }],
    [payKeyHash(BigInt(dewies), destination.hash)],
  );
  tx.inputs[0]!.scriptSig = Buffer.concat([
    Buffer.of(0x48),
    Buffer.alloc(72),
    Buffer.of(0x21),
    Buffer.alloc(33),
  ]);
  return made(tx);
}

/** The transaction that a call put into the mempool; null if it made none or returned a preview. */
export function recordedTransaction({ method, params, answer }: RecordedCall): MadeTransaction | null {
  const { result } = answer as { result?: { hex?: unknown; txid?: string } | null };
  if (typeof result?.hex !== 'string' || params['preview'] === true || method === 'transaction_show')
    return null;
  const transaction = made(parseTransaction(new Reader(Buffer.from(result.hex, 'hex'))));
  if (hashToHex(transaction.txid) !== result.txid) throw new Error('the recorded transaction is another');
  return transaction;
}
