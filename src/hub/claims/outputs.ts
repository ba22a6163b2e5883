/**
 * The message in which claims are answered: rows for what was asked for, rows for what these refer to, errors. A client takes
 * a reference to a claim that is in no row for a broken answer, so a reference is written only when its row is there.
 * Source: lbryio/hub schema/result.py.
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

/** What is reported about a claim. */
export type ShownClaim = Pick<
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

/** A claim with what it refers to, as far as that lives. */
export interface ClaimRow {
  readonly claim: ShownClaim;
  readonly channel: ShownClaim | null;
  readonly reposted: ShownClaim | null;
}

export const ERROR_CODE = { notFound: 'NOT_FOUND', invalid: 'INVALID', blocked: 'BLOCKED' } as const;
export type RowErrorCode = (typeof ERROR_CODE)[keyof typeof ERROR_CODE];

const LARGEST_U32 = 0xffffffff;
/** Heights of the reference are of 32 bits without sign; one that is not known counts as 0. */
const u32 = (value: number): number => Math.min(LARGEST_U32, Math.max(0, value));

/** An output alone. */
const placeOf = ({ txid, nout, height }: ShownClaim): Output =>
  create(OutputSchema, { txHash: txid, nout, height: u32(height) });

export class OutputsBuilder {
  private readonly rows: (() => Output)[] = [];
  private readonly extraRows: (() => Output)[] = [];
  private readonly extraIds = new Set<string>();
  /** Transactions of all rows: a client finds a reference by its transaction. */
  private readonly transactions = new Set<string>();
  private readonly blocked: Blocked[] = [];
  private blockedTotal = 0;

  private isKnown(record: ShownClaim | null): record is ShownClaim {
    return record !== null && this.transactions.has(toLatin1(record.txid));
  }

  /** A row for what was asked for. */
  add(row: ClaimRow): void {
    this.transactions.add(toLatin1(row.claim.txid));
    this.rows.push(() => this.claimOutput(row));
  }

  addError(code: RowErrorCode, text: string, censor: ShownClaim | null = null): void {
    this.rows.push(() => errorOutput(code, text, censor));
  }

  /** A row for what others refer to; the same claim twice is one row. */
  addExtra(row: ClaimRow): void {
    // A claim with a mempool state and a confirmed state has two rows.
    const id = toLatin1(row.claim.claimId) + toLatin1(row.claim.txid);
    if (this.extraIds.has(id)) return;
    this.extraIds.add(id);
    this.transactions.add(toLatin1(row.claim.txid));
    this.extraRows.push(() => this.claimOutput(row));
  }

  addExtraError(code: RowErrorCode, text: string): void {
    this.extraRows.push(() => errorOutput(code, text, null));
  }

  /** The number of claims that were left out because of this channel, which has a row. */
  addBlocked(channel: ShownClaim, count: number): void {
    this.blocked.push(create(BlockedSchema, { count, channel: placeOf(channel) }));
    this.blockedTotal += count;
  }

  private claimOutput({ claim, channel, reposted }: ClaimRow): Output {
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

  /** The message in base64; `total` is that of a search. */
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

function errorOutput(code: RowErrorCode, text: string, censor: ShownClaim | null): Output {
  const value = create(ErrorSchema, {
    code: Error_Code[code],
    text,
    ...(censor ? { blocked: create(BlockedSchema, { channel: placeOf(censor) }) } : {}),
  });
  return create(OutputSchema, { meta: { case: 'error', value } });
}

const base64 = (bytes: Bytes): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
