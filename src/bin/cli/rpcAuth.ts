/** Creates a value for the node's option `-rpcauth`: a user with a hashed password. Source: the reference's share/rpcauth. */
import { createHmac, randomBytes } from 'node:crypto';
import { CliError } from './convert.js';

const SALT_BYTES = 16;
const PASSWORD_BYTES = 32;

/** A random password, in characters that need no quoting in any shell. */
export function newPassword(): string {
  return randomBytes(PASSWORD_BYTES).toString('base64url');
}

/**
 * `<user>:<salt>$<hash>`, where the hash is the HMAC-SHA256 of the password with the salt as key. Throws `CliError` for a
 * user or password that could not be used in a call.
 */
export function rpcAuthEntry(
  user: string,
  password: string,
  salt = randomBytes(SALT_BYTES).toString('hex'),
): string {
  if (!/^[^\s:$#]+$/.test(user)) {
    throw new CliError('The user name must not be empty or contain whitespace, ":", "$" or "#"');
  }
  if (password === '') throw new CliError('The password is empty');
  return `${user}:${salt}$${createHmac('sha256', salt).update(password).digest('hex')}`;
}

/** Returns the text that the program prints for the operator. */
export function rpcAuthText(user: string, password: string): string {
  return (
    'Add this line to lbcnode.conf and restart the node:\n' +
    `rpcauth=${rpcAuthEntry(user, password)}\n` +
    `The password of ${user}, which is not stored anywhere:\n` +
    `${password}\n`
  );
}
