/**
 * What a node is asked after a start, and what is done to it then: the answers of a damaged folder's node are compared with
 * those of an intact copy.
 */
import { OPEN_ADDRESS } from '../network.js';
import type { Call, CorruptedNode, RpcAnswer } from './runner.js';
import type { Scene } from './scene.js';

/**
 * `soft` answers come from files that a node can do without. `fees` too, but a node also learns of fees when it connects
 * blocks again. `wallet` is what a wallet says that it has.
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

/** All questions about the chain, then those about the rest. */
function questions({ hashes, staleHashes, txids, claimIds }: Scene): [Kind, Call][] {
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
  // Of the chain alone: what the mempool holds may be lost.
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
  // An index that says why it is behind answers nothing.
  const { search } = (method === 'getclaimindexinfo' ? result : {}) as { search?: Progress };
  return {
    question: `${method} ${JSON.stringify(params).slice(0, 200)}`,
    kind,
    text: JSON.stringify(value),
    isError: error !== null || search?.failure !== undefined,
  };
}

/** Without what depends on the files' shape or on the way that led here. */
function withoutNoise(method: string, result: unknown): unknown {
  if (method === 'gettxoutsetinfo') return { ...(result as object), disk_size: 0 };
  if (method === 'getclaimindexinfo') {
    const { search, claims } = result as { search: { documents: number }; claims: unknown };
    return { claims, documents: search.documents };
  }
  // A wallet brings what waits of its own in again, before the blocks behind the last flush are connected again.
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
    const told = tips.map(({ hash, height, branchlen, status }) => {
      const kind = status.startsWith('valid-') || status === 'headers-only' ? 'branch' : status;
      return `${height} ${hash} ${branchlen} ${kind}`;
    });
    return told.sort();
  }
  return result;
}

/** A filling that takes longer hangs. */
const FILLING_MS = 120_000;

interface Progress {
  readonly synced: boolean;
  readonly failure?: string;
}

/** Resolves when all indexes are at the tip, or say why they are not. */
export async function untilIndexed(node: CorruptedNode): Promise<void> {
  for (const deadline = Date.now() + FILLING_MS; Date.now() < deadline;) {
    const [all, claims] = await node.ask([
      ['getindexinfo', []],
      ['getclaimindexinfo', []],
    ]);
    const { search, ...own } = (claims!.result ?? {}) as Progress & { search: Progress };
    const parts = [...Object.values((all!.result ?? {}) as Record<string, Progress>), own, search];
    if (claims!.error !== null || parts.every((part) => part.synced || part.failure !== undefined)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export async function askAll(node: CorruptedNode, scene: Scene): Promise<Answer[]> {
  await untilIndexed(node);
  const all = questions(scene);
  const answers = await node.ask(all.map(([, call]) => call));
  return all.map(([kind, call], i) => answerOf(kind, call, answers[i]!));
}

/** What follows the questions: a coin is spent twice, the next blocks come, and blocks are taken back and brought again. */
export async function act(node: CorruptedNode, scene: Scene): Promise<Answer[]> {
  const height = scene.hashes.length - 1;
  const back = scene.hashes[height - 22];
  const state: Call[] = [
    ['getbestblockhash', []],
    ['gettxoutsetinfo', []],
    ['getclaimsintrie', []],
    ['getnameproof', ['ab']],
  ];
  const calls: Call[] = [
    ...scene.doubleSpends.map((block): Call => ['submitblock', [block]]),
    ...scene.next.map((block): Call => ['submitblock', [block]]),
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

/** Every block as a peer would bring it: a node that lost some gets them again. */
export async function feed(node: CorruptedNode, scene: Scene): Promise<void> {
  await node.ask(scene.arrivals.map((block): Call => ['submitblock', [block]]));
}

/** Where two texts begin to differ, with some of both. */
export function firstDifference(one: string, other: string): string {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  const from = Math.max(0, at - 60);
  return `…${one.slice(from, at + 120)}… against …${other.slice(from, at + 120)}…`;
}
