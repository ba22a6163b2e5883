/** Parses and formats PSBTs in arguments and results. Source: Core 0.17 core_read.cpp `DecodePSBT`. */
import type { Transaction } from '../../../primitives/transaction.js';
import { decodeBase64InSlices } from '../../../signing/base64.js';
import type { Psbt } from '../../../signing/psbt.js';
import {
  formatBarePsbtInSlices,
  formatPsbtInSlices,
  parsePsbtInSlices,
  PsbtError,
  PsbtExtraDataError,
} from '../../../signing/psbtCodec.js';
import { inSlices } from '../../../scheduler/slices.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';

/**
 * Parses a PSBT in base64. Throws error -22 with the reference's message if it is invalid. If the base64 is invalid, the
 * data before the first invalid character is used.
 */
export async function requirePsbt(text: string): Promise<Psbt> {
  try {
    const { bytes } = await inSlices(decodeBase64InSlices(text));
    return await inSlices(parsePsbtInSlices(bytes));
  } catch (error) {
    if (!(error instanceof PsbtError)) throw error;
    const suffix = error instanceof PsbtExtraDataError ? '' : ': iostream error';
    throw rpcError(RPC_ERROR.DESERIALIZATION_ERROR, `TX decode failed ${error.message}${suffix}`);
  }
}

export async function psbtText(psbt: Psbt): Promise<string> {
  return (await inSlices(formatPsbtInSlices(psbt))).toString('base64');
}

/** Returns a PSBT that contains only the transaction, without its scripts and witnesses. */
export async function barePsbtText(tx: Transaction): Promise<string> {
  return (await inSlices(formatBarePsbtInSlices(tx))).toString('base64');
}
