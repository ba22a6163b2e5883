/** Declarations of the methods of the group blob. */
import { t } from '../../../schema/schema.js';
import { declareMethod, required } from '../declaration.js';
import { blobHash, ofDescriptor, page, pageSize, streamHash, timeout } from './listParams.js';
import { pageOf } from './shapes.js';

export const blobAnnounce = declareMethod({
  name: 'blob_announce',
  group: 'blob',
  summary: 'Announce blobs to the DHT.',
  usage: ['(<blob_hash> | --blob_hash=<blob_hash> | --stream_hash=<stream_hash> | --sd_hash=<sd_hash>)'],
  params: [blobHash, streamHash, ofDescriptor],
  result: t.bool('true'),
  needs: ['database'],
});

export const blobClean = declareMethod({
  name: 'blob_clean',
  group: 'blob',
  summary: 'Delete blobs to fit into the space that the settings allow.',
  usage: [],
  params: [],
  result: t.any('null'),
  needs: ['disk_space'],
});

export const blobDelete = declareMethod({
  name: 'blob_delete',
  group: 'blob',
  summary: 'Delete a blob.',
  usage: ['(<blob_hash> | --blob_hash=<blob_hash>)'],
  params: [required(blobHash)],
  result: t.str('what was done'),
  needs: ['blob_manager', 'database'],
});

export const blobGet = declareMethod({
  name: 'blob_get',
  group: 'blob',
  summary: 'Download a blob.',
  usage: ['(<blob_hash> | --blob_hash=<blob_hash>) [--timeout=<timeout>] [--read]'],
  params: [
    required(blobHash),
    timeout,
    { name: 'read', type: 'bool', description: 'show the blob instead', default: false },
  ],
  result: t.any('the blob, or what was done'),
  needs: ['blob_manager'],
});

export const blobList = declareMethod({
  name: 'blob_list',
  group: 'blob',
  summary: 'List blobs.',
  usage: [
    '[--needed] [--finished] [<uri> | --uri=<uri>] [<stream_hash> | --stream_hash=<stream_hash>]',
    '[<sd_hash> | --sd_hash=<sd_hash>] [--page=<page>] [--page_size=<page_size>]',
  ],
  params: [
    { name: 'uri', type: 'str', description: 'of the stream that the URL names' },
    streamHash,
    ofDescriptor,
    { name: 'needed', type: 'bool', description: 'that are missing' },
    { name: 'finished', type: 'bool', description: 'that are there' },
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
  usage: ['(<blob_hashes>...) [--reflector_server=<reflector_server>]'],
  params: [
    { name: 'blob_hashes', type: 'strOrList', description: 'hashes of the blobs', required: true },
    { name: 'reflector_server', type: 'str', description: 'the reflector; otherwise one of the settings' },
  ],
  result: t.array(t.str('hash of a blob that was sent')),
  needs: ['blob_manager'],
});

export const blobRestore = declareMethod({
  name: 'blob_restore',
  group: 'blob',
  summary: 'Write the blobs of published files that are not kept.',
  usage: ['[<sd_hash> | --sd_hash=<sd_hash>]'],
  params: [{ ...ofDescriptor, description: 'only of this stream' }],
  result: t.object(
    {
      streams: t.int('streams of which all blobs are on disk now'),
      blobs: t.int('blobs that were written'),
      bytes: t.int('their bytes'),
      changed: t.array(t.str('descriptor of a stream'), 'streams whose file was changed'),
    },
    'what was written',
  ),
  needs: ['blob_manager'],
});

export const blobReflectAll = declareMethod({
  name: 'blob_reflect_all',
  group: 'blob',
  summary: 'Send all blobs to a reflector.',
  usage: [],
  params: [],
  result: t.bool('true'),
  needs: ['blob_manager'],
});
