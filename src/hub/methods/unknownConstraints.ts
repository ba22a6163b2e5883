/**
 * Logs searches with unknown constraints, at most one line a minute. Like the reference, the search ignores unknown
 * constraints.
 */
import { unknownNames } from '../../search/query/constraintNames.js';

const LINE_MS = 60_000;
/** Maximum number of names in a log line, and of characters of each. Arbitrary. */
const MAX_NAMES = 10;
const MAX_CHARACTERS = 64;

export class UnknownConstraints {
  private readonly warn: (text: string) => void;
  private readonly now: () => number;
  private loggedMs = -Infinity;
  private searches = 0;
  private readonly names = new Set<string>();

  constructor(warn: (text: string) => void, now: () => number = () => performance.now()) {
    this.warn = warn;
    this.now = now;
  }

  /** Records the names of a search's constraints. Unknown names are logged. */
  note(names: Iterable<string>): void {
    const unknown = unknownNames(names);
    if (unknown.length === 0) return;
    this.searches++;
    for (const name of unknown)
      if (this.names.size < MAX_NAMES) this.names.add(JSON.stringify(name.slice(0, MAX_CHARACTERS)));
    if (this.now() - this.loggedMs < LINE_MS) return;
    const list = [...this.names].join(', ');
    const how = this.searches === 1 ? 'A search was' : `${this.searches} searches were`;
    this.warn(`${how} answered without these constraints, which the hub does not support: ${list}`);
    this.loggedMs = this.now();
    this.searches = 0;
    this.names.clear();
  }
}
