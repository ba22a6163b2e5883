/** The script verification flags of a block. Source: lbrycrd validation.cpp `GetBlockScriptFlags`, `IsScriptWitnessEnabled`. */
import type { NetworkParams } from '../params/network.js';
import { SCRIPT_VERIFY } from '../script/flags.js';
import { equalBytes, type Bytes } from '../util/bytes.js';

export interface ScriptFlagContext {
  readonly height: number;
  /** Block id, wire order; null for a candidate that has no id yet. */
  readonly blockHash: Bytes | null;
  /** Whether the deployments CSV (BIP68, BIP112, BIP113) and segwit are active for this block. */
  readonly csvActive: boolean;
  readonly segwitActive: boolean;
}

type FlagRules = Pick<NetworkParams, 'bip16Exception' | 'bip65Height' | 'bip66Height' | 'deployments'>;

/**
 * P2SH and WITNESS apply from genesis on (Bitcoin's one excepted block does not exist on this chain); the segwit height
 * activates NULLDUMMY.
 */
export function blockScriptFlags(context: ScriptFlagContext, params: FlagRules): number {
  const { height, blockHash } = context;
  const exception = params.bip16Exception;
  let flags: number = SCRIPT_VERIFY.NONE;
  if (exception === null || blockHash === null || !equalBytes(blockHash, exception)) {
    flags |= SCRIPT_VERIFY.P2SH;
    // A timeout of 0 disables the deployment completely.
    if (params.deployments.segwit.timeoutSec !== 0n) flags |= SCRIPT_VERIFY.WITNESS;
  }
  if (height >= params.bip66Height) flags |= SCRIPT_VERIFY.DERSIG;
  if (height >= params.bip65Height) flags |= SCRIPT_VERIFY.CHECKLOCKTIMEVERIFY;
  if (context.csvActive) flags |= SCRIPT_VERIFY.CHECKSEQUENCEVERIFY;
  if (context.segwitActive) flags |= SCRIPT_VERIFY.NULLDUMMY;
  return flags;
}
