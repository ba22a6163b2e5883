/**
 * Builds the response message about claims. The message contains rows for the requested claims, rows for the claims to which
 * these refer, and errors. A client treats a reference without a row as a broken response, so a reference is only written if
 * its row exists. Source: lbryio/hub schema/result.py.
 */
import { create, toBinary } from '@bufbuild/protobuf';
import type { ClaimRecord } from '../../index/claims/claimReader.js';
import {
  BlockedSchema,
  ClaimMetaSchema,
  Error_Code,
  ErrorSchema,
  OutputSchema,
  OutputsSchema,
  type Blocked,
  type Output,
  type Outputs,
} from '../../metadata/messages/result_pb.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';

/** Fields of a claim that the message contains. */
export type HubShownClaim = Pick<
  ClaimRecord,
  | 'claimId'
  | 'txid'
  | 'nout'
  | 'height'
  | 'kind'
  | 'shortUrl'
  | 'canonicalUrl'
  | 'isControlling'
  | 'takeoverHeight'
  | 'creationHeight'
  | 'activationHeight'
  | 'expirationHeight'
  | 'claimsInChannel'
  | 'repostCount'
  | 'effectiveAmountSat'
  | 'supportAmountSat'
>;

/** A claim, and the claims to which it refers; null for one that is spent or expired. */
export interface OutputClaimRow {
  readonly claim: HubShownClaim;
  readonly channel: HubShownClaim | null;
  readonly reposted: HubShownClaim | null;
}

export const ERROR_CODE = { notFound: 'NOT_FOUND', invalid: 'INVALID', blocked: 'BLOCKED' } as const;
export type RowErrorCode = (typeof ERROR_CODE)[keyof typeof ERROR_CODE];

const LARGEST_U32 = 0xffffffff;
/** Limits a number to the unsigned 32-bit range of heights in the message. An unknown height, which is negative, becomes 0. */
const u32 = (value: number): number => Math.min(LARGEST_U32, Math.max(0, value));

/** Message that contains only txid, index and height of an output, without claim data. */
const placeOf = ({ txid, nout, height }: HubShownClaim): Output =>
  create(OutputSchema, { txHash: txid, nout, height: u32(height) });

export class OutputsBuilder {
  private readonly rows: (() => Output)[] = [];
  private readonly extraRows: (() => Output)[] = [];
  private readonly extraIds = new Set<string>();
  /**
   * Transactions of all rows. Clients search for references in these transactions, so a reference to another transaction
   * must not be written.
   */
  private readonly transactions = new Set<string>();
  private readonly blocked: Blocked[] = [];
  private blockedTotal = 0;

  private isKnown(record: HubShownClaim | null): record is HubShownClaim {
    return record !== null && this.transactions.has(toLatin1(record.txid));
  }

  /** Adds a row for a requested claim. */
  add(row: OutputClaimRow): void {
    this.transactions.add(toLatin1(row.claim.txid));
    this.rows.push(() => this.claimOutput(row));
  }

  addError(code: RowErrorCode, text: string, censor: HubShownClaim | null = null): void {
    this.rows.push(() => errorOutput(code, text, censor));
  }

  /** Adds a row for a claim to which another claim refers. The same claim is added only once. */
  addExtra(row: OutputClaimRow): void {
    // A claim that is shown with both its mempool state and its confirmed state has two rows, which differ in the txid.
    const id = toLatin1(row.claim.claimId) + toLatin1(row.claim.txid);
    if (this.extraIds.has(id)) return;
    this.extraIds.add(id);
    this.transactions.add(toLatin1(row.claim.txid));
    this.extraRows.push(() => this.claimOutput(row));
  }

  addExtraError(code: RowErrorCode, text: string): void {
    this.extraRows.push(() => errorOutput(code, text, null));
  }

  /** Adds the number of claims that were removed because this channel blocks them. The channel must have a row. */
  addBlocked(channel: HubShownClaim, count: number): void {
    this.blocked.push(create(BlockedSchema, { count, channel: placeOf(channel) }));
    this.blockedTotal += count;
  }

  private claimOutput({ claim, channel, reposted }: OutputClaimRow): Output {
    const output = placeOf(claim);
    const value = create(ClaimMetaSchema, {
      shortUrl: claim.shortUrl,
      canonicalUrl: claim.canonicalUrl,
      isControlling: claim.isControlling,
      takeOverHeight: u32(claim.takeoverHeight),
      creationHeight: u32(claim.creationHeight),
      activationHeight: u32(claim.activationHeight),
      expirationHeight: u32(claim.expirationHeight),
      claimsInChannel: claim.kind === 'channel' ? claim.claimsInChannel : 0,
      reposted: claim.repostCount,
      effectiveAmount: claim.effectiveAmountSat,
      supportAmount: claim.supportAmountSat,
      ...(this.isKnown(channel) ? { channel: placeOf(channel) } : {}),
      ...(this.isKnown(reposted) ? { repost: placeOf(reposted) } : {}),
    });
    output.meta = { case: 'claim', value };
    return output;
  }

  /** Returns the message as base64. `total` is the total number of results of a search. */
  finish(total = 0): string {
    const outputs: Outputs = create(OutputsSchema, {
      txos: this.rows.map((row) => row()),
      extraTxos: this.extraRows.map((row) => row()),
      total,
      blocked: this.blocked,
      blockedTotal: this.blockedTotal,
    });
    return base64(toBinary(OutputsSchema, outputs));
  }
}

function errorOutput(code: RowErrorCode, text: string, censor: HubShownClaim | null): Output {
  const value = create(ErrorSchema, {
    code: Error_Code[code],
    text,
    ...(censor ? { blocked: create(BlockedSchema, { channel: placeOf(censor) }) } : {}),
  });
  return create(OutputSchema, { meta: { case: 'error', value } });
}

const base64 = (bytes: Bytes): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
