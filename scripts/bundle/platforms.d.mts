/** Types of those exports of `platforms.mjs` that tests use. */
export interface Platform {
  readonly name: string;
  readonly target: string;
  readonly archive: string;
  readonly runtime: string;
  readonly zig: string;
  readonly suffix: '' | '.exe';
}
export const PLATFORMS: readonly Platform[];
export const SMALL_PROGRAMS: readonly string[];
export const MAX_ARCHIVE_BYTES: number;
