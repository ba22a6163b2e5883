/** Identity of a chain state: the network and the rules by which it was computed. Stored in the data folder and in snapshots. */
import type { FolderIdentity } from '../../chain/open/folderIdentity.js';
import type { NetworkParams } from '../../params/network.js';
import type { LoadedOptions } from '../options/options.js';

export function folderIdentity(loaded: LoadedOptions): FolderIdentity {
  const { params, derived } = loaded;
  return {
    network: params.name,
    supportDelay: supportDelayOf(loaded),
    claimRules: JSON.stringify(params.claimForks),
    scriptForks: scriptForksOf(params),
    proofWindow: String(derived.claimProofWindowBlocks),
  };
}

/** Returns the rule for the activation delay of supports: `proportional`, or a fixed number of blocks. */
export function supportDelayOf(loaded: LoadedOptions): string {
  const given = loaded.options.supportdelay;
  if (loaded.network !== 'regtest') return 'proportional';
  return given ?? '100';
}

/** Returns the activation heights of script rules, which regtest can change, as text. */
function scriptForksOf({ segwitHeight, bip34Height, bip65Height, bip66Height }: NetworkParams): string {
  return JSON.stringify({ segwit: segwitHeight, bip34: bip34Height, bip65: bip65Height, bip66: bip66Height });
}
