/** Declarations of the methods of the group blob. */
import { t } from '../../../schema/schema.js';
import { declareMethod, required } from '../declaration.js';
import { blobHash, ofDescriptor, page, pageSize, streamHash, timeout } from './listParams.js';
import { pageOf } from './shapes.js';

export const blobAnnounce = declareMethod({
  name: 'blob_announce',
  group: 'blob',
  summary: 'Announce blobs to the DHT within a minute.',
  details: [
    'For the hash of a stream or of a descriptor, the descriptor and all data blobs of the stream are announced. Missing blobs are omitted.',
  ],
  usage: ['(<blob_hash> | --blob_hash=<blob_hash> | --stream_hash=<stream_hash> | --sd_hash=<sd_hash>)'],
  params: [blobHash, streamHash, ofDescriptor],
  result: t.bool('true'),
  needs: ['database'],
});

export const blobClean = declareMethod({
  name: 'blob_clean',
  group: 'blob',
  summary: 'Delete blobs that exceed blob_storage_limit or network_storage_limit.',
  details: ['Blobs of published and of pinned files are kept. The daemon also runs this every 30 minutes.'],
  usage: [],
  params: [],
  result: t.none('null'),
  needs: ['disk_space'],
});

export const blobDelete = declareMethod({
  name: 'blob_delete',
  group: 'blob',
  summary: 'Delete a blob, or a stream if the hash is that of its descriptor.',
  details: [
    'For a descriptor it deletes the blobs of the stream that no other stream needs, and removes the file from the list. The saved file is kept.',
  ],
  usage: ['(<blob_hash> | --blob_hash=<blob_hash>)'],
  params: [required(blobHash)],
  result: t.str('a sentence about the result'),
  needs: ['blob_manager', 'database'],
});

export const blobGet = declareMethod({
  name: 'blob_get',
  group: 'blob',
  summary: 'Download a blob from peers and blob servers, unless it is stored already.',
  usage: ['(<blob_hash> | --blob_hash=<blob_hash>) [--timeout=<timeout>] [--read]'],
  params: [
    required(blobHash),
    {
      ...timeout,
      description: 'seconds until the call fails; default, also for 0: the setting blob_download_timeout',
    },
    { name: 'read', type: 'bool', description: 'return the blob, which must be UTF-8 text', default: false },
  ],
  result: t.str('a sentence about the result; with read, the blob'),
  needs: ['blob_manager'],
});

export const blobList = declareMethod({
  name: 'blob_list',
  group: 'blob',
  summary: 'List hashes of blobs: all stored blobs, or the descriptor and the data blobs of one stream.',
  usage: [
    '[--needed] [--finished] [<uri> | --uri=<uri>] [<stream_hash> | --stream_hash=<stream_hash>]',
    '[<sd_hash> | --sd_hash=<sd_hash>] [--page=<page>] [--page_size=<page_size>]',
  ],
  params: [
    { name: 'uri', type: 'str', description: 'URL of a claim: list the blobs of its stream' },
    { ...streamHash, description: 'hash of a stream: list its blobs' },
    { ...ofDescriptor, description: 'hash of a stream descriptor: list the blobs of its stream' },
    { name: 'needed', type: 'bool', description: 'only missing blobs' },
    { name: 'finished', type: 'bool', description: 'only stored blobs' },
    page,
    pageSize,
  ],
  result: pageOf('Blob', t.str('hash of a blob')),
  needs: ['blob_manager', 'wallet'],
});

export const blobReflect = declareMethod({
  name: 'blob_reflect',
  group: 'blob',
  summary: 'Send blobs to a reflector.',
  details: [
    'A stream descriptor is sent with the data blobs of its stream. Blobs that the reflector already has are not sent.',
  ],
  usage: ['(<blob_hashes>...) [--reflector_server=<reflector_server>]'],
  params: [
    { name: 'blob_hashes', type: 'strOrList', description: 'hashes of the blobs', required: true },
    {
      name: 'reflector_server',
      type: 'str',
      description: 'HOST or HOST:PORT of the reflector; default: a server of the setting reflector_servers',
    },
  ],
  result: t.array(t.str('hash of a blob that was sent')),
  needs: ['blob_manager'],
});

export const blobRestore = declareMethod({
  name: 'blob_restore',
  group: 'blob',
  summary:
    'Write the blobs of published files to disk, if they exist only on demand (setting keep_blobs: false).',
  usage: ['[<sd_hash> | --sd_hash=<sd_hash>]'],
  params: [
    { ...ofDescriptor, description: 'hash of a stream descriptor: write only the blobs of this stream' },
  ],
  result: t.object(
    {
      streams: t.int('number of streams that now have all blobs on disk'),
      blobs: t.int('number of blobs that were written'),
      bytes: t.int('total size of these blobs in bytes'),
      changed: t.array(t.str('hash of a stream descriptor'), 'streams whose published file has changed'),
    },
    'result of the restoration',
  ),
  needs: ['blob_manager'],
});

export const blobReflectAll = declareMethod({
  name: 'blob_reflect_all',
  group: 'blob',
  summary: 'Send all stored blobs to a server of the setting reflector_servers.',
  usage: [],
  params: [],
  result: t.bool('true'),
  needs: ['blob_manager'],
});
