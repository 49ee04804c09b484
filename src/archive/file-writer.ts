import { createHash } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '#failure/failure.ts'
import { type BlockLines, joinBlockLines, parseBlockCode } from './block-lines.ts'
import { type Chunk, compressed, LENGTH_DIGITS, MAGIC, MAX_TEXT_BYTES, tableText } from './chunk.ts'
import { type ArchiveFile, sha256 } from './manifest.ts'

/** Suffix of files that are being written. The next run removes any that a killed process left behind. */
export const PART = '.part'

/** An archive file that is being written. It gets its final name in `end`, when all of it is on the disk. */
export type FileWriter = {
  add(lines: readonly BlockLines[]): Promise<void>
  /** `to`, `hash`: height and hash of the last block. */
  end(to: number, hash: string): Promise<ArchiveFile>
  abandon(): Promise<void>
}

/** Creates the file whose first block is at height `from`. */
export async function fileWriter(folder: string, from: number): Promise<FileWriter> {
  const path = join(folder, `${from}${PART}`)
  const file = await open(path, 'w')
  const hash = createHash('sha256')
  const content = createHash('sha256')
  const chunks: Chunk[] = []
  const contracts: (readonly [string, number])[] = []
  let [bytes, contentBytes] = [0, 0]
  const put = async (part: Uint8Array): Promise<void> => {
    await file.writeFile(part)
    hash.update(part)
    bytes += part.byteLength
  }
  await put(Buffer.from(MAGIC))
  return {
    add: async lines => {
      const text = joinBlockLines(lines)
      const first = lines[0]?.height ?? from
      const range = { from: first, to: first + lines.length - 1 }
      const length = Buffer.byteLength(text)
      if (length > MAX_TEXT_BYTES)
        throw new Failure(
          'bad_block',
          `Blocks ${first} to ${range.to} have ${length} bytes, which no reader of archives accepts.`,
          { retryable: false },
        )
      const part = await compressed(text)
      chunks.push({ ...range, offset: bytes, bytes: part.byteLength, sha256: sha256(part) })
      content.update(text)
      contentBytes += length
      for (const block of lines) for (const { id } of parseBlockCode(block)) contracts.push([id, block.height])
      await put(part)
    },
    end: async (to, lastHash) => {
      const table = tableText(chunks)
      await put(Buffer.from(`${table}${String(Buffer.byteLength(table)).padStart(LENGTH_DIGITS, '0')}`))
      await file.sync()
      await file.close()
      const name = `${digits(from)}-${digits(to)}.blocks`
      await rename(path, join(folder, name))
      return {
        ...{ name, from, to, hash: lastHash, bytes, sha256: hash.digest('hex') },
        content_bytes: contentBytes,
        content_sha256: content.digest('hex'),
        table_sha256: sha256(table),
        contracts,
      }
    },
    abandon: async () => {
      await file.close()
      await rm(path, { force: true })
    },
  }
}

/** File names sort in the order of their blocks: at two blocks a second, ten digits last for 150 years. */
const digits = (height: number): string => String(height).padStart(10, '0')
