/**
 * Hubs that other hubs announced, with their reported countries, in a file of the wallet folder (`known_hubs.yml`, as in
 * lbry-sdk). Unless the settings name hubs, they are used together with the defaults. The file is optional: a corrupt one is
 * reported and rebuilt. Source: lbry-sdk lbry/conf.py `KnownHubsList`, lbry/wallet/network.py `_update_hubs`.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { parse, stringify } from 'yaml';
import { failureReason } from '../../../util/text/environmentError.js';
import { HOST_NAME, joinHostPort, splitHostPort, type HostPort } from '../../../util/network/hostPort.js';
import type { Logger } from '../../../util/logging.js';
import { refuseSpecialFile } from '../../../util/files/specialFile.js';

/** Maximum number of known hubs. Arbitrary: more than have ever existed, and few enough to ping all of them. */
const MAX_HUBS = 128;
/** Maximum length of a host name in characters. Source: RFC 1035, 2.3.4. */
const MAX_HOST_LENGTH = 253;

/** Parses `host:port` with one colon, as in the reference. Returns null for anything else. */
function serverOf(text: unknown): HostPort | null {
  if (typeof text !== 'string' || text.split(':').length !== 2) return null;
  const server = splitHostPort(text, 0);
  const isHost = isIP(server.host) === 4 || HOST_NAME.test(server.host);
  return server.port > 0 && isHost && server.host.length <= MAX_HOST_LENGTH ? server : null;
}

export class KnownHubs {
  readonly #path: string;
  readonly #log: Pick<Logger, 'warn' | 'info'>;
  /** Entries of the file by server, as `host:port`. */
  readonly #hubs = new Map<string, { readonly server: HostPort; country: string | null }>();

  /** Reads the file. If the file is missing or corrupt, no hubs are known; corruption is logged. */
  constructor(path: string, log: Pick<Logger, 'warn' | 'info'>) {
    this.#path = path;
    this.#log = log;
    this.#load();
  }

  get servers(): readonly HostPort[] {
    return [...this.#hubs.values()].map(({ server }) => server);
  }

  #load(): void {
    let text: string;
    try {
      refuseSpecialFile(this.#path);
      text = readFileSync(this.#path, 'utf8');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT')
        this.#log.warn(`The file of known hubs ${this.#path} cannot be read: ${failureReason(error)}`);
      return;
    }
    try {
      const hubs: unknown = parse(text);
      if (typeof hubs !== 'object' || hubs === null || Array.isArray(hubs))
        throw new Error('it contains no hubs');
      for (const [name, details] of Object.entries(hubs as Record<string, unknown>)) {
        if (!this.#take(name)) continue;
        const country = (details as { country?: unknown } | null)?.country;
        if (typeof country === 'string') this.#hubs.get(name)!.country = country;
      }
    } catch (error) {
      const [reason = ''] = (error as Error).message.split('\n');
      this.#log.warn(`The file of known hubs ${this.#path} is corrupt and will be rebuilt: ${reason}`);
    }
  }

  /** Adds an entry from the file. Returns whether the entry is new. */
  #take(text: unknown): boolean {
    const server = serverOf(text);
    if (server === null || this.#hubs.size >= MAX_HUBS) return false;
    const name = joinHostPort(server);
    if (name !== text || this.#hubs.has(name)) return false;
    this.#hubs.set(name, { server, country: null });
    return true;
  }

  /**
   * Adds hubs that another hub announced. Entries without the form `host:port` are ignored. The file of known hubs is
   * written before the call returns.
   */
  add(names: unknown): void {
    if (!Array.isArray(names)) return;
    const added = names.filter((name) => this.#take(name));
    if (added.length === 0) return;
    this.#log.info(`New hubs are known: ${added.join(', ')}`);
    this.#save();
  }

  /** Records the country of a hub. The country is written to the file together with the next change. */
  setCountry(server: HostPort, country: string): void {
    const known = this.#hubs.get(joinHostPort(server));
    if (known) known.country = country;
  }

  #save(): void {
    const members = [...this.#hubs].map(([name, { country }]) => [name, country === null ? {} : { country }]);
    const fresh = `${this.#path}.new`;
    try {
      refuseSpecialFile(fresh);
      writeFileSync(fresh, stringify(Object.fromEntries(members), { version: '1.1' }));
      renameSync(fresh, this.#path);
    } catch (error) {
      this.#log.warn(`The known hubs could not be saved: ${(error as Error).message}`);
    }
  }
}
