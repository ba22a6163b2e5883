/** `gettxinfo`: a transaction with the coins that it spends and the states of its outputs. Inputs and outputs are paged. */
import { filesNormalized } from '../../../claimtrie/rules.js';
import { isCoinbase, type Transaction } from '../../../primitives/transaction.js';
import type { OutputState } from '../../../store/claims/query/outputStates.js';
import { NO_HEADER } from '../../../store/files/headerTable.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { equalBytes, hashToHex, type Bytes } from '../../../util/bytes.js';
import { coins } from '../../../util/json/json.js';
import { rawJson, type JsonOut } from '../../../util/json/jsonWrite.js';
import { isPromise } from '../../../util/maybePromise.js';
import type { FoundTransaction } from '../../lookup/blockLookup.js';
import { addressPrefixes } from '../../format/addresses.js';
import { inputInfo, TX_INFO_SCHEMA, type TxInfoContext } from '../../format/txInfo.js';
import { outputText, OutputTexts, type OutputText } from '../../format/txInfoOutputs.js';
import { defineMethod } from '../../declare/method.js';
import type { RpcServices } from '../../../interfaces/services.js';
import { pageParam } from '../claimtrie/lists/pages.js';
import { KeptOutputs } from './keptOutputs.js';
import { transactionNotFound } from './getRawTransaction.js';
import { KnownTransactions, type TxFacts } from './txFacts.js';
import { coinsOfWaiting, Spenders, type SpentCoin } from './txInfoFacts.js';

type Answer = Record<string, JsonOut | undefined>;

interface Page {
  readonly from: number;
  readonly end: number;
}

/** Outputs that the inputs of the page spend, and the sum of all inputs. Null for unknown values. */
interface Spent {
  readonly coins: readonly (SpentCoin | null)[];
  readonly amountSat: bigint | null;
}

const NOTHING_KNOWN: Spent = { coins: [], amountSat: null };

async function spentOfWaiting(
  services: RpcServices,
  { tx }: FoundTransaction,
  txid: Bytes,
  { from, end }: Page,
): Promise<Spent> {
  const fee = services.mempool.entry(txid)?.feeSat;
  const found = await coinsOfWaiting(services, tx.inputs.slice(from, end));
  return { coins: found, amountSat: fee === undefined ? null : fee + paidBy(tx) };
}

function paidBy({ outputs }: Transaction): bigint {
  return outputs.reduce((sum, { value }) => sum + value, 0n);
}

interface Caches {
  readonly texts: OutputTexts;
  readonly outputs: KeptOutputs;
  readonly transactions: KnownTransactions;
}

/** Caches of each node, by its list of headers, an object that exists as long as the node. */
const cachesOfNode = new WeakMap<object, Caches>();

function cachesOf({ chain }: RpcServices): Caches {
  const { headers } = chain;
  let caches = cachesOfNode.get(headers);
  if (caches === undefined) {
    caches = {
      texts: new OutputTexts(),
      outputs: new KeptOutputs(chain.chain.events),
      transactions: new KnownTransactions(),
    };
    cachesOfNode.set(headers, caches);
  }
  return caches;
}

/** One object, so that cached outputs without claims stay valid. */
const NO_STATES: readonly (OutputState | null)[] = [];

/** States of the outputs with claim operations, in the order of the texts. */
async function statesOf(
  { claims, chain }: RpcServices,
  texts: readonly OutputText[],
  { block }: FoundTransaction,
  txid: Bytes,
  from: number,
): Promise<readonly (OutputState | null)[]> {
  const outputs: { name: Bytes; n: number }[] = [];
  texts.forEach(({ name }, i) => {
    if (name !== null) outputs.push({ name, n: from + i });
  });
  if (outputs.length === 0) return NO_STATES;
  return claims.outputStates({ txid, madeAt: chain.headers.height(block), outputs });
}

/** Number of outputs that are formatted between two yields to the event loop. Arbitrary: each takes microseconds. */
const OUTPUTS_A_STEP = 64;

async function outputsOf(
  services: RpcServices,
  found: FoundTransaction,
  txid: Bytes,
  page: Page,
  context: TxInfoContext,
): Promise<JsonOut> {
  const { active } = services.chain.chain.index;
  const isConfirmed = found.block !== NO_HEADER && active.contains(found.block);
  const { texts: known, outputs: kept } = cachesOf(services);
  const { mark } = kept;
  const texts = known.of(found.tx.outputs, page, txid, context);
  const states = isConfirmed ? await statesOf(services, texts, found, txid, page.from) : null;
  const spenders = new Spenders(services, txid);
  const isKept = states !== null && !spenders.isWaiting(page.from, texts.length);
  const key = `${page.from} ${texts.length} ${filesNormalized(context.rules, context.height)}`;
  const before = isKept ? kept.find(txid, key, states) : null;
  if (before !== null) return rawJson(before);
  let answer = '';
  let isWhole = true;
  let claims = 0;
  let since = performance.now();
  for (const [i, text] of texts.entries()) {
    const soon = spenders.of(page.from + i, text.isUnspendable, isConfirmed);
    const { isSpent, spender } = isPromise(soon) ? await soon : soon;
    // The index of spenders may not have the block yet.
    if (isSpent && spender === null) isWhole = false;
    const state = text.name === null ? undefined : states?.[claims++];
    answer += `${i > 0 ? ',' : ''}${outputText(text, { isSpent, spender, state }, context.rules)}`;
    if (i % OUTPUTS_A_STEP === OUTPUTS_A_STEP - 1) since = await yieldIfDue(since);
  }
  const whole = `[${answer}]`;
  if (isKept && isWhole) kept.keep(txid, key, states, whole, mark);
  return rawJson(whole);
}

async function inputsOf(
  { inputs }: Transaction,
  { from, end }: Page,
  spent: Spent,
  context: TxInfoContext,
  coinbase: boolean,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  let since = performance.now();
  for (let n = from; n < Math.min(end, inputs.length); n++) {
    answers.push(inputInfo(inputs[n]!, n, spent.coins[n - from] ?? null, context, coinbase));
    since = await yieldIfDue(since);
  }
  return answers;
}

/** Finds the position of the transaction in the chain, and the coins that it spends. */
async function placeAndSpent(
  services: RpcServices,
  { found, position, spent }: TxFacts,
  txid: Bytes,
  page: Page,
): Promise<{ place: Answer; spent: Spent }> {
  const { chain, mempool } = services;
  if (found.block === NO_HEADER) {
    const time = mempool.entry(txid)?.entryTimeSec ?? services.clock.nowSec();
    const waiting = await spentOfWaiting(services, found, txid, page);
    return { place: { state: 'mempool', confirmations: 0, time }, spent: waiting };
  }
  const { headers } = chain;
  const { active } = chain.chain.index;
  const isActive = active.contains(found.block);
  const height = headers.height(found.block);
  const place = {
    state: isActive ? 'chain' : 'stale',
    height,
    blockhash: hashToHex(headers.hash(found.block)),
    position,
    confirmations: isActive ? active.height - height + 1 : 0,
    time: headers.timeSec(found.block),
  };
  if (spent === null) return { place, spent: NOTHING_KNOWN };
  const amountSat = spent.reduce((sum, { amount }) => sum + amount, 0n);
  return { place, spent: { coins: spent.slice(page.from, page.end), amountSat } };
}

function feeAnswer({ amountSat }: Spent, paidSat: bigint, vsize: number): Answer {
  if (amountSat === null) return {};
  const feeSat = amountSat - paidSat;
  return {
    fee: coins(feeSat),
    feerate: coins((feeSat * 1000n) / BigInt(vsize)),
    amountin: coins(amountSat),
  };
}

export const getTxInfo = defineMethod({
  name: 'gettxinfo',
  category: 'rawtransactions',
  explorer: 'console',
  follows: 'chainAndMempool',
  keepsLong: true,
  summary:
    'Returns a transaction of the mempool or of a block (needs -txindex, unless one of its outputs is ' +
    'unspent) with the amounts and scripts of the spent outputs, the fee, and for each output the claim ' +
    'operation, its current state, and the spending transaction (for confirmed spenders needs ' +
    '-spendindex). Values of claims are left out: see getrawtransaction.',
  params: [
    {
      name: 'txid',
      type: 'hash',
      required: true,
      label: 'parameter 1',
      description: 'The transaction id',
    },
    {
      name: 'from',
      type: 'integer',
      default: 0,
      range: { min: 0, max: 0x7fffffff },
      description: 'The index of the first input and output; for the next page "next" of the previous page',
    },
    pageParam('Maximum number of inputs, and of outputs, of the page'),
  ],
  result: TX_INFO_SCHEMA,
  examples: [['"mytxid"'], ['"mytxid"', '100', '100']],
  async run({ services }, { txid, from, count }): Promise<JsonOut> {
    const { params, chain, claims } = services;
    if (equalBytes(txid, params.genesis.merkleRoot)) throw transactionNotFound(services, NO_HEADER);
    const facts = await cachesOf(services).transactions.of(services, txid);
    if (facts === null) throw transactionNotFound(services, NO_HEADER);
    const { found, shown } = facts;
    const { tx } = found;
    const page = { from, end: from + count };
    const coinbase = isCoinbase(tx);
    const context = {
      prefixes: addressPrefixes(params),
      rules: claims.rules,
      height: chain.chain.height,
    };
    const { place, spent } = await placeAndSpent(services, facts, txid, page);
    const vsize = Math.ceil(shown.weight / 4);
    const paidSat = paidBy(tx);
    const isMore = page.end < Math.max(tx.inputs.length, tx.outputs.length);
    return {
      txid: hashToHex(txid),
      hash: hashToHex(shown.wtxid),
      version: tx.version,
      size: shown.sizeBytes,
      vsize,
      weight: shown.weight,
      locktime: tx.lockTime,
      ...place,
      coinbase,
      ...feeAnswer(spent, paidSat, vsize),
      amountout: coins(paidSat),
      inputcount: tx.inputs.length,
      outputcount: tx.outputs.length,
      from,
      inputs: await inputsOf(tx, page, spent, context, coinbase),
      outputs: await outputsOf(services, found, txid, page, context),
      spendindex: services.spends !== null && isSynced(services),
      next: isMore ? page.end : undefined,
    };
  },
});

function isSynced({ indexes }: RpcServices): boolean {
  return indexes().some(({ name, synced }) => name === 'spendindex' && synced);
}
