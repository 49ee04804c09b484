import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { createFile } from '#store/own-files.ts'
import { yieldEventLoop } from '#time/turn.ts'
import type { FileDigest } from './manifest.ts'

const PIECE = 256 * 1024

type Reading = {
  readonly signal: AbortSignal
  /** Called with the bytes read so far. */
  readonly onRead: (bytes: number) => void
  /** Path of a copy to write while reading; absent: no copy is written. */
  readonly into?: string
}

/**
 * The digest of a file. With `into`, the file is copied at the same time, and the copy is on the disk when
 * the promise resolves.
 */
export async function readThrough(path: string, { signal, onRead, into }: Reading): Promise<FileDigest> {
  const hash = new Bun.CryptoHasher('sha256')
  const piece = Buffer.allocUnsafe(PIECE)
  const source = openSync(path, 'r')
  if (into !== undefined) createFile(into)
  const target = into === undefined ? undefined : openSync(into, 'w')
  try {
    let bytes = 0
    for (;;) {
      const read = readSync(source, piece)
      if (read === 0) break
      const part = piece.subarray(0, read)
      hash.update(part)
      if (target !== undefined) for (let at = 0; at < read; ) at += writeSync(target, part, at)
      bytes += read
      onRead(bytes)
      // Without this turn, no abort would be noticed before the end.
      await yieldEventLoop()
      signal.throwIfAborted()
    }
    if (target !== undefined) fsyncSync(target)
    return { bytes, sha256: hash.digest('hex') }
  } finally {
    closeSync(source)
    if (target !== undefined) closeSync(target)
  }
}
