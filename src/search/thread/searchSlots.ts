/** Distributes the searches of clients fairly over slots. Each search thread or connection is a slot. */
import { FairSlots, type FairSlotsOptions, type SlotErrors } from '../../scheduler/fairSlots.js';
import type { BackendPage } from '../searchBackend.js';
import { SearchError } from '../query/searchError.js';
import type { SearchQuery } from '../query/searchQuery.js';

const ERRORS: SlotErrors = {
  closed: () => new SearchError('unavailable', 'The search index is closed'),
  full: () => new SearchError('unavailable', 'Too many searches are waiting'),
  timeout: () => new SearchError('timeout', 'query timed out'),
  isTimeout: (error) => error instanceof SearchError && error.kind === 'timeout',
};

export class SearchSlots<Slot> extends FairSlots<Slot, SearchQuery, BackendPage> {
  /** Creates the queue. `run` executes a search in a slot and must end within the remaining time of the search. */
  constructor(
    slots: readonly Slot[],
    options: FairSlotsOptions,
    run: (slot: Slot, query: SearchQuery, leftMs: number) => Promise<BackendPage>,
  ) {
    super(slots, options, ERRORS, run);
  }

  /** Runs a search when a slot is free. `by` identifies the client for fair scheduling. */
  search(query: SearchQuery, by: object): Promise<BackendPage> {
    return this.do(query, by);
  }
}
