import { Failure } from '#failure/failure.ts'
import { type Folder, openFolder } from './folder.ts'
import {
  type ArchiveFile,
  type ArchiveManifest,
  type BlockLines,
  type Chunk,
  damagedFile,
  LENGTH_DIGITS,
  MANIFEST,
  MAX_TEXT_BYTES,
  parseChunkTable,
  readLines,
  readManifest,
  sha256,
  unpackChunk,
} from './format.ts'

/** Nearly all chunks are shorter, compressed or not; longer ones are read one at a time. */
const USUAL_TEXT_BYTES = 8 * 1024 * 1024

/**
 * Caches one value per key; beyond `most` values, or `characters` in values that have arrived, it drops the oldest.
 * `sizeOf`: the size of a value in characters; 0 without it.
 */
export function createMemo<T>({
  most,
  characters = 0,
  sizeOf = () => 0,
}: {
  readonly most: number
  readonly characters?: number
  readonly sizeOf?: (value: T) => number
}) {
  /** `size`: only of a value that has arrived. */
  const known = new Map<string, { readonly made: Promise<T>; size?: number }>()
  const trim = (): void => {
    const [first] = known.keys()
    if (known.size > most && first !== undefined) known.delete(first)
    let sum = known.values().reduce((all, { size = 0 }) => all + size, 0)
    for (const [key, { size }] of known) {
      if (sum <= characters) return
      if (size === undefined) continue
      sum -= size
      known.delete(key)
    }
  }
  return (key: string, make: () => Promise<T>): Promise<T> => {
    const old = known.get(key)
    if (old !== undefined) return old.made
    const entry: { readonly made: Promise<T>; size?: number } = { made: make() }
    known.set(key, entry)
    entry.made.then(
      value => {
        entry.size = sizeOf(value)
        trim()
      },
      () => {
        // A failed value is made again by the next call.
        if (known.get(key) === entry) known.delete(key)
      },
    )
    trim()
    return entry.made
  }
}

export type Archive = {
  readonly manifest: ArchiveManifest
  readonly folder: Folder
  /** Lines of the blocks `from` … `to`. Throws Failure 'damaged' with the file's name. */
  blocks(from: number, to: number): Promise<readonly BlockLines[]>
  /** The chunk that contains a block, and its file; undefined: the archive does not contain the block. */
  chunkAt(height: number): Promise<{ readonly file: ArchiveFile; readonly chunk: Chunk } | undefined>
  /** Path or URL of the file that contains a block. */
  fileOf(height: number): string | undefined
  /**
   * The archive as it is now: unchanged, or with more files. Throws Failure 'damaged' when a file listed
   * before has changed or is gone.
   */
  grown(): Promise<Archive>
}

/** Opens an archive by its manifest. Throws Failure 'usage', 'damaged', 'unavailable'. */
export async function openArchive(location: string): Promise<Archive> {
  const folder = openFolder(location)
  return parseArchive(folder, await folder.text(MANIFEST))
}

function parseArchive(folder: Folder, text: string): Archive {
  const manifest = readManifest(text, `${folder.name}/${MANIFEST}`)
  const hash = sha256(text)
  // Blocks are read in order, so only the tables of the current file and the next one are needed.
  const tables = createMemo<readonly Chunk[]>({ most: 4 })
  // Answers for ranges read each chunk twice, and several ranges are read at a time. Chunks of busy blocks have some 4
  // million characters: two answers for a range need a chunk at almost the same time, so that few suffice.
  const chunks = createMemo<readonly BlockLines[]>({
    most: 12,
    characters: 12_000_000,
    sizeOf: lines => lines.reduce((sum, { head, transactions }) => sum + head.length + transactions.length, 0),
  })
  const readLarge = createSerialRunner()
  const file = (height: number): ArchiveFile | undefined => findArchiveFile(manifest, height)
  const chunkAt: Archive['chunkAt'] = async height => {
    const of = file(height)
    const table = of && (await tables(of.name, () => readTable(folder, of)))
    const chunk = table?.find(({ from, to }) => from <= height && height <= to)
    return of === undefined || chunk === undefined ? undefined : { file: of, chunk }
  }
  const archive: Archive = {
    manifest,
    folder,
    chunkAt,
    blocks: async (from, to) => {
      const blocks: BlockLines[] = []
      for (let next = from; next <= to; ) {
        const found = await chunkAt(next)
        if (found === undefined) throw new Failure('defect', `Block ${next} is not in the archive ${folder.name}.`)
        const { file: of, chunk } = found
        const lines = await chunks(`${of.name}/${chunk.from}`, () => readChunk(folder, of, { chunk, readLarge }))
        blocks.push(...lines.slice(next - chunk.from, to - chunk.from + 1))
        next = chunk.to + 1
      }
      return blocks
    },
    fileOf: height => {
      const name = file(height)?.name
      return name === undefined ? undefined : `${folder.name}/${name}`
    },
    grown: async () => {
      const now = await folder.text(MANIFEST)
      if (sha256(now) === hash) return archive
      const next = parseArchive(folder, now)
      // Files of an archive never change: a reader may already have loaded blocks from them.
      for (const [at, { name, sha256: own }] of manifest.files.entries())
        if (next.manifest.files[at]?.name !== name || next.manifest.files[at].sha256 !== own)
          throw damagedFile(`${folder.name}/${name}`, 'it was replaced or removed while the archive was read')
      return next
    },
  }
  return archive
}

/** The file that contains a block, by binary search: an archive of mainnet has tens of thousands of files. */
function findArchiveFile({ files }: ArchiveManifest, height: number): ArchiveFile | undefined {
  let [low, high] = [0, files.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((files[middle]?.to ?? height) < height) low = middle + 1
    else high = middle
  }
  const found = files[low]
  return found !== undefined && found.from <= height ? found : undefined
}

/** Maximum bytes of a table: an entry has some 170, and a file has a chunk for each 100 blocks or fewer. */
const MAX_TABLE_BYTES = 16 * 1024 * 1024

async function readTable(
  folder: Folder,
  { name, bytes, table_sha256, from, to }: ArchiveFile,
): Promise<readonly Chunk[]> {
  const where = `${folder.name}/${name}`
  const digits = Buffer.from(await folder.bytes(name, bytes - LENGTH_DIGITS, bytes)).toString('latin1')
  const length = Number(digits)
  if (!/^[0-9]+$/.test(digits) || length > Math.min(bytes - LENGTH_DIGITS, MAX_TABLE_BYTES))
    throw damagedFile(where, 'its last bytes are not the length of a table')
  const table = await folder.bytes(name, bytes - LENGTH_DIGITS - length, bytes - LENGTH_DIGITS)
  if (sha256(table) !== table_sha256) throw damagedFile(where, `its table does not have the hash in ${MANIFEST}`)
  return parseChunkTable(Buffer.from(table).toString(), where, to - from + 1)
}

async function readChunk(
  folder: Folder,
  { name }: ArchiveFile,
  { chunk, readLarge }: { readonly chunk: Chunk; readonly readLarge: ReturnType<typeof createSerialRunner> },
): Promise<readonly BlockLines[]> {
  const where = `${folder.name}/${name}`
  const { from, to, offset, bytes } = chunk
  const read = async (most: number): Promise<readonly BlockLines[] | undefined> => {
    const text = await unpackChunk(await folder.bytes(name, offset, offset + bytes), chunk, where, most)
    if (text === undefined) return undefined
    const lines = readLines(text, { from, count: to - from + 1 })
    if (lines === undefined) throw damagedFile(where, `its blocks ${from} to ${to} cannot be read`)
    return lines
  }
  const usual = bytes > USUAL_TEXT_BYTES ? undefined : await read(USUAL_TEXT_BYTES)
  const lines = usual ?? (await readLarge(() => read(MAX_TEXT_BYTES)))
  if (lines === undefined) throw new Failure('defect', `The blocks from ${from} on in ${where} were not read.`)
  return lines
}

/** Runs one task after the other. */
function createSerialRunner(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return task => {
    const next = last.then(task)
    last = next.catch(() => undefined)
    return next
  }
}
