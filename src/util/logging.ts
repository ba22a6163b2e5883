/**
 * The logging interface of every layer, and the debug categories. `src/node/log/logger.ts` implements the interface.
 * The categories are those of lbrycrd (logging.cpp `LogCategories`) and of this node's own parts.
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
  /** Logs a warning. The prefix `Warning: ` is added unless the message contains it. */
  warn(message: string): void;
  /** Logs an error. The prefix `Error: ` is added unless the message contains it. */
  error(message: string): void;
  /** Logs a message if the category is enabled. If the text is expensive to create, pass a function. */
  debug(category: LogCategory, message: string | (() => string)): void;
  /** Whether `debug` logs messages of this category. Allows the caller to skip work that is only needed for a log line. */
  willLog(category: LogCategory): boolean;
}

/** Enables and disables log categories while the node runs (the `logging` method). */
export interface LogControl {
  /**
   * Enables or disables a category. The names `all`, `1` and the empty string stand for all categories. Returns false if the
   * category is unknown.
   */
  setCategory(name: string, enabled: boolean): boolean;
  /** All categories with their states, in the order of `LOG_CATEGORIES`. */
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

/** The categories to which a name refers. Empty for `none` and `0`, null for an unknown name. */
function resolveCategory(name: string): readonly LogCategory[] | null {
  if (name === '' || name === '1' || name === 'all') return LOG_CATEGORIES;
  if (name === '0' || name === 'none') return [];
  const category = LOG_CATEGORIES.find((known) => known === name);
  return category === undefined ? null : [category];
}

/** A logger that discards all messages, for tests and for tools that must not write a log. */
export const SILENT_LOGGER: Logger = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  debug: () => undefined,
  willLog: () => false,
};
