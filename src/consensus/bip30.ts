/**
 * Decides whether a block's transactions must not have the txid of one with unspent outputs. Source: lbrycrd validation.cpp
 * `ConnectBlock`, BIP30.
 */
import { equalBytes, type Bytes } from '../util/bytes.js';

/**
 * From this height on, the height in an old coinbase of Bitcoin could repeat; the reference performs the check again from
 * here.
 */
const BIP34_IMPLIES_BIP30_LIMIT = 1_983_702;

/**
 * `bip34BlockHash` is the id (wire order) of the ancestor at the network's `bip34Height`, or null when the parent is below
 * it. On main, block 1 is the expected one, so the check is skipped from block 2 to 1,983,701; on test and regtest it is
 * never skipped. Bitcoin's two excepted blocks do not exist on this chain, so there is no exception for them.
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
