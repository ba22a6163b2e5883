/**
 * Decides whether BIP30 applies to a block: whether its transactions must not have the txid of an earlier transaction with
 * unspent outputs. Source: lbrycrd validation.cpp `ConnectBlock`, BIP30.
 */
import { equalBytes, type Bytes } from '../util/bytes.js';

/**
 * First height at which a coinbase could repeat an old coinbase of Bitcoin. The reference performs the check again from
 * this height.
 */
const BIP34_IMPLIES_BIP30_LIMIT = 1_983_702;

/**
 * Whether the BIP30 check applies to a block. `bip34BlockHash` is the id (wire order) of the ancestor at the network's
 * `bip34Height`, or null if the parent is below that height. On main, block 1 has the expected id, so blocks 2 to 1,983,701
 * skip the check. On test and regtest every block has the check. This chain does not have the two blocks that Bitcoin exempts.
 */
export function enforcesBip30(
  height: number,
  bip34BlockHash: Bytes | null,
  params: { readonly bip34Hash: Bytes | null },
): boolean {
  if (height === 0) return false;
  if (height >= BIP34_IMPLIES_BIP30_LIMIT) return true;
  if (bip34BlockHash === null || params.bip34Hash === null) return true;
  return !equalBytes(bip34BlockHash, params.bip34Hash);
}
