"""An encrypted file that is written in one go and read anywhere, as archives are: none of it is kept unencrypted."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from proctor.domain.errors import UserError
from proctor.stores.backups.sealing import MARK, PIECE_BYTES, SALT_BYTES, TAG_BYTES, BackupKey, Pieces, nonce

if TYPE_CHECKING:
    from typing_extensions import Buffer

_HEAD = len(MARK) + SALT_BYTES
_WHOLE = PIECE_BYTES + TAG_BYTES


def is_sealed(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(len(MARK)) == MARK


class SealedWriter(io.RawIOBase):
    """Encrypts into `file` what is written; it is whole once `end` was called."""

    def __init__(self, file: BinaryIO, key: BackupKey, name: str) -> None:
        self._file, self._pieces = file, Pieces(key, name)
        file.write(self._pieces.head)

    def writable(self) -> bool:
        return True

    def write(self, content: Buffer, /) -> int:
        given = bytes(content)
        for piece in self._pieces.add(given):
            self._file.write(piece)
        return len(given)

    def end(self) -> None:
        self._file.write(self._pieces.end())


class SealedReader(io.RawIOBase):
    """Decrypts the piece that is asked for; UserError where it was changed, cut short, or the key is another."""

    def __init__(self, file: Path, key: BackupKey, name: str) -> None:
        self.name = str(file)
        self._file, self._bound = file.open("rb"), name.encode()
        body = self._file.seek(0, io.SEEK_END) - _HEAD
        self._last = max(0, -(-body // _WHOLE) - 1)
        self._size = body - (self._last + 1) * TAG_BYTES
        self._place = 0
        self._file.seek(len(MARK))
        self._cipher = key.cipher(self._file.read(SALT_BYTES))
        self._held: tuple[int, bytes] = (self._last, b"")
        try:
            self._held = (self._last, self._read_piece(self._last))  # proves that it was not cut short
        except BaseException:
            self.close()
            raise

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        if start + offset < 0:
            raise ValueError("negative place in a file")
        self._place = start + offset
        return self._place

    def readinto(self, target: Buffer, /) -> int:
        number, start = divmod(self._place, PIECE_BYTES)
        if self._place >= self._size:
            return 0
        if self._held[0] != number:
            self._held = (number, self._read_piece(number))
        view = memoryview(target).cast("B")
        found = self._held[1][start : start + len(view)]
        view[: len(found)] = found
        self._place += len(found)
        return len(found)

    def close(self) -> None:
        self._file.close()
        super().close()

    def _read_piece(self, number: int) -> bytes:
        from cryptography.exceptions import InvalidTag

        self._file.seek(_HEAD + number * _WHOLE)
        try:
            return self._cipher.decrypt(
                nonce(number, is_last=number == self._last), self._file.read(_WHOLE), self._bound
            )
        except InvalidTag:
            raise UserError(f"{self.name} was encrypted with another key, or is damaged.") from None
