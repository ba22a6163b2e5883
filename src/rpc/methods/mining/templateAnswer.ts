/**
 * Formats a block template for `getblocktemplate`. Source: lbrycrd rpc/mining.cpp; lbcd rpcserver.go `blockTemplateResult`.
 */
import type { BlockIndex } from '../../../chain/index/blockIndex.js';
import { decodeCompact } from '../../../primitives/compactTarget.js';
import {
  MAX_BLOCK_SERIALIZED_SIZE,
  MAX_BLOCK_SIGOPS_COST,
  MAX_BLOCK_WEIGHT,
  MAX_FUTURE_BLOCK_TIME_SEC,
  WITNESS_SCALE_FACTOR,
} from '../../../consensus/limits.js';
import { legacySigopCount } from '../../../consensus/sigopCost.js';
import type { BlockTemplate } from '../../../mining/blockAssembler.js';
import { DEPLOYMENT_IDS } from '../../../params/network.js';
import { formatTransaction, transactionWeight, txid, wtxid } from '../../../primitives/transaction.js';
import { hashToHex, toHex } from '../../../util/bytes.js';
import { jsonArray, type JsonOut } from '../../../util/json/jsonWrite.js';
import type { Profile } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import type { TemplateRequest } from './templateRequest.js';
import { templateTransactions } from './templateTransactions.js';

const TRANSACTION_SCHEMA = t.object({
  data: t.hex('the serialized transaction with witness data'),
  txid: t.hash('the transaction id, without witness data'),
  hash: t.hash('the hash including witness data'),
  depends: t.array(
    t.int(
      'position, counted from 1, of a transaction before this one that must be in the block if this one is',
    ),
  ),
  fee: t.sats('the fee; for the coinbase the negated sum of all fees'),
  sigops: t.int('the signature operation cost'),
  weight: t.int('the weight of the transaction'),
});

export const TEMPLATE_SCHEMA = t.object({
  coinbasetxn: t.optional(
    TRANSACTION_SCHEMA,
    'if the request has the capability coinbasetxn and the node has a -miningaddress',
  ),
  capabilities: t.array(t.str('a supported capability of the server')),
  version: t.int('the preferred block version'),
  rules: t.array(t.str('name of an active deployment')),
  vbavailable: t.optional(
    t.map('rulename', t.int('bit of the block version that signals for this pending deployment')),
    'absent in the lbcd profile',
  ),
  vbrequired: t.optional(
    t.int('mask of the version bits that the block must set'),
    'absent in the lbcd profile',
  ),
  previousblockhash: t.hash('the hash of the block to build on'),
  transactions: t.array(TRANSACTION_SCHEMA, 'transactions for the block, excluding the coinbase'),
  coinbaseaux: t.optional(
    t.object({ flags: t.hex('data for the coinbase script') }),
    'absent with coinbasetxn in the lbcd profile',
  ),
  coinbasevalue: t.optional(
    t.sats('maximum amount of the coinbase outputs: subsidy and fees'),
    'absent with coinbasetxn in the lbcd profile',
  ),
  longpollid: t.str('id to send with a long poll request, which returns when there is better work'),
  workid: t.optional(
    t.str('id of this template'),
    'if the request has the capability workid, in the documented profile',
  ),
  submitold: t.optional(
    t.bool('whether work on the previous template is still valid'),
    'after a long poll in the lbcd profile',
  ),
  target: t.hash('the target of the block hash'),
  mintime: t.time('the minimum block time'),
  maxtime: t.optional(t.time('the maximum block time'), 'in the lbcd profile'),
  mutable: t.array(t.str('a part of the template that the miner may change')),
  noncerange: t.hex('the range of valid nonces'),
  sigoplimit: t.int('maximum total signature operation cost'),
  sizelimit: t.int('maximum block size in bytes'),
  weightlimit: t.optional(t.int('maximum block weight'), 'once segwit is active'),
  curtime: t.time('the time of the block'),
  bits: t.str('the target in compact form'),
  height: t.int('the height of the block'),
  claimtrie: t.hash('the claim trie root for a block with these transactions in this order'),
  default_witness_commitment: t.optional(
    t.hex('output script with the witness commitment of these transactions'),
    'if the request has the rule segwit; in the lbcd profile if a transaction has a witness',
  ),
});

export interface TemplateParts {
  readonly template: BlockTemplate;
  readonly request: TemplateRequest;
  readonly profile: Profile;
  readonly index: BlockIndex;
  readonly withCoinbase: boolean;
  /** Whether the miner states that it supports segwit. */
  readonly knowsSegwit: boolean;
  /**
   * Whether the tip is unchanged after a long poll, so that work on the old template may be submitted. Undefined without a
   * long poll.
   */
  readonly submitOld: boolean | undefined;
  readonly adjustedTimeSec: number;
}

/** Formats a template for all profiles except lbcd's, with keys in the reference's order. */
export function templateAnswer(parts: TemplateParts): JsonOut {
  if (parts.profile === 'lbcd') return lbcdTemplateAnswer(parts);
  const { template, request, profile, index, knowsSegwit } = parts;
  const { contents, header } = template;
  const divisor = contents.segwitActive ? 1 : WITNESS_SCALE_FACTOR;
  const tip = hashToHex(header.prevHash);
  const longPollId = `${tip}${contents.changeCount}`;
  const wantsWorkId = request.capabilities.has('workid') && profile === 'documented';
  return {
    coinbasetxn: parts.withCoinbase ? coinbaseAnswer(template, divisor) : undefined,
    capabilities: ['proposal'],
    ...deploymentsAnswer(index, template),
    vbrequired: 0,
    previousblockhash: tip,
    transactions: jsonArray(templateTransactions(contents.transactions, divisor)),
    coinbaseaux: { flags: '' },
    coinbasevalue: contents.valueSat,
    longpollid: longPollId,
    workid: wantsWorkId ? longPollId : undefined,
    target: decodeCompact(header.bits).target.toString(16).padStart(64, '0'),
    mintime: index.active.medianTimeOf(contents.parent) + 1,
    mutable: mutations(request, profile),
    noncerange: '00000000ffffffff',
    sigoplimit: MAX_BLOCK_SIGOPS_COST / divisor,
    sizelimit: MAX_BLOCK_SERIALIZED_SIZE / divisor,
    weightlimit: contents.segwitActive ? MAX_BLOCK_WEIGHT : undefined,
    curtime: header.timeSec,
    bits: header.bits.toString(16).padStart(8, '0'),
    height: contents.height,
    claimtrie: hashToHex(contents.claimRoot),
    default_witness_commitment: knowsSegwit ? toHex(contents.commitment) : undefined,
  };
}

/** Data that lbcd suggests for the coinbase script: a push of "/P2SH/lbcd/". Source: mining/mining.go `CoinbaseFlags`. */
const LBCD_COINBASE_FLAGS = '0b2f503253482f6c6263642f';

/** Formats a template for the lbcd profile, with keys in lbcd's order. Source: rpcserver.go `blockTemplateResult`. */
function lbcdTemplateAnswer(parts: TemplateParts): JsonOut {
  const { template, index, withCoinbase } = parts;
  const { contents, header } = template;
  const tip = hashToHex(header.prevHash);
  const hasWitness = contents.transactions.some(({ key, wtxKey }) => key !== wtxKey);
  return {
    bits: header.bits.toString(16),
    curtime: header.timeSec,
    height: contents.height,
    previousblockhash: tip,
    sigoplimit: MAX_BLOCK_SIGOPS_COST,
    sizelimit: MAX_BLOCK_SERIALIZED_SIZE,
    weightlimit: MAX_BLOCK_WEIGHT,
    transactions: jsonArray(templateTransactions(contents.transactions, 1)),
    version: deploymentsAnswer(index, template).version,
    coinbaseaux: withCoinbase ? undefined : { flags: LBCD_COINBASE_FLAGS },
    coinbasetxn: withCoinbase ? coinbaseAnswer(template, 1) : undefined,
    coinbasevalue: withCoinbase ? undefined : contents.valueSat,
    default_witness_commitment: hasWitness ? toHex(contents.commitment) : undefined,
    longpollid: `${tip}${contents.changeCount}`,
    submitold: parts.submitOld,
    target: decodeCompact(header.bits).target.toString(16).padStart(64, '0'),
    maxtime: parts.adjustedTimeSec + MAX_FUTURE_BLOCK_TIME_SEC,
    mintime: index.active.medianTimeOf(contents.parent) + 1,
    mutable: ['time', 'transactions/add', 'prevblock', 'coinbase/append'],
    noncerange: '00000000ffffffff',
    capabilities: ['proposal'],
    claimtrie: hashToHex(contents.claimRoot),
    rules: [hasWitness ? '!segwit' : 'segwit'],
  };
}

function coinbaseAnswer({ coinbase, contents }: BlockTemplate, sigopsDivisor: number): JsonOut {
  return {
    data: toHex(formatTransaction(coinbase)),
    txid: hashToHex(txid(coinbase)),
    hash: hashToHex(wtxid(coinbase)),
    depends: [],
    fee: -contents.feesSat,
    sigops: (legacySigopCount(coinbase) * WITNESS_SCALE_FACTOR) / sigopsDivisor,
    weight: transactionWeight(coinbase),
  };
}

/**
 * Returns version, active rules and pending deployments. Miners may ignore every deployment of these networks (`gbt_force`),
 * so no version bit is cleared and no rule is marked with an exclamation mark.
 */
function deploymentsAnswer(
  index: BlockIndex,
  { contents, header }: BlockTemplate,
): { version: number; rules: string[]; vbavailable: Map<string, number> } {
  const { versionBits } = index;
  let { version } = header;
  const rules: string[] = [];
  const vbavailable = new Map<string, number>();
  for (const id of DEPLOYMENT_IDS) {
    const state = versionBits.state(id, contents.parent);
    if (state === 'active') rules.push(id);
    if (state !== 'locked_in' && state !== 'started') continue;
    const mask = versionBits.mask(id);
    if (state === 'locked_in') version |= mask;
    vbavailable.set(id, Math.log2(mask));
  }
  return { version, rules, vbavailable };
}

/**
 * Returns the allowed changes to the template. The reference lists `coinbase/append` only on request, although it is always
 * allowed; the documented profile always lists it.
 */
function mutations({ capabilities, maxVersion }: TemplateRequest, profile: Profile): string[] {
  const appends = profile === 'documented' || capabilities.has('coinbase/append');
  return [
    ...(appends ? ['coinbase/append'] : []),
    'time',
    'transactions',
    'prevblock',
    // A miner that may set the version must support at least version 2, because BIP34 requires it.
    ...(maxVersion >= 2n ? ['version/force'] : []),
  ];
}
