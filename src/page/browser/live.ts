/**
 * Updates an open page: a WebSocket announces changes, the page is loaded again, and only differences are applied, so that
 * focus, selection and scroll position are kept. A missed announcement is harmless, because the next load contains all
 * changes.
 */
import { Idiomorph } from 'idiomorph';

const FIRST_PAUSE_MS = 1000;
/** Maximum pause in ms before the next attempt after a lost connection, and after the server has refused one with a reason. */
const LAST_PAUSE_MS = 10_000;
const LAST_REFUSED_MS = 60_000;
/** Maximum random delay in ms before a reload, so that the visitors of a page do not load it at the same time. */
const SPREAD_MS = 1500;
/**
 * Milliseconds before the next request after a response that is not the page, because the rate limit is exceeded or the node
 * is busy, starting or stopping.
 */
const AGAIN_MS = 3000;
/** Maximum number of topics that the server accepts. */
const MAX_TOPICS = 16;
/** Code with which the server closes a connection that exceeds a limit. */
const TRY_AGAIN_LATER = 1013;
const NOT_THE_PAGE: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

interface Hint {
  readonly tip?: string | null;
  /** Changed topics with their versions (`tip:5`). */
  readonly changed?: readonly string[];
}

let pauseMs = FIRST_PAUSE_MS;
let isConnected = false;
/** Reason that the server gave when it closed the connection; empty without a reason. */
let reason = '';
/** Whether a connection failed or was closed since the last load, so that the page may have missed changes. */
let wasLost = false;
let isPaused = false;
/** Whether a change was announced that the page does not show yet. */
let isDue = false;
let isBusy = false;
/** Timer of the next load; 0 if no load is scheduled. */
let timer = 0;
/** Time of the next load by `performance.now()`. */
let timerAtMs = 0;
let after: () => void = () => undefined;
let socket: WebSocket | null = null;
/** Names of the topics that were sent to the server. If the page becomes an error page without topics, they stay. */
let subscribed: readonly string[] = [];
/** Versions of the topics that the server has announced over this connection. */
const announced = new Map<string, number>();
/** Hash of the latest tip that the server has announced over this connection. */
let announcedTip: string | null | undefined;

/** The topics of the page with their versions. */
const topics = (): string[] =>
  (document.body.dataset['topics'] ?? '').split(' ').filter((topic) => topic !== '');

/** Splits a topic into its name and its version. */
function partsOf(topic: string): [name: string, version: number] {
  const [name = '', version] = topic.split(':', 2);
  return [name, Number(version)];
}

/**
 * Whether the server has announced a change that the page does not contain. A page that became an error page without topics
 * is outdated after each block.
 */
function isOutdated(): boolean {
  const own = topics();
  if (own.length === 0) return announcedTip !== undefined && announcedTip !== document.body.dataset['tip'];
  return own.map(partsOf).some(([name, version]) => version < (announced.get(name) ?? 0));
}

/** Sends the topics of the page if the connection is new, or if they differ from those that were sent before. */
function subscribe(isNew: boolean): void {
  const own = topics().slice(0, MAX_TOPICS);
  const names = own.map((topic) => partsOf(topic)[0]);
  const isSame = own.length === 0 || names.join(' ') === subscribed.join(' ');
  if (socket?.readyState !== WebSocket.OPEN || (isSame && !isNew)) return;
  if (own.length > 0) subscribed = names;
  socket.send(JSON.stringify({ topics: own.length > 0 ? own : subscribed }));
}

/** Shows a banner while the node does not answer. Shows no banner if the node refused the connection with a reason. */
function showLost(): void {
  const shown = document.querySelector('#lost');
  const isLost = wasLost && !isConnected && reason === '' && !isPaused;
  if (!isLost) shown?.remove();
  else if (shown === null) {
    const strip = document.createElement('p');
    strip.id = 'lost';
    strip.className = 'strip';
    strip.setAttribute('role', 'status');
    document.querySelector('#main')?.before(strip);
    strip.textContent =
      'The connection to the node is lost. The page tries to reconnect, and shows the last known state until then.';
  }
}

/** Shows beside the block height whether live updates work, as a dot and as text. */
function show(): void {
  showLost();
  const dot = document.querySelector<HTMLElement>('#live');
  const words = document.querySelector('#live-words');
  if (dot) dot.dataset['live'] = isConnected && !isPaused ? 'yes' : 'no';
  const notLive = reason === '' ? 'not live' : `not live: ${reason}`;
  if (words) words.textContent = isPaused ? 'paused' : isConnected ? 'live' : notLive;
}

interface Loaded {
  readonly document: Document;
  /** Whether the response is the requested page, not an error page or startup page. */
  readonly isPage: boolean;
}

/**
 * Loads the page from the server; null without a response. The browser parses the response itself, because Trusted
 * Types forbid parsing a string.
 */
function load(): Promise<Loaded | null> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open('GET', location.href);
    request.responseType = 'document';
    request.timeout = 20_000;
    request.onload = () => {
      const found = request.responseXML;
      resolve(found && { document: found, isPage: !NOT_THE_PAGE.has(request.status) });
    };
    // Browsers abort requests when the visitor stops loading.
    request.onerror = request.ontimeout = request.onabort = () => resolve(null);
    request.send();
  });
}

/**
 * Whether an update may change an attribute. Elements that the visitor opened stay open, and fields keep their text and choice,
 * which the server does not know. Hidden fields contain only what the server sent.
 */
function mayChange(name: string, element: Element): boolean {
  if (name === 'open') return !(element instanceof HTMLDetailsElement);
  if (name === 'value') return !(element instanceof HTMLInputElement && element.type !== 'hidden');
  return !(name === 'selected' && element instanceof HTMLOptionElement);
}

function put(next: Document): void {
  document.title = next.title;
  // `morph` returns a promise only to wait for new elements of `head`. Here it changes only the body.
  void Idiomorph.morph(document.body, next.body, {
    ignoreActiveValue: true,
    restoreFocus: true,
    callbacks: { beforeAttributeUpdated: mayChange },
  });
  addPause();
  show();
  after();
}

async function refresh(): Promise<void> {
  isDue = true;
  // Another load is triggered when the running load, the pause or the hidden state ends.
  if (isBusy || isPaused || document.hidden) return;
  isBusy = true;
  isDue = false;
  let isPage = false;
  try {
    const next = await load();
    if (next?.isPage) {
      isPage = true;
      put(next.document);
      subscribe(false);
    }
  } finally {
    isBusy = false;
  }
  if (!isPage) later(AGAIN_MS);
  else if (isDue || isOutdated()) later(Math.random() * SPREAD_MS);
}

/** Schedules a load. A load that is scheduled for an earlier time stays, so that frequent changes do not delay it. */
function later(ms: number): void {
  isDue = true;
  const atMs = performance.now() + ms;
  if (timer !== 0 && timerAtMs <= atMs) return;
  clearTimeout(timer);
  timerAtMs = atMs;
  timer = window.setTimeout(() => {
    timer = 0;
    void refresh();
  }, ms);
}

function takeHint({ tip, changed = [] }: Hint): void {
  if (tip !== undefined) announcedTip = tip;
  for (const [name, version] of changed.map(partsOf)) announced.set(name, version);
  // The first message confirms the topics, so that no later change is missed.
  if (!isConnected) {
    isConnected = true;
    reason = '';
    pauseMs = FIRST_PAUSE_MS;
    show();
    if (wasLost) later(Math.random() * SPREAD_MS);
    wasLost = false;
  }
  if (isOutdated()) later(Math.random() * SPREAD_MS);
}

/** Timer of the next attempt to connect; 0 if there is none. */
let connecting = 0;

/** Connects at once if an attempt is scheduled, because the visitor looks at the page or the network is back. */
function connectNow(): void {
  if (connecting === 0 || document.hidden) return;
  clearTimeout(connecting);
  connect();
}

function connect(): void {
  connecting = 0;
  const opened = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/live`);
  socket = opened;
  opened.addEventListener('open', () => {
    announced.clear();
    announcedTip = undefined;
    subscribe(true);
  });
  opened.addEventListener('message', ({ data }) => takeHint(JSON.parse(String(data)) as Hint));
  opened.addEventListener('close', (event) => {
    wasLost = true;
    isConnected = false;
    reason = event.code === TRY_AGAIN_LATER ? event.reason : '';
    show();
    connecting = window.setTimeout(connect, pauseMs * (0.5 + Math.random() / 2));
    pauseMs = Math.min(reason === '' ? LAST_PAUSE_MS : LAST_REFUSED_MS, pauseMs * 2);
  });
}

/** Adds a button beside the live state that pauses updates. */
function addPause(): void {
  const place = document.querySelector('#tip');
  if (place === null || topics().length === 0 || place.querySelector('button') !== null) return;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'plain';
  const label = (): void => {
    button.textContent = isPaused ? 'Go on' : 'Pause';
  };
  label();
  button.addEventListener('click', () => {
    isPaused = !isPaused;
    label();
    show();
    if (!isPaused && isDue) void refresh();
  });
  place.append(' ', button);
}

const againMs = (): number => Number(document.body.dataset['again'] ?? 0) * 1000;

/** Repeats loading until the page itself is available. Until then the startup status of the node is shown. */
async function lookAgain(): Promise<void> {
  while (againMs() > 0) {
    await new Promise((resolve) => setTimeout(resolve, againMs()));
    const next = document.hidden ? null : await load();
    if (next) put(next.document);
  }
}

/** Starts live updates of the page. `refreshed` is called after each update. */
export async function keepLive(refreshed: () => void): Promise<void> {
  after = refreshed;
  await lookAgain();
  addPause();
  show();
  if (topics().length === 0) return;
  connect();
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && isDue) void refresh();
    connectNow();
  });
  addEventListener('focus', connectNow);
  addEventListener('online', connectNow);
}
