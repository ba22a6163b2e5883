/**
 * Keeps V8's new space small during the start of the process. The objects of a start survive several collections, so V8 doubles
 * the new space several times, and keeps it until the process has been idle for a minute. Source: V8 src/heap/new-spaces.cc
 * `SemiSpaceNewSpace::Grow`.
 */
import { setFlagsFromString } from 'node:v8';

/** The factor by which V8 enlarges the new space by default. */
export const GROWTH_FACTOR = 2;
/** Time in ms after which the new space may grow although the start has not finished, because a long start is a load. */
export const MAX_START_MS = 3_000;

/** Sets the factor by which V8 enlarges the new space of all threads. 1 keeps its size. */
export const setGrowthFactor = (factor: number): void =>
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);

/** Keeps the new space of all threads at its size. Returns a function that ends this at the end of the start. */
export function keepNewSpaceDuringStart(set: (factor: number) => void = setGrowthFactor): () => void {
  set(1);
  const end = (): void => {
    clearTimeout(timer);
    set(GROWTH_FACTOR);
  };
  const timer = setTimeout(end, MAX_START_MS).unref();
  return end;
}
