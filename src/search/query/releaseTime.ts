/** Checks of `release_time` before it is parsed. Source: OdyseeTeam/hub, hub/herald/session.py `format_release_time`. */
import { badRequest } from './searchError.js';

const MAX_CHARACTERS = 100;
/** Maximum number of digits in a number of seconds. */
const MAX_DIGITS = 20;

/** Checks a release time. Throws `SearchError` for a text that is too long, has no digits, or has too many digits. */
export function refuseBadReleaseTime(value: unknown): void {
  if (typeof value !== 'string') return;
  const digits = value.replace(/[^0-9]/g, '').length;
  if (value.length > MAX_CHARACTERS)
    throw refusal(`release_time string too long: ${value.length} characters`);
  if (digits === 0) throw refusal('release_time must contain digits');
  if (digits > MAX_DIGITS) throw refusal(`release_time contains too many digits: ${digits}`);
}

const refusal = (reason: string) => badRequest(`invalid release_time parameter: ${reason}`);
