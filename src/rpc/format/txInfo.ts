/**
 * Formats a transaction for `gettxinfo`: a page of inputs with the coins that they spend, and a page of outputs with their
 * spenders or states. `methods/rawtransactions/txInfoFacts.ts` finds the transaction, coins and spenders.
 */
import type { ClaimRules } from '../../claimtrie/types.js';
import type { CoinValue } from '../../native/binding.js';
import type { TxInput } from '../../primitives/transaction.js';
import { encodeDestination, type AddressPrefixes } from '../../script/address.js';
import { decodeClaimScript, stripClaimPrefix } from '../../script/claimScript.js';
import { MAX_SCRIPT_SIZE } from '../../script/script.js';
import { extractDestinations } from '../../script/standard.js';
import { hashToHex, toHex, type Bytes } from '../../util/bytes.js';
import { coins } from '../../util/json/json.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { t } from '../../schema/schema.js';
import { OUTPUT_CLAIM_FIELDS, outputClaim } from './claimsBrief.js';
import { SCRIPT_TYPES } from './script.js';

type Answer = Record<string, JsonOut | undefined>;

const TYPE = t.oneOf(SCRIPT_TYPES, 'type of the script after the claim operation');
const ADDRESS = t.optional(t.str('the address to which the output pays'), 'if the script has exactly one');
const SCRIPT = t.hex(`the script after the claim operation, at most the first ${MAX_SCRIPT_SIZE} bytes`);

const OF_COIN =
  'if the spent output is known: absent for a coinbase, and if the undo data of the block is not on disk';

const INPUT = t.named(
  'TxInfoInput',
  t.object({
    n: t.int('the index of the input'),
    coinbase: t.optional(t.hex('the input script'), 'for the coinbase'),
    txid: t.optional(t.hash('the id of the transaction whose output is spent'), 'absent for a coinbase'),
    vout: t.optional(t.int('the index of that output'), 'absent for a coinbase'),
    sequence: t.int('the sequence number'),
    amount: t.optional(t.coins('the amount of the spent output'), OF_COIN),
    height: t.optional(
      t.int('the height of the block that contains the output'),
      `${OF_COIN}, and if that output is confirmed`,
    ),
    type: t.optional(TYPE, OF_COIN),
    address: ADDRESS,
    script: t.optional(SCRIPT, OF_COIN),
    claim: t.optional(
      t.named('OutputClaim', t.object(OUTPUT_CLAIM_FIELDS)),
      'if the spent output has a claim operation',
    ),
  }),
);

const CLAIM_STATES = ['active', 'pending', 'spent', 'expired', 'refused', 'waiting'] as const;

/** Schema of a claim operation in an output, with the state of its claim or support. */
export const OUTPUT_CLAIM_STATE = t.named(
  'OutputClaimState',
  t.object({
    ...OUTPUT_CLAIM_FIELDS,
    state: t.oneOf(
      CLAIM_STATES,
      'active, pending: the claim trie contains it; spent, expired: the claim trie contained it before; ' +
        'refused: it never had an effect; waiting: the transaction is not in the active chain',
    ),
    validAtHeight: t.optional(t.int('the activation height'), 'if it is or was in the claim trie'),
    expirationHeight: t.optional(
      t.int('the height at which the claim or support expires'),
      'if it is in the claim trie',
    ),
    isControlling: t.optional(t.bool('whether it controls its name'), 'if the claim is active'),
    endedHeight: t.optional(
      t.int('the height at which it was spent or expired'),
      'if it is spent or expired',
    ),
  }),
);

const OUTPUT = t.named(
  'TxInfoOutput',
  t.object({
    n: t.int('the index of the output'),
    amount: t.coins('the amount of the output'),
    type: TYPE,
    address: ADDRESS,
    script: SCRIPT,
    claim: t.optional(OUTPUT_CLAIM_STATE, 'if the script has a claim operation'),
    spent: t.bool('whether a transaction of the active chain or the mempool spends it'),
    spentBy: t.optional(
      t.object({
        txid: t.hash('the transaction'),
        n: t.int('the index of the input'),
        height: t.optional(t.int('the height of the block that contains it'), 'if it is confirmed'),
        blockhash: t.optional(t.hash('the hash of that block'), 'if it is confirmed'),
      }),
      'if it is spent; a confirmed spender is known only with -spendindex',
    ),
  }),
);

export const TX_INFO_SCHEMA = t.named(
  'TxInfo',
  t.object({
    txid: t.hash('the transaction id'),
    hash: t.hash('the hash of the serialized transaction, including witness data'),
    version: t.int('the version'),
    size: t.int('size in bytes with witness data'),
    vsize: t.int('virtual size in bytes: a quarter of the weight, rounded up'),
    weight: t.int('weight as BIP 141 defines it'),
    locktime: t.int('the lock time'),
    state: t.oneOf(
      ['mempool', 'chain', 'stale'],
      'location of the transaction; stale: in a block that is not in the active chain',
    ),
    height: t.optional(t.int('the height of the block that contains it'), 'if it is in a block'),
    blockhash: t.optional(t.hash('the hash of that block'), 'if it is in a block'),
    position: t.optional(t.int('its position in the block'), 'if it is in a block'),
    confirmations: t.int('number of confirmations; 0 outside the active chain'),
    time: t.time('the time of the block, or the time at which it entered the mempool'),
    coinbase: t.bool('whether it is a coinbase'),
    fee: t.optional(t.coins('the fee'), OF_COIN),
    feerate: t.optional(t.coins('the fee rate per 1,000 virtual bytes'), OF_COIN),
    amountin: t.optional(t.coins('sum of the amounts of the inputs'), OF_COIN),
    amountout: t.coins('sum of the amounts of the outputs'),
    inputcount: t.int('the number of inputs'),
    outputcount: t.int('the number of outputs'),
    from: t.int('the index of the first input and output in both lists'),
    inputs: t.array(INPUT, 'the inputs'),
    outputs: t.array(OUTPUT, 'the outputs'),
    spendindex: t.bool('whether -spendindex is enabled and complete, so that confirmed spenders are known'),
    next: t.optional(
      t.int('the index at which both lists continue, to be passed as "from"'),
      'if either list continues',
    ),
  }),
);

/** Data needed to format scripts and names. */
export interface TxInfoContext {
  readonly prefixes: AddressPrefixes;
  readonly rules: ClaimRules;
  /** Block height whose rules decide whether names are normalized. */
  readonly height: number;
}

/** Formats the script that follows the claim operation of an output. */
export function scriptShown(script: Bytes, prefixes: AddressPrefixes): Record<string, string | undefined> {
  const payment = stripClaimPrefix(script);
  const { type, destinations } = extractDestinations(payment);
  const [first, second] = destinations;
  return {
    type,
    address: first !== undefined && second === undefined ? encodeDestination(first, prefixes) : undefined,
    script: toHex(payment.subarray(0, MAX_SCRIPT_SIZE)),
  };
}

/** Formats an input. `coin` is the output that the input spends; null if unknown. */
export function inputInfo(
  { prevout, scriptSig, sequence }: TxInput,
  n: number,
  coin: (Omit<CoinValue, 'heightCode'> & { readonly height: number | undefined }) | null,
  context: TxInfoContext,
  isCoinbase: boolean,
): Answer {
  if (isCoinbase) return { n, coinbase: toHex(scriptSig), sequence };
  const claim = coin && decodeClaimScript(coin.script);
  return {
    n,
    txid: hashToHex(prevout.hash),
    vout: prevout.index,
    sequence,
    ...(coin && {
      amount: coins(coin.amount),
      height: coin.height,
      ...scriptShown(coin.script, context.prefixes),
    }),
    claim: claim ? outputClaim(claim, prevout.hash, prevout.index, context) : undefined,
  };
}
