/**
 * Resolves claims of any party through a hub. A wrong response is rejected. If a reorganisation may be the cause, the
 * request to the same hub is repeated a few times; then another hub is used. Source: lbry-sdk lbry/wallet/ledger.py
 * `resolve`, `claim_search`, `_resolve_for_local_results`, `resolve_collection`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { hashToHex } from '../../util/bytes.js';
import { boundedErrorText } from '../../util/text/errorText.js';
import type { Logger } from '../../util/logging.js';
import { parseUrl, type ClaimUrl } from '../../metadata/url.js';
import { DaemonError } from '../base/daemonError.js';
import type { HubPort, DaemonLedger } from '../ledger/ledger.js';
import { Txo } from '../txo/txo.js';
import { mayBeAt } from './claimUrls.js';
import { readHubAnswer, WrongAnswerError } from './hubAnswer.js';
import { inflate, type Inflated, type Resolved, type HubResolveFailure } from './inflate.js';
import { addOwnNotes, type Includes, type OwnNotesPort } from './ownNotes.js';

/** Source: `Ledger.resolve`. */
const URLS_AT_ONCE = 100;
/** Maximum number of claims per request. Source: maximum page size of `claim_search`. */
const CLAIMS_AT_ONCE = 50;
/** Maximum number of hubs to which a request is sent if responses are wrong. Arbitrary. */
const MAX_HUBS = 3;
/** Maximum number of repeated requests to a hub whose claim index may be behind its chain. Arbitrary. */
const ASKED_AGAIN = 3;
/**
 * Pause before the first repeated request; it doubles before each further one. Arbitrary: a hub's claim index follows its
 * node within a second.
 */
const AGAIN_MS = 150;

export interface ResolverPorts {
  readonly ledger: Pick<DaemonLedger, 'params' | 'headers' | 'transactions'> & {
    readonly hub: Pick<HubPort, 'resolve' | 'search' | 'claimById' | 'distrust'>;
    readonly database: OwnNotesPort;
  };
  readonly log: Pick<Logger, 'warn'>;
  /** Waits for a number of milliseconds. A timer by default; tests pass another function. */
  readonly pause?: (ms: number) => Promise<unknown>;
}

interface HasId {
  readonly id: string;
}

const idOf = (txo: Txo): string => hashToHex(txo.claimId!);
const isTxo = (row: Resolved): row is Txo => row instanceof Txo;

export class Resolver {
  readonly #ports: ResolverPorts;

  constructor(ports: ResolverPorts) {
    this.#ports = ports;
  }

  /**
   * Resolves URLs. The result has an entry for each URL: null for an invalid URL. `accountIds` are the accounts for whose
   * ownership notes are added.
   */
  async resolve(
    urls: readonly string[],
    accountIds: readonly string[] = [],
    includes: Includes = {},
  ): Promise<Map<string, Resolved | null>> {
    const results = new Map<string, Resolved | null>(urls.map((url) => [url, null]));
    const valid = [...results.keys()].flatMap((url) => {
      const parsed = parseUrl(url);
      return parsed === null ? [] : [{ url, parsed }];
    });
    for (let at = 0; at < valid.length; at += URLS_AT_ONCE) {
      const batch = valid.slice(at, at + URLS_AT_ONCE);
      const rows = await this.#resolveBatch(batch);
      for (const [n, { url }] of batch.entries()) results.set(url, rows[n]!);
      await addOwnNotes(rows.filter(isTxo), accountIds, includes, this.#ports.ledger.database);
    }
    return results;
  }

  async #resolveBatch(batch: readonly { url: string; parsed: ClaimUrl }[]): Promise<Resolved[]> {
    const { hub, params } = this.#ports.ledger;
    const { rows } = await this.#believed(
      () => hub.resolve(batch.map(({ url }) => url)),
      (answer) => {
        if (answer.rows.length !== batch.length)
          throw new WrongAnswerError(`${batch.length} URLs have ${answer.rows.length} answers`);
        for (const [n, row] of answer.rows.entries())
          if (isTxo(row) && !mayBeAt(batch[n]!.parsed, row))
            throw new WrongAnswerError(`${batch[n]!.url} does not resolve to claim ${idOf(row)}`);
      },
    );
    return rows.map((row, n) => {
      const { url, parsed } = batch[n]!;
      if (!isTxo(row) || parsed.channel === null || parsed.stream === null) return row;
      const { channel } = row.notes;
      if (channel && row.isSignedBy(channel, params)) return row;
      return { failure: { name: 'INVALID', text: `${url} has invalid channel signature`, censor: null } };
    });
  }

  /** Returns a page of search results. `query` has the parameters in the hub's form (`searchQuery.ts`). */
  async search(
    query: Readonly<Record<string, unknown>>,
    accountIds: readonly string[] = [],
    includes: Includes = {},
  ): Promise<Inflated> {
    const { hub, database } = this.#ports.ledger;
    const found = await this.#believed(() => hub.search(query));
    await addOwnNotes(found.rows.filter(isTxo), accountIds, includes, database);
    return found;
  }

  /** Resolves a claim id in printed form to the claim; null if no claim has it. */
  async claimById(given: string): Promise<Txo | null> {
    if (!/^[0-9a-f]{40}$/i.test(given)) return null;
    const claimId = given.toLowerCase();
    const { rows } = await this.#believed(
      () => this.#ports.ledger.hub.claimById(claimId),
      ({ rows: [row] }) => {
        if (row && isTxo(row) && idOf(row) !== claimId)
          throw new WrongAnswerError(`claim ${claimId} is not ${idOf(row)}`);
      },
    );
    return rows.find(isTxo) ?? null;
  }

  /** See `lists/resolvePort.ts`. */
  async resolveTxos(_accounts: readonly HasId[], txos: readonly Txo[]): Promise<Txo[]> {
    const urls = txos.map((txo) => (txo.claim === null ? null : ownUrl(txo)));
    const resolved = await this.resolve(urls.filter((url) => url !== null));
    const shown = txos.map((txo, n) => {
      const url = urls[n] ?? null;
      return url === null ? txo : withNotesOf(txo, resolved.get(url)!);
    });
    await this.#addSupporters(shown);
    return shown;
  }

  /** Adds the signing channel to each support that is signed. */
  async #addSupporters(txos: readonly Txo[]): Promise<void> {
    const signed = txos.filter(({ support }) => support?.channelId);
    const channelIds = [...new Set(signed.map((txo) => hashToHex(txo.channelId!)))];
    const found = await this.#searchIds(channelIds);
    for (const txo of signed) {
      const channel = found.get(hashToHex(txo.channelId!));
      if (channel) txo.notes.channel = channel;
    }
  }

  /** See `lists/resolvePort.ts`. */
  async claimsById(claimIds: readonly string[]): Promise<(Txo | null)[]> {
    try {
      const found = await this.#searchIds([...new Set(claimIds)]);
      return claimIds.map((id) => found.get(id) ?? null);
    } catch (error) {
      if (!(error instanceof DaemonError)) throw error;
      this.#ports.log.warn(`The claims of a list could not be resolved: ${error.message}`);
      return [];
    }
  }

  async #searchIds(claimIds: readonly string[]): Promise<Map<string, Txo>> {
    const found = new Map<string, Txo>();
    for (let at = 0; at < claimIds.length; at += CLAIMS_AT_ONCE) {
      const claim_ids = claimIds.slice(at, at + CLAIMS_AT_ONCE);
      const { rows } = await this.search({ claim_ids, limit: CLAIMS_AT_ONCE });
      for (const txo of rows.filter(isTxo)) found.set(idOf(txo), txo);
    }
    return found;
  }

  /**
   * Repeats a request with the same hub or another hub until `check` accepts the response. `check` throws `WrongAnswerError`
   * for a wrong response.
   */
  async #believed(
    ask: () => Promise<Buffer>,
    check: (answer: Inflated) => void = () => undefined,
  ): Promise<Inflated> {
    const { ledger, pause = sleep } = this.#ports;
    let hubs = 1;
    for (let again = 0; ; again++) {
      const bytes = await ask();
      try {
        const answer = await inflate(readHubAnswer(bytes), ledger);
        check(answer);
        return answer;
      } catch (error) {
        if (!(error instanceof WrongAnswerError)) throw error;
        if (error.mayBeHonest && again < ASKED_AGAIN) {
          await pause(AGAIN_MS * 2 ** again);
          continue;
        }
        ledger.hub.distrust(bytes, `sent impossible data about claims: ${error.message}`);
        if (hubs++ >= MAX_HUBS)
          throw new DaemonError('RPCError', `No hub gave a valid answer: ${error.message}`);
        again = -1;
      }
    }
  }
}

/**
 * URL with the complete claim id. If the claim's name is not valid in a URL, another name is used, since the id identifies
 * the claim.
 */
function ownUrl(txo: Txo): string {
  const permanent = `lbry://${txo.claimName}#${idOf(txo)}`;
  const { channel = null, stream = null } = parseUrl(permanent) ?? {};
  const only = channel === null || stream === null ? (channel ?? stream) : null;
  return only?.name === txo.claimName ? permanent : `lbry://claim#${idOf(txo)}`;
}

/** Members that represent a failure in the response. The hub's text is truncated, because it may have any length. */
export const failureMembers = ({ name, text }: HubResolveFailure): { name: string; text: string } => ({
  name,
  text: boundedErrorText(text),
});

/** Adds the data of the claim index to an output and keeps its notes of the wallet. Source: `update_annotations`. */
function withNotesOf(txo: Txo, resolved: Resolved | null): Txo {
  const { notes } = txo;
  if (resolved === null) return txo;
  if (!isTxo(resolved)) {
    const error = failureMembers(resolved.failure);
    return new Txo(txo, { ...notes, meta: { ...notes.meta, error } });
  }
  const indexed = { ...notes, ...resolved.notes };
  return new Txo(resolved, notes.channel ? { ...indexed, channel: notes.channel } : indexed);
}
