/** `syncwithvalidationinterfacequeue`: waits for what is under way on the chain. */
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
    // Listeners run within a change of the chain: once it is our turn, all earlier ones were told.
    await chain.chain.exclusively(async () => undefined);
    return null;
  },
});
