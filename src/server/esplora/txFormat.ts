/**
 * Formats transactions as Esplora does. A claim, update or support output gets the type and the address of the script that
 * follows the claim operation, and `isClaim`, as in LBRY's fork of mempool. `claim` describes the claim operation. Source:
 * Esplora API.md "Transaction format"; electrs rest.rs; LBRYFoundation/mempool transaction-utils.ts `detectLbryClaim`.
 */
import { isCoinbase, type TxInput, type TxOutput } from '../../primitives/transaction.js';
import type { ShownTransaction } from '../../rpc/format/transaction.js';
import { lazily } from '../../rpc/format/transaction.js';
import { OUTPUT_CLAIM_FIELDS, outputClaim } from '../../rpc/format/claimsBrief.js';
import { t } from '../../schema/schema.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import { encodeDestination, type AddressPrefixes } from '../../script/address.js';
import { decodeClaimScript, startsWithClaimOpcode, stripClaimPrefix } from '../../script/claimScript.js';
import { lastPush } from '../../script/script.js';
import { extractDestinations, type ScriptType } from '../../script/standard.js';
import { hashToHex, toHex, type Bytes } from '../../util/bytes.js';
import { jsonArray, type JsonOut } from '../../util/json/jsonWrite.js';
import { atOnce, type Slices } from '../../util/slices.js';
import { esploraAsm } from './asm.js';

type Answer = Record<string, JsonOut | undefined>;

/**
 * Maximum size of a transaction that is formatted without yielding to the event loop. `PARTS_AT_ONCE`: number of inputs,
 * outputs and witness items. `BYTES_AT_ONCE`: number of bytes.
 */
const PARTS_AT_ONCE = 500;
const BYTES_AT_ONCE = 50_000;

const TYPES: Readonly<Record<ScriptType, string>> = {
  nonstandard: 'unknown',
  pubkey: 'p2pk',
  pubkeyhash: 'p2pkh',
  scripthash: 'p2sh',
  multisig: 'multisig',
  nulldata: 'op_return',
  witness_v0_keyhash: 'v0_p2wpkh',
  witness_v0_scripthash: 'v0_p2wsh',
  witness_unknown: 'unknown',
};
const SCRIPT_TYPES = [...new Set(Object.values(TYPES)), 'empty', 'nonstandard'];

export const STATUS_SCHEMA = t.named(
  'EsploraStatus',
  t.object({
    confirmed: t.bool('whether it is in a block of the active chain'),
    block_height: t.optional(t.int('the height of the block'), 'when it is confirmed'),
    block_hash: t.optional(t.hash('the block'), 'when it is confirmed'),
    block_time: t.optional(t.time('the block time'), 'when it is confirmed'),
  }),
);

const CLAIM_SCHEMA = t.named(
  'EsploraClaim',
  t.object(OUTPUT_CLAIM_FIELDS, 'the claim operation of the script'),
);

const OUTPUT_SCHEMA = t.named(
  'EsploraOutput',
  t.object({
    scriptpubkey: t.hex('the whole script'),
    scriptpubkey_asm: t.str('the script as operations'),
    scriptpubkey_type: t.oneOf(
      SCRIPT_TYPES,
      'the script type; with a claim operation, that of the rest of the script',
    ),
    scriptpubkey_address: t.optional(t.str('the address that it pays to'), 'when there is one'),
    value: t.sats('the amount'),
    isClaim: t.optional(t.bool('true'), 'with a claim operation'),
    claim: t.optional(CLAIM_SCHEMA, 'with a claim operation'),
  }),
);

const INPUT_SCHEMA = t.named(
  'EsploraInput',
  t.object({
    txid: t.hash('the transaction whose output it spends; zeros for a coinbase'),
    vout: t.int('the number of that output'),
    prevout: t.union([
      { when: 'except for a coinbase, and when block data is pruned', schema: OUTPUT_SCHEMA },
      { when: 'else', schema: t.none() },
    ]),
    scriptsig: t.hex('the input script'),
    scriptsig_asm: t.str('the same as operations'),
    witness: t.optional(t.array(t.hex('an item')), 'when there is one'),
    is_coinbase: t.bool('whether it is a coinbase input'),
    sequence: t.int('the sequence number'),
    inner_redeemscript_asm: t.optional(t.str('the redeem script'), 'when it spends p2sh'),
    inner_witnessscript_asm: t.optional(t.str('the witness script'), 'when it spends p2wsh'),
  }),
);

export const TRANSACTION_SCHEMA = t.named(
  'EsploraTransaction',
  t.object({
    txid: t.hash('the transaction id'),
    version: t.int('the version'),
    locktime: t.int('the lock time'),
    vin: t.array(INPUT_SCHEMA, 'the inputs'),
    vout: t.array(OUTPUT_SCHEMA, 'the outputs'),
    size: t.int('bytes with witness'),
    weight: t.int('weight as BIP141 defines it'),
    fee: t.sats('the fee; 0 for a coinbase'),
    status: STATUS_SCHEMA,
  }),
);

/** The chain state that affects the format of a transaction. */
export interface TxFormat {
  readonly prefixes: AddressPrefixes;
  readonly rules: ClaimRules;
  /** Height of the tip, which determines whether names are normalized. */
  readonly height: number;
}

/** The output that an input spends. */
export interface SpentOutput {
  readonly amount: bigint;
  readonly script: Bytes;
}

/** Height and block of a confirmed transaction; null for a mempool transaction. */
export interface ConfirmedAt {
  readonly height: number;
  readonly hash: Bytes;
  readonly timeSec: number;
}

export function statusAnswer(at: ConfirmedAt | null): Answer {
  if (at === null) return { confirmed: false };
  return {
    confirmed: true,
    block_height: at.height,
    block_hash: hashToHex(at.hash),
    block_time: at.timeSec,
  };
}

function* scriptAnswer(script: Bytes, value: bigint, format: TxFormat): Slices<Answer> {
  const isClaim = startsWithClaimOpcode(script);
  const payment = isClaim ? stripClaimPrefix(script) : script;
  const { type, destinations } = extractDestinations(payment);
  const [first, second] = destinations;
  const isWhole = !isClaim || payment.length < script.length;
  return {
    scriptpubkey: toHex(script),
    scriptpubkey_asm: yield* esploraAsm(script),
    scriptpubkey_type: script.length === 0 ? 'empty' : isWhole ? TYPES[type] : 'nonstandard',
    scriptpubkey_address:
      first !== undefined && second === undefined ? encodeDestination(first, format.prefixes) : undefined,
    value,
  };
}

/** Formats an output. The outpoint is needed to compute a claim id. */
export function* outputAnswer(
  { script, value }: TxOutput,
  txid: Bytes,
  n: number,
  format: TxFormat,
): Slices<Answer> {
  const answer = yield* scriptAnswer(script, value, format);
  const claim = decodeClaimScript(script);
  if (claim !== null) {
    answer['isClaim'] = true;
    answer['claim'] = outputClaim(claim, txid, n, format);
  }
  return answer;
}

/** Formats the redeem script and the witness script of an input. Source: electrs `get_innerscripts`. */
function* innerScripts(input: TxInput, spent: SpentOutput): Slices<Answer> {
  const { type } = extractDestinations(stripClaimPrefix(spent.script));
  const redeem = type === 'scripthash' ? lastPush(input.scriptSig) : null;
  const isWitness =
    type === 'witness_v0_scripthash' || (redeem !== null && redeem.length === 34 && redeem[0] === 0);
  const witness = isWitness ? (input.witness.at(-1) ?? null) : null;
  return {
    ...(redeem === null ? {} : { inner_redeemscript_asm: yield* esploraAsm(redeem) }),
    ...(witness === null ? {} : { inner_witnessscript_asm: yield* esploraAsm(witness) }),
  };
}

function* inputAnswer(
  input: TxInput,
  spent: SpentOutput | null,
  coinbase: boolean,
  format: TxFormat,
): Slices<Answer> {
  const { prevout, scriptSig, sequence, witness } = input;
  const shown = spent === null ? null : { script: spent.script, value: spent.amount };
  return {
    txid: hashToHex(prevout.hash),
    vout: prevout.index,
    prevout: shown && (yield* outputAnswer(shown, prevout.hash, prevout.index, format)),
    scriptsig: toHex(scriptSig),
    scriptsig_asm: yield* esploraAsm(scriptSig),
    witness: witness.length > 0 ? witness.map(toHex) : undefined,
    is_coinbase: coinbase,
    sequence,
    ...(spent === null ? {} : yield* innerScripts(input, spent)),
  };
}

/** Formats a transaction. `spent` has an entry for each input: the spent output, or null if it is unknown. */
export function transactionAnswer(
  shown: ShownTransaction,
  spent: readonly (SpentOutput | null)[],
  feeSat: bigint | null,
  at: ConfirmedAt | null,
  format: TxFormat,
): Answer {
  const { tx, txid, sizeBytes, weight } = shown;
  const coinbase = isCoinbase(tx);
  const input = (item: TxInput, n: number): Slices<JsonOut> =>
    inputAnswer(item, spent[n] ?? null, coinbase, format);
  const output = (item: TxOutput, n: number): Slices<JsonOut> => outputAnswer(item, txid, n, format);
  const isLarge = tx.inputs.length + tx.outputs.length > PARTS_AT_ONCE || sizeBytes > BYTES_AT_ONCE;
  return {
    txid: hashToHex(txid),
    version: tx.version,
    locktime: tx.lockTime,
    vin: isLarge ? jsonArray(lazily(tx.inputs, input)) : tx.inputs.map((item, n) => atOnce(input(item, n))),
    vout: isLarge
      ? jsonArray(lazily(tx.outputs, output))
      : tx.outputs.map((item, n) => atOnce(output(item, n))),
    size: sizeBytes,
    weight,
    fee: feeSat ?? feeOf(shown, spent, coinbase),
    status: statusAnswer(at),
  };
}

/** The transaction fee, computed from the spent outputs. The fee is 0 for a coinbase, and if a spent output is unknown. */
function feeOf({ tx }: ShownTransaction, spent: readonly (SpentOutput | null)[], coinbase: boolean): bigint {
  if (coinbase) return 0n;
  let fee = 0n;
  for (const coin of spent) {
    if (coin === null) return 0n;
    fee += coin.amount;
  }
  for (const { value } of tx.outputs) fee -= value;
  return fee;
}
