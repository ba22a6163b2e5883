"""
A blob server, a reflector, a downloader and an uploader of lbry-sdk in one process, for tests of the blob exchange.
It reads one JSON command a line and answers each with one JSON line. Argument: a folder.
"""
import asyncio
import json
import os
import sys
import time

import lbry.wallet  # pylint: disable=unused-import  # its modules import each other, in this order only
from lbry.blob.blob_manager import BlobManager
from lbry.blob_exchange.downloader import BlobDownloader
from lbry.blob_exchange.server import BlobServer
from lbry.conf import Config
from lbry.dht.peer import make_kademlia_peer
from lbry.extras.daemon.storage import SQLiteStorage
from lbry.schema.attrs import calculate_sha384_file_hash
from lbry.stream.reflector.server import ReflectorServer
from lbry.stream.stream_manager import StreamManager


class Peer:
    def __init__(self, folder):
        self.loop = asyncio.get_event_loop()
        self.folder = folder
        self.config = Config(data_dir=folder, download_dir=folder, wallet=folder, reflect_streams=False,
                             fixed_peers=[], tracker_servers=[])
        self.storage = SQLiteStorage(self.config, os.path.join(folder, 'lbrynet.sqlite'))
        self.blobs = BlobManager(self.loop, folder, self.storage, self.config)
        self.streams = StreamManager(self.loop, self.config, self.blobs, None, self.storage, None)

    async def start(self, blob_port, reflector_port, partial_needs=False):
        await self.storage.open()
        await self.blobs.setup()
        server = BlobServer(self.loop, self.blobs, 'bQEaw42GXsgCAGio1nxFncJSyRmnztSCjP')
        server.start_server(blob_port, '127.0.0.1')
        await server.started_listening.wait()
        reflector = ReflectorServer(self.blobs, response_chunk_size=50, partial_needs=partial_needs)
        reflector.start_server(reflector_port, '127.0.0.1')
        await reflector.started_listening.wait()
        return True

    async def create(self, path):
        began = time.perf_counter()
        # `stream_create` hashes the file for its claim.
        calculate_sha384_file_hash(path)
        stream = await self.streams.create(path)
        took = time.perf_counter() - began
        hashes = [blob.blob_hash for blob in stream.descriptor.blobs[:-1]]
        return {'sd_hash': stream.sd_hash, 'blobs': hashes, 'seconds': took}

    async def save(self, sd_hash, name):
        stream = self.streams.streams[sd_hash]
        began = time.perf_counter()
        await stream.save_file(name, self.folder)
        await stream.finished_writing.wait()
        return {'seconds': time.perf_counter() - began}

    async def fetch(self, ports, hashes, _length=None):
        queue = asyncio.Queue()
        queue.put_nowait([
            make_kademlia_peer(os.urandom(48), '127.0.0.1', tcp_port=port, allow_localhost=True) for port in ports
        ])
        downloader = BlobDownloader(self.loop, self.config, self.blobs, queue)
        began = time.perf_counter()
        for blob_hash in hashes:
            await asyncio.wait_for(downloader.download_blob(blob_hash), 60)
        took = time.perf_counter() - began
        downloader.close()
        return {'seconds': took}

    async def reflect(self, sd_hash, port):
        stream = self.streams.streams[sd_hash]
        return {'sent': await stream.upload_to_reflector('127.0.0.1', port), 'complete': stream.is_fully_reflected}

    async def has(self, hashes):
        return [self.blobs.is_blob_verified(blob_hash) for blob_hash in hashes]


async def main():
    peer = Peer(sys.argv[1])
    lines = asyncio.StreamReader(limit=2 ** 24)
    await asyncio.get_event_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while True:
        line = await lines.readline()
        if not line:
            return
        name, *args = json.loads(line)
        try:
            answer = {'result': await getattr(peer, name)(*args)}
        except Exception as error:  # pylint: disable=broad-except
            answer = {'error': f'{type(error).__name__}: {error}'}
        print(json.dumps(answer), flush=True)


asyncio.get_event_loop().run_until_complete(main())
