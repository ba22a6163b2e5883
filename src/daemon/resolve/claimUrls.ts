/**
 * Checks a hub's answer to a URL as far as is possible without the claim index. Source: hub scribe/hub/session.py
 * `_cached_resolve_url`, lbry-sdk lbry/wallet/ledger.py `resolve`.
 */
import { normalizeName } from '../../claimtrie/normalize.js';
import type { ClaimUrl, UrlSegment } from '../../metadata/url.js';
import { hashToHex } from '../../util/bytes.js';
import type { Txo } from '../txo/txo.js';

const CLAIM_ID_DIGITS = 40;
/** QUIRK: of ids that are not whole the hub of the reference compares this many digits. */
const COMPARED_DIGITS = 10;

const filed = (name: string): string => Buffer.from(normalizeName(Buffer.from(name))).toString('utf8');

/** Equal as the chain files names, or but for case by the newest Unicode, which other hubs may go by. */
function isSameName(one: string, other: string): boolean {
  const folded = (name: string): string => name.normalize('NFD').toLowerCase();
  return filed(one) === filed(other) || folded(one) === folded(other);
}

function fits({ name, claimId }: UrlSegment, txo: Txo): boolean {
  const id = hashToHex(txo.claimId!);
  // A whole id leads to its claim, whatever the name.
  if (claimId?.length === CLAIM_ID_DIGITS) return id === claimId;
  return isSameName(name, txo.claimName!) && id.startsWith((claimId ?? '').slice(0, COMPARED_DIGITS));
}

/** Checks the URL of a claim; for one in a channel also the channel, if known. */
export function mayBeAt({ channel, stream }: ClaimUrl, txo: Txo): boolean {
  if (!fits((stream ?? channel)!, txo)) return false;
  return stream === null || channel === null || !txo.notes.channel || fits(channel, txo.notes.channel);
}
