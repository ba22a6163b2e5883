/** Transactions as answers show them. Source: lbrycrd core_write.cpp `TxToUniv`. */
import type { LoadedBlock } from '../../chain/loadedBlock.js';
import { transactionAt } from '../../chain/checkBlockView.js';
import type { StoredTransaction } from '../../chain/storedTransactions.js';
import { strippedSize, weightOf, witnessSize } from '../../consensus/txSize.js';
import { txBytes, txidAt, txSizeBytes, txWeight, wtxidAt } from '../../primitives/blockView.js';
import {
  formatTransaction,
  isCoinbase,
  txid,
  wtxid,
  type Transaction,
} from '../../primitives/transaction.js';
import { formatAsm } from '../../script/asm.js';
import { hashToHex, toHex, type Bytes } from '../../util/bytes.js';
import { coins } from '../../util/json.js';
import { hexOf, type JsonOut } from '../../util/jsonWrite.js';
import { t, type SchemaFields } from '../schema.js';
import { SCRIPT_SCHEMA, scriptAnswer, type ScriptContext } from './script.js';

/** A transaction with what is computed from its bytes. */
export interface ShownTransaction {
  readonly tx: Transaction;
  readonly txid: Bytes;
  readonly wtxid: Bytes;
  readonly sizeBytes: number;
  readonly weight: number;
}

const INPUT_SCHEMA = t.union([
  {
    when: 'for the coinbase',
    schema: t.object({
      coinbase: t.hex('the input script'),
      sequence: t.int('the sequence number'),
    }),
  },
  {
    when: 'for any other input',
    schema: t.object({
      txid: t.hash('the transaction whose output is spent'),
      vout: t.int('the number of that output'),
      scriptSig: t.object({ asm: t.str('the script as operations'), hex: t.hex('the script') }),
      txinwitness: t.optional(t.array(t.hex('a witness item')), 'when the input has a witness'),
      sequence: t.int('the sequence number'),
    }),
  },
]);

/** Of a decoded transaction without anything about its place in the chain. */
export const TRANSACTION_FIELDS: SchemaFields = {
  txid: t.hash('the transaction id'),
  hash: t.hash('the hash with witness, which differs from txid for witness transactions'),
  version: t.int('the version'),
  size: t.int('bytes with witness'),
  vsize: t.int('virtual size: a quarter of the weight, rounded up'),
  weight: t.int('weight as BIP 141 defines it'),
  locktime: t.int('the lock time'),
  vin: t.array(INPUT_SCHEMA, 'the inputs'),
  vout: t.array(
    t.object({
      value: t.coins('the amount'),
      n: t.int('the number of the output'),
      scriptPubKey: SCRIPT_SCHEMA,
    }),
    'the outputs',
  ),
};

function inputsAnswer(tx: Transaction): JsonOut[] {
  const coinbase = isCoinbase(tx);
  return tx.inputs.map((input): JsonOut => {
    const { scriptSig, sequence, witness, prevout } = input;
    if (coinbase) return { coinbase: toHex(scriptSig), sequence };
    return {
      txid: hashToHex(prevout.hash),
      vout: prevout.index,
      scriptSig: { asm: formatAsm(scriptSig, true), hex: toHex(scriptSig) },
      txinwitness: witness.length > 0 ? witness.map(toHex) : undefined,
      sequence,
    };
  });
}

export function transactionAnswer(
  { tx, txid, wtxid, sizeBytes, weight }: ShownTransaction,
  context: ScriptContext,
): Record<string, JsonOut> {
  return {
    txid: hashToHex(txid),
    hash: hashToHex(wtxid),
    version: tx.version,
    size: sizeBytes,
    vsize: Math.ceil(weight / 4),
    weight,
    locktime: tx.lockTime,
    vin: inputsAnswer(tx),
    vout: tx.outputs.map((output, n) => ({
      value: coins(output.value),
      n,
      scriptPubKey: scriptAnswer(output.script, context, true),
    })),
  };
}

/** A transaction by itself. */
export function shownTransaction(tx: Transaction): ShownTransaction {
  const stripped = strippedSize(tx);
  const sizeBytes = stripped + witnessSize(tx);
  return { tx, txid: txid(tx), wtxid: wtxid(tx), sizeBytes, weight: weightOf(stripped, sizeBytes) };
}

/** A transaction as it lies in a block, without hashing anything again. */
export function shownStored({ tx, txid, wtxid, bytes }: StoredTransaction): ShownTransaction {
  return { tx, txid, wtxid, sizeBytes: bytes.length, weight: weightOf(strippedSize(tx), bytes.length) };
}

/** Transaction `n` of a block, without hashing anything again. */
export function shownTransactionAt({ raw, parsed }: LoadedBlock, n: number): ShownTransaction {
  return {
    tx: transactionAt(raw, parsed, n),
    txid: txidAt(parsed, n),
    wtxid: wtxidAt(parsed, n),
    sizeBytes: txSizeBytes(parsed, n),
    weight: txWeight(parsed, n),
  };
}

/** The bytes of a transaction for an answer, with or without witness (`-rpcserialversion`). */
export function rawTransactionAnswer(tx: Transaction, serializeWitness: boolean): JsonOut {
  return hexOf(formatTransaction(tx, serializeWitness));
}

/** The same for transaction `n` of a block, which are a view of its bytes unless the witness must go. */
export function rawTransactionAtAnswer(
  block: LoadedBlock,
  n: number,
  shown: ShownTransaction,
  serializeWitness: boolean,
): JsonOut {
  return serializeWitness
    ? hexOf(txBytes(block.raw, block.parsed, n))
    : rawTransactionAnswer(shown.tx, false);
}
