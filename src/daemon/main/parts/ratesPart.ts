/**
 * The component `exchange_rate_manager`. It provides the fixed rates of the setting `exchange_rates`, even before its start,
 * and the price feed of `exchange_rate_source`. Source of the name: lbry-sdk lbry/extras/daemon/components.py
 * `ExchangeRateManagerComponent`.
 */
import type { RateFeed } from '../../txBuilding/rateFeed.js';
import type { Settings } from '../../api/settings.js';
import type { Component } from '../components.js';

/** Creates the component. While it runs, a change of the price source or its URL takes effect immediately. */
export function ratesPart(feed: RateFeed, settings: Pick<Settings, 'onChange'>): Component {
  let isRunning = false;
  const restart = (): void => {
    if (isRunning) feed.start();
  };
  settings.onChange('exchange_rate_source', restart);
  settings.onChange('exchange_rate_url', restart);
  return {
    name: 'exchange_rate_manager',
    dependsOn: [],
    start: async () => {
      isRunning = true;
      feed.start();
    },
    stop: async () => {
      isRunning = false;
      feed.stop();
    },
    status: () => feed.status(),
  };
}
