/** Creates name proofs for methods. Throws the reference's error if the block is too old. */
import { ProofUnavailableError } from '../../../../store/claims/query/proofQueries.js';
import type { Bytes } from '../../../../util/bytes.js';
import { isPromise, type MaybePromise } from '../../../../util/maybePromise.js';
import type { JsonOut } from '../../../../util/json/jsonWrite.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { PROOF_SCHEMA, proofAnswer } from '../../../format/claimsProof.js';
import type { RpcContext } from '../../../declare/method.js';
import type { RpcServices } from '../../../../interfaces/services.js';
import { t } from '../../../../schema/schema.js';
import type { GivenName } from '../answers.js';
import { givenName } from '../hexNames.js';

/** Schema of the result of methods that select the claim by rank. */
export const PLACED_PROOF_SCHEMA = t.union([
  { when: 'if the name has such a claim', schema: PROOF_SCHEMA },
  { when: 'otherwise', schema: t.array(t.any(), 'empty') },
]);

/** Returns the proof, as of block `height`, of the claim that `selects` chooses, or of the controlling claim. */
export function provenName(
  { services, profile }: RpcContext,
  { name: given, hex }: GivenName,
  height: number,
  selects?: (claimId: Bytes) => boolean,
): MaybePromise<JsonOut> {
  const { chain } = services.chain;
  const query = { name: givenName('name', given, hex), height, tipHeight: () => chain.height };
  const proof = services.claims.proofAt(selects ? { ...query, selects } : query);
  // The proof as of the latest block is always available. The proof as of an earlier block is read asynchronously, and may
  // not exist.
  return isPromise(proof)
    ? proof.then(
        (settled) => proofAnswer(settled, profile),
        (error: unknown) => explain(error, height, services.chain),
      )
    : proofAnswer(proof, profile);
}

function explain(error: unknown, height: number, { chain }: RpcServices['chain']): never {
  if (!(error instanceof ProofUnavailableError)) throw error;
  const { snapshotHeight } = chain.index;
  const snapshot =
    height < snapshotHeight ? `. The node was started from a snapshot of block ${snapshotHeight}` : '';
  throw rpcError(RPC_ERROR.INTERNAL_ERROR, `Block is too deep: ${error.message}${snapshot}`);
}
