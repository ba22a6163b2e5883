/** The parameters of `getblocktemplate` (BIP22, BIP23, BIP9). Source: lbrycrd rpc/mining.cpp `getblocktemplate`. */
import { isJsonNumber, type JsonObject, type JsonValue } from '../../../util/json/json.js';
import type { Slices } from '../../../util/slices.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { getInt64, getString } from '../../declare/paramTypes.js';

export interface TemplateRequest {
  readonly capabilities: ReadonlySet<string>;
  /** Deployments that the miner supports. */
  readonly rules: ReadonlySet<string>;
  /** Maximum block version of a miner without version bits support (it names no rules); -1 for others. */
  readonly maxVersion: bigint;
  /** Absent or null: return at once. */
  readonly longPollId: JsonValue | undefined;
}

/** Requests a template, or a verdict on the block in `data`. */
export type ParsedRequest =
  | { readonly mode: 'template'; readonly request: TemplateRequest }
  | { readonly mode: 'proposal'; readonly data: string };

/** Throws error -8 for an unknown mode, and the errors of wrong types in lists. */
export function* parseTemplateRequest(request: JsonObject | undefined): Slices<ParsedRequest> {
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

/** The strings of a list; any other value counts as an empty list. */
function* stringsOf(list: JsonValue | undefined): Slices<Set<string>> {
  const strings = new Set<string>();
  for (const item of Array.isArray(list) ? list : []) {
    strings.add(getString(item));
    yield;
  }
  return strings;
}
