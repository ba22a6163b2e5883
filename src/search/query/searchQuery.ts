/**
 * A parsed search query, which `constraints.ts` creates from a client's constraints. The query consists of plain data that
 * can be passed to another thread. Ids are hex in display order; numbers are decimal strings without loss of digits.
 */
import type { OrderTerm } from './order.js';
import type { TextNode } from './textQuery.js';

export interface Bound {
  readonly op: '<' | '<=' | '>' | '>=';
  /** Value of the bound as a decimal number. */
  readonly value: string;
}

/** A condition of a search; all conditions must hold. Columns are those of `fields.ts`. */
export type Condition =
  | {
      readonly kind: 'range';
      readonly column: string;
      readonly bounds: readonly Bound[];
      /** Whether claims without a value match too. */
      readonly orMissing?: true;
    }
  | { readonly kind: 'numbers'; readonly column: string; readonly values: readonly string[] }
  | { readonly kind: 'texts'; readonly column: string; readonly values: readonly string[] }
  /** Equality with one of several strings, in a column that stores strings as keys. */
  | { readonly kind: 'keys'; readonly column: string; readonly values: readonly string[] }
  | { readonly kind: 'ids'; readonly column: string; readonly values: readonly string[] }
  | { readonly kind: 'idPrefix'; readonly column: 'claim_id' | 'sd_hash'; readonly digits: string }
  | { readonly kind: 'bool'; readonly column: string; readonly value: boolean }
  | { readonly kind: 'notClaims'; readonly ids: readonly string[] }
  /** Excludes these channels, and claims that they signed. */
  | { readonly kind: 'notChannels'; readonly ids: readonly string[] }
  | { readonly kind: 'labels'; readonly how: 'any' | 'all' | 'none'; readonly labels: readonly string[] }
  | { readonly kind: 'signed' }
  | { readonly kind: 'unsignedOrValid'; readonly valid: boolean }
  | { readonly kind: 'hasSource'; readonly value: boolean }
  /**
   * Excludes content whose aspect ratio (width / height) and duration do not exceed these decimal numbers. Content without
   * the two values matches.
   */
  | { readonly kind: 'notShorts'; readonly aspectRatio: string; readonly durationSec: string }
  /** Requires that the censorship of the claim is one of these numbers (`CensorType`). */
  | { readonly kind: 'censored'; readonly types: readonly number[] };

export interface SearchQuery {
  readonly conditions: readonly Condition[];
  /** Text to search; null for a search without text. */
  readonly text: TextNode | null;
  /** Order of hits. Empty: by relevance for a text search, otherwise `COMMON_ORDER`. */
  readonly order: readonly OrderTerm[];
  readonly limit: number;
  readonly offset: number;
  /** Whether all hits from `offset` on are requested, to be shown in pages of `limit`. Otherwise only one page is requested. */
  readonly allPages: boolean;
  readonly removeDuplicates: boolean;
  /** Maximum number of claims of one channel on all pages together; 0 means no limit. */
  readonly perChannel: number;
  /** Number of the only hit that is requested, starting at 1; 0 requests all hits. */
  readonly only: number;
  /** Whether mempool claims are excluded. */
  readonly confirmedOnly: boolean;
  /** Whether the constraints contradict each other, so that no claim can match. */
  readonly findsNothing: boolean;
}

/** Creates labels. Tags, languages and locations are distinguished by a prefix. */
export const tagLabel = (tag: string): string => `t${tag}`;
export const languageLabel = (language: string): string => `l${language}`;
/** Creates the label of a location by its name (`placeName`), case-insensitive. */
export const placeLabel = (name: string): string => `p${name.toLowerCase()}`;
