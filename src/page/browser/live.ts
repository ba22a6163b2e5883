/**
 * Keeps a page up to date: a socket says that something changed, the page is asked for again, and the difference is put in
 * place, so that focus, selection and scroll stay. A missed hint costs nothing, since the next look is whole.
 */
import { Idiomorph } from 'idiomorph';

const FIRST_PAUSE_MS = 1000;
const LAST_PAUSE_MS = 60_000;
/** Visitors of one page do not ask all at once. */
const SPREAD_MS = 2000;

interface Hint {
  readonly tip?: string | null;
  readonly changed?: readonly string[];
}

let pauseMs = FIRST_PAUSE_MS;
let isPaused = false;
let isDue = false;
let isBusy = false;
let after: () => void = () => undefined;

const topics = (): string[] =>
  (document.body.dataset['topics'] ?? '').split(' ').filter((topic) => topic !== '');

function show(isLive: boolean): void {
  const dot = document.querySelector<HTMLElement>('#live');
  if (dot === null) return;
  dot.dataset['live'] = isLive && !isPaused ? 'yes' : 'no';
  const text = isPaused ? 'updates are paused' : isLive ? 'live' : 'not live: no connection to the node';
  dot.title = text;
}

/** The page as it is now. Its text is parsed by the browser's own loader, which Trusted Types allow. */
function load(): Promise<Document | null> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open('GET', location.href);
    request.responseType = 'document';
    request.addEventListener('load', () => resolve(request.status < 500 ? request.responseXML : null));
    request.addEventListener('error', () => resolve(null));
    request.send();
  });
}

async function refresh(): Promise<void> {
  if (isBusy || isPaused) return;
  if (document.hidden) {
    isDue = true;
    return;
  }
  isBusy = true;
  isDue = false;
  try {
    const next = await load();
    if (next === null) return;
    document.title = next.title;
    const search = document.querySelector<HTMLInputElement>('#q');
    const typed = search?.value ?? '';
    Idiomorph.morph(document.body, next.body, { ignoreActiveValue: true, restoreFocus: true });
    const now = document.querySelector<HTMLInputElement>('#q');
    if (now) now.value = typed;
    show(true);
    addPause();
    after();
  } finally {
    isBusy = false;
  }
}

function connect(): void {
  const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/live`);
  socket.addEventListener('open', () => {
    pauseMs = FIRST_PAUSE_MS;
    socket.send(JSON.stringify({ topics: topics() }));
    show(true);
  });
  socket.addEventListener('message', ({ data }) => {
    const hint = JSON.parse(String(data)) as Hint;
    const isOld = hint.tip !== undefined && hint.tip !== document.body.dataset['tip'];
    const isMine = hint.changed?.some((topic) => topics().includes(topic)) === true;
    if (isOld || isMine) setTimeout(() => void refresh(), isOld && !isMine ? 0 : Math.random() * SPREAD_MS);
  });
  socket.addEventListener('close', () => {
    show(false);
    setTimeout(connect, pauseMs);
    pauseMs = Math.min(LAST_PAUSE_MS, pauseMs * 2);
  });
}

/** A button that stops updates, beside the state. */
function addPause(): void {
  const place = document.querySelector('#tip');
  if (place === null || place.querySelector('button') !== null) return;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'plain';
  const label = (): void => {
    button.textContent = isPaused ? 'Go on' : 'Pause';
    button.setAttribute('aria-pressed', String(isPaused));
  };
  label();
  button.addEventListener('click', () => {
    isPaused = !isPaused;
    label();
    show(true);
    if (!isPaused) void refresh();
  });
  place.append(' ', button);
}

/** `refreshed` is called after each change of the page. */
export function keepLive(refreshed: () => void): void {
  if (topics().length === 0) return;
  after = refreshed;
  addPause();
  connect();
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && isDue) void refresh();
  });
}
