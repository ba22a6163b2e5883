/** The id of the node: the file `node_id` of the data folder, 48 bytes in base58. Source: lbry-sdk lbry/extras/daemon/components.py `get_node_id`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeBase58, encodeBase58 } from '../../script/base58.js';
import { EnvironmentError, onFile } from '../../util/text/environmentError.js';
import { refuseSpecialFile } from '../../util/files/specialFile.js';
import type { DaemonRandom } from '../base/clock.js';
import { ID_BYTES } from './datagrams.js';

/** Reads the node id from the file. If the file is missing or empty, writes a new id. Throws `EnvironmentError`. */
export function readNodeId(dataDir: string, random: DaemonRandom): Buffer {
  const path = join(dataDir, 'node_id');
  return onFile(path, () => {
    refuseSpecialFile(path);
    const text = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
    if (text === '') {
      const fresh = random.bytes(ID_BYTES);
      writeFileSync(path, encodeBase58(fresh));
      return fresh;
    }
    const id = decodeBase58(text);
    if (id === null || id.length !== ID_BYTES)
      throw new EnvironmentError(
        `The file ${path} does not contain the id of a DHT node. Remove it; the next start creates a new id.`,
      );
    return Buffer.from(id);
  });
}
