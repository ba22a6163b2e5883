/** The posted body of `/rest/getutxos`. Source: BIP64; lbrycrd rest.cpp `rest_getutxos`. */
import { Reader, ReadError } from '../../util/reader.js';
import { Writer } from '../../util/writer.js';

/** What is asked for: outputs as 36 bytes each, and whether the mempool counts. */
export interface UtxoRequest {
  readonly checkMempool: boolean;
  readonly outPoints: readonly Buffer[];
}

/** More outputs are named than one request may have. */
export class TooManyOutPoints extends Error {
  override readonly name = 'TooManyOutPoints';
  readonly count: number;

  constructor(count: number) {
    super(`${count} outputs`);
    this.count = count;
  }
}

/** Most outputs of one request. */
export const MAX_OUTPOINTS = 15;
const OUTPOINT_BYTES = 36;

/** Reads a switch and a list of outputs; what follows them is left. Throws `ReadError`, `TooManyOutPoints`. */
function readRequest(reader: Reader, isWhole: boolean): UtxoRequest {
  const checkMempool = reader.u8() !== 0;
  const count = reader.compactSize();
  const left = reader.remaining - count * OUTPOINT_BYTES;
  if (left < 0) throw new ReadError('outputs are missing');
  if (left > 0 && isWhole) throw new ReadError('something follows the outputs');
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
 * The bytes, not empty, as they are posted; null when they cannot be read. Throws `TooManyOutPoints`.
 *
 * QUIRK: the reference puts the length of the body in front of it before it reads, so that the first byte of the length
 * is the switch, and the body itself begins with the number of outputs. Callers that have found this out are served as
 * there. But a body that is a request of BIP64 from its first byte to its last is taken as one: the reference would
 * answer for outputs that no one named.
 */
export function parseUtxoRequest(bytes: Buffer): UtxoRequest | null {
  const isSwitch = bytes[0] === 0 || bytes[0] === 1;
  const request = isSwitch ? readOrNull(bytes, true) : null;
  return request ?? readOrNull(new Writer(bytes.length + 9).varBytes(bytes).finish(), false);
}
