/** Asking for a name proof, with the reference's error where the block lies too far back. */
import { ProofUnavailableError } from '../../../store/claims/proofQueries.js';
import type { Bytes } from '../../../util/bytes.js';
import type { JsonOut } from '../../../util/jsonWrite.js';
import { RPC_ERROR, rpcError } from '../../errors.js';
import { PROOF_SCHEMA, proofAnswer } from '../../format/claimsProof.js';
import { nameBytes } from '../../format/claimsText.js';
import type { RpcContext } from '../../method.js';
import { t } from '../../schema.js';

/** Result of the methods that choose the claim by its place. */
export const PLACED_PROOF_SCHEMA = t.union([
  { when: 'when the name has such a claim', schema: PROOF_SCHEMA },
  { when: 'otherwise', schema: t.array(t.any(), 'empty') },
]);

/** The proof after block `height` of the claim that `selects` chooses, or of the controlling one. */
export async function provenName(
  { services, profile }: RpcContext,
  name: string,
  height: number,
  selects?: (claimId: Bytes) => boolean,
): Promise<JsonOut> {
  const { chain } = services.chain;
  try {
    const query = { name: nameBytes(name), height, tipHeight: () => chain.height };
    return proofAnswer(await services.claims.proofAt(selects ? { ...query, selects } : query), profile);
  } catch (error) {
    if (!(error instanceof ProofUnavailableError)) throw error;
    throw rpcError(RPC_ERROR.INTERNAL_ERROR, `Block is too deep: ${error.message}`);
  }
}
