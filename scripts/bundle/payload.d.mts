/** Types of those exports of `payload.mjs` that tests use. */
export interface PayloadFile {
  readonly path: string;
  readonly data: Uint8Array;
  readonly executable?: boolean;
}
export function makePayload(
  files: readonly PayloadFile[],
  version: string,
): { folder: string; bytes: Buffer };
