/** `getclaimsfortx`: the claims and supports among the unspent outputs of a transaction. */
import { inSlices } from '../../../scheduler/slices.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { atOnce, type Slices } from '../../../util/slices.js';
import { normalizeKey } from '../../../claimtrie/nameKey.js';
import { claimIdOf, decodeClaimScript, type ClaimScript } from '../../../script/claimScript.js';
import type { OutputState, OutputStatesQuery } from '../../../store/claims/query/outputStates.js';
import type { PresentOutput, Standing, StandingsQuery } from '../../../store/claims/query/standings.js';
import { hashToHex, toHex, toLatin1, type Bytes } from '../../../util/bytes.js';
import { stringifyJson } from '../../../util/json/jsonStream.js';
import { type JsonOut } from '../../../util/json/jsonWrite.js';
import { whenResolved, type MaybePromise } from '../../../util/maybePromise.js';
import { ShownMetadata, METADATA } from '../../format/claimMetadata.js';
import { nameText } from '../../format/claimsText.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import type { RpcServices } from '../../../interfaces/services.js';
import { TransactionCache } from '../../lookup/transactionCache.js';
import { atOneTip } from '../addressindex/atOneTip.js';
import { atBlock } from './atBlock.js';
import { KeptTxClaims, TxClaims } from './keptTxClaims.js';
import { DEFAULT_COUNT, MAX_PAGE } from './lists/pages.js';
import { firstUnspentOutput, unspentOutputs, type UnspentOutput } from './lists/unspentOutputs.js';

const WHEN_CLAIM = 'for a claim';
const WHEN_SUPPORT = 'for a support';
const IN_TRIE = t.optional(t.bool('whether the claim is active'), WHEN_CLAIM);
const CONTROLLING = t.optional(t.bool('whether the claim controls its name'), 'if the claim is active');
const IN_MAP = t.optional(t.bool('whether the support is active'), WHEN_SUPPORT);
const IN_QUEUE = t.optional(t.bool('whether it is pending'), 'if it is not active');
const BLOCKS = t.optional(t.int('number of blocks until it becomes active'), 'while it is pending');
const DEPTH = t.int('the depth of the transaction in the main chain');
const VALUE = t.optional(t.hex('the value of the claim'), 'when there is one');

const RESULT = t.array(
  t.union([
    {
      when: 'in the documented profile',
      schema: t.object({
        nOut: t.int('the index of the output'),
        'claim type': t.oneOf(['claim', 'support']),
        name: t.str('the name claimed or supported'),
        claimId: t.optional(t.claimId('the claim id'), WHEN_CLAIM),
        value: VALUE,
        metadata: METADATA,
        'supported claimId': t.optional(t.claimId('the id of the supported claim'), WHEN_SUPPORT),
        'supported txid': t.optional(
          t.hash('the transaction that contains the current output of the supported claim'),
          'for a support of an existing claim',
        ),
        'supported nout': t.optional(t.int('the index of its output'), 'for a support of an existing claim'),
        depth: DEPTH,
        'in claim trie': IN_TRIE,
        'is controlling': CONTROLLING,
        'in support map': IN_MAP,
        'in queue': IN_QUEUE,
        'blocks to valid': BLOCKS,
      }),
    },
    {
      when: 'in the other profiles',
      schema: t.object({
        n: t.int('the index of the output; always 0'),
        name: t.str('the name claimed or supported'),
        claimId: t.claimId('the id of the claim, or of the supported claim'),
        value: VALUE,
        metadata: METADATA,
        depth: DEPTH,
        inClaimTrie: IN_TRIE,
        isControlling: CONTROLLING,
        inSupportMap: IN_MAP,
        inQueue: IN_QUEUE,
        blocksToValid: BLOCKS,
      }),
    },
  ]),
);

/** Values of the fields about the state of a claim or support. Undefined values are left out of the result. */
function stateOf(isSupport: boolean, standing: Standing | null, height: number) {
  const isActive = standing?.active === true;
  const blocksToValid = standing && !isActive ? standing.validAtHeight - height : undefined;
  return {
    inClaimTrie: isSupport ? undefined : isActive,
    isControlling: !isSupport && isActive ? standing.controls : undefined,
    inSupportMap: isSupport ? isActive : undefined,
    inQueue: isActive ? undefined : blocksToValid !== undefined,
    blocksToValid,
  };
}

/** Data about the first unspent output of a transaction that does not change until a block spends it. */
interface FirstClaim {
  /** Height of the block that contains the transaction. */
  readonly madeAt: number;
  /** Query for the state of the claim or support. */
  readonly query: OutputStatesQuery;
  /** Whether normalization does not change the name. */
  readonly isNormalized: boolean;
  readonly isSupport: boolean;
  readonly value: Bytes | undefined;
  readonly fields: { readonly name: string; readonly claimId: string; readonly value: string | undefined };
  /** The latest answer about an active claim; null if there is none. */
  answer: TxClaims | null;
}

/** Limit of the cached data about first unspent outputs, in characters. A character takes one or two bytes. */
const MOST_FIRST_CHARS = 1 << 20;
/** Number of characters that is added to the texts of each entry, for the memory of its objects and its latest answer. */
const FIRST_CLAIM_CHARS = 768;

/** Size of an entry. The value is cached as bytes, in the fields and in the latest answer. */
const charsOf = ({ value, fields }: FirstClaim): number =>
  FIRST_CLAIM_CHARS + 4 * fields.name.length + 12 * (value?.length ?? 0);

/** Minimum number of claims of a transaction whose answer is cached. Arbitrary: fewer are described in microseconds. */
const MANY_CLAIMS = 16;

interface Caches {
  readonly answers: KeptTxClaims;
  readonly firstClaims: TransactionCache<FirstClaim>;
}

/** Caches of each node, by its list of headers, an object that exists as long as the node. */
const cachesOfNode = new WeakMap<object, Caches>();

function keptOf({ chain }: RpcServices): Caches {
  let kept = cachesOfNode.get(chain.headers);
  if (kept === undefined) {
    const { events } = chain.chain;
    kept = { answers: new KeptTxClaims(events), firstClaims: new TransactionCache(events, MOST_FIRST_CHARS) };
    cachesOfNode.set(chain.headers, kept);
  }
  return kept;
}

/**
 * Returns the result of the lbrycrd profile. QUIRK: the reference uses only the first unspent output and treats it as output
 * 0, both in the claim id and in the trie lookup. It looks up the name as spelled in the script, without normalization.
 * Test: test/unit/rpc/claimtrie/lbrycrd.test.ts.
 */
function lbrycrdAnswer(services: RpcServices, txid: Bytes, height: number): MaybePromise<JsonOut> {
  return whenResolved(firstClaim(services, txid), (first) => {
    if (first === null) return [];
    if (!first.isNormalized || services.options.claimMetadata)
      return lbrycrdStanding(services, first, height);
    const { active } = services.chain.chain.index;
    return whenResolved(services.claims.outputStates(first.query), (states) => {
      // A block arrived while rows were read.
      if (active.height !== height) return lbrycrdStanding(services, first, height);
      if (first.answer?.states === states) return first.answer.at(height - first.madeAt);
      const state = states[0] ?? null;
      const answer = describeFirst(services, first, standingOf(state), height);
      // The answer about a pending claim changes with each block.
      const isLasting = state?.item.removal === 0 && state.item.activated !== 0;
      first.answer = isLasting ? new TxClaims(first.query, states, atOnce(piecesOf(answer))) : null;
      return answer;
    });
  });
}

/** The state of a claim or support whose name normalization does not change; null if it is not in the claim trie. */
function standingOf(state: OutputState | null): Standing | null {
  if (state === null || state.item.removal !== 0) return null;
  const { activated, dueHeight } = state.item;
  const active = activated !== 0;
  return { active, validAtHeight: active ? activated : dueHeight, controls: active && state.controls };
}

/** Like `lbrycrdAnswer`, for names that normalization may change, and for answers with decoded values. */
function lbrycrdStanding(services: RpcServices, first: FirstClaim, height: number): MaybePromise<JsonOut> {
  const query = { height, ...first.query, exact: true };
  return whenResolved(services.claims.standings(query), ([standing = null]) =>
    describeFirst(services, first, standing, height),
  );
}

function describeFirst(
  services: RpcServices,
  { madeAt, isSupport, value, fields }: FirstClaim,
  standing: Standing | null,
  height: number,
) {
  return [
    {
      n: 0,
      ...fields,
      metadata: ShownMetadata.of(services)?.ofValue(value, isSupport),
      depth: height - madeAt,
      ...stateOf(isSupport, standing, height),
    },
  ];
}

/** Returns the claim or support in the first unspent output; null if that output has none. Synchronous if it is cached. */
function firstClaim(services: RpcServices, txid: Bytes): MaybePromise<FirstClaim | null> {
  const { firstClaims } = keptOf(services);
  const known = firstClaims.get(txid);
  if (known !== undefined) return known;
  const { mark } = firstClaims;
  return whenResolved(firstUnspentOutput(services, txid), (output) => {
    const script = output && decodeClaimScript(output.script);
    if (!output || !script) return null;
    const { kind, name, claimId, value } = script;
    const rawName = toLatin1(name);
    const first: FirstClaim = {
      madeAt: output.height,
      query: { txid, madeAt: output.height, outputs: [{ name, n: 0 }] },
      isNormalized: normalizeKey(rawName) === rawName,
      isSupport: kind === 'support',
      value,
      fields: {
        name: nameText(name),
        claimId: hashToHex(claimId ?? claimIdOf(txid, 0)),
        value: value && toHex(value),
      },
      answer: null,
    };
    firstClaims.set(txid, first, charsOf(first), mark);
    return first;
  });
}

/** Returns the current outputs of the supported claims by claim id (latin1), under any name. Each name is read only once. */
async function supportedOutputs(
  { claims }: RpcServices,
  claimIds: readonly Bytes[],
): Promise<Map<string, PresentOutput>> {
  const outputs = new Map<string, PresentOutput>();
  const distinct = [...new Map(claimIds.map((id) => [toLatin1(id), id])).values()];
  const byName = new Map<string, { name: Bytes; ids: Bytes[] }>();
  for (const [i, name] of (await claims.aliveNames(distinct)).entries()) {
    if (name === null) continue;
    const group = byName.get(toLatin1(name));
    if (group) group.ids.push(distinct[i]!);
    else byName.set(toLatin1(name), { name, ids: [distinct[i]!] });
  }
  for (const { name, ids } of byName.values())
    for (const [id, output] of await claims.outputsOf(name, ids)) outputs.set(id, output);
  return outputs;
}

/** The outputs that an answer describes: those from index `from`, at most `count` claims and supports. */
interface OutputRange {
  readonly from: number;
  readonly count: number;
}

const ALL_OUTPUTS: OutputRange = { from: 0, count: Infinity };

function documentedAnswer(services: RpcServices, txid: Bytes, height: number): MaybePromise<JsonOut> {
  const known = keptOf(services).answers.find(txid);
  if (known === undefined) return describe(services, txid);
  return whenResolved(services.claims.outputStates(known.query), (states) =>
    states === known.states ? known.at(height - known.query.madeAt) : describe(services, txid),
  );
}

type Claimed = ClaimScript & { readonly n: number };

/** Number of outputs that are processed between two yields to the event loop. Arbitrary: each takes microseconds. */
const OUTPUTS_A_STEP = 64;
/** Number of outputs whose states are read together. Arbitrary: reading them takes less than a slice. */
const STATES_A_STEP = 1024;

function* claimsAmong(unspent: readonly UnspentOutput[], { from, count }: OutputRange): Slices<Claimed[]> {
  const outputs: Claimed[] = [];
  for (const [i, { n, script }] of unspent.entries()) {
    if (i % OUTPUTS_A_STEP === OUTPUTS_A_STEP - 1) yield;
    const claim = n < from ? null : decodeClaimScript(script);
    if (claim !== null) outputs.push({ ...claim, n });
    if (outputs.length === count) break;
  }
  return outputs;
}

/**
 * Reads the states of the outputs in steps, and yields to the event loop between them. Ends early if a block arrives, because the
 * result is then not used.
 */
async function standingsOf(
  { claims, chain: { chain } }: RpcServices,
  query: StandingsQuery,
): Promise<(Standing | null)[]> {
  const standings: (Standing | null)[] = [];
  let since = performance.now();
  for (let at = 0; at < query.outputs.length && chain.height === query.height; at += STATES_A_STEP) {
    const outputs = query.outputs.slice(at, at + STATES_A_STEP);
    standings.push(...(await claims.standings({ ...query, outputs })));
    since = await yieldIfDue(since);
  }
  return standings;
}

interface ShownOutputs {
  readonly txid: Bytes;
  readonly outputs: readonly Claimed[];
  readonly standings: readonly (Standing | null)[];
  readonly supported: ReadonlyMap<string, PresentOutput>;
  readonly metadata: ShownMetadata | null;
  readonly height: number;
  readonly madeAt: number;
}

function* describeOutputs({ outputs, ...shown }: ShownOutputs): Slices<ReturnType<typeof describeOutput>[]> {
  const answers: ReturnType<typeof describeOutput>[] = [];
  for (const [i, output] of outputs.entries()) {
    if (i % OUTPUTS_A_STEP === OUTPUTS_A_STEP - 1) yield;
    answers.push(describeOutput(output, shown.standings[i]!, shown));
  }
  return answers;
}

function describeOutput(
  { n, kind, name, claimId, value }: Claimed,
  standing: Standing | null,
  { txid, supported, metadata, height, madeAt }: Omit<ShownOutputs, 'outputs'>,
) {
  const isSupport = kind === 'support';
  const state = stateOf(isSupport, standing, height);
  const target = isSupport ? supported.get(toLatin1(claimId!)) : undefined;
  // One literal with all fields takes half the time of objects that are spread into each other.
  return {
    nOut: n,
    'claim type': isSupport ? 'support' : 'claim',
    name: nameText(name),
    claimId: isSupport ? undefined : hashToHex(claimId ?? claimIdOf(txid, n)),
    value: value && toHex(value),
    metadata: metadata?.ofValue(value, isSupport),
    'supported claimId': isSupport ? hashToHex(claimId!) : undefined,
    'supported txid': target && hashToHex(target.txid),
    'supported nout': target?.n,
    depth: height - madeAt,
    'in claim trie': state.inClaimTrie,
    'is controlling': state.isControlling,
    'in support map': state.inSupportMap,
    'in queue': state.inQueue,
    'blocks to valid': state.blocksToValid,
  };
}

/**
 * Describes the outputs in the range as of one block: the unspent outputs, the states of their claims, and the outputs of the
 * supported claims are all read at one tip.
 */
function describe(services: RpcServices, txid: Bytes, range: OutputRange = ALL_OUTPUTS): Promise<JsonOut> {
  return atOneTip(services, () => describeAt(services, txid, services.chain.chain.height, range));
}

async function describeAt(
  services: RpcServices,
  txid: Bytes,
  height: number,
  range: OutputRange,
): Promise<JsonOut> {
  const { mark } = keptOf(services).answers;
  const unspent = await unspentOutputs(services, txid);
  const outputs = await inSlices(claimsAmong(unspent, range));
  if (outputs.length === 0) return [];
  const madeAt = unspent[0]!.height;
  const standings = await standingsOf(services, { height, txid, madeAt, outputs });
  const supports = outputs.filter(({ kind }) => kind === 'support');
  const supported = await supportedOutputs(
    services,
    supports.map(({ claimId }) => claimId!),
  );
  const metadata = ShownMetadata.of(services);
  const shown = { txid, outputs, standings, supported, metadata, height, madeAt };
  const answers = await inSlices(describeOutputs(shown));
  // The answer about a support changes with the supported claim, and the answer about a pending claim with each block. Answers with
  // decoded values are not cached, because these values are formatted while the answer is written.
  const isLasting =
    metadata === null &&
    supports.length === 0 &&
    answers.every((one) => one['blocks to valid'] === undefined);
  if (!isLasting || range !== ALL_OUTPUTS || outputs.length < MANY_CLAIMS) return answers;
  const query = { txid, madeAt, outputs: outputs.map(({ name, n }) => ({ name, n })) };
  const pieces = await inSlices(piecesOf(answers));
  const answer = new TxClaims(query, await services.claims.outputStates(query), pieces);
  keptOf(services).answers.keep(txid, answer, mark);
  return answer.at(height - madeAt);
}

/** JSON text of a list of objects, split at the values of their fields `depth`. */
function* piecesOf(
  answers: readonly ({ readonly depth: number } & Record<string, JsonOut | undefined>)[],
): Slices<string[]> {
  let piece = '[';
  const pieces: string[] = [];
  for (const [i, answer] of answers.entries()) {
    if (i % OUTPUTS_A_STEP === OUTPUTS_A_STEP - 1) yield;
    const fields = Object.entries(answer);
    const at = fields.findIndex(([name]) => name === 'depth');
    const [before, after] = [fields.slice(0, at), fields.slice(at + 1)].map((some) =>
      stringifyJson(Object.fromEntries(some)),
    ) as [string, string];
    pieces.push(`${piece}${before.slice(0, -1)},"depth":`);
    piece = `,${after.slice(1)},`;
  }
  return [...pieces, `${piece.slice(0, -1)}]`];
}

export const getClaimsForTx = defineMethod({
  name: 'getclaimsfortx',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chain',
  summary:
    'Returns any claims or supports found among the unspent outputs of a transaction. The default profile shows all of them; ' +
    'the other profiles show only the first one, as lbrycrd does. With "from" or "count" the default profile shows a page: the ' +
    'next one begins after the last nOut of the page, and a page with fewer than "count" entries is the last one.',
  params: [
    {
      name: 'txId|txid',
      type: 'hash',
      required: true,
      label: 'txId (parameter 1)',
      description: 'The id of the transaction',
    },
    {
      name: 'from',
      type: 'integer',
      defaultText: '0',
      range: { min: 0, max: 0x7fffffff },
      description: 'The index of the first output of the page. Only in the documented profile',
    },
    {
      name: 'count',
      type: 'integer',
      defaultText: 'all, or with "from" 100',
      range: { min: 1, max: MAX_PAGE },
      description: 'Maximum number of claims and supports of the page',
    },
  ],
  maxArgsInReference: 1,
  result: RESULT,
  examples: [
    ['"36a719a156a1df178531f3c712b8b37f8e7cc3b36eea532df961229d936272a1"'],
    ['"36a719a156a1df178531f3c712b8b37f8e7cc3b36eea532df961229d936272a1"', '100', '100'],
  ],
  run({ services, profile }, { txId, from, count }) {
    if (from !== undefined || count !== undefined) {
      const range = { from: from ?? 0, count: count ?? DEFAULT_COUNT };
      return atBlock(services, undefined, () => describe(services, txId, range));
    }
    const shape = profile === 'documented' ? documentedAnswer : lbrycrdAnswer;
    return atBlock(services, undefined, ({ height }) => shape(services, txId, height));
  },
});
