/**
 * Allowed host names of requests. With DNS rebinding a web page can make its own host name resolve to this machine, and read
 * data that needs no password. The page's requests still contain that name in the `Host` header. Numeric addresses cannot be
 * rebound.
 */
import { isIP } from 'node:net';

/** The response to a request for a host name that is not allowed. */
export const FOREIGN_HOST_TEXT =
  'This host name is not allowed. Ask for the IP address or for localhost, or allow the name by -rpcallowhost=<name>\n';

/** Maximum number of cached `Host` headers. Arbitrary: bounds the memory. */
const MAX_REMEMBERED = 64;

export class HostNames {
  private readonly allowed: ReadonlySet<string>;
  private readonly allowsAll: boolean;
  /** Cache of accepted `Host` headers, because most clients send the same header each time. */
  private readonly good = new Set<string>();

  /** Creates the check. `names` are the host names of `-rpcallowhost` (`*` for any) and of `-rpcbind`. */
  constructor(names: readonly string[]) {
    this.allowed = new Set(['localhost', ...names].map(plainName));
    this.allowsAll = names.includes('*');
  }

  /** Whether a `Host` header is allowed. A missing header is allowed. */
  allows(header: string | undefined): boolean {
    if (header === undefined || this.allowsAll || this.good.has(header)) return true;
    const host = hostOf(header);
    if (host !== '' && isIP(host) === 0 && !this.allowed.has(host)) return false;
    if (this.good.size < MAX_REMEMBERED) this.good.add(header);
    return true;
  }
}

/** Host name in a `Host` header: lower case, without port, brackets and IPv6 zone. */
function hostOf(header: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(header.trim());
  if (bracketed) return (bracketed[1] ?? '').split('%', 1)[0] ?? '';
  return plainName(header.trim().replace(/:\d*$/, ''));
}

/** A host name in the form for comparison: lower case, without a final dot. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}
