/**
 * The committed corpus: inputs that were or could have been parsed wrongly, with the expected results. Also real blocks as seeds,
 * if the recordings are beside the repository.
 */
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

const VECTORS = new URL('../../vectors/fuzz/', import.meta.url);
const CHAINS = new URL('../../../../shared/conformance/chains/', import.meta.url);

/** The cases of one file. */
export function readVectors<T>(name: string): T[] {
  return JSON.parse(readFileSync(new URL(`${name}.json`, VECTORS), 'utf8')) as T[];
}

/**
 * The bytes that a case describes: hex, in which `ab*1000` repeats a byte so that long inputs stay short, spaces
 * separating the pieces.
 */
export function vectorBytes(text: string): Buffer {
  const pieces = text.split(' ').filter((word) => word !== '');
  return Buffer.concat(
    pieces.map((word) => {
      const [hex = '', times = '1'] = word.split('*');
      const unit = Buffer.from(hex, 'hex');
      return Buffer.alloc(unit.length * Number(times), unit);
    }),
  );
}

/** A text in pieces. Some pieces are repeated, so that long inputs stay short. */
export type VectorText = string | readonly (string | { readonly unit: string; readonly times: number })[];

export function vectorText(text: VectorText): string {
  if (typeof text === 'string') return text;
  return text.map((piece) => (typeof piece === 'string' ? piece : piece.unit.repeat(piece.times))).join('');
}

/** Every `step`-th block of a recorded chain. If the recordings are absent, prints a line and returns an empty list. */
export function recordedChainBlocks(chain: number, step: number): Buffer[] {
  const url = new URL(`${chain}/blocks.hex.gz`, CHAINS);
  if (!existsSync(url)) {
    console.log(`recorded chain ${chain} is not here: skipped`);
    return [];
  }
  const lines = gunzipSync(readFileSync(url)).toString('latin1').split('\n');
  return lines.filter((line, i) => line !== '' && i % step === 0).map((line) => Buffer.from(line, 'hex'));
}
