/** Reading and writing of settings. Source: lbry-sdk lbry/extras/daemon/daemon.py `jsonrpc_settings_*`. */
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { settingsClear, settingsGet, settingsSet } from '../declarations/settings.js';
import { implement, type MethodImplementation } from '../implement.js';

export const settingsMethods: readonly MethodImplementation[] = [
  implement(settingsGet, ({ services }) => services.settings.all()),
  implement(settingsSet, async ({ services }, { key, value }) => ({
    [key]: await services.settings.set(key, value),
  })),
  implement(settingsClear, async ({ services: { settings } }, { key }) => {
    const cleared: Record<string, JsonOut> = {};
    for (const name of key === undefined ? settings.names : [key]) cleared[name] = await settings.clear(name);
    return cleared;
  }),
];
