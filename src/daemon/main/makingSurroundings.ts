/** What making transactions takes from the settings and the ledger of the daemon, as they are at each use. */
import type { Settings } from '../api/settings.js';
import type { Clock, RandomSource } from '../base/clock.js';
import type { Ledger } from '../ledger/ledger.js';
import { fixedRates } from '../making/exchangeRates.js';
import type { MakingPorts } from '../making/ports.js';
import { SELECTION_STRATEGIES } from '../wallet/tx/coinSelection.js';

/** Names the fee for each byte of a new claim's name, in dewies. Source: lbry-sdk lbry/wallet/manager.py `from_lbrynet_config`. */
const NAME_FEE_VARIABLE = 'LBRY_FEE_PER_NAME_CHAR';

interface Surroundings {
  readonly ledger: Ledger;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export function makingPortsOf({ ledger, settings, clock, random, environment }: Surroundings): MakingPorts {
  const nameFee = environment[NAME_FEE_VARIABLE] ?? '';
  return {
    ledger,
    clock,
    random,
    exchange: {
      toDewies: (currency, amount) => fixedRates(settings.get('exchange_rates')).toDewies(currency, amount),
    },
    settings: {
      get strategy() {
        const name = settings.get('coin_selection_strategy');
        return SELECTION_STRATEGIES.find((known) => known === name) ?? 'prefer_confirmed';
      },
      feePerNameChar: /^[0-9]{1,15}$/.test(nameFee) ? BigInt(nameFee) : 0n,
      get maxKeyFee() {
        return settings.get('max_key_fee');
      },
    },
  };
}
