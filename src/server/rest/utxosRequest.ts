/** The posted body of `/rest/getutxos`. Source: BIP64; lbrycrd rest.cpp `rest_getutxos`. */
import { Reader, ReadError } from '../../util/reader.js';
import { Writer } from '../../util/writer.js';

/** What is asked for: outputs as 36 bytes each, and whether the mempool counts. */
export interface UtxoRequest {
  readonly checkMempool: boolean;
  readonly outPoints: readonly Buffer[];
}

const OUTPOINT_BYTES = 36;

/** Reads a switch and a list of outputs; what follows them is left. Throws `ReadError`. */
function readRequest(reader: Reader): UtxoRequest {
  const checkMempool = reader.u8() !== 0;
  const count = reader.compactSize();
  if (count * OUTPOINT_BYTES > reader.remaining) throw new ReadError('outputs are missing');
  const outPoints = Array.from({ length: count }, () => reader.view(OUTPOINT_BYTES));
  return { checkMempool, outPoints };
}

function readOrNull(bytes: Buffer, isWhole: boolean): UtxoRequest | null {
  try {
    const reader = new Reader(bytes);
    const request = readRequest(reader);
    return isWhole && reader.remaining > 0 ? null : request;
  } catch (error) {
    if (error instanceof ReadError) return null;
    throw error;
  }
}

/**
 * The bytes, not empty, as they are posted; null when they cannot be read.
 *
 * QUIRK: the reference puts the length of the body in front of it before it reads, so that the first byte of the length
 * is the switch, and the body itself begins with the number of outputs. Callers that have found this out are served as
 * there. But a body that is a request of BIP64 from its first byte to its last is taken as one: the reference would
 * answer for outputs that nobody named.
 */
export function parseUtxoRequest(bytes: Buffer): UtxoRequest | null {
  const isSwitch = bytes[0] === 0 || bytes[0] === 1;
  const request = isSwitch ? readOrNull(bytes, true) : null;
  return request ?? readOrNull(new Writer(bytes.length + 9).varBytes(bytes).finish(), false);
}
