/** Context for formatting scripts and outputs, derived from the node's options. */
import type { Profile } from '../declare/method.js';
import { addressPrefixes } from './addresses.js';
import { ShownMetadata, type MetadataDeps } from './claimMetadata.js';
import type { ScriptContext } from './script.js';

/** Creates the context with which the scripts of one RPC result are formatted. */
export function scriptContextOf(deps: MetadataDeps, profile: Profile): ScriptContext {
  return { prefixes: addressPrefixes(deps.params), profile, metadata: ShownMetadata.of(deps) };
}
