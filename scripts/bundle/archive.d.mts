/** Types of those exports of `archive.mjs` that tests use. */
export interface Entry {
  readonly name: string;
  readonly data: Uint8Array;
  readonly executable: boolean;
}
export function makeZip(entries: readonly Entry[]): Uint8Array;
