/**
 * The component `exchange_rate_manager`. Exchange rates come from the setting `exchange_rates`, so it has nothing to start.
 * Source of the name: lbry-sdk lbry/extras/daemon/components.py `ExchangeRateManagerComponent`.
 */
import type { Component } from '../components.js';

export const ratesPart: Component = {
  name: 'exchange_rate_manager',
  dependsOn: [],
  start: async () => undefined,
  stop: async () => undefined,
  status: () => null,
};
