import { describe, expect, it } from 'vitest';
import { simulatedCrashes } from '../../../../src/node/start/crashSimulation.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';

describe('-dbcrashratio', () => {
  it('ends the process at one of the given number of flush points', () => {
    const said: string[] = [];
    let drawn = 1;
    const onPoint = simulatedCrashes(7, {
      log: { ...SILENT_LOGGER, info: (line) => void said.push(line) },
      random: (bound) => {
        said.push(`of ${bound}`);
        return drawn;
      },
      die: () => void said.push('end'),
    })!;
    onPoint('commit:before-apply');
    onPoint('flush:before-batch');
    drawn = 0;
    onPoint('flush:in-journal');
    onPoint('commit:after-apply');
    expect(said).toEqual(['of 7', 'of 7', 'Simulating a crash. Goodbye.', 'end']);
  });

  it('is off by default', () => {
    expect(simulatedCrashes(0, { log: SILENT_LOGGER })).toBeUndefined();
  });
});
