/**
 * `getblocktemplate`: a block template, or the verdict on a miner's block proposal (BIP22, BIP23, BIP9, BIP145).
 * Source: lbrycrd rpc/mining.cpp `getblocktemplate`; lbcd rpcserver.go `handleGetBlockTemplate`.
 */
import { equalBytes, hashFromHex, toLatin1, type Bytes } from '../../../util/bytes.js';
import type { JsonValue } from '../../../util/json/json.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { inSlices } from '../../../scheduler/slices.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod, type Profile, type RpcContext } from '../../declare/method.js';
import { whenWhole } from '../../call/onChain.js';
import { parseLooseHash } from '../../declare/paramTypes.js';
import { t } from '../../../schema/schema.js';
import type { RpcServices } from '../../../interfaces/services.js';
import { decodeBlock } from './decodeBlock.js';
import { TEMPLATE_SCHEMA, templateAnswer } from './templateAnswer.js';
import { parseTemplateRequest, type TemplateRequest } from './templateRequest.js';

/** Output script that anyone can spend (OP_TRUE). Used in templates for miners that create their own coinbase. */
const OPEN_SCRIPT: Bytes = Uint8Array.of(0x51);

export const getBlockTemplate = defineMethod({
  name: 'getblocktemplate',
  category: 'mining',
  summary:
    "If the request parameters include a 'mode' key, that is used to explicitly select between the default " +
    "'template' request or a 'proposal'.\nIt returns data needed to construct a block to work on.\nFor full " +
    'specification, see BIPs 22, 23, 9, and 145.',
  params: [
    {
      name: 'template_request',
      type: 'object',
      description:
        'Object with the members mode ("template", "proposal" with the block as hex in data, or omitted), ' +
        'capabilities (a list of "longpoll", "coinbasetxn", "coinbasevalue", "proposal", "serverlist", ' +
        '"workid", "coinbase/append"), rules (names of supported deployments; "segwit" is required once it ' +
        'is active, except in the lbcd profile), longpollid (the call returns when there is better work than ' +
        'the template with this id)',
    },
  ],
  result: t.union([
    { when: 'for a template', schema: TEMPLATE_SCHEMA },
    { when: 'for a proposal that would be accepted', schema: t.none() },
    {
      when: 'for another proposal',
      schema: t.str(
        '"duplicate", "duplicate-invalid" or "duplicate-inconclusive": the block is known; ' +
          '"inconclusive-not-best-prevblk": it does not follow the tip; otherwise the reason of the rejection',
      ),
    },
  ]),
  examples: [['{"rules": ["segwit"]}']],
  async run(ctx, { template_request }) {
    const parsed = await inSlices(parseTemplateRequest(template_request));
    if (parsed.mode === 'proposal') return ctx.services.mining.propose(await decodeBlock(parsed.data));
    return makeTemplate(ctx, parsed.request);
  },
});

async function makeTemplate(ctx: RpcContext, request: TemplateRequest): Promise<JsonOut> {
  const { services, profile } = ctx;
  const { mining } = services;
  const { chain } = services.chain;
  requireNetwork(services, profile);
  const submitOld = await waitForBetter(ctx, request.longPollId);
  const payout = payoutFor(request, services, profile);
  const knowsSegwit = profile === 'lbcd' || request.rules.has('segwit');
  const template = await mining.template(payout ?? OPEN_SCRIPT, knowsSegwit);
  if (template.contents.segwitActive && !knowsSegwit) {
    throw rpcError(
      RPC_ERROR.INVALID_PARAMETER,
      'Segwit support is now required. Please include "segwit" in the client\'s rules.',
    );
  }
  return templateAnswer({
    template,
    request,
    profile,
    index: chain.index,
    withCoinbase: payout !== null,
    knowsSegwit,
    submitOld,
    adjustedTimeSec: services.clock.adjustedTimeSec(),
  });
}

/**
 * Returns the output script of the coinbase transaction in the template. Null if the template has no coinbase transaction
 * and the miner must use `coinbasevalue`: the miner did not request one, or no payout address is available (like a reference
 * without wallet). lbcd also omits it for miners that accept `coinbasevalue`, and treats a missing address as an error.
 */
function payoutFor(
  { capabilities }: TemplateRequest,
  { mining }: RpcServices,
  profile: Profile,
): Bytes | null {
  if (!capabilities.has('coinbasetxn')) return null;
  if (profile === 'lbcd' && capabilities.has('coinbasevalue')) return null;
  const script = mining.nextPayoutScript();
  if (script !== null || profile !== 'lbcd') return script;
  throw rpcError(
    RPC_ERROR.INTERNAL_ERROR,
    'A coinbase transaction has been requested, but the server has not been configured with any payment addresses ' +
      'via -miningaddress',
  );
}

/**
 * Throws on the main network if the node has no peers, since a new block could not be announced, or is in the initial
 * download, since a new block would follow an old tip.
 */
function requireNetwork({ params, peers, network, chain }: RpcServices, profile: Profile): void {
  if (params.name !== 'main') return;
  const program = profile === 'lbcd' ? 'Bitcoin' : 'LBRYcrd';
  if (peers === null) {
    throw rpcError(RPC_ERROR.CLIENT_P2P_DISABLED, 'Error: Peer-to-peer functionality missing or disabled');
  }
  if (network.connectionCount() === 0) {
    const mark = profile === 'lbcd' ? '' : '!';
    throw rpcError(RPC_ERROR.CLIENT_NOT_CONNECTED, `${program} is not connected${mark}`);
  }
  if (chain.chain.isInitialDownload()) {
    throw rpcError(RPC_ERROR.CLIENT_IN_INITIAL_DOWNLOAD, `${program} is downloading blocks...`);
  }
}

/**
 * Long polling: waits until a template is available that is better than the one with this id. Returns whether the tip is
 * still the same; undefined if no id is given.
 */
async function waitForBetter(
  { services, signal, profile, outOfTurn }: RpcContext,
  longPollId: JsonValue | undefined,
): Promise<boolean | undefined> {
  if (longPollId === undefined || longPollId === null) return undefined;
  const { mining, chain } = services;
  const tip = (): Bytes => chain.headers.hash(chain.chain.tip);
  // A long poll id that is not a string refers to the last template.
  const known =
    typeof longPollId === 'string'
      ? parseLongPollId(longPollId, profile)
      : { tip: Buffer.from(tip()), changeCount: mining.lastChangeCount };
  if (known === null) return undefined;
  await outOfTurn(() => mining.waitForWork(known, signal));
  if (signal.aborted) throw rpcError(RPC_ERROR.CLIENT_NOT_CONNECTED, 'Shutting down');
  await whenWhole(chain.chain.reorganisation, { signal, outOfTurn });
  return equalBytes(tip(), known.tip);
}

/**
 * Parses a long poll id: the hash of a tip and a `changeCount`. In the lbcd profile, returns null if the text does not have
 * this form. Source: `atoi64` for the count.
 */
function parseLongPollId(text: string, profile: Profile): { tip: Bytes; changeCount: number } | null {
  const isWhole = /^[0-9a-fA-F]{64}[0-9]+$/.test(text);
  if (isWhole) return { tip: hashFromHex(text.slice(0, 64)), changeCount: Number(text.slice(64)) };
  if (profile === 'lbcd') return null;
  const size = toLatin1(Buffer.from(text)).length;
  if (size < 64) {
    // This is the error text of the C++ standard library, which the reference returns.
    throw rpcError(
      RPC_ERROR.MISC_ERROR,
      `basic_string::substr: __pos (which is 64) > this->size() (which is ${size})`,
    );
  }
  return {
    tip: parseLooseHash(text.slice(0, 64)),
    changeCount: Number(/^\s*([-+]?\d+)/.exec(text.slice(64))?.[1] ?? 0),
  };
}
