/** `syncwithvalidationinterfacequeue`: waits until pending changes of the chain and their events are complete. */
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const syncWithValidationInterfaceQueue = defineMethod({
  name: 'syncwithvalidationinterfacequeue',
  category: 'hidden',
  summary:
    'Waits for the validation interface queue to catch up on everything that was there when we entered this function.',
  params: [],
  result: t.none(),
  examples: [[]],
  async run({ services: { chain } }) {
    // Events are delivered before a change of the chain ends. When this task can run, all earlier events have been
    // delivered.
    await chain.chain.exclusively(async () => undefined);
    return null;
  },
});
