import { constants, createGzip } from 'node:zlib'
import { GZIP_LEVEL } from '../reply.ts'
import { inPieces } from './stream.ts'

/** Compresses a body, chunk by chunk, into one gzip stream. */
export type Packer = {
  /** Returns the output that is available after a chunk. */
  pack(piece: Uint8Array): Promise<Uint8Array>
  /** Returns the end of the stream. */
  end(): Promise<Uint8Array>
  /** Frees the stream's memory. */
  close(): void
}

export function gzipPacker(): Packer {
  const gzip = createGzip({ level: GZIP_LEVEL })
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => undefined)
  gzip.on('error', failed.reject)
  let out: Uint8Array[] = []
  gzip.on('data', (part: Uint8Array) => out.push(part))
  const take = (): Uint8Array => {
    const taken = Buffer.concat(out)
    out = []
    return taken
  }
  const after = (work: (done: () => void) => void): Promise<Uint8Array> =>
    Promise.race([new Promise<void>(work), failed.promise]).then(take)
  return {
    pack: piece =>
      after(done => {
        gzip.write(piece)
        gzip.flush(constants.Z_SYNC_FLUSH, done)
      }),
    end: () =>
      after(done => {
        gzip.once('end', done)
        gzip.end()
      }),
    close: () => void gzip.destroy(),
  }
}

/** Passes chunks on unchanged. */
export const plainPacker: Packer = {
  pack: async piece => piece,
  end: async () => new Uint8Array(),
  close: () => undefined,
}

const encoder = new TextEncoder()

/** Encodes texts as the chunks of a body. */
export const packed = async function* (
  texts: AsyncGenerator<string, void, void>,
  packer: Packer,
): AsyncGenerator<Uint8Array, void, void> {
  for await (const text of texts) yield* inPieces(await packer.pack(encoder.encode(text)))
  yield* inPieces(await packer.end())
}
