/**
 * Converts a hub's response to outputs. The transactions of all named outputs are fetched and verified, and the outputs are
 * read from them. Only the numbers of the claim index are not verified. Source: lbry-sdk lbry/schema/result.py `inflate`,
 * `message_to_txo`; lbry/extras/daemon/json_response_encoder.py `encode_claim_meta`.
 */
import { formatLbc } from '../../metadata/amounts.js';
import type { ClaimMeta } from '../../metadata/messages/result_pb.js';
import { formatOutPoint } from '../../primitives/transaction.js';
import { hashToHex, toLatin1, type Bytes } from '../../util/bytes.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { HeaderView, DaemonLedger, LedgerTransaction } from '../ledger/ledger.js';
import { Txo, type TxoNotes } from '../txo/txo.js';
import {
  isClaimRow,
  isError,
  placeKey,
  WrongAnswerError,
  type HubClaimRow,
  type ErrorRow,
  type HubAnswer,
  type OutputPlace,
} from './hubAnswer.js';
import { checkWaitingUpdates } from './waitingUpdates.js';

/** Maximum depth of nested claims in a response. Arbitrary: a repost of a repost, with channels, has a depth of four. */
const MAX_DEPTH = 8;

/** Error that replaces the claim in the result for a URL or claim id. */
export interface HubResolveFailure {
  readonly name: ErrorRow['error'];
  readonly text: string;
  readonly censor: Txo | null;
}

export type Resolved = Txo | { readonly failure: HubResolveFailure };

export interface Inflated {
  readonly rows: readonly Resolved[];
  readonly total: number;
  readonly blocked: readonly { readonly channel: Txo | null; readonly count: number }[];
  readonly blockedTotal: number;
}

export type InflatePort = Pick<DaemonLedger, 'transactions' | 'headers'>;

/**
 * Converts a response to outputs. Throws `WrongAnswerError` if a transaction is missing or unproven, an output is missing or
 * not a claim, or a reference has no row.
 */
export async function inflate(answer: HubAnswer, port: InflatePort): Promise<Inflated> {
  const claimRows = [...answer.extraRows, ...answer.rows.filter(isClaimRow)];
  const transactions = await fetchTransactions(claimRows, port);
  await checkWaitingUpdates(claimRows, transactions, port);
  const inflater = new Inflater(claimRows, transactions, port.headers);
  return {
    rows: answer.rows.map((row) => (isError(row) ? inflater.failureOf(row) : inflater.claimOf(row))),
    total: answer.total,
    blocked: answer.blocked.map(({ channel, count }) => ({
      channel: channel && inflater.at(channel),
      count,
    })),
    blockedTotal: answer.blockedTotal,
  };
}

async function fetchTransactions(
  rows: readonly OutputPlace[],
  port: InflatePort,
): Promise<ReadonlyMap<string, LedgerTransaction>> {
  const wanted = new Map(rows.map(({ txid }) => [toLatin1(txid), txid]));
  if (wanted.size === 0) return new Map();
  const found = await port.transactions([...wanted.values()]);
  for (const txid of wanted.values())
    if (!found.has(hashToHex(txid)))
      throw new WrongAnswerError(`the transaction ${hashToHex(txid)} is missing`, true);
  return found;
}

class Inflater {
  readonly #transactions: ReadonlyMap<string, LedgerTransaction>;
  readonly #headers: HeaderView;
  /**
   * Rows of the response by output position. If several rows have the same position, a row with claim index numbers takes
   * precedence.
   */
  readonly #rows = new Map<string, HubClaimRow>();
  /** Outputs to which others refer. Each output is created only once. */
  readonly #referred = new Map<string, Txo>();

  constructor(
    rows: readonly HubClaimRow[],
    transactions: ReadonlyMap<string, LedgerTransaction>,
    headers: HeaderView,
  ) {
    this.#transactions = transactions;
    this.#headers = headers;
    for (const row of rows)
      if (row.meta !== null || !this.#rows.has(placeKey(row))) this.#rows.set(placeKey(row), row);
  }

  failureOf({ error, text, censor }: ErrorRow): Resolved {
    return { failure: { name: error, text, censor: censor && this.at(censor) } };
  }

  /**
   * Creates the output of a requested claim. References to the claim get another object, because this response may add notes
   * to the requested one.
   */
  claimOf(row: HubClaimRow): Txo {
    const txo = this.#output(row);
    this.#note(txo, row, new Set([placeKey(row)]));
    return txo;
  }

  /** Returns the output at the position to which a reference points. */
  at(place: OutputPlace): Txo {
    return this.#referredAt(place, new Set());
  }

  /**
   * Returns the output at a position, with its own references. `above` has the positions of the claims that refer to this
   * one, directly or indirectly. A claim is not nested within itself.
   */
  #referredAt(place: OutputPlace, above: ReadonlySet<string>): Txo {
    const key = placeKey(place);
    let txo = this.#referred.get(key);
    if (txo !== undefined) return txo;
    txo = this.#output(place);
    this.#referred.set(key, txo);
    const row = this.#rows.get(key);
    if (row) this.#note(txo, row, new Set([...above, key]));
    return txo;
  }

  #note(txo: Txo, row: HubClaimRow, above: ReadonlySet<string>): void {
    const { notes } = txo;
    if (row.meta !== null) Object.assign(notes, metaNotes(txo, row.meta, this.#headers));
    const channel = this.#related(txo, row.channel, txo.channelId, above);
    if (channel) notes.channel = channel;
    const type = txo.claim?.claim.type;
    const reposted = type?.case === 'repost' ? type.value.claimHash : null;
    const repostedClaim = this.#related(txo, row.repost, reposted, above);
    if (repostedClaim) notes.repostedClaim = repostedClaim;
  }

  /** Returns the claim that `txo` refers to. Throws if the claim at that position does not have the expected id. */
  #related(
    txo: Txo,
    place: OutputPlace | null,
    claimId: Bytes | null,
    above: ReadonlySet<string>,
  ): Txo | null {
    if (place === null || txo.claim === null) return null;
    const found = this.#output(place);
    if (claimId === null || !found.claimId!.equals(claimId))
      throw new WrongAnswerError(`${txo.txidHex} does not refer to ${found.txidHex}`);
    if (above.size >= MAX_DEPTH || above.has(placeKey(place))) return null;
    return this.#referredAt(place, above);
  }

  #output(place: OutputPlace): Txo {
    const { txid, nout } = place;
    const name = hashToHex(txid);
    const found = this.#transactions.get(name);
    if (found === undefined) throw new WrongAnswerError(`a row refers to ${name}, which is in no row`);
    // An unconfirmed transaction cannot be verified. It is accepted only if the row itself says that it is unconfirmed.
    if (!found.isVerified && this.#rows.get(placeKey(place))?.isWaiting !== true)
      throw new WrongAnswerError(`the transaction ${name} is reported as unconfirmed`, true);
    const output = found.tx.outputs[nout];
    const first = found.tx.inputs[0];
    if (output === undefined || first === undefined)
      throw new WrongAnswerError(`the transaction ${name} has no output ${nout}`);
    const txo = new Txo({
      txid,
      nout,
      height: found.height,
      amountDewies: output.value,
      script: output.script,
      firstOutPoint: formatOutPoint(first.prevout),
    });
    if (!txo.isClaim) throw new WrongAnswerError(`output ${nout} of ${name} is not a claim`);
    return txo;
  }
}

function metaNotes(txo: Txo, meta: ClaimMeta, headers: HeaderView): TxoNotes {
  const { creationHeight } = meta;
  const members: Record<string, JsonOut> = {
    reposted: meta.reposted,
    is_controlling: meta.isControlling,
    take_over_height: meta.takeOverHeight,
    creation_height: creationHeight,
    activation_height: meta.activationHeight,
    expiration_height: meta.expirationHeight,
    effective_amount: formatLbc(meta.effectiveAmount),
    support_amount: formatLbc(meta.supportAmount),
  };
  if (txo.claim?.kind === 'channel') members['claims_in_channel'] = meta.claimsInChannel;
  if (creationHeight > 0 && creationHeight <= headers.height)
    members['creation_timestamp'] = headers.timeSecAt(creationHeight);
  return {
    meta: members,
    shortUrl: `lbry://${meta.shortUrl}`,
    canonicalUrl: `lbry://${meta.canonicalUrl || meta.shortUrl}`,
  };
}
