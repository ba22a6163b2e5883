/** Prometheus metrics about the reflector, from its `status`. */
import { Gauge, type Registry } from 'prom-client';
import type { JsonOut } from '../../util/json/jsonWrite.js';

/** Metrics by the names of the numbers in `status`. The numbers of the object store are nested in `blob_store`. */
const NUMBERS: Readonly<Record<string, string>> = {
  blobs: 'Stored blobs',
  used_bytes: 'Bytes that count towards the quota',
  received_blobs: 'Blobs received since the start',
  upload_connections: 'Connections for uploads to the reflector',
  peer_connections: 'Connections for downloads from the reflector',
  blocked_streams: 'Blocked streams',
};
const STORE_NUMBERS: Readonly<Record<string, string>> = {
  stored_blobs: 'Blobs in the object store',
  waiting_blobs: 'Blobs waiting for their upload to the object store',
  waiting_bytes: 'Bytes waiting for their upload to the object store',
  uploaded_blobs: 'Blobs uploaded to the object store since the start',
  fetched_blobs: 'Blobs downloaded from the object store since the start',
  cached_blobs: 'Blobs of the object store that are cached on this disk',
  disk_bytes: 'Bytes of blobs on this disk',
};

type Members = Readonly<Record<string, JsonOut | undefined>>;

/** Registers the gauges. `status` returns the object of `ReflectorRole.status`. Numbers that `status` lacks are omitted. */
export function addReflectorMetrics(registry: Registry, status: () => JsonOut): void {
  const gauge = (name: string, help: string, value: () => JsonOut | undefined): Gauge =>
    new Gauge({
      name: `lbcnet_reflector_${name}`,
      help,
      registers: [registry],
      collect() {
        const found = value();
        if (typeof found === 'number') this.set(found);
        else this.remove();
      },
    });
  const store = (): Members => ((status() as Members)['blob_store'] ?? {}) as Members;
  for (const [name, help] of Object.entries(NUMBERS)) gauge(name, help, () => (status() as Members)[name]);
  for (const [name, help] of Object.entries(STORE_NUMBERS)) gauge(`store_${name}`, help, () => store()[name]);
  gauge('store_degraded', 'Whether requests to the object store fail', () => {
    const { state } = store();
    return state === undefined ? undefined : Number(state === 'degraded');
  });
}
