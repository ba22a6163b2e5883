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

const TYPE = t.oneOf(SCRIPT_TYPES, 'shape of the script behind a claim operation');
const ADDRESS = t.optional(t.str('the address that it pays to'), 'when it shows exactly one');
const SCRIPT = t.hex(`the script behind a claim operation, the first ${MAX_SCRIPT_SIZE} bytes of it`);

const OF_COIN =
  'when the spent output is known: not of a coinbase, nor where the data to undo the block is gone';

const INPUT = t.named(
  'TxInfoInput',
  t.object({
    n: t.int('the number of the input'),
    coinbase: t.optional(t.hex('the input script'), 'for the coinbase'),
    txid: t.optional(t.hash('the transaction whose output is spent'), 'but for the coinbase'),
    vout: t.optional(t.int('the number of that output'), 'but for the coinbase'),
    sequence: t.int('the sequence number'),
    amount: t.optional(t.coins('the amount of that output'), OF_COIN),
    height: t.optional(t.int('the height of its block'), `${OF_COIN}, and when it is confirmed`),
    type: t.optional(TYPE, OF_COIN),
    address: ADDRESS,
    script: t.optional(SCRIPT, OF_COIN),
    claim: t.optional(
      t.named('OutputClaim', t.object(OUTPUT_CLAIM_FIELDS)),
      'when the spent output has a claim operation',
    ),
  }),
);

const CLAIM_STATES = ['active', 'pending', 'spent', 'expired', 'refused', 'waiting'] as const;

const OUTPUT = t.named(
  'TxInfoOutput',
  t.object({
    n: t.int('the number of the output'),
    amount: t.coins('its amount'),
    type: TYPE,
    address: ADDRESS,
    script: SCRIPT,
    claim: t.optional(
      t.named(
        'OutputClaimState',
        t.object({
          ...OUTPUT_CLAIM_FIELDS,
          state: t.oneOf(
            CLAIM_STATES,
            'active or pending: it is filed; spent or expired: it was; refused: it never counted; waiting: the ' +
              'transaction is not in the active chain',
          ),
          validAtHeight: t.optional(t.int('the height at which it entered or will'), 'when it counts or did'),
          expirationHeight: t.optional(t.int('the height at which it expires'), 'when it counts'),
          isControlling: t.optional(t.bool('whether it controls its name'), 'for an active claim'),
          endedHeight: t.optional(t.int('the height at which it ended'), 'when it is spent or expired'),
        }),
      ),
      'when the script has a claim operation',
    ),
    spent: t.bool('whether a transaction of chain or mempool spends it'),
    spentBy: t.optional(
      t.object({
        txid: t.hash('the transaction'),
        n: t.int('the number of the input'),
        height: t.optional(t.int('the height of its block'), 'when it is confirmed'),
        blockhash: t.optional(t.hash('that block'), 'when it is confirmed'),
      }),
      'when it is spent; by a confirmed transaction only with -spendindex',
    ),
  }),
);

export const TX_INFO_SCHEMA = t.named(
  'TxInfo',
  t.object({
    txid: t.hash('the transaction id'),
    hash: t.hash('the hash with witness'),
    version: t.int('the version'),
    size: t.int('bytes with witness'),
    vsize: t.int('virtual size: a quarter of the weight, rounded up'),
    weight: t.int('weight as BIP 141 defines it'),
    locktime: t.int('the lock time'),
    state: t.oneOf(
      ['mempool', 'chain', 'stale'],
      'where it is; stale: in a block that is not in the active chain',
    ),
    height: t.optional(t.int('the height of its block'), 'when it is in one'),
    blockhash: t.optional(t.hash('that block'), 'when it is in one'),
    position: t.optional(t.int('its number in that block'), 'when it is in one'),
    confirmations: t.int('the confirmations; 0 outside of the active chain'),
    time: t.time('the time of the block, or when it came to the mempool'),
    coinbase: t.bool('whether it is a coinbase'),
    fee: t.optional(t.coins('the fee'), OF_COIN),
    feerate: t.optional(t.coins('the fee for 1,000 virtual bytes'), OF_COIN),
    amountin: t.optional(t.coins('what the inputs spend'), OF_COIN),
    amountout: t.coins('what the outputs pay'),
    inputcount: t.int('the number of inputs'),
    outputcount: t.int('the number of outputs'),
    from: t.int('the number with which both lists begin'),
    inputs: t.array(INPUT, 'the inputs'),
    outputs: t.array(OUTPUT, 'the outputs'),
    spendindex: t.bool('whether -spendindex is there to tell confirmed spenders'),
    next: t.optional(t.int('where both lists go on, to be passed as from'), 'when either goes on'),
  }),
);

/** Data needed to format scripts and names. */
export interface TxInfoContext {
  readonly prefixes: AddressPrefixes;
  readonly rules: ClaimRules;
  /** Height whose rules decide whether names are normalized. */
  readonly height: number;
}

/** The script behind a claim operation. */
export function scriptShown(script: Bytes, prefixes: AddressPrefixes): Answer {
  const payment = stripClaimPrefix(script);
  const { type, destinations } = extractDestinations(payment);
  const [first, second] = destinations;
  return {
    type,
    address: first !== undefined && second === undefined ? encodeDestination(first, prefixes) : undefined,
    script: toHex(payment.subarray(0, MAX_SCRIPT_SIZE)),
  };
}

/** Formats an input. `coin` is the coin that the input spends; null if unknown. */
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
