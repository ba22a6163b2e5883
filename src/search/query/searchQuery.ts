/**
 * A parsed search query, created from a client's constraints by `constraints.ts`. Plain data that can be passed to another
 * thread: ids are hex in printed order, numbers are decimal strings without loss of digits.
 */
import type { OrderTerm } from './order.js';
import type { TextNode } from './textQuery.js';

export interface Bound {
  readonly op: '<' | '<=' | '>' | '>=';
  /** A decimal number. */
  readonly value: string;
}

/** All conditions of a search must hold. Columns are those of `fields.ts`. */
export type Condition =
  | {
      readonly kind: 'range';
      readonly column: string;
      readonly bounds: readonly Bound[];
      /** Claims without the value match too. */
      readonly orMissing?: true;
    }
  | { readonly kind: 'numbers'; readonly column: string; readonly values: readonly string[] }
  | { readonly kind: 'texts'; readonly column: string; readonly values: readonly string[] }
  /** Equality of strings that the index stores as keys. */
  | { readonly kind: 'keys'; readonly column: string; readonly values: readonly string[] }
  | { readonly kind: 'ids'; readonly column: string; readonly values: readonly string[] }
  | { readonly kind: 'idPrefix'; readonly column: 'claim_id' | 'sd_hash'; readonly digits: string }
  | { readonly kind: 'bool'; readonly column: string; readonly value: boolean }
  | { readonly kind: 'notClaims'; readonly ids: readonly string[] }
  /** Neither one of these channels nor signed by one. */
  | { readonly kind: 'notChannels'; readonly ids: readonly string[] }
  | { readonly kind: 'labels'; readonly how: 'any' | 'all' | 'none'; readonly labels: readonly string[] }
  | { readonly kind: 'signed' }
  | { readonly kind: 'unsignedOrValid'; readonly valid: boolean }
  | { readonly kind: 'hasSource'; readonly value: boolean }
  /** Excludes content up to this aspect ratio (width / height) and duration. Content without them matches. Decimal numbers. */
  | { readonly kind: 'notShorts'; readonly aspectRatio: string; readonly durationSec: string }
  /** Kind of censorship of the claim: one of these numbers. */
  | { readonly kind: 'censored'; readonly types: readonly number[] };

export interface SearchQuery {
  readonly conditions: readonly Condition[];
  /** Null without a text search. */
  readonly text: TextNode | null;
  /** Empty: by relevance for a text search, else the common order. */
  readonly order: readonly OrderTerm[];
  readonly limit: number;
  readonly offset: number;
  /** Whether all hits from `offset` on are requested, to be shown in pages of `limit`, instead of a single page. */
  readonly allPages: boolean;
  readonly removeDuplicates: boolean;
  /** Maximum number of claims of one channel on all pages together; 0 for no limit. */
  readonly perChannel: number;
  /** Only the n-th hit, from 1 on; 0 for all hits. */
  readonly only: number;
  /** Confirmed claims only, without mempool claims. */
  readonly confirmedOnly: boolean;
  /** Whether it is known that nothing matches. */
  readonly findsNothing: boolean;
}

/** Labels: tags, languages and locations, distinguished by a prefix. */
export const tagLabel = (tag: string): string => `t${tag}`;
export const languageLabel = (language: string): string => `l${language}`;
/** Label of a place by name (`placeName`), case-insensitive. */
export const placeLabel = (name: string): string => `p${name.toLowerCase()}`;
