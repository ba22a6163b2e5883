/** `gettxinfo`: a transaction with the coins that it spends and the states of its outputs. Inputs and outputs are paged. */
import { filesNormalized } from '../../../claimtrie/rules.js';
import { isCoinbase, type Transaction, type TxInput } from '../../../primitives/transaction.js';
import { inSlices } from '../../../scheduler/slices.js';
import type { OutputState, OutputStatesQuery } from '../../../store/claims/query/outputStates.js';
import { NO_HEADER } from '../../../store/files/headerTable.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { equalBytes, hashToHex, type Bytes } from '../../../util/bytes.js';
import { coins } from '../../../util/json/json.js';
import { rawJson, smallJson, type JsonOut } from '../../../util/json/jsonWrite.js';
import { isPromise, whenResolved, type MaybePromise } from '../../../util/maybePromise.js';
import type { Slices } from '../../../util/slices.js';
import type { FoundTransaction } from '../../lookup/blockLookup.js';
import { addressPrefixes } from '../../format/addresses.js';
import { inputInfo, TX_INFO_SCHEMA, type TxInfoContext } from '../../format/txInfo.js';
import { outputText, OutputTexts, type OutputText } from '../../format/txInfoOutputs.js';
import { defineMethod } from '../../declare/method.js';
import type { RpcServices } from '../../../interfaces/services.js';
import { pageParam } from '../claimtrie/lists/pages.js';
import type { ChainMark } from '../../lookup/transactionCache.js';
import { KeptOutputs, type OutputPage } from './keptOutputs.js';
import { transactionNotFound } from './getRawTransaction.js';
import { TxFactsCache, type TxFacts } from './txFacts.js';
import { coinsOfWaiting, Spenders, type InputCoin } from './txInfoFacts.js';

type Answer = Record<string, JsonOut | undefined>;

interface Page {
  readonly from: number;
  readonly end: number;
}

/** Outputs that the inputs of the page spend, and the sum of all inputs. Null for unknown values. */
interface Spent {
  readonly coins: readonly (InputCoin | null)[];
  readonly amountSat: bigint | null;
}

const NOTHING_KNOWN: Spent = { coins: [], amountSat: null };

async function spentOfWaiting(
  services: RpcServices,
  { found: { tx }, paidSat }: TxFacts,
  txid: Bytes,
  { from, end }: Page,
): Promise<Spent> {
  const fee = services.mempool.entry(txid)?.feeSat;
  const found = await coinsOfWaiting(services, tx.inputs.slice(from, end));
  return { coins: found, amountSat: fee === undefined ? null : fee + paidSat };
}

interface Caches {
  readonly texts: OutputTexts;
  readonly outputs: KeptOutputs;
  readonly transactions: TxFactsCache;
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
      transactions: new TxFactsCache(),
    };
    cachesOfNode.set(headers, caches);
  }
  return caches;
}

/** One object, so that cached outputs without claims stay valid. */
const NO_STATES: readonly (OutputState | null)[] = [];

/** Query for the states of the outputs with claim operations, in the order of the texts; null if the texts have none. */
function queryOf(
  { chain }: RpcServices,
  texts: readonly OutputText[],
  { block }: FoundTransaction,
  txid: Bytes,
  from: number,
): OutputStatesQuery | null {
  const outputs: { name: Bytes; n: number }[] = [];
  texts.forEach(({ name }, i) => {
    if (name !== null) outputs.push({ name, n: from + i });
  });
  return outputs.length === 0 ? null : { txid, madeAt: chain.headers.height(block), outputs };
}

function statesOf(
  { claims }: RpcServices,
  query: OutputStatesQuery | null,
): MaybePromise<readonly (OutputState | null)[]> {
  return query === null ? NO_STATES : claims.outputStates(query);
}

/**
 * Maximum number of characters of a cached answer besides its outputs. Arbitrary: transactions with many outputs usually have few
 * inputs.
 */
const MOST_FRAME_CHARS = 16_384;

/** Number of outputs that are formatted between two yields to the event loop. Arbitrary: each takes microseconds. */
const OUTPUTS_A_STEP = 64;

/** Identifies a page of the outputs of a transaction. Names are shown normalized after the fork. */
const pageName = ({ from, end }: Page, { rules, height }: Pick<TxInfoContext, 'rules' | 'height'>): string =>
  `${from} ${end} ${filesNormalized(rules, height)}`;

/** Whether a cached page is valid in the present state of the mempool. */
function isUnspent({ mempool }: RpcServices, page: OutputPage, spenders: Spenders, from: number): boolean {
  const { changeCount } = mempool;
  if (page.unspentAt === changeCount) return true;
  if (spenders.isWaiting(from, page.count)) return false;
  page.unspentAt = changeCount;
  return true;
}

/** Returns the outputs of the page. Synchronous if they are cached. */
function outputsOf(
  services: RpcServices,
  found: FoundTransaction,
  txid: Bytes,
  page: Page,
  context: TxInfoContext,
): MaybePromise<JsonOut> {
  const isConfirmed = found.block !== NO_HEADER && services.chain.chain.index.active.contains(found.block);
  const spenders = new Spenders(services, txid);
  const known = isConfirmed ? cachesOf(services).outputs.find(txid, pageName(page, context)) : null;
  const format = (): Promise<JsonOut> => formatOutputs(services, found, txid, page, context, spenders);
  if (known === null || !isUnspent(services, known, spenders, page.from)) return format();
  return whenResolved(statesOf(services, known.query), (states) =>
    states === known.states ? known.json : format(),
  );
}

async function formatOutputs(
  services: RpcServices,
  found: FoundTransaction,
  txid: Bytes,
  page: Page,
  context: TxInfoContext,
  spenders: Spenders,
): Promise<JsonOut> {
  const isConfirmed = found.block !== NO_HEADER && services.chain.chain.index.active.contains(found.block);
  const { texts: known, outputs: kept } = cachesOf(services);
  const { mark } = kept;
  const unspentAt = services.mempool.changeCount;
  const texts = known.of(found.tx.outputs, page, txid, context);
  const query = queryOf(services, texts, found, txid, page.from);
  const states = isConfirmed ? await statesOf(services, query) : null;
  const isKept = states !== null && !spenders.isWaiting(page.from, texts.length);
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
  if (!isKept || !isWhole) return rawJson(whole);
  return kept.keep(
    txid,
    pageName(page, context),
    whole,
    { count: texts.length, query, states, unspentAt },
    mark,
  );
}

/** Maximum number of inputs that are formatted without yielding to the event loop. */
const FEW_INPUTS = 64;

function inputsOf(
  { inputs }: Transaction,
  { from, end }: Page,
  spent: Spent,
  context: TxInfoContext,
  coinbase: boolean,
): MaybePromise<Answer[]> {
  const some = inputs.slice(from, end);
  const answerOf = (input: TxInput, i: number): Answer =>
    inputInfo(input, from + i, spent.coins[i] ?? null, context, coinbase);
  return some.length <= FEW_INPUTS ? some.map(answerOf) : inSlices(mapInSlices(some, answerOf));
}

function* mapInSlices<T, U>(items: readonly T[], use: (item: T, i: number) => U): Slices<U[]> {
  const made: U[] = [];
  for (const [i, item] of items.entries()) {
    made.push(use(item, i));
    yield;
  }
  return made;
}

/** Finds the position of the transaction in the chain, and the coins that it spends. */
function placeAndSpent(
  services: RpcServices,
  facts: TxFacts,
  txid: Bytes,
  page: Page,
): MaybePromise<{ place: Answer; spent: Spent }> {
  const { found, position, spent, spentSat } = facts;
  const { chain, mempool } = services;
  if (found.block === NO_HEADER) {
    const time = mempool.entry(txid)?.entryTimeSec ?? services.clock.nowSec();
    const place = { state: 'mempool', confirmations: 0, time };
    return spentOfWaiting(services, facts, txid, page).then((waiting) => ({ place, spent: waiting }));
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
  return { place, spent: { coins: spent.slice(page.from, page.end), amountSat: spentSat } };
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
  run({ services }, { txid, from, count }): MaybePromise<JsonOut> {
    const { genesis } = services.params;
    if (equalBytes(txid, genesis.merkleRoot)) throw transactionNotFound(services, NO_HEADER);
    const page = { from, end: from + count };
    return whenResolved(
      knownAnswer(services, txid, page),
      (known) => known ?? describeFound(services, txid, page),
    );
  },
});

/** Returns the cached answer with the present number of confirmations; null if it is not cached or no longer valid. */
function knownAnswer(services: RpcServices, txid: Bytes, page: Page): MaybePromise<JsonOut | null> {
  const { chain, claims } = services;
  const { active } = chain.chain.index;
  const name = pageName(page, { rules: claims.rules, height: active.height });
  const known = cachesOf(services).outputs.answerOf(txid, name);
  if (known === null) return null;
  const { facts } = known.answer;
  if (!chain.hasData(facts.block) || facts.spendIndex !== isSynced(services)) return null;
  if (!isUnspent(services, known.page, new Spenders(services, txid), page.from)) return null;
  return whenResolved(statesOf(services, known.page.query), (states) =>
    states === known.page.states ? known.answer.at(active.height - facts.height + 1) : null,
  );
}

function describeFound(services: RpcServices, txid: Bytes, page: Page): MaybePromise<JsonOut> {
  const { mark } = cachesOf(services).outputs;
  return whenResolved(cachesOf(services).transactions.of(services, txid), (facts) => {
    if (facts === null) throw transactionNotFound(services, NO_HEADER);
    return describe(services, facts, txid, page, mark);
  });
}

function describe(
  services: RpcServices,
  facts: TxFacts,
  txid: Bytes,
  page: Page,
  mark: ChainMark,
): MaybePromise<JsonOut> {
  const { params, chain, claims } = services;
  const { found, shown, paidSat } = facts;
  const { tx } = found;
  const coinbase = isCoinbase(tx);
  const context = {
    prefixes: addressPrefixes(params),
    rules: claims.rules,
    height: chain.chain.height,
  };
  const vsize = Math.ceil(shown.weight / 4);
  const isMore = page.end < Math.max(tx.inputs.length, tx.outputs.length);
  return whenResolved(placeAndSpent(services, facts, txid, page), ({ place, spent }) =>
    whenResolved(inputsOf(tx, page, spent, context, coinbase), (inputs) =>
      whenResolved(outputsOf(services, found, txid, page, context), (outputs) => {
        const answer: Answer = {
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
          from: page.from,
          inputs,
          outputs,
          spendindex: isSynced(services),
          next: isMore ? page.end : undefined,
        };
        if (place['state'] === 'chain' && (coinbase || facts.spent !== null))
          keepAnswer(services, txid, pageName(page, context), found.block, answer, mark);
        return answer;
      }),
    ),
  );
}

/** Caches the answer, unless its inputs are long. */
function keepAnswer(
  services: RpcServices,
  txid: Bytes,
  name: string,
  block: number,
  answer: Answer,
  mark: ChainMark,
): void {
  const members = Object.entries(answer);
  const at = (member: string): number => members.findIndex(([known]) => known === member);
  const [confirmations, outputs] = [at('confirmations'), at('outputs')];
  const textOf = (from: number, end?: number): string | null =>
    smallJson(Object.fromEntries(members.slice(from, end)), MOST_FRAME_CHARS)?.slice(1, -1) ?? null;
  const between = textOf(confirmations + 1, outputs);
  if (between === null) return;
  const frame = {
    before: `{${textOf(0, confirmations)!},"confirmations":`,
    between: `,${between},"outputs":`,
    after: `,${textOf(outputs + 1)!}}`,
  };
  const facts = { block, height: services.chain.headers.height(block), spendIndex: isSynced(services) };
  cachesOf(services).outputs.keepAnswer(txid, name, answer['outputs']!, facts, frame, mark);
}

/** Whether the index of spenders is complete. */
function isSynced({ spends, indexes }: RpcServices): boolean {
  return spends !== null && indexes().some(({ name, synced }) => name === 'spendindex' && synced);
}
