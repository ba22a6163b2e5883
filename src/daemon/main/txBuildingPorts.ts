/**
 * Access of the transaction builder to settings and ledger of the daemon. Settings are read at each use, so that changes
 * take effect.
 */
import type { Settings } from '../api/settings.js';
import type { Clock, DaemonRandom } from '../base/clock.js';
import type { DaemonLedger } from '../ledger/ledger.js';
import { exchangeBy } from '../txBuilding/exchangeRates.js';
import type { RateFeed } from '../txBuilding/rateFeed.js';
import type { ClaimsPort, TxBuildingPorts } from '../txBuilding/ports.js';
import type { Resolver } from '../resolve/resolver.js';
import { Txo } from '../txo/txo.js';
import { SELECTION_STRATEGIES } from '../wallet/tx/coinSelection.js';

/**
 * Environment variable with the fee per byte of a new claim's name, in dewies. Source: lbry-sdk lbry/wallet/manager.py
 * `from_lbrynet_config`.
 */
const NAME_FEE_VARIABLE = 'LBRY_FEE_PER_NAME_CHAR';

interface Surroundings {
  readonly ledger: DaemonLedger;
  readonly resolver: Resolver;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly random: DaemonRandom;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly files: TxBuildingFiles;
  readonly rateFeed?: RateFeed;
}

/** Access of the transaction builder to the publishing of files. */
export type TxBuildingFiles = Pick<TxBuildingPorts, 'publishing' | 'hasFiles'>;

function claimsOf(resolver: Resolver): ClaimsPort {
  return {
    byId: (claimId) => resolver.claimById(claimId),
    async at(url) {
      const found = (await resolver.resolve([url])).get(url);
      return found instanceof Txo ? found : null;
    },
    async channelOfKey(keyAddress) {
      const { rows } = await resolver.search({ public_key_id: keyAddress, limit: 1 });
      return rows.find((row) => row instanceof Txo) ?? null;
    },
  };
}

export function txBuildingPortsOf({
  ledger,
  resolver,
  settings,
  clock,
  random,
  environment,
  files,
  rateFeed,
}: Surroundings): TxBuildingPorts {
  const nameFee = environment[NAME_FEE_VARIABLE] ?? '';
  return {
    ledger,
    claims: claimsOf(resolver),
    clock,
    random,
    publishing: () => files.publishing(),
    hasFiles: () => files.hasFiles(),
    exchange: {
      toDewies: (currency, amount) =>
        exchangeBy(settings.get('exchange_rates'), rateFeed).toDewies(currency, amount),
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
