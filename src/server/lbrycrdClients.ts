/**
 * Recognizes programs that were written for lbrycrd but call the default profile. In the default profile, responses about
 * claims have different names and units, so these programs do not find the values and use zeros. The module logs one line
 * about this, and does not change responses.
 */
import { decodeUtf8 } from '../util/json/jsonParse.js';
import type { Logger } from '../util/logging.js';

/** Methods whose results differ between the profiles. */
const METHODS: ReadonlySet<string> = new Set([
  'getclaimsforname',
  'getclaimbyid',
  'getclaimbybid',
  'getclaimbyseq',
  'getvalueforname',
  'getclaimsfortx',
  'getclaimsintrie',
  'getchangesinblock',
  'supportclaim',
]);
const METHOD = new RegExp(`"method":\\s?"(${[...METHODS].join('|')})"`);
/** Request body of lbrycrd-cli, as `JSONRPCRequestObj` writes it. lbrycrd-cli sends no User-Agent header. */
const CLI_BODY = /^\{"method":"\w+","params":[^]*,"id":1\}\n$/;
/**
 * User-Agent of Go's HTTP client. chainquery, which needs the lbrycrd profile, uses this client. Source: chainquery
 * lbrycrd/client.go.
 */
const GO_CLIENT = 'Go-http-client/';
/** Maximum size of a request body that is checked. A single call about a claim is short. */
const MAX_LOOKED_AT_BYTES = 4096;

export class LbrycrdClients {
  private readonly logger: Logger;
  private wasLogged = false;

  constructor(logger: Logger) {
    this.logger = logger;
  }

  /** Whether `look` may log a call of this method by this client. */
  concerns(method: string, agent: string | undefined): boolean {
    return !this.wasLogged && METHODS.has(method) && (agent === undefined || agent.startsWith(GO_CLIENT));
  }

  /** Checks whether a call of the default profile comes from a client of lbrycrd; `agent` is its User-Agent header. */
  look(agent: string | undefined, body: Uint8Array): void {
    if (this.wasLogged || body.length > MAX_LOOKED_AT_BYTES) return;
    if (agent !== undefined && !agent.startsWith(GO_CLIENT)) return;
    const text = decodeUtf8(body) ?? '';
    const method = METHOD.exec(text)?.[1];
    if (method === undefined || (agent === undefined && !CLI_BODY.test(text))) return;
    this.wasLogged = true;
    const program = agent === undefined ? 'lbrycrd-cli' : 'a program written in Go, such as chainquery';
    this.logger.info(
      `${method} was called by what seems to be ${program}. A client of lbrycrd needs -compat=lbrycrd or ` +
        'the path /lbrycrd: results of the default profile have other names and units. -compat=documented ' +
        'turns this message off',
    );
  }
}
