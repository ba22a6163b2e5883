/**
 * The rows of a response about claims. One thread collects the rows, and another thread builds the message. Each claim is
 * transferred once as plain values. Bytes are transferred as latin1 strings, because a view would copy its whole buffer.
 */
import { fromLatin1, toLatin1 } from '../../util/bytes.js';
import { OutputsBuilder, type OutputClaimRow, type RowErrorCode, type HubShownClaim } from './outputs.js';

/** Number of array elements that encode one claim. */
const VALUES = 16;

/** A row in the form that is sent to another thread: indexes into the list of claims; -1 if there is none. */
type CrossingRow = readonly [claim: number, channel: number, reposted: number];

type Note =
  | readonly ['row' | 'extra', ...CrossingRow]
  | readonly ['error' | 'extraError', code: RowErrorCode, text: string, censor: number]
  | readonly ['blocked', channel: number, count: number];

export interface HubOutputs {
  readonly claims: readonly unknown[];
  readonly notes: readonly Note[];
  readonly total: number;
}

/**
 * Collects the rows of a response in one thread. It has the same methods as `OutputsBuilder`, which `messageOf` calls in the
 * other thread.
 */
export class OutputNotes {
  private readonly claims: unknown[] = [];
  private readonly numbers = new Map<HubShownClaim, number>();
  private readonly notes: Note[] = [];

  private numberOf(claim: HubShownClaim | null): number {
    if (claim === null) return -1;
    const known = this.numbers.get(claim);
    if (known !== undefined) return known;
    const number = this.numbers.size;
    this.numbers.set(claim, number);
    this.claims.push(
      toLatin1(claim.claimId),
      toLatin1(claim.txid),
      claim.nout,
      claim.height,
      claim.kind,
      claim.shortUrl,
      claim.canonicalUrl,
      claim.isControlling,
      claim.takeoverHeight,
      claim.creationHeight,
      claim.activationHeight,
      claim.expirationHeight,
      claim.claimsInChannel,
      claim.repostCount,
      claim.effectiveAmountSat,
      claim.supportAmountSat,
    );
    return number;
  }

  private rowOf({ claim, channel, reposted }: OutputClaimRow): CrossingRow {
    return [this.numberOf(claim), this.numberOf(channel), this.numberOf(reposted)];
  }

  add(row: OutputClaimRow): void {
    this.notes.push(['row', ...this.rowOf(row)]);
  }

  addError(code: RowErrorCode, text: string, censor: HubShownClaim | null = null): void {
    this.notes.push(['error', code, text, this.numberOf(censor)]);
  }

  addExtra(row: OutputClaimRow): void {
    this.notes.push(['extra', ...this.rowOf(row)]);
  }

  addExtraError(code: RowErrorCode, text: string): void {
    this.notes.push(['extraError', code, text, -1]);
  }

  addBlocked(channel: HubShownClaim, count: number): void {
    this.notes.push(['blocked', this.numberOf(channel), count]);
  }

  finish(total = 0): HubOutputs {
    return { claims: this.claims, notes: this.notes, total };
  }
}

function claimAt(values: readonly unknown[], number: number): HubShownClaim {
  const at = number * VALUES;
  return {
    claimId: fromLatin1(values[at] as string),
    txid: fromLatin1(values[at + 1] as string),
    nout: values[at + 2] as number,
    height: values[at + 3] as number,
    kind: values[at + 4] as HubShownClaim['kind'],
    shortUrl: values[at + 5] as string,
    canonicalUrl: values[at + 6] as string,
    isControlling: values[at + 7] as boolean,
    takeoverHeight: values[at + 8] as number,
    creationHeight: values[at + 9] as number,
    activationHeight: values[at + 10] as number,
    expirationHeight: values[at + 11] as number,
    claimsInChannel: values[at + 12] as number,
    repostCount: values[at + 13] as number,
    effectiveAmountSat: values[at + 14] as bigint,
    supportAmountSat: values[at + 15] as bigint,
  };
}

/** Builds the message from collected rows, as base64. */
export function messageOf({ claims, notes, total }: HubOutputs): string {
  const builder = new OutputsBuilder();
  const records = Array.from({ length: claims.length / VALUES }, (_, n) => claimAt(claims, n));
  const rowOf = ([claim, channel, reposted]: CrossingRow): OutputClaimRow => ({
    claim: records[claim]!,
    channel: records[channel] ?? null,
    reposted: records[reposted] ?? null,
  });
  for (const note of notes) {
    switch (note[0]) {
      case 'row':
        builder.add(rowOf([note[1], note[2], note[3]]));
        break;
      case 'extra':
        builder.addExtra(rowOf([note[1], note[2], note[3]]));
        break;
      case 'error':
        builder.addError(note[1], note[2], records[note[3]] ?? null);
        break;
      case 'extraError':
        builder.addExtraError(note[1], note[2]);
        break;
      case 'blocked':
        builder.addBlocked(records[note[1]]!, note[2]);
        break;
    }
  }
  return builder.finish(total);
}
