/** Context for formatting scripts and outputs, according to the node's options. */
import type { Profile } from '../declare/method.js';
import { addressPrefixes } from './addresses.js';
import { ClaimMetadata, type MetadataDeps } from './claimMetadata.js';
import type { ScriptContext } from './script.js';

/** Script context for one answer. */
export function scriptContextOf(deps: MetadataDeps, profile: Profile): ScriptContext {
  return { prefixes: addressPrefixes(deps.params), profile, metadata: ClaimMetadata.of(deps) };
}
