/**
 * Queries after a start, and operations after them. The answers of the node on a corrupt folder are compared with those of a
 * node on an intact copy.
 */
import { OPEN_ADDRESS } from '../network.js';
import type { CorruptionFixture } from './fixture.js';
import type { Call, CorruptedNode, RpcAnswer } from './runner.js';
import { untilIndexed, type Progress } from './untilIndexed.js';

/**
 * `soft`: answers from files that the node does not need. `fees`: the same, but the node also learns fees when it connects
 * blocks again. `wallet`: contents of a wallet.
 */
export type Kind = 'chain' | 'tips' | 'wallet' | 'soft' | 'fees';

export interface Answer {
  readonly question: string;
  readonly kind: Kind;
  /** As JSON. */
  readonly text: string;
  readonly isError: boolean;
}

const NAMES = ['a', 'A', 'ab', 'abc', 'abd', 'B', 'straße', 'STRASSE', 'é', '@channel', 'zoë', 'unknown'];

/** All queries about the chain, then the others. */
function questions({ hashes, staleHashes, txids, claimIds }: CorruptionFixture): [Kind, Call][] {
  const chain: Call[] = [
    ['getbestblockhash', []],
    ['getblockcount', []],
    ['gettxoutsetinfo', []],
    ['verifychain', [3, 20]],
    ['getnamesintrie', []],
    ['getclaimsintrie', []],
    ['gettotalclaims', []],
    ['gettotalvalueofclaims', []],
    ['getindexinfo', []],
    ['getaddressbalance', [{ addresses: [OPEN_ADDRESS] }]],
    ['getaddresstxids', [{ addresses: [OPEN_ADDRESS] }]],
    ['getaddressutxos', [{ addresses: [OPEN_ADDRESS] }]],
  ];
  for (const hash of hashes) chain.push(['getblockheader', [hash]]);
  for (const hash of [...hashes.slice(-90), ...staleHashes]) chain.push(['getblock', [hash, 1]]);
  for (const hash of hashes.slice(-60)) chain.push(['getblock', [hash, 0]]);
  for (const name of NAMES) {
    chain.push(['getclaimsforname', [name]], ['getvalueforname', [name]], ['getnameproof', [name]]);
    for (const back of [15, 40])
      chain.push(['getclaimsforname', [name, hashes.at(-back)]], ['getnameproof', [name, hashes.at(-back)]]);
  }
  for (const txid of txids.slice(-180))
    chain.push(['getrawtransaction', [txid, true]], ['getclaimsfortx', [txid]]);
  for (const txid of txids) chain.push(['gettxout', [txid, 0, false]]);
  for (const hash of hashes.slice(-60)) chain.push(['getblockfilter', [hash]]);
  for (const claimId of claimIds) chain.push(['getclaim', [claimId, true]], ['getclaimbyid', [claimId]]);
  chain.push(['getclaimindexinfo', []]);
  // Queries about the chain only, because the mempool may be lost.
  const page = { limit: 50, confirmed_only: true };
  for (const name of NAMES) chain.push(['searchclaims', [{ name, order_by: 'height', ...page }]]);
  chain.push(['searchclaims', [{ order_by: ['effective_amount', 'height'], ...page }]]);
  const wallet: Call[] = [
    ['getbalance', []],
    ['listunspent', []],
    ['listnameclaims', []],
    ['getreceivedbylabel', ['5']],
  ];
  const soft: Call[] = [
    ['getrawmempool', [true]],
    ['listbanned', []],
  ];
  const fees: Call[] = [
    ['estimaterawfee', [6]],
    ['estimaterawfee', [40]],
  ];
  return [
    ...chain.map((call): [Kind, Call] => ['chain', call]),
    ['tips', ['getchaintips', []]],
    ...wallet.map((call): [Kind, Call] => ['wallet', call]),
    ...soft.map((call): [Kind, Call] => ['soft', call]),
    ...fees.map((call): [Kind, Call] => ['fees', call]),
  ];
}

function answerOf(kind: Kind, [method, params]: Call, { result, error }: RpcAnswer): Answer {
  const value = error ?? withoutNoise(method, result);
  // The answer of an index that is behind is not compared.
  const { search } = (method === 'getclaimindexinfo' ? result : {}) as { search?: Progress };
  return {
    question: `${method} ${JSON.stringify(params).slice(0, 200)}`,
    kind,
    text: JSON.stringify(value),
    isError: error !== null || search?.failure !== undefined,
  };
}

/** Removes members that depend on the layout of the files or on the history of the node. */
function withoutNoise(method: string, result: unknown): unknown {
  if (method === 'gettxoutsetinfo') return { ...(result as object), disk_size: 0 };
  if (method === 'getclaimindexinfo') {
    const { search, claims } = result as { search: { documents: number }; claims: unknown };
    return { claims, documents: search.documents };
  }
  // A wallet sends its unconfirmed transactions again before the blocks after the last flush are connected again.
  if (method === 'getrawmempool') {
    const entries = Object.entries(result as Record<string, object>);
    return Object.fromEntries(
      entries.map(([txid, entry]) => [txid, { ...entry, time: 0, height: 0 }]).sort(),
    );
  }
  if (method === 'listunspent') return (result as object[]).map((coin) => JSON.stringify(coin)).sort();
  if (method === 'getaddressbalance') return { ...(result as object), unconfirmed: 0 };
  if (method === 'getchaintips') {
    const tips = result as { hash: string; height: number; branchlen: number; status: string }[];
    const reported = tips.map(({ hash, height, branchlen, status }) => {
      const kind = status.startsWith('valid-') || status === 'headers-only' ? 'branch' : status;
      return `${height} ${hash} ${branchlen} ${kind}`;
    });
    return reported.sort();
  }
  return result;
}

export async function askAll(node: CorruptedNode, fixture: CorruptionFixture): Promise<Answer[]> {
  await untilIndexed(node);
  const all = questions(fixture);
  const answers = await node.ask(all.map(([, call]) => call));
  return all.map(([kind, call], i) => answerOf(kind, call, answers[i]!));
}

/**
 * Operations after the queries: a coin is spent twice, the next blocks are connected, and blocks are disconnected and connected
 * again.
 */
export async function act(node: CorruptedNode, fixture: CorruptionFixture): Promise<Answer[]> {
  const height = fixture.hashes.length - 1;
  const back = fixture.hashes[height - 22];
  const state: Call[] = [
    ['getbestblockhash', []],
    ['gettxoutsetinfo', []],
    ['getclaimsintrie', []],
    ['getnameproof', ['ab']],
  ];
  const calls: Call[] = [
    ...fixture.doubleSpends.map((block): Call => ['submitblock', [block]]),
    ...fixture.next.map((block): Call => ['submitblock', [block]]),
    ...state,
    ['invalidateblock', [back]],
    ...state,
    ['reconsiderblock', [back]],
    ...state,
  ];
  const out: Answer[] = [];
  for (const [i, call] of calls.entries()) {
    const answer = answerOf('chain', call, (await node.ask([call]))[0]!);
    out.push({ ...answer, question: `step ${i}: ${answer.question.slice(0, 80)}` });
  }
  return out;
}

/** Submits every block as a peer would, so that the node gets lost blocks again. */
export async function feed(node: CorruptedNode, fixture: CorruptionFixture): Promise<void> {
  await node.ask(fixture.arrivals.map((block): Call => ['submitblock', [block]]));
}

/** The position where two texts begin to differ, with an excerpt of both. */
export function firstDifference(one: string, other: string): string {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  const from = Math.max(0, at - 60);
  return `…${one.slice(from, at + 120)}… against …${other.slice(from, at + 120)}…`;
}
