"""A client of the WebSocket protocol (RFC 6455), as far as a driver of a browser on this machine needs it."""

import base64
import os
import socket
import struct

FINAL, MASKED = 0x80, 0x80
CONTINUATION, TEXT, CLOSE, PING, PONG = 0, 1, 8, 9, 10


class WebSocket:
    def __init__(self, port, path, seconds):
        """seconds: for which the peer may be silent."""
        self.socket = socket.create_connection(("127.0.0.1", port), seconds)
        self.buffer = b""
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        while b"\r\n\r\n" not in self.buffer:
            self.fill()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        if not head.startswith(b"HTTP/1.1 101 "):
            raise ConnectionError(head.decode())

    def fill(self):
        data = self.socket.recv(1 << 20)
        if not data:
            raise EOFError("the peer has closed the connection")
        self.buffer += data

    def take(self, count):
        while len(self.buffer) < count:
            self.fill()
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def send(self, text):
        self.send_frame(TEXT, text.encode())

    def send_frame(self, kind, data):
        length = len(data)
        head = (bytes([FINAL | kind, MASKED | length]) if length < 126 else
                struct.pack("!BBH", FINAL | kind, MASKED | 126, length) if length < 1 << 16 else
                struct.pack("!BBQ", FINAL | kind, MASKED | 127, length))
        mask = os.urandom(3) + b"\1"  # Firefox rejects zero
        masked = int.from_bytes(data, "big") ^ int.from_bytes((mask * (length // 4 + 1))[:length], "big")
        self.socket.sendall(head + mask + masked.to_bytes(length, "big"))

    def frame(self):
        """The next frame: its first byte and its data."""
        first, length = self.take(2)
        if length >= 126:
            length, = struct.unpack("!H", self.take(2)) if length == 126 else struct.unpack("!Q", self.take(8))
        return first, self.take(length)

    def read(self):
        """The next message of text."""
        message = b""
        while True:
            first, data = self.frame()
            kind = first & 15
            if kind == PING:
                self.send_frame(PONG, data)
            elif kind == CLOSE:
                raise EOFError("the peer closes the connection")
            elif kind in (TEXT, CONTINUATION):
                message += data
                if first & FINAL:
                    return message.decode()

    def close(self):
        self.socket.close()
