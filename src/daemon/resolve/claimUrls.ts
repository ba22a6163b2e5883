/**
 * Checks whether a hub's response fits the URL, as far as that is possible without a claim index. Source:
 * lbryio/hub hub/herald/session.py `claimtrie_resolve`, lbry-sdk lbry/wallet/ledger.py `resolve`.
 */
import { normalizeName } from '../../claimtrie/normalize.js';
import type { ClaimUrl, UrlSegment } from '../../metadata/url.js';
import { hashToHex } from '../../util/bytes.js';
import type { Txo } from '../txo/txo.js';

const CLAIM_ID_DIGITS = 40;
/** QUIRK: of an abbreviated claim id the reference hub compares only this many hexadecimal digits. */
const COMPARED_DIGITS = 10;

const filed = (name: string): string => Buffer.from(normalizeName(Buffer.from(name))).toString('utf8');

/**
 * Whether names are equal after the chain's normalization or differ only in case. Case is compared by the newest Unicode
 * rules, because hubs may use newer rules than the chain.
 */
function isSameName(one: string, other: string): boolean {
  const folded = (name: string): string => name.normalize('NFD').toLowerCase();
  return filed(one) === filed(other) || folded(one) === folded(other);
}

function fits({ name, claimId }: UrlSegment, txo: Txo): boolean {
  const id = hashToHex(txo.claimId!);
  // A complete claim id identifies the claim, so that the name in the URL need not be compared.
  if (claimId?.length === CLAIM_ID_DIGITS) return id === claimId;
  return isSameName(name, txo.claimName!) && id.startsWith((claimId ?? '').slice(0, COMPARED_DIGITS));
}

/** Whether a URL may refer to this claim. For a claim in a channel, the channel is checked too if the response contains it. */
export function mayBeAt({ channel, stream }: ClaimUrl, txo: Txo): boolean {
  if (!fits((stream ?? channel)!, txo)) return false;
  return stream === null || channel === null || !txo.notes.channel || fits(channel, txo.notes.channel);
}
