/**
 * Which host names a request may ask for. A page in a browser can have its own name lead to this machine (DNS rebinding) and
 * then read what needs no password; its requests still carry that name. Numeric addresses cannot be rebound.
 */
import { isIP } from 'node:net';

/** The answer to a request for another host name. */
export const FOREIGN_HOST_TEXT =
  'This host name is not allowed. Ask for the IP address or for localhost, or allow the name by -rpcallowhost=<name>\n';

/** Names remembered as decided. Arbitrary. */
const MAX_REMEMBERED = 64;

export class HostNames {
  private readonly allowed: ReadonlySet<string>;
  private readonly allowsAll: boolean;
  /** `Host` headers that were accepted, since most callers send the same one. */
  private readonly good = new Set<string>();

  /** The names of `-rpcallowhost` (`*` for any) and those that `-rpcbind` names. */
  constructor(names: readonly string[]) {
    this.allowed = new Set(['localhost', ...names].map(plainName));
    this.allowsAll = names.includes('*');
  }

  /** Whether a `Host` header is fine; one that is missing is. */
  allows(header: string | undefined): boolean {
    if (header === undefined || this.allowsAll || this.good.has(header)) return true;
    const host = hostOf(header);
    if (host !== '' && isIP(host) === 0 && !this.allowed.has(host)) return false;
    if (this.good.size < MAX_REMEMBERED) this.good.add(header);
    return true;
  }
}

/** The host without port, brackets and zone, in lower case. */
function hostOf(header: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(header.trim());
  if (bracketed) return (bracketed[1] ?? '').split('%', 1)[0] ?? '';
  return plainName(header.trim().replace(/:\d*$/, ''));
}

/** Name in the form for comparison, without a final dot. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}
