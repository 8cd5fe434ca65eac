/**
 * Reads a request's body as the bytes that were signed, up to a limit. What is beyond the limit is never kept, and a body
 * without an end is answered while it is still coming.
 */
import { SluiceError } from "#domain/errors.ts";

/** Largest body in bytes. */
export const MAX_BODY_BYTES = 256 * 1024;
/** So much of a body that is refused is read and dropped, for so long: its sender then sees the answer and not a reset. */
const MAX_DROPPED_BYTES = 1024 * 1024;
const MAX_DROP_MS = 250;

/**
 * @throws SluiceError `body_too_large`, by the Content-Length before a byte is kept, or as soon as there is one too many;
 *   `data.unread` says that more is coming, so that the connection is of no use after the answer
 */
export async function readBody(request: Request): Promise<Uint8Array> {
  const { body } = request;
  if (body === null) return new Uint8Array(0);
  const reader = body.getReader();
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > MAX_BODY_BYTES) throw await refuse(reader);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks, size);
    size += value.byteLength;
    if (size > MAX_BODY_BYTES) throw await refuse(reader);
    chunks.push(value);
  }
}

async function refuse(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<SluiceError> {
  return new SluiceError("body_too_large", `The body is larger than ${MAX_BODY_BYTES} bytes.`, {
    maxBodyBytes: MAX_BODY_BYTES,
    unread: !(await drop(reader)),
  });
}

/** @returns whether that was all. Never rejects. */
async function drop(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<boolean> {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    reader.cancel().catch(() => {});
  }, MAX_DROP_MS);
  try {
    for (let dropped = 0; dropped <= MAX_DROPPED_BYTES; ) {
      const { done, value } = await reader.read();
      if (done) return !isLate;
      dropped += value.byteLength;
    }
    await reader.cancel();
  } catch {
    // The sender has gone away: nobody will use the connection.
  } finally {
    clearTimeout(timer);
  }
  return false;
}
