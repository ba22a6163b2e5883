/**
 * JSON text with holes (placeholders) for values that change. If a result is requested again, only its changed values are
 * formatted.
 */
import { rawJson, RawJson, smallJson, type JsonOut } from './jsonWrite.js';

/** A character that JSON text cannot contain: strings escape it. */
const MARK = '\u0000';

/** Value of each member of a result that changes. */
export const HOLE: JsonOut = rawJson(MARK);

export class JsonFrame {
  /** Text before, between and after the holes. */
  private readonly parts: readonly string[];
  /** Length of the text without the values in the holes. */
  readonly chars: number;

  private constructor(text: string) {
    this.parts = text.split(MARK);
    this.chars = text.length - (this.parts.length - 1);
  }

  /** Creates the frame of a result. Null if the text is longer than `maxChars` or has lazy parts. */
  static of(result: JsonOut, maxChars: number): JsonFrame | null {
    const text = smallJson(result, maxChars);
    return text === null ? null : new JsonFrame(text);
  }

  /** Returns the result with these texts of JSON values in its holes, in order. */
  fill(...values: readonly (string | number)[]): RawJson {
    const { parts } = this;
    let text = parts[0]!;
    for (let i = 1; i < parts.length; i++) text += `${values[i - 1]!}${parts[i]!}`;
    return new RawJson(text);
  }
}
