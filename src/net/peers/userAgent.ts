/**
 * Characters that are removed from the user agents of this node and of peers. Source: Core utilstrencodings.cpp
 * `SanitizeString`.
 */

const UNSAFE = /[^A-Za-z0-9 .,;\-_/:?@()]/g;

/** The user agent without characters that could harm a log or a terminal. */
export function cleanUserAgent(userAgent: string): string {
  return userAgent.replace(UNSAFE, '');
}
