#!/usr/bin/env bash
# Package: filetype 1.2.0 of PyPI, by which lbry-sdk finds the media type of a published file.
# Input: the first bytes of a 3GPP file (ISO base media, box `ftyp` with the brand 3gp4 alone, as phones wrote them), and of an MP4.
# Expected: the extension 3gp, since the package has a matcher of that name.
# Real: no type at all. The matcher looks for `ftyp3gp` at the first byte; there a file has the length of the box, and the text
# begins at the fifth byte. A 3GPP film is therefore typed by the name of its file alone.
# Seen: 3gp file: None; mp4 file: mp4; matcher's own form: 3gp
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check filetype==1.2.0
seen=$("$work/venv/bin/python" - <<'PY'
import filetype

def extension(head):
    kind = filetype.guess(bytearray(head + bytes(300)))
    return kind.extension if kind else None

box = lambda brand: (20).to_bytes(4, 'big') + b'ftyp' + brand + bytes(4) + brand
print(f"3gp file: {extension(box(b'3gp4'))}; mp4 file: {extension(box(b'mp42'))}; matcher's own form: {extension(b'ftyp3gp4')}")
PY
)
echo "filetype 1.2.0: $seen"
[ "$seen" = "3gp file: None; mp4 file: mp4; matcher's own form: 3gp" ]
