/** `getclaimsfortx`: the claims and supports among the unspent outputs of a transaction. */
import { claimIdOf, decodeClaimScript, type ClaimScript } from '../../../script/claimScript.js';
import type { NameInfo, OutputInfo } from '../../../store/claims/claimQueries.js';
import { equalBytes, hashToHex, toHex, type Bytes } from '../../../util/bytes.js';
import type { JsonOut } from '../../../util/jsonWrite.js';
import { ClaimMetadata, METADATA } from '../../format/claimMetadata.js';
import { nameText } from '../../format/claimsText.js';
import { defineMethod } from '../../method.js';
import { t } from '../../../schema/schema.js';
import type { RpcServices } from '../../services.js';
import { claimById } from './answers.js';
import { atBlock } from './atBlock.js';
import { unspentOutputs, type UnspentOutput } from './unspentOutputs.js';

type Answer = Record<string, JsonOut | undefined>;

const WHEN_CLAIM = 'for a claim';
const WHEN_SUPPORT = 'for a support';
const IN_TRIE = t.optional(t.bool('whether the claim is active'), WHEN_CLAIM);
const CONTROLLING = t.optional(t.bool('whether the claim controls its name'), 'for an active claim');
const IN_MAP = t.optional(t.bool('whether the support is active'), WHEN_SUPPORT);
const IN_QUEUE = t.optional(t.bool('whether it waits to become active'), 'while it is not active');
const BLOCKS = t.optional(t.int('blocks until it becomes active'), 'while it waits');
const DEPTH = t.int('the depth of the transaction in the main chain');
const VALUE = t.optional(t.hex('the value'), 'when there is one');

const RESULT = t.array(
  t.union([
    {
      when: 'in the documented profile',
      schema: t.object({
        nOut: t.int('the number of the output'),
        'claim type': t.oneOf(['claim', 'support']),
        name: t.str('the name claimed or supported'),
        claimId: t.optional(t.claimId('the claim id'), WHEN_CLAIM),
        value: VALUE,
        metadata: METADATA,
        'supported claimId': t.optional(t.claimId('the id that it supports'), WHEN_SUPPORT),
        'supported txid': t.optional(
          t.hash('the transaction that holds the supported claim now'),
          'for a support of a claim that is alive',
        ),
        'supported nout': t.optional(t.int('the number of its output'), 'likewise'),
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
        n: t.int('the number of the output; always 0'),
        name: t.str('the name claimed or supported'),
        claimId: t.claimId('the claim id, or the one that is supported'),
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

/** Where an output stands in the trie. */
interface Standing {
  readonly isActive: boolean;
  readonly isControlling: boolean;
  /** Set while it waits. */
  readonly blocksToValid: number | undefined;
}

function supportsOf({ claims, supportsWithoutClaim }: NameInfo): OutputInfo[] {
  return [...claims.flatMap((claim) => claim.supports), ...supportsWithoutClaim];
}

/** `filed` is the name as it is filed, `best` the claim that controls it. */
function standingOf(
  filed: readonly OutputInfo[],
  best: OutputInfo | undefined,
  txid: Bytes,
  n: number,
  tipHeight: number,
): Standing {
  const isIt = (item: OutputInfo): boolean => item.n === n && equalBytes(item.txid, txid);
  const item = filed.find(isIt);
  const isActive = item?.active === true;
  return {
    isActive,
    isControlling: isActive && best !== undefined && best.active && isIt(best),
    blocksToValid: item && !isActive ? item.validAtHeight - tipHeight : undefined,
  };
}

/** The four facts under the names of a profile. */
function standingAnswer(isSupport: boolean, standing: Standing, names: readonly string[]): Answer {
  const [inTrie, isControlling, inMap, inQueue, blocksToValid] = names as [
    string,
    string,
    string,
    string,
    string,
  ];
  const { isActive } = standing;
  return {
    [inTrie]: isSupport ? undefined : isActive,
    [isControlling]: !isSupport && isActive ? standing.isControlling : undefined,
    [inMap]: isSupport ? isActive : undefined,
    [inQueue]: isActive ? undefined : standing.blocksToValid !== undefined,
    [blocksToValid]: standing.blocksToValid,
  };
}

const DOCUMENTED_STANDING = [
  'in claim trie',
  'is controlling',
  'in support map',
  'in queue',
  'blocks to valid',
];
const LBRYCRD_STANDING = ['inClaimTrie', 'isControlling', 'inSupportMap', 'inQueue', 'blocksToValid'];

/**
 * QUIRK: the reference looks at the first unspent output alone and takes it for output 0, in the id of a claim as well
 * as in the trie; and it looks the name up as the script has it, without normalizing. Test: test/unit/rpc/claimtrie/lbrycrd.test.ts.
 */
async function lbrycrdAnswer(
  services: RpcServices,
  txid: Bytes,
  [first]: readonly UnspentOutput[],
  height: number,
): Promise<JsonOut> {
  const script = first && decodeClaimScript(first.script);
  if (!first || !script) return [];
  const { kind, name } = script;
  const { claims } = services;
  const filed = await claims.nameAt({ name, height, exact: true });
  const looked = await claims.nameAt({ name, height });
  const items = kind === 'support' ? supportsOf(filed) : filed.claims;
  const standing = standingOf(items, looked.claims[0], txid, 0, height);
  return [
    {
      n: 0,
      name: nameText(name),
      claimId: hashToHex(script.claimId ?? claimIdOf(txid, 0)),
      value: script.value && toHex(script.value),
      metadata: ClaimMetadata.of(services)?.ofValue(script.value, kind === 'support'),
      depth: height - first.height,
      ...standingAnswer(kind === 'support', standing, LBRYCRD_STANDING),
    },
  ];
}

/** The output that holds the supported claim now, under whatever name. */
async function supportedAnswer({ claims }: RpcServices, claimId: Bytes, height: number): Promise<Answer> {
  const [name] = await claims.aliveNames([claimId]);
  const claim = name ? claimById(await claims.nameAt({ name, height }), claimId) : undefined;
  return {
    'supported claimId': hashToHex(claimId),
    'supported txid': claim && hashToHex(claim.txid),
    'supported nout': claim?.n,
  };
}

async function documentedItem(
  services: RpcServices,
  txid: Bytes,
  { n, height: madeAt }: UnspentOutput,
  script: ClaimScript,
  height: number,
): Promise<JsonOut> {
  const { kind, name, claimId } = script;
  const filed = await services.claims.nameAt({ name, height });
  const isSupport = kind === 'support';
  const items = isSupport ? supportsOf(filed) : filed.claims;
  return {
    nOut: n,
    'claim type': isSupport ? 'support' : 'claim',
    name: nameText(name),
    claimId: isSupport ? undefined : hashToHex(claimId ?? claimIdOf(txid, n)),
    value: script.value && toHex(script.value),
    metadata: ClaimMetadata.of(services)?.ofValue(script.value, isSupport),
    ...(isSupport ? await supportedAnswer(services, claimId!, height) : {}),
    depth: height - madeAt,
    ...standingAnswer(isSupport, standingOf(items, filed.claims[0], txid, n, height), DOCUMENTED_STANDING),
  };
}

async function documentedAnswer(
  services: RpcServices,
  txid: Bytes,
  outputs: readonly UnspentOutput[],
  height: number,
): Promise<JsonOut> {
  const answer: JsonOut[] = [];
  for (const output of outputs) {
    const script = decodeClaimScript(output.script);
    if (script !== null) answer.push(await documentedItem(services, txid, output, script, height));
  }
  return answer;
}

export const getClaimsForTx = defineMethod({
  name: 'getclaimsfortx',
  category: 'claimtrie',
  follows: 'chain',
  summary: 'Returns any claims or supports found among the unspent outputs of a transaction.',
  params: [
    {
      name: 'txId|txid',
      type: 'hash',
      required: true,
      label: 'txId (parameter 1)',
      description: 'The transaction to look into',
    },
  ],
  result: RESULT,
  examples: [['"36a719a156a1df178531f3c712b8b37f8e7cc3b36eea532df961229d936272a1"']],
  run({ services, profile }, { txId }) {
    return atBlock(services, undefined, async ({ height }) => {
      const outputs = await unspentOutputs(services, txId);
      const shape = profile === 'documented' ? documentedAnswer : lbrycrdAnswer;
      return shape(services, txId, outputs, height);
    });
  },
});
