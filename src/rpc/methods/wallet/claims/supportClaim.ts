/** `supportclaim`: creates a support for a claim. */
import { countsMetadataSupports } from '../../../../claimtrie/rules.js';
import { extractDestination, type Destination } from '../../../../script/standard.js';
import type { ClaimInfo } from '../../../../store/claims/query/claimQueries.js';
import { supportClaim as makeSupport } from '../../../../wallet/claims/stakes.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { hashToHex, isHex, type Bytes } from '../../../../util/bytes.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { givenName, walletHexParam } from '../../claimtrie/hexNames.js';
import { defineMethod, type RpcContext } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { claimByDigits } from '../../../lookup/nameLookup.js';
import { spending } from '../sending/spendArguments.js';
import { requireUnlocked, walletOf } from '../wallets/walletOf.js';

const CLAIM_ID_DIGITS = 40;
const ONE_SATOSHI = 1n;

/**
 * Checks that the claim id is hex. Source: `IsHexNumber`, which also allows the prefix `0x`, although no claim id begins
 * with it.
 */
function checkClaimId(claimId: string): string {
  if (!/^(0x)?[0-9a-fA-F]+$/.test(claimId)) {
    throw rpcError(
      RPC_ERROR.INVALID_PARAMETER,
      `claimid must be a 20-character hexadecimal string (not '${claimId}')`,
    );
  }
  if (claimId.length > CLAIM_ID_DIGITS)
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, `claimid must be maximum of length ${CLAIM_ID_DIGITS}`);
  return claimId;
}

interface WantedClaim {
  readonly name: Bytes;
  /** The name as the caller gave it. */
  readonly text: string;
  readonly claimId: string;
}

async function findClaim({ services }: RpcContext, { name, text, claimId }: WantedClaim): Promise<ClaimInfo> {
  const { height } = services.chain.chain;
  const info = await services.claims.nameAt({ name, height });
  if (info.claims.length === 0)
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, `Unable to find a claim named ${text}`);
  const found = claimByDigits(info, claimId.toLowerCase());
  if (found !== undefined) return found;
  throw rpcError(RPC_ERROR.INVALID_PARAMETER, `Unable to find a claimid that starts with ${claimId}`);
}

function metadata({ services }: RpcContext, value: string): Buffer | null {
  if (value === '') return null;
  if (!isHex(value))
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'value/metadata must be of hexadecimal data');
  if (!countsMetadataSupports(services.claims.rules, services.chain.chain.height + 1))
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'value/metadata on supports is not enabled yet');
  return Buffer.from(value, 'hex');
}

/** Returns the destination to which the output of a claim pays. */
async function ownerOf({ node }: Wallet, { txid, n }: ClaimInfo): Promise<Destination> {
  const outPoint = Buffer.alloc(36);
  outPoint.set(txid);
  outPoint.writeUInt32LE(n, 32);
  const coin = await node.chain.coin(outPoint);
  if (coin === null)
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, "Unable to locate the TX with the claim's output.");
  const destination = extractDestination(coin.script);
  if (destination !== null) return destination;
  throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Unable to extract the destination from the chosen claim.');
}

export const supportClaim = defineMethod({
  name: 'supportclaim',
  category: 'claimtrie',
  needsWallet: 'one',
  summary:
    'Creates a transaction with a support: its amount is added to the effective amount of a claim. For ' +
    'the controlling claim it is active at once, otherwise after a delay; it remains active until it is ' +
    'spent or expires, or the claim is spent or expires.',
  params: [
    { name: 'name', type: 'string', required: true, description: 'The name of the claim' },
    {
      name: 'claimid',
      type: 'string',
      default: '',
      description: 'The claim id, or its first digits',
    },
    { name: 'amount', type: 'amount', default: ONE_SATOSHI, late: true, description: 'The amount' },
    {
      name: 'value',
      type: 'string',
      default: '',
      late: true,
      description: 'The value of the support in hex',
    },
    {
      name: 'isTip',
      type: 'boolean',
      default: false,
      late: true,
      description: 'Whether the amount is given to the owner of the claim (a tip), who can spend it',
    },
    walletHexParam('name'),
  ],
  maxArgsInReference: 5,
  result: t.union([
    { when: 'in the documented profile', schema: t.hash('the transaction') },
    {
      when: 'in the other profiles',
      schema: t.object({
        txId: t.hash('the transaction'),
        address: t.str('the owner of the amount'),
      }),
    },
  ]),
  examples: [['"mindblown"', '"36a719a156a1df178531f3c712b8b37f8e7cc3b3"', '0.1']],
  async run(ctx, { name: text, claimid: claimId, amount, value, isTip, hex }) {
    const wallet = walletOf(ctx);
    checkClaimId(claimId);
    const name = givenName('name', text, hex());
    requireUnlocked(wallet);
    const claim = await findClaim(ctx, { name, text, claimId });
    const valueSat = amount();
    const request = {
      name,
      claimId: claim.claimId,
      value: metadata(ctx, value()),
      valueSat,
      destination: isTip() ? await ownerOf(wallet, claim) : null,
    };
    const { txid, address } = await spending(() => makeSupport(wallet, request));
    const txId = hashToHex(txid);
    return ctx.profile === 'documented' ? txId : { txId, address };
  },
});
