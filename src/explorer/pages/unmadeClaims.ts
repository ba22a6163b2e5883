/**
 * Ids of claims that never existed. A support may name any id, and a value may name any channel. Such an id has no page, so
 * pages show it without a link.
 */
import type { PageContext } from '../pageContext.js';
import { isMissing, orNull } from './parts.js';

/** A part of an answer that names a claim. */
interface Naming {
  readonly claimId?: string | undefined;
  readonly channelId?: string | undefined;
  /** Operation of an output. */
  readonly op?: string;
  /** Type of an event. */
  readonly event?: string;
  readonly isSupport?: boolean;
}

interface StateAnswer {
  readonly claimId: string;
  readonly state: string;
}

const NONE: ReadonlySet<string> = new Set();

/** Returns those ids that no claim has. Empty if the claim index is off or incomplete and cannot find them. */
export async function unmadeAmong(
  ask: PageContext['ask'],
  ids: Iterable<string | undefined>,
): Promise<ReadonlySet<string>> {
  const wanted = [...new Set(ids)].filter((id) => id !== undefined);
  if (wanted.length === 0) return NONE;
  const states = await orNull(ask<readonly StateAnswer[]>('getclaimstates', wanted));
  if (isMissing(states)) return NONE;
  return new Set(states.filter(({ state }) => state === 'unknown').map(({ claimId }) => claimId));
}

const isOfSupport = ({ op, event, isSupport }: Naming): boolean =>
  isSupport === true || op === 'support' || event === 'support';

/** Ids that may not belong to a claim: those that supports name, and those of channels. */
export const doubtfulIds = (parts: readonly Naming[]): (string | undefined)[] =>
  parts.flatMap((part) => [isOfSupport(part) ? part.claimId : undefined, part.channelId]);

/** Marks the parts that name one of these ids. */
export function marked<Part extends Naming>(
  parts: readonly Part[],
  unmade: ReadonlySet<string>,
): readonly Part[] {
  if (unmade.size === 0) return parts;
  return parts.map((part) => ({
    ...part,
    isUnmade: isOfSupport(part) && part.claimId !== undefined && unmade.has(part.claimId) ? true : undefined,
    isChannelUnmade: part.channelId !== undefined && unmade.has(part.channelId) ? true : undefined,
  }));
}

/** Marks those parts of an answer that name an id without a claim. */
export async function withUnmade<Part extends Naming>(
  ask: PageContext['ask'],
  parts: readonly Part[],
): Promise<readonly Part[]> {
  return marked(parts, await unmadeAmong(ask, doubtfulIds(parts)));
}
