/** Parses the parameters of `getblocktemplate` (BIP22, BIP23, BIP9). Source: lbrycrd rpc/mining.cpp `getblocktemplate`. */
import { isJsonNumber, type JsonObject, type JsonValue } from '../../../util/json/json.js';
import type { Slices } from '../../../util/slices.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { getInt64, getString } from '../../declare/paramTypes.js';

export interface TemplateRequest {
  readonly capabilities: ReadonlySet<string>;
  /** Names of the rules that the miner supports. */
  readonly rules: ReadonlySet<string>;
  /** Maximum block version of a miner that names no rules and thus does not support version bits; −1 for other miners. */
  readonly maxVersion: bigint;
  /** Id of the template that the miner has. If it is absent or null, the call returns immediately. */
  readonly longPollId: JsonValue | undefined;
}

/** A request for a template, or for a verdict on the proposed block in `data`. */
export type ParsedTemplateRequest =
  | { readonly mode: 'template'; readonly request: TemplateRequest }
  | { readonly mode: 'proposal'; readonly data: string };

/** Parses the request. Throws error -8 for an unknown mode, and type errors for invalid lists. */
export function* parseTemplateRequest(request: JsonObject | undefined): Slices<ParsedTemplateRequest> {
  const mode = parseMode(request?.get('mode'));
  const capabilities = yield* stringsOf(request?.get('capabilities'));
  if (mode === 'proposal') {
    const data = request?.get('data');
    if (typeof data !== 'string') {
      throw rpcError(RPC_ERROR.TYPE_ERROR, 'Missing data String key for proposal');
    }
    return { mode, data };
  }
  const rules = request?.get('rules');
  const maxVersion = request?.get('maxversion') ?? null;
  const parsed: TemplateRequest = {
    capabilities,
    rules: yield* stringsOf(rules),
    maxVersion: !Array.isArray(rules) && isJsonNumber(maxVersion) ? getInt64(maxVersion) : -1n,
    longPollId: request?.get('longpollid'),
  };
  if (mode !== 'template') throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Invalid mode');
  return { mode, request: parsed };
}

function parseMode(mode: JsonValue | undefined): string {
  if (mode === undefined || mode === null) return 'template';
  if (typeof mode !== 'string') throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Invalid mode');
  return mode;
}

/** Returns the strings of a list. A value that is not a list counts as an empty list. */
function* stringsOf(list: JsonValue | undefined): Slices<Set<string>> {
  const strings = new Set<string>();
  for (const item of Array.isArray(list) ? list : []) {
    strings.add(getString(item));
    yield;
  }
  return strings;
}
