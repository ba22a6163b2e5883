/** Applies the options `-debug` and `-debugexclude`. */
import type { LogControl } from '../../util/logging.js';

/**
 * Enables and disables log categories according to `-debug` and `-debugexclude`. Returns the errors in the options. `none`
 * or `0` in `-debug` disables all categories. Source: `AppInitParameterInteraction`.
 */
export function applyDebugOptions(
  categories: LogControl,
  debug: readonly string[],
  exclude: readonly string[],
): string[] {
  const warnings: string[] = [];
  const apply = (option: string, names: readonly string[], enabled: boolean): void => {
    for (const name of names) {
      if (!categories.setCategory(name, enabled))
        warnings.push(`Unsupported logging category ${option}=${name}.`);
    }
  };
  if (!debug.includes('0') && !debug.includes('none')) apply('-debug', debug, true);
  apply('-debugexclude', exclude, false);
  return warnings;
}
