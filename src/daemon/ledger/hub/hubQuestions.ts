/** What the rest of the daemon asks hubs. Source: lbry-sdk lbry/wallet/network.py `resolve`, `claim_search`, `get_claim_by_id`. */
import type { HubPort } from '../ledger.js';
import { HubLie } from './hubErrors.js';
import type { HubPool } from './hubPool.js';
import type { HubParams } from './hubSession.js';

export class HubQuestions implements HubPort {
  readonly #pool: HubPool;

  constructor(pool: HubPool) {
    this.#pool = pool;
  }

  get isConnected(): boolean {
    return this.#pool.session !== null;
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

  #message(method: string, params: HubParams): Promise<Buffer> {
    return this.#pool.ask(async (session) => {
      const answer = await session.call(method, params);
      if (answer === null) return Buffer.alloc(0);
      if (typeof answer !== 'string') throw new HubLie(`The hub ${session.name} sent no outputs`);
      return Buffer.from(answer, 'base64');
    });
  }
}
