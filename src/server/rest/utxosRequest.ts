/** Parsing of the posted body of `/rest/getutxos`. Source: BIP64; lbrycrd rest.cpp `rest_getutxos`. */
import { Reader, ReadError } from '../../util/reader.js';
import { Writer } from '../../util/writer.js';

/** The requested outpoints (36 bytes each), and whether to include the mempool. */
export interface UtxoRequest {
  readonly checkMempool: boolean;
  readonly outPoints: readonly Buffer[];
}

/** Thrown if a request contains too many outpoints. */
export class TooManyOutPoints extends Error {
  override readonly name = 'TooManyOutPoints';
  readonly count: number;

  constructor(count: number) {
    super(`${count} outputs`);
    this.count = count;
  }
}

/** Maximum number of outpoints in a request. */
export const MAX_OUTPOINTS = 15;
const OUTPOINT_BYTES = 36;

/**
 * Reads a boolean and a list of outpoints. Bytes after the list are ignored unless `isWhole` is set. Throws `ReadError`,
 * `TooManyOutPoints`.
 */
function readRequest(reader: Reader, isWhole: boolean): UtxoRequest {
  const checkMempool = reader.u8() !== 0;
  const count = reader.compactSize();
  const left = reader.remaining - count * OUTPOINT_BYTES;
  if (left < 0) throw new ReadError('outputs are missing');
  if (left > 0 && isWhole) throw new ReadError('there is data after the outputs');
  if (count > MAX_OUTPOINTS) throw new TooManyOutPoints(count);
  const outPoints = Array.from({ length: count }, () => reader.view(OUTPOINT_BYTES));
  return { checkMempool, outPoints };
}

function readOrNull(bytes: Buffer, isWhole: boolean): UtxoRequest | null {
  try {
    return readRequest(new Reader(bytes), isWhole);
  } catch (error) {
    if (error instanceof ReadError) return null;
    throw error;
  }
}

/**
 * Parses a posted body, which must not be empty; null if it is invalid. Throws `TooManyOutPoints`. QUIRK: the reference puts
 * the length of the body in front of it before parsing. So the first byte of that length is parsed as the boolean, and the
 * body itself begins with the number of outpoints. Bodies of this form are accepted as in the reference. But a body that is
 * a valid BIP64 request as a whole is parsed as BIP64, because the reference would respond with outputs that were not
 * requested.
 */
export function parseUtxoRequest(bytes: Buffer): UtxoRequest | null {
  const isSwitch = bytes[0] === 0 || bytes[0] === 1;
  const request = isSwitch ? readOrNull(bytes, true) : null;
  return request ?? readOrNull(new Writer(bytes.length + 9).varBytes(bytes).finish(), false);
}
