/**
 * Formats of option values that are not numbers. The options table assigns a format to each option (`optionRow.ts`). Only
 * the text is checked. Files, host names and networks are resolved by the code that uses them.
 */
import { isIP } from 'node:net';
import { parseHost, parseNetAddress } from '../../net/netAddress.js';
import { HOST_NAME, isHostPort, isPlainHostPort } from '../../util/network/hostPort.js';
import { Subnet } from '../../util/network/subnet.js';
import { isInteger, OptionError } from './optionArgs.js';
import type { OptionFormat } from './optionRow.js';

interface Format {
  /** Description of the format. The text completes the sentence "it must be …". */
  readonly expects: string;
  readonly accepts: (text: string) => boolean;
  /** Error text of the reference, if the reference has one for this format. */
  readonly refusal?: (name: string, text: string) => string;
}

/** Matches a comment of the user agent with allowed characters only. Source: `SAFE_CHARS_UA_COMMENT`. */
const SAFE_COMMENT = /^[a-zA-Z0-9 .,;\-_?@]*$/;
/** Networks of `-onlynet`; `tor` is an alias of `onion`. Source: `ParseNetwork`. */
const NETWORK_NAMES = ['ipv4', 'ipv6', 'onion', 'tor'];
const BLOCK_HASH = /^(0x)?[0-9a-f]{1,64}$/i;
const SHA256 = /^[0-9a-f]{64}$/i;
const CHAIN_WORK = /^(0x)?[0-9a-f]+$/i;
/**
 * Matches `<user>:<salt>$<HMAC-SHA256 in hex>`. The hex digits must be in lower case, as the reference's script writes them,
 * because the hash is compared as text.
 */
const RPC_AUTH = /^[^:$]+:[^:$]+\$[0-9a-f]{64}$/;

/** Matches a country: two letters, or three digits with an optional R, as in the hub's protocol messages. */
const COUNTRY = /^([a-z]{2}|r?[0-9]{3})$/i;
const CLAIM_IDS = /^[0-9a-f]{40}(,[0-9a-f]{40})*$/i;
/** Matches a schema name without quotes. Source: PostgreSQL's documentation, 4.1.1. */
const SCHEMA_NAME = /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/i;
/** Matches an amount in LBC with up to eight decimals. */
const DECIMAL = /^[0-9]{1,10}(\.[0-9]{1,8})?$/;

const anything = (): boolean => true;
const A_HOST = 'a host as <name>, <ip>, <host>:<port> or [<ipv6>]:<port>';

function isPattern(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether ZeroMQ can bind to the endpoint in the text. */
function isZmqAddress(text: string): boolean {
  const match = /^([a-z]+):\/\/(.+)$/.exec(text);
  if (match === null) return false;
  if (match[1] !== 'tcp') return true;
  const port = /:(\*|[0-9]{1,5})$/.exec(match[2]!)?.[1];
  return port !== undefined && (port === '*' || Number(port) <= 0xffff);
}

/** Whether the text is a PostgreSQL URL. The host may be missing, because `?host=` may name a socket. */
function isPostgresUrl(text: string): boolean {
  const rest = /^postgres(?:ql)?:\/\/(.*)$/.exec(text)?.[1];
  return (
    rest !== undefined && URL.canParse(`http://${rest.replace(/^(?:[^@/?#]*@)?(?=[/?]|$)/, 'localhost')}`)
  );
}

export const OPTION_FORMATS: Readonly<Record<OptionFormat, Format>> = {
  address: {
    expects: 'an IP address with or without a port',
    accepts: (text) => parseNetAddress(text, 0) !== null,
    refusal: (name, text) => `Cannot resolve -${name} address: '${text}'`,
  },
  bindHost: {
    expects: 'an IP address without a port, or localhost',
    accepts: (text) => isIP(text) !== 0 || text === 'localhost',
  },
  blockHash: {
    expects: 'the hash of a block in hex, or 0 for none',
    accepts: (text) => BLOCK_HASH.test(text),
  },
  chainWork: {
    expects: 'a number in hex',
    accepts: (text) => CHAIN_WORK.test(text),
    refusal: (_name, text) => `Invalid non-hex (${text}) minimum chain work value specified`,
  },
  claimIds: {
    expects: 'claim ids of 40 hex digits, separated by commas',
    accepts: (text) => CLAIM_IDS.test(text),
  },
  command: { expects: 'a command', accepts: anything },
  country: {
    expects: 'a country code of two letters, or a region code of three digits',
    accepts: (text) => COUNTRY.test(text),
  },
  decimal: { expects: 'an amount of LBC', accepts: (text) => DECIMAL.test(text) },
  externalHost: {
    expects: A_HOST,
    accepts: isHostPort,
    refusal: (name, text) => `Cannot resolve -${name} address: '${text}'`,
  },
  hostName: {
    expects: 'a host name without a port, or * for any',
    accepts: (text) => text === '*' || isIP(text.replace(/^\[(.*)\]$/, '$1')) !== 0 || HOST_NAME.test(text),
  },
  hostPort: { expects: A_HOST, accepts: isHostPort },
  // More than one colon is not allowed, because clients ignore such entries.
  hubPeer: { expects: 'a host as <name>, <ipv4> or either with :<port>', accepts: isPlainHostPort },
  logCategory: { expects: 'a category of the log', accepts: anything },
  network: {
    expects: NETWORK_NAMES.join(', '),
    accepts: (text) => NETWORK_NAMES.includes(text.toLowerCase()),
    refusal: (name, text) => `Unknown network specified in -${name}: '${text}'`,
  },
  override: { expects: 'an override for regtest', accepts: anything },
  path: {
    expects: 'a path',
    accepts: (text) => text !== '' && !text.includes('\0'),
  },
  pattern: { expects: 'a regular expression', accepts: isPattern },
  payoutAddress: { expects: 'an address', accepts: anything },
  peer: { expects: `${A_HOST}, or 0 for none`, accepts: isHostPort },
  postgresUrl: {
    expects: 'the address of a PostgreSQL database',
    accepts: (text) => text === '' || isPostgresUrl(text),
    // The message omits the value, because the value may contain a password.
    refusal: (name) => `Invalid -${name}: it must be postgres://user:password@host:port/database`,
  },
  proofWindow: {
    expects: 'a number of blocks, or all',
    accepts: (text) => text === 'all' || /^[0-9]{1,10}$/.test(text),
  },
  proxy: {
    expects: `${A_HOST}, or 0 for none`,
    accepts: (text) => text === '' || isHostPort(text),
    refusal: (name, text) => `Invalid -${name} address or hostname: '${text}'`,
  },
  replacement: {
    expects: '1, 0, fee or never',
    accepts: (text) => text === '' || text === 'never' || isInteger(text) || text.split(',').includes('fee'),
  },
  rpcAllowIp: {
    expects: 'an address or a network',
    accepts: (text) => Subnet.parse(text) !== null,
    refusal: (name, text) =>
      `Invalid -${name} subnet specification: ${text}. Valid are a single IP (e.g. 1.2.3.4), a network/netmask ` +
      '(e.g. 1.2.3.4/255.255.255.0) or a network/CIDR (e.g. 1.2.3.4/24).',
  },
  rpcAuth: {
    expects: '<user>:<salt>$<hash>, where the hash has 64 lower-case hex digits',
    accepts: (text) => RPC_AUTH.test(text),
    // The message omits the value, because the operator may have given a password by mistake.
    refusal: (name) => `Invalid -${name}: not <user>:<salt>$<hash> (see lbcnode-cli -makerpcauth)`,
  },
  schemaName: {
    expects: 'a name of up to 63 letters, digits and _ that does not begin with a digit or pg_',
    accepts: (text) => text === '' || SCHEMA_NAME.test(text),
  },
  sha256: {
    expects: 'a SHA-256 as 64 digits of hex',
    accepts: (text) => SHA256.test(text),
  },
  subnet: {
    expects: 'an address or a network',
    accepts: (text) => Subnet.parse(text, parseHost) !== null,
    refusal: (name, text) => `Invalid netmask specified in -${name}: '${text}'`,
  },
  text: { expects: 'a text', accepts: anything },
  userAgentComment: {
    expects: 'a comment',
    accepts: (text) => SAFE_COMMENT.test(text),
    refusal: (_name, text) => `User Agent comment (${text}) contains unsafe characters.`,
  },
  zmqAddress: {
    expects: 'an endpoint of ZeroMQ as tcp://<ip>:<port> or ipc://<path>',
    accepts: isZmqAddress,
  },
};

/** Throws an `OptionError` if the value has the wrong format. */
export function checkFormat(name: string, format: OptionFormat, text: string): void {
  const { expects, accepts, refusal } = OPTION_FORMATS[format];
  if (accepts(text)) return;
  const said = refusal?.(name, text) ?? `Invalid value -${name}=${text}, it must be ${expects}`;
  throw new OptionError(said);
}
