/**
 * Requests that other modules of the daemon send to a hub. Source: lbry-sdk lbry/wallet/network.py `resolve`,
 * `claim_search`, `get_claim_by_id`.
 */
import type { HubPort } from '../ledger.js';
import { HubLie } from './hubErrors.js';
import type { HubPool } from './hubPool.js';
import type { HubParams, HubSession } from './hubSession.js';

export class HubQuestions implements HubPort {
  readonly #pool: HubPool;
  /** For each response the hub that sent it, so that the hub can be distrusted if the response proves invalid. */
  readonly #sources = new WeakMap<Buffer, HubSession>();

  constructor(pool: HubPool) {
    this.#pool = pool;
  }

  get isConnected(): boolean {
    return this.#pool.connection !== null;
  }

  resolve(urls: readonly string[]): Promise<Buffer> {
    return this.#message('blockchain.claimtrie.resolve', urls);
  }

  search(query: Readonly<Record<string, unknown>>): Promise<Buffer> {
    return this.#message('blockchain.claimtrie.search', query);
  }

  claimById(claimId: string): Promise<Buffer> {
    return this.#message('blockchain.claimtrie.getclaimbyid', [claimId]);
  }

  call(method: string, params: HubParams): Promise<unknown> {
    return this.#pool.call(method, params);
  }

  distrust(answer: Buffer, reason: string): void {
    const session = this.#sources.get(answer);
    if (session?.isOpen)
      this.#pool.blame(session, new HubLie(`The hub ${session.name} sent invalid data: it ${reason}`));
  }

  #message(method: string, params: HubParams): Promise<Buffer> {
    return this.#pool.ask(async (session) => {
      const answer = await session.call(method, params);
      if (answer !== null && typeof answer !== 'string')
        throw new HubLie(`The hub ${session.name} sent no outputs`);
      const message = Buffer.from(answer ?? '', 'base64');
      this.#sources.set(message, session);
      return message;
    });
  }
}
