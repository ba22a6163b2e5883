/**
 * The rules of a header: its proof of work, and its fields relative to its parent. The chain checks that the parent is known
 * and valid; the verdicts for this are in the catalogue. Source: lbrycrd validation.cpp `CheckBlockHeader`,
 * `ContextualCheckBlockHeader`.
 */
import { powHash, type BlockHeader } from '../primitives/header.js';
import type { NetworkParams } from '../params/network.js';
import type { Bytes } from '../util/bytes.js';
import { MAX_FUTURE_BLOCK_TIME_SEC } from './limits.js';
import { satisfiesProofOfWork } from '../primitives/pow.js';
import { reject, type ValidationError } from './reject.js';

/** Checks a header's proof-of-work hash against its `bits`. This rule needs no other header. */
export function checkProofOfWork(
  proofHash: Bytes,
  bits: number,
  params: Pick<NetworkParams, 'powLimit'>,
): ValidationError | null {
  if (satisfiesProofOfWork(proofHash, bits, params.powLimit)) return null;
  return reject('high-hash', { debug: 'proof of work failed' });
}

/** Checks the proof of work of a serialized header of 112 bytes. This rule needs no other header. */
export function checkHeader(
  headerBytes: Bytes,
  bits: number,
  params: Pick<NetworkParams, 'powLimit'>,
): ValidationError | null {
  return checkProofOfWork(powHash(headerBytes), bits, params);
}

/** Context of a header: data of the chain below it. */
export interface HeaderContext {
  /** Height of the header that is checked. */
  readonly height: number;
  /** Result of `nextWorkRequired`: the `bits` that the header must have. */
  readonly requiredBits: number;
  readonly parentMedianTimeSec: number;
  /** The node's clock in seconds, adjusted by the clocks of its peers. It limits how far a header's time may be in the future. */
  readonly adjustedTimeSec: number;
  /** Height of the highest checkpoint whose header the node has; null when there is none or checkpoints are off. */
  readonly lastCheckpointHeight: number | null;
}

type VersionRules = Pick<NetworkParams, 'bip34Height' | 'bip65Height' | 'bip66Height'>;

/** Whether a version is outdated at that height: 2 is required by BIP34, 3 by BIP66, 4 by BIP65. */
function isOutdatedVersion(version: number, height: number, params: VersionRules): boolean {
  return (
    (version < 2 && height >= params.bip34Height) ||
    (version < 3 && height >= params.bip66Height) ||
    (version < 4 && height >= params.bip65Height)
  );
}

/** Checks the rules that need the header's ancestors, in the order in which the reference checks them. */
export function contextualCheckHeader(
  header: Pick<BlockHeader, 'version' | 'timeSec' | 'bits'>,
  context: HeaderContext,
  params: VersionRules,
): ValidationError | null {
  const { height } = context;
  if (header.bits !== context.requiredBits)
    return reject('bad-diffbits', { debug: 'incorrect proof of work' });
  if (context.lastCheckpointHeight !== null && height < context.lastCheckpointHeight) {
    return reject('bad-fork-prior-to-checkpoint');
  }
  if (header.timeSec <= context.parentMedianTimeSec) {
    return reject('time-too-old', { debug: "block's timestamp is too early" });
  }
  if (header.timeSec > context.adjustedTimeSec + MAX_FUTURE_BLOCK_TIME_SEC) {
    return reject('time-too-new', { debug: 'block timestamp too far in the future' });
  }
  if (isOutdatedVersion(header.version, height, params)) {
    const shown = `0x${(header.version >>> 0).toString(16).padStart(8, '0')}`;
    return reject('bad-version', { suffix: `(${shown})`, debug: `rejected nVersion=${shown} block` });
  }
  return null;
}
