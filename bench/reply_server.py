"""A server of one fixed reply after a latency in seconds: python reply_server.py 0.08."""

import asyncio
import json
import sys

REPLY = json.dumps(
    {
        "model": "made",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": " mark"},
            }
        ],
        "usage": {"prompt_tokens": 7, "completion_tokens": 1},
    }
).encode()
HEAD = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(REPLY)}\r\n\r\n"
WHOLE = HEAD.encode() + REPLY


async def answer(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float
) -> None:
    """Answer request after request on one connection."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            sizes = [
                line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")
            ]
            await reader.readexactly(int(sizes[0].partition(b":")[2]) if sizes else 0)
            await asyncio.sleep(seconds)
            writer.write(WHOLE)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main(seconds: float) -> None:
    """Print the port, then serve until killed."""
    server = await asyncio.start_server(
        lambda reader, writer: answer(reader, writer, seconds), "127.0.0.1", 0
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1])))
