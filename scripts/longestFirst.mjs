/** Sequencer of vitest: runs the files with the longest recorded times first. */
import { relative } from 'node:path';
import { BaseSequencer } from 'vitest/node';
import { longestFirst, recordedTimes } from './testPlan.mjs';

export default class LongestFirst extends BaseSequencer {
  /** @param {import('vitest/node').TestSpecification[]} specifications */
  async sort(specifications) {
    const nameOf = ({ moduleId }) => relative(process.cwd(), moduleId).replaceAll('\\', '/');
    const order = longestFirst(new Set(specifications.map(nameOf)), recordedTimes());
    const places = new Map(order.map((name, place) => [name, place]));
    return [...specifications].sort((a, b) => places.get(nameOf(a)) - places.get(nameOf(b)));
  }
}
