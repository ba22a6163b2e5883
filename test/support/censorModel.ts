/** A naive model of censoring by lists of channels (loops over documents), and random lists. */
import type { CensorLists } from '../../src/search/hits/censor.js';
import { modelSearch, type ModelDocument, type ModelSearch, type Random } from './claimSearchModel.js';

interface Censored {
  readonly type: 1 | 2;
  readonly channelId: string;
}

export class ModelCensor {
  private readonly lists: CensorLists;
  private readonly documents: readonly ModelDocument[];
  private readonly known = new Map<ModelDocument, Censored | null>();

  constructor(lists: CensorLists, documents: readonly ModelDocument[]) {
    this.lists = lists;
    this.documents = documents;
  }

  /** The list and the channel that censor a document. Blocked channels take precedence over filtered channels. */
  of(document: ModelDocument): Censored | null {
    let known = this.known.get(document);
    if (known === undefined) this.known.set(document, (known = this.find(document)));
    return known;
  }

  private find({ claimId, repostedId, channelId }: ModelDocument): Censored | null {
    for (const [type, listed] of [
      [2, this.lists.blocking],
      [1, this.lists.filtering],
    ] as const) {
      for (const [target, asChannel] of [
        [claimId, false],
        [repostedId, false],
        [channelId, true],
      ] as const) {
        const by = target && listed.find((channel) => this.reposts(channel, target, asChannel));
        if (by) return { type, channelId: by };
      }
    }
    return null;
  }

  /** Whether a live claim that the channel signed reposts the target. With `asChannel` the target must be a channel. */
  private reposts(channel: string, target: string, asChannel: boolean): boolean {
    const name = this.documents.find(({ claimId }) => claimId === target)?.normalizedName ?? '';
    if (asChannel && !name.startsWith('@')) return false;
    return this.documents.some(
      (one) => one.channelId === channel && one.isSignatureValid && one.repostedId === target,
    );
  }

  /** The expected answer of the search. `page` has the ids of the page before documents were removed. */
  search(documents: readonly ModelDocument[], search: ModelSearch) {
    const { rows: page, total } = modelSearch(documents, search);
    const transactions = new Map<string, Set<string>>();
    for (const id of page) {
      const document = documents.find(({ claimId }) => claimId === id)!;
      const by = this.of(document);
      if (by === null) continue;
      transactions.set(by.channelId, (transactions.get(by.channelId) ?? new Set()).add(document.txid));
    }
    const blocked = new Map([...transactions].map(([channelId, { size }]) => [channelId, size]));
    if (blocked.size === 0) return { page, rows: page, total, blocked };
    const uncensored = { ...search, tests: [...search.tests, (d: ModelDocument) => this.of(d) === null] };
    return { page, rows: modelSearch(documents, uncensored).rows, total, blocked };
  }
}

/** Up to three ids for each list. Most are those of channels that signed a repost, some are those of any claim. */
export function randomLists(random: Random, documents: readonly ModelDocument[]): CensorLists {
  const reposters = documents.flatMap((d) =>
    d.repostedId !== null && d.isSignatureValid && d.channelId !== null ? [d.channelId] : [],
  );
  const ids = documents.map(({ claimId }) => claimId);
  const list = (): string[] =>
    Array.from({ length: random.below(4) }, () =>
      random.pick(reposters.length > 0 && random.chance(0.8) ? reposters : ids),
    );
  return { blocking: list(), filtering: list() };
}

/** The search with a further random constraint: on the kind of list that censors a document. */
export function censorTypes(
  random: Random,
  { constraints, tests, text }: ModelSearch,
  censor: ModelCensor,
): ModelSearch {
  const least = random.below(3);
  const isExact = random.chance(0.5);
  const typeOf = (d: ModelDocument): number => censor.of(d)?.type ?? 0;
  return {
    constraints: { ...constraints, censor_type: isExact ? least : `>=${least}` },
    tests: [...tests, (d) => (isExact ? typeOf(d) === least : typeOf(d) >= least)],
    text,
  };
}
