/**
 * What a hub answers about claims: the message `Outputs`, read and looked over. It names places of outputs and figures of
 * the claim index; the outputs themselves come from transactions that the ledger checks.
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
/** Rows that are asked for at once: those of the most URLs; pages of searches have half as many. Source: `Ledger.resolve`. */
const MAX_ROWS = 100;
/** Rows beside those that were asked for. Arbitrary: each claim refers to three others at most. */
const MAX_EXTRA_ROWS = 2000;
/** Members of a message: all rows, who blocks some of them, and a few numbers. Arbitrary, for a channel of each row. */
const MAX_MEMBERS = MAX_ROWS + MAX_EXTRA_ROWS + 2 * MAX_ROWS;
/** Arbitrary: all rows with the longest names in their URLs, and with reasons as long as a claim can be. */
const MAX_BYTES = 4 << 20;

/** A hub said what cannot be. */
export class WrongAnswerError extends Error {
  override readonly name = 'WrongAnswerError';
  /** Whether a block that went while it was answered may be the reason. */
  readonly mayBeHonest: boolean;

  constructor(message: string, mayBeHonest = false) {
    super(message);
    this.mayBeHonest = mayBeHonest;
  }
}

/** Position of an output in the chain. */
export interface Place {
  /** 32 bytes, wire order. */
  readonly txid: Bytes;
  readonly nout: number;
}

export interface ClaimRow extends Place {
  /** Null if the hub reports only the place. */
  readonly meta: ClaimMeta | null;
  readonly channel: Place | null;
  readonly repost: Place | null;
  /** Whether the hub reports it as unconfirmed: mempool claims have the height 0. */
  readonly isWaiting: boolean;
}

export const ROW_ERRORS = ['UNKNOWN_CODE', 'NOT_FOUND', 'INVALID', 'BLOCKED'] as const;

export interface ErrorRow {
  readonly error: (typeof ROW_ERRORS)[number];
  readonly text: string;
  /** The channel that blocks it. */
  readonly censor: Place | null;
}

export type AnswerRow = ClaimRow | ErrorRow;

export interface HubAnswer {
  /** Rows in the order of the request. */
  readonly rows: readonly AnswerRow[];
  /** Claims that the rows refer to. */
  readonly extraRows: readonly ClaimRow[];
  /** The total of all pages of a search. */
  readonly total: number;
  readonly blocked: readonly { readonly channel: Place | null; readonly count: number }[];
  readonly blockedTotal: number;
}

export const isError = (row: AnswerRow): row is ErrorRow => 'error' in row;
export const isClaimRow = (row: AnswerRow): row is ClaimRow => !isError(row);

/** The key of a place. */
export const placeKey = ({ txid, nout }: Place): string => `${toLatin1(txid)}${nout}`;

/** Throws `WrongAnswerError` where the bytes are no such message or have more rows than could be. */
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

/** Two bytes can be a row, and a row takes a hundred times as many in memory: so they are counted before any is made. */
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

/** A reference that is not there, or empty, as older hubs write it, is none. */
function placeOf(output: Output | undefined): Place | null {
  if (output === undefined || output.txHash.length === 0) return null;
  if (output.txHash.length !== HASH_SIZE) throw new WrongAnswerError('a transaction id has not 32 bytes');
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
  if (place === null) throw new WrongAnswerError('a row names no output');
  const isWaiting = output.height === 0;
  if (meta.case === undefined) return { ...place, meta: null, channel: null, repost: null, isWaiting };
  const { channel, repost } = meta.value;
  return { ...place, meta: meta.value, channel: placeOf(channel), repost: placeOf(repost), isWaiting };
}
