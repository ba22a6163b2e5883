/** The line that tells of the tip, made once for all clients that hear of it in the same form. */
import { whenSoon, type Soon } from '../util/soon.js';
import type { HeaderService } from './headerService.js';
import { headerNotification } from './notifications.js';
import type { WireVersion } from './wireMessages.js';

export class HeaderNotices {
  private readonly headers: HeaderService;
  /** The block that the lines are of. */
  private id = -1;
  private readonly lines = new Map<string, string>();

  constructor(headers: HeaderService) {
    this.headers = headers;
  }

  /** The line for block `id`, at once when its header is in memory. */
  of(id: number, form: 'raw' | 'decoded', version: WireVersion): Soon<string> {
    const key = `${form} ${version}`;
    const known = this.id === id ? this.lines.get(key) : undefined;
    if (known !== undefined) return known;
    return whenSoon(this.headers.told(id, form), (header) => {
      const line = `${headerNotification(version, header)}\n`;
      if (this.id !== id) this.lines.clear();
      this.id = id;
      this.lines.set(key, line);
      return line;
    });
  }
}
