/**
 * Splits and joins a host and a port. Source: Core utilstrencodings.cpp `SplitHostPort`, netaddress.cpp
 * `CService::ToStringIPPort`.
 */
import { isIP } from 'node:net';

/** Valid host names. Names of containers may contain `_`. */
export const HOST_NAME = /^[a-z0-9_]([a-z0-9._-]*[a-z0-9_.])?$/i;

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/**
 * Splits `host`, `host:port`, `[v6]`, `[v6]:port` or a bare IPv6 address. If the port is invalid, it remains a part of the
 * host.
 */
export function splitHostPort(text: string, defaultPort: number): HostPort {
  let host = text;
  let port = defaultPort;
  const colon = text.lastIndexOf(':');
  const bracketed = colon > 0 && text.startsWith('[') && text[colon - 1] === ']';
  const single = colon >= 0 && text.indexOf(':') === colon;
  if (bracketed || single) {
    const digits = text.slice(colon + 1);
    const number = /^[0-9]+$/.test(digits) ? Number(digits) : 0;
    if (number > 0 && number < 0x10000) {
      host = text.slice(0, colon);
      port = number;
    }
  }
  return { host: host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host, port };
}

/** Returns `host:port`, with an IPv6 address in brackets. */
export function joinHostPort({ host, port }: HostPort): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Whether a text is a host name or an address, with or without a port. */
export function isHostPort(text: string): boolean {
  const { host } = splitHostPort(text, 0);
  return isIP(host) !== 0 || HOST_NAME.test(host);
}

/** Whether a text is a host name or an IPv4 address, with or without a port. For code that splits the text at its only colon. */
export function isPlainHostPort(text: string): boolean {
  return isHostPort(text) && text.split(':').length <= 2;
}
