/**
 * Counts the hub's responses since the last report. Equal responses share one note with a count, so that many small requests
 * cost the receiving thread little time.
 */

/**
 * Group of equal responses: method, error code (null for success), duration of each in milliseconds, and number of
 * responses.
 */
export type AnsweredNote = readonly [method: string, code: number | null, durationMs: number, count: number];

/** Number of significant digits to which durations are rounded, so that similar responses are counted in one group. */
const DIGITS = 2;

export class AnswerNotes {
  private readonly counts = new Map<string, { readonly note: AnsweredNote; count: number }>();

  add(method: string, code: number | null, durationMs: number): void {
    const rounded = Number(durationMs.toPrecision(DIGITS));
    const key = `${method} ${code} ${rounded}`;
    const known = this.counts.get(key);
    if (known === undefined) this.counts.set(key, { note: [method, code, rounded, 1], count: 1 });
    else known.count++;
  }

  /** Returns the notes since the last call and resets the counts. */
  take(): AnsweredNote[] {
    const notes = [...this.counts.values()].map(
      ({ note: [method, code, durationMs], count }): AnsweredNote => [method, code, durationMs, count],
    );
    this.counts.clear();
    return notes;
  }
}
