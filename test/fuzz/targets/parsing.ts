/**
 * Properties of every parse of a block or a transaction: the addon, its fallback and the plain parser accept the same bytes,
 * and return the same for accepted bytes.
 */
import { merkleRoot } from '../../../src/crypto/merkle.js';
import { witnessMerkleRoot } from '../../../src/consensus/witnessCommitment.js';
import type { ParsedBlock } from '../../../src/native/binding.js';
import {
  INPUT_PREVOUT,
  INPUT_SCRIPT,
  INPUT_SCRIPT_LENGTH,
  INPUT_SEQUENCE,
  INPUT_STRIDE,
  OUTPUT_CLAIM_KIND,
  OUTPUT_SCRIPT,
  OUTPUT_SCRIPT_LENGTH,
  OUTPUT_STRIDE,
  OUTPUT_VALUE,
  TX_CLAIM_OUTPUTS,
  TX_END,
  TX_FIRST_INPUT,
  TX_FIRST_OUTPUT,
  TX_FLAGS,
  TX_HAS_WITNESS,
  TX_INPUT_COUNT,
  TX_IS_COINBASE,
  TX_LEGACY_SIGOPS,
  TX_LOCK_TIME,
  TX_OUTPUT_COUNT,
  TX_START,
  TX_STRIDE,
  TX_STRIPPED_SIZE,
  TX_VERSION,
} from '../../../src/primitives/blockLayout.js';
import { txidAt, txSizeBytes, witnessAt, wtxidAt } from '../../../src/primitives/blockView.js';
import {
  formatOutPoint,
  formatTransaction,
  hasWitness,
  isCoinbase,
  txid,
  wtxid,
  type Transaction,
} from '../../../src/primitives/transaction.js';
import { claimPrefixLength, decodeClaimScript } from '../../../src/script/claimScript.js';
import { countLegacySigops } from '../../../src/script/sigops.js';
import { asBuffer } from '../../../src/util/bytes.js';
import { ReadError } from '../../../src/util/reader.js';
import { addon, native } from '../../differential/support.js';
import { law } from '../support/campaign.js';

if (native === null) console.log('the addon is not built: the parsers are compared without it');

type Parse = (bytes: Buffer) => ParsedBlock;

const COLUMNS = ['txs', 'inputs', 'outputs', 'txids', 'wtxids', 'merkleRoot', 'witnessMerkleRoot'] as const;
const SCALARS = ['txCount', 'mutated', 'consumedBytes', 'sizeBytes', 'strippedSizeBytes', 'weight'] as const;

function sameTable(a: ParsedBlock, b: ParsedBlock): void {
  for (const name of SCALARS)
    law(a[name] === b[name], () => `${name}: addon ${a[name]}, fallback ${b[name]}`);
  for (const name of COLUMNS) {
    const [x, y] = [a[name], b[name]];
    const same =
      x.byteLength === y.byteLength &&
      Buffer.from(x.buffer, x.byteOffset, x.byteLength).equals(
        Buffer.from(y.buffer, y.byteOffset, y.byteLength),
      );
    law(same, `addon and fallback differ in ${name}`);
  }
}

/** The table that `parse` returns, or the text of its `ReadError`. Other errors are rethrown. */
export function parsedOrRefusal(
  parse: Parse,
  bytes: Buffer,
  kind: 'Error' | 'ReadError',
): ParsedBlock | string {
  try {
    return parse(bytes);
  } catch (error) {
    if (error instanceof Error && error.name === kind) return error.message;
    throw error;
  }
}

/** The table of the fallback, which must equal that of the addon if it is loaded; null if the bytes are refused. */
export function parseBothWays(
  fallback: Parse,
  method: 'parseBlock' | 'parseTx',
  bytes: Buffer,
): ParsedBlock | null {
  const expected = parsedOrRefusal(fallback, bytes, 'ReadError');
  if (native !== null) {
    const got = parsedOrRefusal((b) => addon()[method](b), bytes, 'Error');
    if (typeof expected === 'string' || typeof got === 'string') {
      law(got === expected, () => `addon: ${describe(got)}, fallback: ${describe(expected)}`);
    } else sameTable(got, expected);
  }
  return typeof expected === 'string' ? null : expected;
}

function describe(outcome: ParsedBlock | string): string {
  return typeof outcome === 'string' ? `refused (${outcome})` : 'accepted';
}

/** Whether `parse` accepts the bytes. Errors other than `ReadError` are rethrown. */
export function accepts(parse: () => void): boolean {
  try {
    parse();
    return true;
  } catch (error) {
    if (error instanceof ReadError) return false;
    throw error;
  }
}

function view(bytes: Buffer, offset: number, length: number): Buffer {
  return bytes.subarray(offset, offset + length);
}

/** Compares one row of the table, and its inputs and outputs, with the transaction as an object. */
function sameTransaction(bytes: Buffer, parsed: ParsedBlock, index: number, tx: Transaction): void {
  const row = parsed.txs.subarray(index * TX_STRIDE, (index + 1) * TX_STRIDE);
  const whole = formatTransaction(tx);
  const flags = row[TX_FLAGS]!;
  law(txidAt(parsed, index).equals(txid(tx)), 'txid');
  law(wtxidAt(parsed, index).equals(wtxid(tx)), 'wtxid');
  law(row[TX_STRIPPED_SIZE] === formatTransaction(tx, false).length, 'stripped size');
  law(txSizeBytes(parsed, index) === whole.length, 'size');
  law((row[TX_VERSION]! | 0) === tx.version && row[TX_LOCK_TIME] === tx.lockTime, 'version or lock time');
  law(((flags & TX_HAS_WITNESS) !== 0) === hasWitness(tx), 'witness flag');
  law(((flags & TX_IS_COINBASE) !== 0) === isCoinbase(tx), 'coinbase flag');
  law(row[TX_INPUT_COUNT] === tx.inputs.length && row[TX_OUTPUT_COUNT] === tx.outputs.length, 'counts');
  let sigops = 0;
  let claims = 0;
  tx.inputs.forEach((input, i) => {
    const at = row[TX_FIRST_INPUT]! + i;
    const columns = parsed.inputs.subarray(at * INPUT_STRIDE, (at + 1) * INPUT_STRIDE);
    law(view(bytes, columns[INPUT_PREVOUT]!, 36).equals(formatOutPoint(input.prevout)), 'prevout');
    law(
      view(bytes, columns[INPUT_SCRIPT]!, columns[INPUT_SCRIPT_LENGTH]!).equals(input.scriptSig),
      'scriptSig',
    );
    law(columns[INPUT_SEQUENCE] === input.sequence, 'sequence');
    const witness = witnessAt(bytes, parsed, at);
    law(witness.length === input.witness.length, 'witness length');
    witness.forEach((item, k) => law(item.equals(input.witness[k]!), 'witness item'));
    sigops += countLegacySigops(input.scriptSig, false);
  });
  tx.outputs.forEach((output, o) => {
    const at = row[TX_FIRST_OUTPUT]! + o;
    const columns = parsed.outputs.subarray(at * OUTPUT_STRIDE, (at + 1) * OUTPUT_STRIDE);
    law(bytes.readBigInt64LE(columns[OUTPUT_VALUE]!) === output.value, 'value');
    law(view(bytes, columns[OUTPUT_SCRIPT]!, columns[OUTPUT_SCRIPT_LENGTH]!).equals(output.script), 'script');
    const isClaim = claimPrefixLength(output.script) > 0;
    law(isClaim === (decodeClaimScript(output.script) !== null), 'claim prefix');
    law(columns[OUTPUT_CLAIM_KIND] === (isClaim ? output.script[0] : 0), 'claim kind');
    if (isClaim) claims++;
    sigops += countLegacySigops(output.script, false);
  });
  law(row[TX_LEGACY_SIGOPS] === sigops, 'sigops');
  law(row[TX_CLAIM_OUTPUTS] === claims, 'claim outputs');
  if (row[TX_END]! - row[TX_START]! === whole.length) {
    law(
      view(bytes, row[TX_START]!, whole.length).equals(whole),
      'formatting what was parsed gives the bytes back',
    );
  }
}

/** Compares a whole table with the transactions as objects. `overheadBytes` is the number of bytes before the first one. */
export function sameTransactions(
  bytes: Buffer,
  parsed: ParsedBlock,
  transactions: readonly Transaction[],
  overheadBytes: number,
): void {
  law(parsed.txCount === transactions.length, 'transaction count');
  let sizeBytes = overheadBytes;
  let strippedSizeBytes = overheadBytes;
  transactions.forEach((tx, index) => {
    sameTransaction(bytes, parsed, index, tx);
    sizeBytes += txSizeBytes(parsed, index);
    strippedSizeBytes += parsed.txs[index * TX_STRIDE + TX_STRIPPED_SIZE]!;
  });
  law(parsed.sizeBytes === sizeBytes && parsed.strippedSizeBytes === strippedSizeBytes, 'sizes');
  law(parsed.weight === 3 * strippedSizeBytes + sizeBytes, 'weight');
  const { root, mutated } = merkleRoot(transactions.map(txid));
  law(asBuffer(parsed.merkleRoot).equals(root) && parsed.mutated === mutated, 'merkle root');
  if (transactions.length > 0) {
    law(parsed.witnessMerkleRoot.equals(witnessMerkleRoot(transactions.map(wtxid))), 'witness merkle root');
  }
}
