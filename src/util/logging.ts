/**
 * The logging interface of every layer, and the debug categories. Writes nothing itself; `src/node/log/logger.ts` does.
 * Categories are those of the interface document's section 4.4, with `claims` for the claim trie.
 */

export const LOG_CATEGORIES = [
  'net',
  'tor',
  'mempool',
  'http',
  'bench',
  'zmq',
  'db',
  'rpc',
  'estimatefee',
  'addrman',
  'selectcoins',
  'reindex',
  'cmpctblock',
  'rand',
  'prune',
  'proxy',
  'mempoolrej',
  'libevent',
  'coindb',
  'qt',
  'leveldb',
  'claims',
  'hub',
  'search',
] as const;

export type LogCategory = (typeof LOG_CATEGORIES)[number];

export interface Logger {
  info(message: string): void;
  /** Prefixed with `Warning: ` unless the message contains it. */
  warn(message: string): void;
  /** Prefixed with `Error: ` unless the message contains it. */
  error(message: string): void;
  /** Written only if the category is enabled. Pass a function if the text is expensive to create. */
  debug(category: LogCategory, message: string | (() => string)): void;
  /** Whether `debug` writes for this category: to skip work that only a log line needs. */
  willLog(category: LogCategory): boolean;
}

/** Switches categories while the node runs (the `logging` method). */
export interface LogControl {
  /** Switches a category, or all by the names `all`, `1` and the empty string; false if the category is unknown. */
  setCategory(name: string, enabled: boolean): boolean;
  /** Every category with its state, in the order of `LOG_CATEGORIES`. */
  categories(): readonly (readonly [LogCategory, boolean])[];
}

/** The set of enabled categories. Source: `BCLog::Logger::EnableCategory` and `GetLogCategory`. */
export class LogCategorySet implements LogControl {
  private readonly enabled = new Set<LogCategory>();

  setCategory(name: string, enabled: boolean): boolean {
    const names = resolveCategory(name);
    if (names === null) return false;
    for (const category of names) {
      if (enabled) this.enabled.add(category);
      else this.enabled.delete(category);
    }
    return true;
  }

  has(category: LogCategory): boolean {
    return this.enabled.has(category);
  }

  categories(): readonly (readonly [LogCategory, boolean])[] {
    return LOG_CATEGORIES.map((category) => [category, this.enabled.has(category)] as const);
  }
}

/** The categories for a name; empty for `none` and `0`, null for an unknown name. */
function resolveCategory(name: string): readonly LogCategory[] | null {
  if (name === '' || name === '1' || name === 'all') return LOG_CATEGORIES;
  if (name === '0' || name === 'none') return [];
  const category = LOG_CATEGORIES.find((known) => known === name);
  return category === undefined ? null : [category];
}

/** Discards everything: for tests and for tools that must not write a log. */
export const SILENT_LOGGER: Logger = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  debug: () => undefined,
  willLog: () => false,
};
