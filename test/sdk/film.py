"""
A replacement for the film that tests of claims download. It has the film's size, dimensions and duration, but no pictures.
Structure of the file: ISO/IEC 14496-12, sections 4 and 8. Its hash differs from the hash that the tests expect. In answers
of lbcnet the hash of the film therefore replaces the hash of this file.
"""
import hashlib
import os
import struct

SIZE_BYTES = 2_299_653
HASH = '5f6811c83c1616df06f10bf5309ca61edb5ff949a9c1212ce784602d837bfdfc1c3db1e0580ef7bd1dadde41d8acf315'
WIDTH, HEIGHT, SECONDS, FRAMES_PER_SEC = 1280, 720, 15, 24
#: Time units per second.
SCALE = 24_000
MATRIX = struct.pack('>9L', 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)


def box(kind, *parts):
    content = b''.join(parts)
    return struct.pack('>L4s', 8 + len(content), kind) + content


def full_box(kind, flags, *parts):
    return box(kind, struct.pack('>L', flags), *parts)


def numbers(*values):
    return struct.pack(f'>{len(values)}L', *values)


def sample_entry():
    settings = box(b'avcC', bytes.fromhex('0142c01fffe100046742c01f01000268ce'))
    size = struct.pack('>HH', WIDTH, HEIGHT)
    return box(
        b'avc1', bytes(6), struct.pack('>H', 1), bytes(16), size, numbers(0x480000, 0x480000, 0),
        struct.pack('>H', 1), bytes(32), struct.pack('>Hh', 24, -1), settings)


def movie_box(data_offset, sample_bytes):
    frames, duration = SECONDS * FRAMES_PER_SEC, SECONDS * SCALE
    samples = box(
        b'stbl', full_box(b'stsd', 0, numbers(1), sample_entry()),
        full_box(b'stts', 0, numbers(1, frames, SCALE // FRAMES_PER_SEC)),
        full_box(b'stsc', 0, numbers(1, 1, frames, 1)),
        full_box(b'stsz', 0, numbers(sample_bytes, frames)),
        full_box(b'stco', 0, numbers(1, data_offset)))
    references = box(b'dinf', full_box(b'dref', 0, numbers(1), full_box(b'url ', 1)))
    media = box(
        b'mdia', full_box(b'mdhd', 0, numbers(0, 0, SCALE, duration), struct.pack('>HH', 0x55c4, 0)),
        full_box(b'hdlr', 0, bytes(4), b'vide', bytes(12), b'video\0'),
        box(b'minf', full_box(b'vmhd', 1, bytes(8)), references, samples))
    track = box(
        b'trak', full_box(b'tkhd', 7, numbers(0, 0, 1, 0, duration), bytes(16), MATRIX,
                          numbers(WIDTH << 16, HEIGHT << 16)), media)
    header = full_box(b'mvhd', 0, numbers(0, 0, SCALE, duration, 0x10000), struct.pack('>H', 0x100), bytes(10),
                      MATRIX, bytes(24), numbers(2))
    return box(b'moov', header, track)


def stand_in():
    kind = box(b'ftyp', b'isom', numbers(0x200), b'isomiso2avc1mp41')
    start = len(kind) + len(movie_box(0, 0)) + 8
    data = bytes(SIZE_BYTES - start)
    return kind + movie_box(start, len(data) // (SECONDS * FRAMES_PER_SEC)) + box(b'mdat', data)


class Film:
    """The file that the tests use: the film or its replacement."""

    def __init__(self):
        self.hash = HASH

    def prepare(self, path):
        """Writes the replacement if the film is missing."""
        if not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'wb') as file:
                file.write(stand_in())
        with open(path, 'rb') as file:
            self.hash = hashlib.sha384(file.read()).hexdigest()

    def shown(self, text):
        """Returns a JSON answer in which the film's hash replaces the hash of the replacement."""
        return text.replace(self.hash.encode(), HASH.encode())
