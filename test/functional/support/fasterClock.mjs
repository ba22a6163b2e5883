/**
 * Preloaded by a program (`--import`). `performance.now` advances thirty times as fast, and timers of 20 s and more fire after
 * a thirtieth of their time. Shorter timers and the time of day do not change.
 */
const FACTOR = 30;
const LONG_MS = 20_000;

const now = performance.now.bind(performance);
performance.now = () => now() * FACTOR;

for (const name of ['setTimeout', 'setInterval']) {
  const original = globalThis[name];
  globalThis[name] = Object.assign(
    (run, ms, ...args) => original(run, ms >= LONG_MS ? ms / FACTOR : ms, ...args),
    original,
  );
}
