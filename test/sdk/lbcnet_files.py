"""
The files of lbcnet for the tests of lbry-sdk, which run in another process: the objects in answers of `file_list` and `get`,
settings that tests change while lbcnet runs, its folder of blobs and its database. Used by `lbcnet_daemon`.
"""
import asyncio
import os
import sqlite3
import sys
import time
import types

LOOK_SEC = 0.02
#: Maximum seconds of a wait. It only ends tests that hang.
WAIT_SEC = 120


async def until(holds):
    """Calls `holds` in a thread, because the blob server and the reflector of the tests need the event loop meanwhile."""
    loop = asyncio.get_running_loop()
    end = time.monotonic() + WAIT_SEC
    while not await loop.run_in_executor(None, holds):
        if time.monotonic() > end:
            raise asyncio.TimeoutError()
        await asyncio.sleep(LOOK_SEC)


async def uploads_end(daemon):
    """
    Waits until no file is being uploaded. A deletion ends uploads, and the tests then download the blobs from the server that
    the upload fills.
    """
    def is_idle():
        return not any(file['uploading_to_reflector'] for file in daemon.call('file_list', {'page_size': 1000})['items'])

    await until(is_idle)


async def second_ends(second):
    """
    Waits until the clock shows a later second. `added_on` has whole seconds, and the order of deletion by it is undefined for
    streams of the same second.
    """
    await until(lambda: time.time() >= second + 1)


class Moment:
    """Replaces an `asyncio.Event` of the reference. Its state is the result of `holds`, which a wait calls repeatedly."""

    def __init__(self, holds):
        self.is_set = holds

    def wait(self):
        return until(self.is_set)


class Conf:
    """The settings of the watching process. Changes by a test also change the setting of lbcnet."""

    def __init__(self, daemon, conf):
        self.__dict__.update(_daemon=daemon, _conf=conf)

    def __getattr__(self, name):
        return getattr(self._conf, name)

    def __setattr__(self, name, value):
        setattr(self._conf, name, value)
        if name == 'network_storage_limit' and value:
            # The reference ignores parts of a MiB, so its tests fill the limit with a little more. lbcnet counts bytes.
            value += 1
        if name in ('fixed_peers', 'tracker_servers', 'reflector_servers'):
            value = [f'{host}:{port}' for host, port in value]
        if value is None:
            self._daemon.call('settings_clear', {'key': name}) if name != 'max_key_fee' else \
                self._daemon.call('settings_set', {'key': name, 'value': 'null'})
            return
        self._daemon.call('settings_set', {'key': name, 'value': value})


class Blob:
    def __init__(self, manager, blob_hash):
        self.manager = manager
        self.blob_hash = blob_hash
        self.file_path = os.path.join(manager.blob_dir, blob_hash)

    def get_is_verified(self):
        return self.blob_hash in self.manager.completed_blob_hashes

    def is_readable(self):
        return os.path.isfile(self.file_path)

    def reader_context(self):
        return open(self.file_path, 'rb')


class BlobManager:
    def __init__(self, daemon):
        self.daemon = daemon
        self.blob_dir = os.path.join(daemon.folder, 'blobfiles')

    def get_blob(self, blob_hash):
        return Blob(self, blob_hash)

    @property
    def completed_blob_hashes(self):
        return set(self.daemon.call('blob_list', {'page_size': 100_000})['items'])

    async def delete_blobs(self, hashes, _delete_from_db=True):
        for blob_hash in hashes:
            self.daemon.call('blob_delete', {'blob_hash': blob_hash})


class Storage:
    """Reads and changes rows of lbrynet.sqlite while lbcnet uses it."""

    def __init__(self, daemon):
        self.path = os.path.join(daemon.folder, 'lbrynet.sqlite')
        self.db = types.SimpleNamespace(execute_fetchall=self.run)

    def query(self, sql, *values):
        with sqlite3.connect(self.path, timeout=30) as database:
            return database.execute(sql, values).fetchall()

    async def run(self, sql, values=()):
        return self.query(sql, *values)

    async def run_and_return_one_or_none(self, sql, *values):
        rows = self.query(sql, *values)
        return rows[0][0] if rows else None

    async def get_blobs_to_announce(self):
        rows = self.query(
            "select blob_hash from blob where status = 'finished' and next_announce_time < ?"
            " and (should_announce = 1 or single_announce = 1)", time.time())
        return [blob_hash for blob_hash, in rows]

    async def get_stream_hash_for_sd_hash(self, sd_hash):
        return await self.run_and_return_one_or_none('select stream_hash from stream where sd_hash = ?', sd_hash)

    async def get_blobs_for_stream(self, stream_hash):
        rows = self.query('select blob_hash, position from stream_blob where stream_hash = ? order by position', stream_hash)
        return [types.SimpleNamespace(blob_hash=blob_hash, blob_num=number) for blob_hash, number in rows]

    async def update_blob_ownership(self, sd_hash, is_mine):
        self.query(
            'update blob set is_mine = ? where blob_hash = ? or blob_hash in (select blob_hash from stream_blob'
            ' join stream using (stream_hash) where sd_hash = ?)', int(is_mine), sd_hash, sd_hash)


class FileManager:
    """Its `stop` and `start` stop and start lbcnet."""

    def __init__(self, daemon):
        self.daemon = daemon

    async def stop(self):
        await self.daemon.stop()

    async def start(self):
        await self.daemon.run()

    def get_filtered(self, **filters):
        return self.daemon.call('file_list', filters)['items']


class StreamingRunner:
    """Does nothing, because the media server of lbcnet is already running."""

    async def setup(self):
        pass


class NoSite:
    async def start(self):
        pass


def descriptor_of(daemon, sd_hash):
    """Reads a descriptor by code of the reference. At its start lbcnet finds descriptors that a test wrote."""
    from lbry.blob.blob_file import BlobFile
    from lbry.stream.descriptor import StreamDescriptor

    class Descriptor(StreamDescriptor):
        async def make_sd_blob(self, *args, **kwargs):
            blob = await super().make_sd_blob(*args, **kwargs)
            await daemon.stop()
            await daemon.run()
            return blob

    loop, folder = asyncio.get_event_loop(), daemon.blob_manager.blob_dir
    return Descriptor._from_stream_descriptor_blob(loop, folder, BlobFile(loop, sd_hash, None, None, folder))


#: Attributes that are requested from lbcnet when they are read, while lbcnet lists the file.
LIVE = {
    'status', 'completed', 'blobs_remaining', 'blobs_completed', 'is_fully_reflected', 'file_name', 'download_directory',
    'download_path', 'written_bytes',
}


class Files:
    """Attributes of a file in an answer, in addition to its fields. A base of the class of answers."""

    def now(self, name):
        daemon = self._daemon
        if daemon.process is None:
            # lbcnet has ended, so the status is in the database.
            rows = daemon.storage.query('select status from file where stream_hash = ?', self['stream_hash'])
            return rows[0][0] if name == 'status' and rows else self.get(name)
        found = daemon.call('file_list', {'sd_hash': self['sd_hash']})['items']
        return dict.get(found[0] if found else self, name)

    @property
    def full_path(self):
        return self.now('download_path')

    @property
    def descriptor(self):
        if 'descriptor' not in self.__dict__:
            self.__dict__['descriptor_'] = self.__dict__.get('descriptor_') or \
                descriptor_of(self._daemon, self['sd_hash'])
        return self.__dict__['descriptor_']

    @property
    def stream_claim_info(self):
        from lbry.schema import Claim
        return types.SimpleNamespace(claim=Claim.from_bytes(bytes.fromhex(self['protobuf'])))

    @property
    def fully_reflected(self):
        return Moment(lambda: self.now('is_fully_reflected'))

    @property
    def finished_writing(self):
        return Moment(lambda: self.now('status') == 'finished')

    @property
    def started_writing(self):
        return Moment(lambda: (self.now('written_bytes') or 0) > 0)


def is_file(value):
    return 'streaming_url' in value and 'sd_hash' in value


def patch_sites():
    """Disables the site that tests open for the reference's media server."""
    import aiohttp.web
    site = aiohttp.web.TCPSite
    aiohttp.web.TCPSite = lambda runner, *args, **kwargs: \
        NoSite() if isinstance(runner, StreamingRunner) else site(runner, *args, **kwargs)


def ask_with_range():
    """
    Adds the header `Range: bytes=0-`, which players send, to requests for streams. The tests expect status 206 without
    the header. lbcnet then answers 200 (RFC 9110, section 14.2).
    """
    from lbry import utils
    request = utils.aiohttp_request

    def with_range(method, url, **options):
        if '/get/' in url:
            options['headers'] = {'Range': 'bytes=0-', **options.get('headers', {})}
        return request(method, url, **options)

    utils.aiohttp_request = with_range


def wait_longer():
    """Raises the limits of waits in tests, which a busy machine exceeds. Limits of the library are unchanged."""
    wait_for = asyncio.wait_for

    def patient(awaitable, timeout, **options):
        is_of_test = '/tests/integration/' in sys._getframe(1).f_code.co_filename
        return wait_for(awaitable, max(timeout, WAIT_SEC) if is_of_test else timeout, **options)

    asyncio.wait_for = patient
