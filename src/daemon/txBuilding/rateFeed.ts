/**
 * The price of LBC in USD from an exchange, queried once an hour. The feed is disabled unless the setting
 * `exchange_rate_source` names a source. Rates of the setting `exchange_rates` take precedence over the feed. Source of the
 * call: MEXC's documentation of its spot API v3, "Symbol Price Ticker".
 */
import { parseDecimal, type Decimal } from '../../metadata/decimal.js';
import { failureReason } from '../../util/text/environmentError.js';
import type { Logger } from '../../util/logging.js';
import type { Clock, Timer } from '../base/clock.js';
import { DaemonError } from '../base/daemonError.js';

export const RATE_SOURCES = ['', 'mexc'] as const;

/** Milliseconds between two calls of the price source after a successful call. */
export const CALL_INTERVAL_MS = 3_600_000;
/** Milliseconds between two calls of the price source after a failed call. Arbitrary. */
export const RETRY_INTERVAL_MS = 600_000;
/** Maximum age in seconds of a rate that is used. */
const MAX_AGE_SEC = 86_400;
/** Arbitrary. */
const TIMEOUT_MS = 30_000;
/** Maximum size of a response in bytes. A normal response has about fifty bytes. Arbitrary. */
const MAX_ANSWER_SIZE = 4096;
/** Number of additional digits in the computed rate of LBC per USD. Arbitrary: far more than an amount needs. */
const EXTRA_DIGITS = 20;
/** Prices outside these bounds, in USD for one LBC, are rejected as wrong. Arbitrary. */
const PRICE_RANGE = [1e-9, 1e6] as const;
const SYMBOL = 'LBCUSDT';

export type RateFeedStatus = {
  readonly source: string;
  /** USD per LBC as text from the source; null before the first response. */
  readonly usd_per_lbc: string | null;
  readonly age_seconds: number | null;
  /** Whether the rate is recent enough to be used. */
  readonly is_usable: boolean;
  /** The error of the last query; null if the query succeeded. */
  readonly error: string | null;
};

export interface RateFeedPort {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Returns the name of the price source, a member of `RATE_SOURCES`. */
  source(): string;
  url(): string;
}

interface Price {
  readonly text: string;
  readonly lbcPerUsd: Decimal;
  readonly atMs: number;
}

export class RateFeed {
  readonly #port: RateFeedPort;
  #price: Price | null = null;
  #error: string | null = null;
  #timer: Timer | null = null;
  #call: AbortController | null = null;

  constructor(port: RateFeedPort) {
    this.#port = port;
  }

  /** Queries the price source immediately and then every hour. Has no effect if the settings name no source. */
  start(): void {
    this.stop();
    if (this.#port.source() !== '') void this.#ask();
  }

  /** Stops the calls and clears the price, because the source may be changed before the next start. */
  stop(): void {
    this.#timer?.cancel();
    this.#call?.abort();
    this.#timer = this.#call = this.#price = this.#error = null;
  }

  /** Status of the feed; null if the settings name no source. */
  status(): RateFeedStatus | null {
    const source = this.#port.source();
    if (source === '') return null;
    const age = this.#ageSec;
    return {
      source,
      usd_per_lbc: this.#price?.text ?? null,
      age_seconds: age,
      is_usable: age !== null && age <= MAX_AGE_SEC,
      error: this.#error,
    };
  }

  get #ageSec(): number | null {
    return this.#price && Math.floor((this.#port.clock.nowMs() - this.#price.atMs) / 1000);
  }

  /** LBC per USD; null if the settings name no source. Throws `CurrencyConversionError` if the last price is older than a day. */
  lbcPerUsd(): Decimal | null {
    const source = this.#port.source();
    if (source === '') return null;
    const age = this.#ageSec;
    if (this.#price !== null && age !== null && age <= MAX_AGE_SEC) return this.#price.lbcPerUsd;
    const why = this.#error === null ? '' : `: ${this.#error}`;
    throw new DaemonError(
      'CurrencyConversionError',
      age === null
        ? `Unable to convert USD to LBC: ${source} has not sent a price yet${why}`
        : `Unable to convert USD to LBC: the price of ${source} is ${Math.floor(age / 3600)} hours old${why}`,
    );
  }

  async #ask(): Promise<void> {
    const call = (this.#call = new AbortController());
    const { clock, log } = this.#port;
    let error: string | null = null;
    try {
      const price = await fetchPrice(this.#port.url(), call.signal);
      if (call.signal.aborted) return;
      if (this.#price === null) log.info(`The price of LBC from ${this.#port.source()} is ${price.text} USD`);
      this.#price = { ...price, atMs: clock.nowMs() };
    } catch (failure) {
      if (call.signal.aborted) return;
      error = reasonOf(failure);
      if (this.#error === null) log.warn(`No price of LBC from ${this.#port.source()}: ${error}`);
    }
    this.#error = error;
    this.#timer = clock.after(error === null ? CALL_INTERVAL_MS : RETRY_INTERVAL_MS, () => void this.#ask());
  }
}

/** Returns the reason of a failed `fetch`. The cause of its error contains the reason. */
function reasonOf(failure: unknown): string {
  const cause = failure instanceof Error && failure.cause instanceof Error ? failure.cause : failure;
  return failureReason(cause);
}

async function fetchPrice(url: string, stopped: AbortSignal): Promise<Omit<Price, 'atMs'>> {
  // `AbortSignal.any` refers weakly to its sources, so a signal of `AbortSignal.timeout` could be collected before its time.
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new Error(`the answer is not complete after ${TIMEOUT_MS / 1000} seconds`)),
    TIMEOUT_MS,
  );
  try {
    const response = await fetch(url, {
      redirect: 'error',
      signal: AbortSignal.any([stopped, late.signal]),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`the HTTP status is ${response.status}`);
    }
    return priceIn(await bodyOf(response));
  } finally {
    clearTimeout(timer);
  }
}

function priceIn(answer: string): Omit<Price, 'atMs'> {
  const { symbol, price } = parseAnswer(answer);
  if (symbol !== SYMBOL)
    throw new Error(`the answer is for ${JSON.stringify(symbol) ?? 'nothing'}, not ${SYMBOL}`);
  const decimal = typeof price === 'string' && price.length <= EXTRA_DIGITS * 2 ? parseDecimal(price) : null;
  if (decimal === null || !(Number(price) >= PRICE_RANGE[0] && Number(price) <= PRICE_RANGE[1]))
    throw new Error('the answer has no price');
  return { text: price as string, lbcPerUsd: inverse(decimal) };
}

async function bodyOf(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    parts.push(read.value);
    size += read.value.length;
    if (size <= MAX_ANSWER_SIZE) continue;
    await reader?.cancel();
    throw new Error('the answer is too long');
  }
  return Buffer.concat(parts).toString('utf8');
}

function parseAnswer(text: string): { symbol?: unknown; price?: unknown } {
  try {
    const answer: unknown = JSON.parse(text);
    return typeof answer === 'object' && answer !== null ? answer : {};
  } catch {
    throw new Error('the answer is not JSON');
  }
}

/** Computes the reciprocal of a decimal, rounded down to `EXTRA_DIGITS` digits. */
function inverse({ digits, exponent }: Decimal): Decimal {
  const places = digits.toString().length + EXTRA_DIGITS;
  return { digits: 10n ** BigInt(places) / digits, exponent: -exponent - places };
}
