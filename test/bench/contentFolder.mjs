/** A data folder with many files, each with a descriptor, one small blob and a claim. Either daemon can use a copy of it. */
import { createCipheriv, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { blobHashOf } from '../../dist/daemon/content/blobHash.js';
import { descriptorBytes, streamHashOf } from '../../dist/daemon/content/descriptor.js';
import { encodeClaim } from '../../dist/metadata/claim.js';
import { ClaimSchema } from '../../dist/metadata/messages/claim_pb.js';
import { loadSqlite } from '../../dist/sqlite/sqliteProvider.js';

const hexOf = (text) => Buffer.from(text).toString('hex');

function claimValue(sdHash, name, sizeBytes) {
  const source = {
    sdHash: Buffer.from(sdHash, 'hex'),
    name,
    size: BigInt(sizeBytes),
    mediaType: 'video/mp4',
  };
  const claim = create(ClaimSchema, { title: name, type: { case: 'stream', value: { source } } });
  // QUIRK: lbry-sdk stores the bytes of the hexadecimal digits.
  return Buffer.from(encodeClaim({ channelId: null, signature: null, claim }).toString('hex'));
}

/** Adds a claim with a random outpoint to a stream, as if the claim had been resolved. */
function addClaim(database, streamHash, sdHash, name, sizeBytes) {
  const outpoint = `${randomBytes(32).toString('hex')}:0`;
  database
    .prepare('insert into claim values (?, ?, ?, 1000, 1, ?, null, ?, -1)')
    .run(
      outpoint,
      randomBytes(20).toString('hex'),
      name,
      claimValue(sdHash, name, sizeBytes),
      'n'.repeat(34),
    );
  database.prepare('insert into content_claim values (?, null, ?)').run(streamHash, outpoint);
}

function smallStream(n) {
  const [key, iv, endIv] = [randomBytes(16), randomBytes(16), randomBytes(16)];
  const cipher = createCipheriv('aes-128-cbc', key, iv);
  const blob = Buffer.concat([cipher.update(`the file ${n}`), cipher.final()]);
  const name = `film-${n}.mp4`;
  const stream = {
    streamName: name,
    suggestedFileName: name,
    key: key.toString('hex'),
    blobs: [
      { blobHash: blobHashOf(blob), blobNum: 0, iv: iv.toString('hex'), length: blob.length },
      { blobHash: null, blobNum: 1, iv: endIv.toString('hex'), length: 0 },
    ],
  };
  const descriptor = { ...stream, streamHash: streamHashOf(stream) };
  return { descriptor, blob, sd: descriptorBytes(descriptor) };
}

/**
 * Adds files to a folder that already has a database, and a claim to each stream without one. `sizeOf` returns the size of the
 * file of such a stream by its name.
 */
export async function addFiles(folder, count, sizeOf) {
  const database = (await loadSqlite()).open(join(folder, 'lbrynet.sqlite'));
  database.exec('begin');
  const add = (table, width) =>
    database.prepare(`insert into ${table} values (${Array(width).fill('?').join(', ')})`);
  const [blobs, streams, members, files] = [
    add('blob', 9),
    add('stream', 5),
    add('stream_blob', 4),
    add('file', 9),
  ];
  for (const row of database.prepare('select stream_hash, sd_hash, stream_name from stream').all()) {
    const name = Buffer.from(row.stream_name, 'hex').toString();
    addClaim(database, row.stream_hash, row.sd_hash, name, sizeOf(name));
  }
  for (let n = 0; n < count; n++) {
    const { descriptor, blob, sd } = smallStream(n);
    const { streamHash, streamName } = descriptor;
    const sdHash = blobHashOf(sd);
    const blobHash = descriptor.blobs[0].blobHash;
    writeFileSync(join(folder, 'blobfiles', sdHash), sd);
    writeFileSync(join(folder, 'blobfiles', blobHash), blob);
    blobs.run(sdHash, sd.length, 0, 1, 'finished', 0, 0, n, 0);
    blobs.run(blobHash, blob.length, 0, 0, 'finished', 0, 0, n, 0);
    streams.run(streamHash, sdHash, descriptor.key, hexOf(streamName), hexOf(streamName));
    for (const one of descriptor.blobs) members.run(streamHash, one.blobHash, one.blobNum, one.iv);
    files.run(streamHash, null, null, null, 0, n % 2 === 0 ? 'finished' : 'stopped', 0, null, n + 1);
    addClaim(database, streamHash, sdHash, streamName, 16);
  }
  database.exec('commit');
  database.close();
}
