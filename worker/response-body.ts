/**
 * What is kept of a response body: its first bytes, decoded when it came compressed although nobody asked for that.
 * Everything has a bound, also what a small body unpacks to. Nothing here may change what the answer means: a body that
 * cannot be decoded is kept as it came, with a note.
 */
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

/** Response bytes that are kept. */
export const MAX_STORED_RESPONSE_BYTES = 16_384;
/**
 * Response bytes that are read, as they come and decoded, so that the connection can be used again; beyond them it is
 * cut off.
 */
export const MAX_READ_RESPONSE_BYTES = 262_144;

export interface ReadBody {
  readonly stored: Buffer;
  /** Bytes read: decoded, or as they came when `note` says so. */
  readonly bytes: number;
  readonly truncated: boolean;
  /** What was unusual about the encoding, in a few words; null: nothing. */
  readonly note: string | null;
}

type Decoder = ReturnType<typeof createGunzip | typeof createBrotliDecompress | typeof createInflate>;

const DECODERS: Readonly<Record<string, () => Decoder>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};
const SHOWN_ENCODING_CHARS = 40;

/** Keeps the first bytes and counts all. */
class Kept {
  #chunks: Buffer[] = [];
  #stored = 0;
  bytes = 0;

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.#stored >= MAX_STORED_RESPONSE_BYTES) return;
    // Copied, so that a slice does not keep the socket's whole buffer alive.
    const kept = Buffer.from(chunk.subarray(0, MAX_STORED_RESPONSE_BYTES - this.#stored));
    this.#chunks.push(kept);
    this.#stored += kept.length;
  }

  get stored(): Buffer {
    return this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
  }
}

export class ResponseBody {
  readonly #raw = new Kept();
  #decoded: Kept | null = null;
  readonly #encoding: string;
  readonly #decoder: Decoder | null;
  readonly #onFull: () => void;
  #state: "open" | "decoded" | "broken" = "open";
  #onDone: (() => void) | null = null;

  /**
   * @param contentEncoding the header as it came, or null
   * @param onFull called once more has been read than is allowed: there is no use in reading on
   */
  constructor(contentEncoding: string | null, onFull: () => void) {
    this.#encoding = contentEncoding?.trim().toLowerCase() ?? "";
    this.#onFull = onFull;
    this.#decoder = this.#openDecoder();
  }

  add(chunk: Buffer): void {
    this.#raw.add(chunk);
    if (this.#decoder !== null && !this.#decoder.destroyed) this.#decoder.write(chunk);
    if (this.#raw.bytes > MAX_READ_RESPONSE_BYTES) this.#onFull();
  }

  /** The last byte has come. Calls back once what came is decoded: at once when there is nothing to decode. */
  end(onDone: () => void): void {
    if (this.#decoder === null || this.#state !== "open" || this.#raw.bytes === 0) {
      onDone();
      return;
    }
    this.#onDone = onDone;
    this.#decoder.end();
  }

  /** Nobody wants more of it. */
  close(): void {
    this.#decoder?.destroy();
  }

  /** What there is by now. */
  read(): ReadBody {
    const decoded = this.#decoded;
    const usable = decoded !== null && (decoded.bytes > 0 || this.#state === "decoded");
    const { stored, bytes } = usable ? decoded : this.#raw;
    // What was still in the decoder, or behind the break, is missing.
    const cut = usable && this.#state !== "decoded";
    return { stored, bytes, truncated: bytes > stored.length || cut, note: this.#note(usable) };
  }

  #note(usable: boolean): string | null {
    if (this.#encoding === "" || this.#encoding === "identity" || this.#raw.bytes === 0) return null;
    if (usable && this.#state !== "broken") return null;
    const encoding = this.#encoding.slice(0, SHOWN_ENCODING_CHARS);
    return usable ? `${encoding}, broken` : `${encoding}, not decoded`;
  }

  #openDecoder(): Decoder | null {
    const create = Object.hasOwn(DECODERS, this.#encoding) ? DECODERS[this.#encoding] : undefined;
    if (create === undefined) return null;
    const decoder = create();
    const decoded = new Kept();
    this.#decoded = decoded;
    decoder.on("data", (chunk: Buffer) => {
      decoded.add(chunk);
      if (decoded.bytes > MAX_READ_RESPONSE_BYTES) {
        decoder.destroy();
        this.#onFull();
      }
    });
    decoder.on("end", () => this.#settle("decoded"));
    decoder.on("error", () => this.#settle("broken"));
    return decoder;
  }

  #settle(state: "decoded" | "broken"): void {
    this.#state = state;
    this.#onDone?.();
    this.#onDone = null;
  }
}
