/** PSBTs as callers send and get them. Source: Core 0.17 core_read.cpp `DecodePSBT`. */
import { decodeBase64 } from '../../../signing/base64.js';
import type { Psbt } from '../../../signing/psbt.js';
import { formatPsbt, parsePsbt, PsbtError, PsbtExtraDataError } from '../../../signing/psbtCodec.js';
import { RPC_ERROR, rpcError } from '../../errors.js';

/** -22 with the reference's account of what is wrong. Bad base64 counts up to its first bad character. */
export function requirePsbt(text: string): Psbt {
  try {
    return parsePsbt(decodeBase64(text).bytes);
  } catch (error) {
    if (!(error instanceof PsbtError)) throw error;
    const suffix = error instanceof PsbtExtraDataError ? '' : ': iostream error';
    throw rpcError(RPC_ERROR.DESERIALIZATION_ERROR, `TX decode failed ${error.message}${suffix}`);
  }
}

export function psbtText(psbt: Psbt): string {
  return formatPsbt(psbt).toString('base64');
}
