/** Formats transactions for RPC results. Source: lbrycrd core_write.cpp `TxToUniv`. */
import type { LoadedBlock } from '../../chain/blocks/loadedBlock.js';
import { transactionAt } from '../../chain/connect/checkBlockView.js';
import type { StoredTransaction } from '../../chain/blocks/storedTransactions.js';
import { strippedSize, weightOf, witnessSize } from '../../consensus/txSize.js';
import { txBytes, txidAt, txSizeBytes, txWeight, wtxidAt } from '../../primitives/blockView.js';
import {
  formatTransaction,
  hasWitness,
  isCoinbase,
  txid,
  wtxid,
  type Transaction,
  type TxInput,
  type TxOutput,
} from '../../primitives/transaction.js';
import { formatTransactionInSlices, sha256dInSlices } from '../../primitives/transactionSlices.js';
import { formatAsm } from '../../script/asm.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { hashToHex, toHex, type Bytes } from '../../util/bytes.js';
import { coins } from '../../util/json/json.js';
import { hexOf, jsonArray, type JsonOut } from '../../util/json/jsonWrite.js';
import { inSlices } from '../../scheduler/slices.js';
import { atOnce, type Slices } from '../../util/slices.js';
import type { Profile } from '../declare/method.js';
import { t, type SchemaFields } from '../../schema/schema.js';
import { METADATA } from './claimMetadata.js';
import {
  asmInSlices,
  LARGE_SCRIPT_BYTES,
  SCRIPT_SCHEMA,
  scriptAnswerInSlices,
  type ScriptContext,
} from './script.js';

/** A transaction with its ids and sizes. */
export interface ShownTransaction {
  readonly tx: Transaction;
  readonly txid: Bytes;
  readonly wtxid: Bytes;
  readonly sizeBytes: number;
  readonly weight: number;
}

const INPUT_SCHEMA = t.named(
  'TransactionInput',
  t.union([
    {
      when: 'for the coinbase',
      schema: t.object({
        coinbase: t.hex('the input script in hex'),
        sequence: t.int('the sequence number'),
        witness: t.optional(
          t.array(t.hex('a witness item')),
          'in the lbcd profile, if the input has a witness',
        ),
      }),
    },
    {
      when: 'for any other input',
      schema: t.object({
        txid: t.hash('the id of the transaction whose output is spent'),
        vout: t.int('the index of that output'),
        scriptSig: t.object({
          asm: t.str('the script in assembly notation'),
          hex: t.hex('the script in hex'),
        }),
        txinwitness: t.optional(t.array(t.hex('a witness item')), 'if the input has a witness'),
        sequence: t.int('the sequence number'),
      }),
    },
  ]),
);

/** Schema of a decoded transaction, without the fields about its block. */
export const TRANSACTION_FIELDS: SchemaFields = {
  txid: t.hash('the transaction id'),
  hash: t.hash(
    'the hash of the serialized transaction with witness data; differs from txid for witness transactions',
  ),
  version: t.int('the version'),
  size: t.int('size in bytes with witness data'),
  vsize: t.int('virtual size in bytes: a quarter of the weight, rounded up'),
  weight: t.int('weight as BIP 141 defines it'),
  locktime: t.int('the lock time'),
  vin: t.array(INPUT_SCHEMA, 'the inputs'),
  vout: t.array(
    t.named(
      'TransactionOutput',
      t.object({
        value: t.coins('the amount of the output'),
        n: t.int('the index of the output'),
        scriptPubKey: SCRIPT_SCHEMA,
        metadata: METADATA,
      }),
    ),
    'the outputs',
  ),
};

export const TRANSACTION_SCHEMA = t.named('Transaction', t.object(TRANSACTION_FIELDS));

/** Maximum number of inputs, outputs or witness items of a result that is formatted without yielding to the event loop. */
const PARTS_AT_ONCE = 1000;

function* witnessAnswer({ witness }: TxInput): Slices<JsonOut> {
  if (witness.length <= PARTS_AT_ONCE) return witness.map(toHex);
  yield;
  return jsonArray(hexItems(witness));
}

function* hexItems(items: readonly Bytes[]): Generator<JsonOut> {
  for (const item of items) yield toHex(item);
}

export function* inputAnswer(input: TxInput, coinbase: boolean, profile: Profile): Slices<JsonOut> {
  const { scriptSig, sequence, witness, prevout } = input;
  if (coinbase) {
    const shown = profile === 'lbcd' && witness.length > 0 ? yield* witnessAnswer(input) : undefined;
    return { coinbase: toHex(scriptSig), sequence, witness: shown };
  }
  const inSlices = profile === 'lbcd' || scriptSig.length > LARGE_SCRIPT_BYTES;
  const asm = inSlices ? yield* asmInSlices(scriptSig, profile, true) : formatAsm(scriptSig, true);
  return {
    txid: hashToHex(prevout.hash),
    vout: prevout.index,
    scriptSig: { asm, hex: toHex(scriptSig) },
    txinwitness: witness.length > 0 ? yield* witnessAnswer(input) : undefined,
    sequence,
  };
}

export function* outputAnswer(
  { value, script }: TxOutput,
  n: number,
  context: ScriptContext,
): Slices<JsonOut> {
  const scriptPubKey = yield* scriptAnswerInSlices(script, context, true);
  return { value: coins(value), n, scriptPubKey, metadata: context.metadata?.ofScript(script) };
}

function isLarge({ inputs, outputs }: Transaction): boolean {
  if (inputs.length + outputs.length > PARTS_AT_ONCE) return true;
  return (
    inputs.some(
      ({ scriptSig, witness }) => scriptSig.length > LARGE_SCRIPT_BYTES || witness.length > PARTS_AT_ONCE,
    ) || outputs.some(({ script }) => script.length > LARGE_SCRIPT_BYTES)
  );
}

/** Yields the formatted items. Each item is formatted when it is written. */
export async function* lazily<T>(
  items: readonly T[],
  make: (item: T, n: number) => Slices<JsonOut>,
): AsyncGenerator<JsonOut> {
  let since = performance.now();
  for (const [n, item] of items.entries()) {
    yield await inSlices(make(item, n));
    since = await yieldIfDue(since);
  }
}

export function transactionAnswer(
  { tx, txid, wtxid, sizeBytes, weight }: ShownTransaction,
  context: ScriptContext,
): Record<string, JsonOut> {
  const coinbase = isCoinbase(tx);
  const input = (item: TxInput): Slices<JsonOut> => inputAnswer(item, coinbase, context.profile);
  const output = (item: TxOutput, n: number): Slices<JsonOut> => outputAnswer(item, n, context);
  const large = isLarge(tx);
  return {
    txid: hashToHex(txid),
    hash: hashToHex(wtxid),
    version: tx.version,
    size: sizeBytes,
    vsize: Math.ceil(weight / 4),
    weight,
    locktime: tx.lockTime,
    vin: large ? jsonArray(lazily(tx.inputs, input)) : tx.inputs.map((item) => atOnce(input(item))),
    vout: large
      ? jsonArray(lazily(tx.outputs, output))
      : tx.outputs.map((item, n) => atOnce(output(item, n))),
  };
}

/** Computes the ids and sizes of a transaction. */
export function shownTransaction(tx: Transaction): ShownTransaction {
  const stripped = strippedSize(tx);
  const sizeBytes = stripped + witnessSize(tx);
  return { tx, txid: txid(tx), wtxid: wtxid(tx), sizeBytes, weight: weightOf(stripped, sizeBytes) };
}

/** Converts a stored transaction for formatting. Its ids are known, so they are not computed again. */
export function shownStored({ tx, txid, wtxid, bytes }: StoredTransaction): ShownTransaction {
  return { tx, txid, wtxid, sizeBytes: bytes.length, weight: weightOf(strippedSize(tx), bytes.length) };
}

/** Like `shownTransaction`, but yields to the event loop, because the transaction may be larger than any block. */
export function* shownTransactionInSlices(tx: Transaction): Slices<ShownTransaction> {
  const stripped = yield* formatTransactionInSlices(tx, false);
  const txid = yield* sha256dInSlices(stripped);
  if (!hasWitness(tx)) {
    const { length } = stripped;
    return { tx, txid, wtxid: txid, sizeBytes: length, weight: weightOf(length, length) };
  }
  const whole = yield* formatTransactionInSlices(tx);
  const weight = weightOf(stripped.length, whole.length);
  return { tx, txid, wtxid: yield* sha256dInSlices(whole), sizeBytes: whole.length, weight };
}

/** Converts transaction `n` of a block for formatting. Its ids are known, so they are not computed again. */
export function shownTransactionAt({ raw, parsed }: LoadedBlock, n: number): ShownTransaction {
  return {
    tx: transactionAt(raw, parsed, n),
    txid: txidAt(parsed, n),
    wtxid: wtxidAt(parsed, n),
    sizeBytes: txSizeBytes(parsed, n),
    weight: txWeight(parsed, n),
  };
}

/** Returns the bytes of a transaction in hex, with or without witness (`-rpcserialversion`). */
export function rawTransactionAnswer(tx: Transaction, serializeWitness: boolean): JsonOut {
  return hexOf(formatTransaction(tx, serializeWitness));
}

/** Returns the bytes of transaction `n` of a block in hex. The bytes are not copied unless the witness must be removed. */
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
