/** A chain with a claim, for the browser tests of several files. */
import type { RegtestNode } from '../functional/support/node.js';

export interface ClaimedChain {
  readonly address: string;
  readonly claimId: string;
  readonly txid: string;
}

/** Mines a chain with a claim for the name `mindblown`. */
export async function withClaim(node: RegtestNode): Promise<ClaimedChain> {
  const address = await node.rpc<string>('getnewaddress');
  await node.rpc('generatetoaddress', [360, address]);
  const txid = await node.rpc<string>('claimname', ['mindblown', '00', 1]);
  await node.rpc('generatetoaddress', [1, address]);
  const [claim] = await node.rpc<{ claimId: string }[]>('getclaimsfortx', [txid]);
  return { address, claimId: claim!.claimId, txid };
}
