/**
 * Reads and validates a hub's response about claims: the message `Outputs`. The message contains only txid and index of
 * outputs, and numbers of the claim index. The outputs themselves are read from transactions that the ledger verifies.
 * Source: lbry-sdk lbry/schema/result.py `Outputs`.
 */
import { fromBinary } from '@bufbuild/protobuf';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import {
  Error_Code,
  OutputsSchema,
  type ClaimMeta,
  type Output,
  type Outputs,
} from '../../metadata/messages/result_pb.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';

const HASH_SIZE = 32;
/**
 * Maximum number of rows in a response: the maximum number of URLs in a request. A search page has half as many. Source:
 * `Ledger.resolve`.
 */
const MAX_ROWS = 100;
/**
 * Maximum number of extra rows, i.e. of claims to which other rows refer. Arbitrary: each claim refers to at most three
 * other claims.
 */
const MAX_EXTRA_ROWS = 2000;
/**
 * Maximum number of members of the protobuf message: rows, extra rows, blocking channels and a few numbers. Arbitrary:
 * enough for a blocking channel per row.
 */
const MAX_MEMBERS = MAX_ROWS + MAX_EXTRA_ROWS + 2 * MAX_ROWS;
/**
 * Maximum size of a message in bytes. Arbitrary: enough for all rows with the longest names in their URLs and the longest
 * error texts.
 */
const MAX_BYTES = 4 << 20;

/** Error: a hub's response contradicts the chain or the rules. */
export class WrongAnswerError extends Error {
  override readonly name = 'WrongAnswerError';
  /** Whether an honest hub may have sent the response, for example because the chain was reorganised during the request. */
  readonly mayBeHonest: boolean;

  constructor(message: string, mayBeHonest = false) {
    super(message);
    this.mayBeHonest = mayBeHonest;
  }
}

/** Reference to an output by txid and index. */
export interface OutputPlace {
  /** Txid: 32 bytes, wire order. */
  readonly txid: Bytes;
  readonly nout: number;
}

export interface HubClaimRow extends OutputPlace {
  /** Data of the hub's claim index; null if the hub reports only txid and index of the output. */
  readonly meta: ClaimMeta | null;
  readonly channel: OutputPlace | null;
  readonly repost: OutputPlace | null;
  /** Whether the hub reports the claim as unconfirmed. Claims in the mempool have height 0. */
  readonly isWaiting: boolean;
}

export const ROW_ERRORS = ['UNKNOWN_CODE', 'NOT_FOUND', 'INVALID', 'BLOCKED'] as const;

export interface ErrorRow {
  readonly error: (typeof ROW_ERRORS)[number];
  readonly text: string;
  /** The channel whose repost blocks the claim; null if the claim is not blocked. */
  readonly censor: OutputPlace | null;
}

export type AnswerRow = HubClaimRow | ErrorRow;

export interface HubAnswer {
  /** Rows in the order of the request. */
  readonly rows: readonly AnswerRow[];
  /** Claims to which the rows refer, such as channels and reposted claims. */
  readonly extraRows: readonly HubClaimRow[];
  /** Total number of results on all pages of a search. */
  readonly total: number;
  readonly blocked: readonly { readonly channel: OutputPlace | null; readonly count: number }[];
  readonly blockedTotal: number;
}

export const isError = (row: AnswerRow): row is ErrorRow => 'error' in row;
export const isClaimRow = (row: AnswerRow): row is HubClaimRow => !isError(row);

/** Text of an output position, used as the key of maps. */
export const placeKey = ({ txid, nout }: OutputPlace): string => `${toLatin1(txid)}${nout}`;

/** Parses a response. Throws `WrongAnswerError` for an invalid message or too many rows. */
export function readHubAnswer(bytes: Bytes): HubAnswer {
  const message = readOutputs(bytes);
  if (message.txos.length > MAX_ROWS) throw new WrongAnswerError(`the answer has more than ${MAX_ROWS} rows`);
  if (message.extraTxos.length > MAX_EXTRA_ROWS)
    throw new WrongAnswerError(`the answer has ${message.extraTxos.length} rows that were not requested`);
  return {
    rows: message.txos.map(readRow),
    extraRows: message.extraTxos.map(readRow).filter(isClaimRow),
    total: message.total,
    blocked: message.blocked.map(({ channel, count }) => ({ channel: placeOf(channel), count })),
    blockedTotal: message.blockedTotal,
  };
}

/**
 * Throws if the message contains too many rows. Rows are counted before they are decoded, because a row of two bytes needs a
 * hundred times as much memory when decoded.
 */
function checkSize(bytes: Bytes): void {
  if (bytes.length > MAX_BYTES) throw new WrongAnswerError(`the answer has ${bytes.length} bytes`);
  const reader = new BinaryReader(bytes);
  for (let members = 0; reader.pos < reader.len; members++) {
    if (members === MAX_MEMBERS) throw new WrongAnswerError('the answer has too many rows');
    const [field, wireType] = reader.tag();
    reader.skip(wireType, field);
  }
}

function readOutputs(bytes: Bytes): Outputs {
  try {
    checkSize(bytes);
    return fromBinary(OutputsSchema, bytes, { readUnknownFields: false });
  } catch (error) {
    if (error instanceof WrongAnswerError) throw error;
    throw new WrongAnswerError(`the answer is not a message: ${(error as Error).message}`);
  }
}

/**
 * Txid and index of the output that a reference in the message points to; null if the reference is absent, or empty as older
 * hubs send it.
 */
function placeOf(output: Output | undefined): OutputPlace | null {
  if (output === undefined || output.txHash.length === 0) return null;
  if (output.txHash.length !== HASH_SIZE)
    throw new WrongAnswerError('a transaction id does not have 32 bytes');
  return { txid: output.txHash, nout: output.nout };
}

function readRow(output: Output): AnswerRow {
  const { meta } = output;
  if (meta.case === 'error') {
    const { code, text, blocked } = meta.value;
    const censor = code === Error_Code.BLOCKED ? placeOf(blocked?.channel) : null;
    return { error: ROW_ERRORS[code] ?? 'UNKNOWN_CODE', text, censor };
  }
  const place = placeOf(output);
  if (place === null) throw new WrongAnswerError('a row contains no output');
  const isWaiting = output.height === 0;
  if (meta.case === undefined) return { ...place, meta: null, channel: null, repost: null, isWaiting };
  const { channel, repost } = meta.value;
  return { ...place, meta: meta.value, channel: placeOf(channel), repost: placeOf(repost), isWaiting };
}
