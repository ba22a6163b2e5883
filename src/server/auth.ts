/**
 * Authentication of RPC clients: compares HTTP Basic credentials with the cookie or `-rpcuser`/`-rpcpassword`, and with
 * `-rpcauth` entries. Creates the cookie file at the start of the server and removes it at the end. Source: `RPCAuthorized`,
 * `multiUserAuthorized`, `GenerateAuthCookie`.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { EnvironmentError, systemErrorCode, systemErrorReason } from '../util/text/environmentError.js';
import type { Logger } from '../util/logging.js';
import { isSpecialFile } from '../util/files/specialFile.js';

const COOKIE_USER = '__cookie__';

export interface AuthOptions {
  readonly user: string;
  /** Password of `-rpcpassword`. If empty, a cookie is created instead. */
  readonly password: string;
  /** Entries of `-rpcauth`: `<user>:<salt>$<HMAC-SHA256 of the password in hex>`. Entries in another format are ignored. */
  readonly rpcAuth: readonly string[];
  /** Absolute path of the cookie file. */
  readonly cookieFile: string;
  /** Whether the permissions of the cookie file follow the umask (`-sysperms`). Otherwise only its owner can read it. */
  readonly cookieFollowsUmask?: boolean;
}

/** Result of checking an `Authorization` header. `user` is empty if the credentials have no user name. */
export interface AuthVerdict {
  readonly ok: boolean;
  readonly user: string;
}

/** Maximum number of cached valid `Authorization` headers, one per user. Arbitrary. */
const MAX_REMEMBERED = 8;

export class Authenticator {
  private readonly options: AuthOptions;
  private readonly logger: Logger;
  /** Cache of valid headers, which are accepted without hashing. */
  private readonly remembered: { readonly header: string; readonly verdict: AuthVerdict }[] = [];
  private credentials = '';
  private cookie: string | null = null;
  /** The `Authorization` header that contains the cookie; null without a cookie. */
  private cookieHeader: string | null = null;

  constructor(options: AuthOptions, logger: Logger) {
    this.options = options;
    this.logger = logger;
  }

  /** Prepares the credentials. Writes the cookie file if no password is set. */
  async open(): Promise<void> {
    const { user, password, cookieFile, cookieFollowsUmask } = this.options;
    if (password !== '') {
      this.credentials = `${user}:${password}`;
      return;
    }
    this.logger.info('No rpcpassword set - using random cookie authentication.');
    const cookie = `${COOKIE_USER}:${randomBytes(32).toString('hex')}`;
    const temporary = `${cookieFile}.tmp`;
    try {
      // An existing temporary file is removed first, because writing to it would keep its access mode.
      await rm(temporary, { force: true });
      await writeFile(temporary, cookie, { mode: cookieFollowsUmask === true ? 0o666 : 0o600 });
      await rename(temporary, cookieFile);
    } catch (error) {
      const code = systemErrorCode(error);
      if (code === null) throw error;
      await rm(temporary, { force: true }).catch(() => undefined);
      // Selects the path for the error message. With EISDIR, a folder has the name of the temporary file or of the cookie
      // file; all other errors concern their folder.
      const renaming = (error as NodeJS.ErrnoException).syscall === 'rename';
      const path = code === 'EISDIR' && !renaming ? temporary : cookieFile;
      throw new EnvironmentError(
        `The RPC authentication cookie ${path} cannot be written: ${systemErrorReason(code)} (${code}). Its ` +
          'folder must exist and be writable: correct -rpccookiefile, or use -rpcuser and -rpcpassword.',
        { cause: error },
      );
    }
    this.logger.info(`Generated RPC authentication cookie ${cookieFile}`);
    this.credentials = cookie;
    this.cookie = cookie;
    this.cookieHeader = `Basic ${Buffer.from(cookie).toString('base64')}`;
  }

  /** Removes the cookie file, unless another node has replaced it. */
  async close(): Promise<void> {
    if (this.cookie === null) return;
    const { cookieFile } = this.options;
    if (isSpecialFile(cookieFile)) return;
    const present = await readFile(cookieFile, 'utf8').catch(() => null);
    if (present === this.cookie) await rm(cookieFile, { force: true });
    this.cookie = null;
  }

  /**
   * Whether a header contains the cookie, in the form in which clients write it. The cookie has 256 random bits, so failed
   * attempts need no delay. The comparison may reveal the length of the cookie, because it is public.
   */
  isCookie(header: string): boolean {
    const right = this.cookieHeader;
    return right !== null && header.length === right.length && equalTexts(header, right);
  }

  check(header: string): AuthVerdict {
    for (const { header: right, verdict } of this.remembered) if (equalTexts(header, right)) return verdict;
    const verdict = this.verify(header);
    if (verdict.ok && this.remembered.length < MAX_REMEMBERED) this.remembered.push({ header, verdict });
    return verdict;
  }

  private verify(header: string): AuthVerdict {
    if (this.credentials === '' || !header.startsWith('Basic ')) return { ok: false, user: '' };
    const given = Buffer.from(header.slice(6).trim(), 'base64');
    const colon = given.indexOf(0x3a);
    const user = colon < 0 ? '' : given.toString('utf8', 0, colon);
    if (equalSecrets(given, Buffer.from(this.credentials))) return { ok: true, user };
    if (colon < 0) return { ok: false, user };
    const password = given.subarray(colon + 1);
    return { ok: this.options.rpcAuth.some((entry) => matchesRpcAuth(entry, user, password)), user };
  }
}

function matchesRpcAuth(entry: string, user: string, password: Buffer): boolean {
  const fields = entry.split(/[:$]/);
  const [name, salt, hash] = fields;
  if (fields.length !== 3 || name === undefined || salt === undefined || hash === undefined) return false;
  if (!equalSecrets(Buffer.from(name), Buffer.from(user))) return false;
  const computed = createHmac('sha256', salt).update(password).digest('hex');
  return equalSecrets(Buffer.from(computed), Buffer.from(hash));
}

/**
 * Compares two texts. The time depends only on the length of the given text and does not reveal where the texts differ.
 * Source: `TimingResistantEqual`.
 */
function equalTexts(given: string, right: string): boolean {
  let difference = given.length ^ right.length;
  for (let i = 0; i < given.length; i++)
    difference |= given.charCodeAt(i) ^ right.charCodeAt(i % right.length);
  return difference === 0;
}

/** Compares two secrets. The time reveals neither where they differ nor whether their lengths differ. */
function equalSecrets(a: Buffer, b: Buffer): boolean {
  const digest = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();
  return timingSafeEqual(digest(a), digest(b)) && a.length === b.length;
}
