/**
 * Claims of others, as a hub tells them. What the hub says is taken for where to look only: the output comes from its
 * transaction, which the ledger checks. Source: lbry-sdk lbry/wallet/ledger.py `get_claim_by_claim_id`, `resolve`.
 */
import { fromBinary } from '@bufbuild/protobuf';
import { OutputsSchema, type Output } from '../../metadata/messages/result_pb.js';
import { parseUrl } from '../../metadata/url.js';
import { formatOutPoint } from '../../primitives/transaction.js';
import { hashToHex, type Bytes } from '../../util/bytes.js';
import { Txo } from '../txo/txo.js';
import type { LedgerPort } from './ports.js';

const HASH_SIZE = 32;

/** The first output that the hub's answer names; null where that is an error, or an output that nobody knows. */
async function firstOutput(ledger: LedgerPort, answer: Bytes): Promise<Output | null> {
  const [output] = fromBinary(OutputsSchema, answer).txos;
  return output && output.meta.case !== 'error' && output.txHash.length === HASH_SIZE ? output : null;
}

async function txoAt(ledger: LedgerPort, { txHash, nout }: Output): Promise<Txo | null> {
  const found = await ledger.transaction(txHash);
  const output = found?.tx.outputs[nout];
  const first = found?.tx.inputs[0];
  if (!found || !output || !first) return null;
  return new Txo({
    txid: Buffer.from(txHash),
    nout,
    height: found.height,
    amountDewies: output.value,
    script: output.script,
    firstOutPoint: formatOutPoint(first.prevout),
  });
}

async function claimOf(ledger: LedgerPort, answer: Bytes): Promise<{ row: Output; txo: Txo } | null> {
  const row = await firstOutput(ledger, answer);
  const txo = row && (await txoAt(ledger, row));
  return row && txo?.isClaim ? { row, txo } : null;
}

/** The claim of that id (as printed); null where the hub has none, or answers with another one. */
export async function claimById(ledger: LedgerPort, claimId: string): Promise<Txo | null> {
  if (!/^[0-9a-f]{40}$/.test(claimId)) return null;
  const claim = await claimOf(ledger, await ledger.hub.claimById(claimId));
  return claim?.txo.claimId && hashToHex(claim.txo.claimId) === claimId ? claim.txo : null;
}

/** The claim at the URL; null where there is none, or its channel did not sign it. */
export async function claimAtUrl(ledger: LedgerPort, url: string): Promise<Txo | null> {
  const parsed = parseUrl(url);
  if (parsed === null) return null;
  const claim = await claimOf(ledger, await ledger.hub.resolve([url]));
  if (claim === null) return null;
  const { row, txo } = claim;
  if (parsed.channel === null || parsed.stream === null) return txo;
  const place = row.meta.case === 'claim' ? row.meta.value.channel : undefined;
  const channel = place ? await txoAt(ledger, place) : null;
  const isSigned =
    channel?.claimName === parsed.channel.name &&
    txo.channelId !== null &&
    channel.claimId !== null &&
    hashToHex(channel.claimId) === hashToHex(txo.channelId) &&
    txo.isSignedBy(channel, ledger.params);
  return isSigned ? txo : null;
}

/** The channel of which that is the address of the key; null where the hub knows none. */
export async function channelOfKey(ledger: LedgerPort, keyAddress: string): Promise<Txo | null> {
  const answer = await ledger.hub.search({ public_key_id: keyAddress });
  return (await claimOf(ledger, answer))?.txo ?? null;
}
