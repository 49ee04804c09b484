import { createHash } from 'node:crypto'
import { tryParseJson } from '#chain/json.ts'
import { PROOF_LEVELS, type ProofLevel } from '#chain/proof.ts'
import { Failure } from '#failure/failure.ts'

/** The file that lists all other files of an archive. */
export const MANIFEST = 'manifest.json'

/** Version of the format; raised when older programs could no longer read new archives. */
export const FORMAT = 1

/** One file of an archive. Hashes are SHA-256 in hexadecimal. */
export type ArchiveFile = {
  readonly name: string
  /** Heights of its first and last block. */
  readonly from: number
  readonly to: number
  /** Hash of its last block (base58). */
  readonly hash: string
  readonly bytes: number
  readonly sha256: string
  /**
   * Length and hash of its blocks before compression. Compressors differ, so files with the same blocks may
   * differ in bytes.
   */
  readonly content_bytes: number
  readonly content_sha256: string
  /** Hash of the table at its end, which contains the hash of each chunk. */
  readonly table_sha256: string
  /** System contracts whose code the file contains, each with the height of the block that deployed it. */
  readonly contracts: readonly (readonly [id: string, height: number])[]
}

/** Description of an archive. Its files follow each other without a gap. */
export type ArchiveManifest = {
  readonly format: typeof FORMAT
  readonly chain_id: number
  /**
   * Empty: no block contains the name of its network, and archives of the same blocks are equal, written from a node or
   * a store. Earlier versions wrote the name that a node gave.
   */
  readonly net_name: string
  /** Hash of block 0. */
  readonly genesis_hash: string
  /** Proof that the blocks allow: `linked` when they have no signatures. */
  readonly proof: Exclude<ProofLevel, 'whole'>
  /** Maximum number of blocks in a file. Every file ends before a multiple of it, or earlier. */
  readonly blocks_per_file: number
  /** Height and hash of the last block, and its time in nanoseconds since 1970 as text. */
  readonly height: number
  readonly hash: string
  readonly time: string
  readonly files: readonly ArchiveFile[]
}

/**
 * The text of a manifest: JSON whose last member is the hash of everything before it, so that any changed
 * byte is detected.
 */
export function manifestText(manifest: ArchiveManifest): string {
  const body = JSON.stringify(manifest, null, 1).slice(0, -2)
  return `${body},\n "sha256": "${sha256(body)}"\n}\n`
}

export const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/**
 * Reads a manifest. Throws Failure 'damaged' when it differs from the output of `manifestText`, 'usage' for
 * another format.
 */
export function readManifest(text: string, where: string): ArchiveManifest {
  const damaged = (reason: string): Failure =>
    new Failure('damaged', `${where}: ${reason}.`, {
      help: 'Get the file again from where the archive is published.',
    })
  const [, body, hash] = /^([\s\S]*),\n "sha256": "([0-9a-f]{64})"\n\}\n$/.exec(text) ?? []
  if (body === undefined) throw damaged('it is not the manifest of an archive of blocks')
  if (sha256(body) !== hash) throw damaged('its text does not have the hash at its end')
  const manifest = hasFewKeys(body) ? (tryParseJson(`${body}\n}`, MAX_PARTS) as ArchiveManifest | undefined) : undefined
  if (manifest === undefined) throw damaged('it cannot be read')
  if (manifest.format !== FORMAT)
    throw new Failure('usage', `${where} has format ${manifest.format}; this version reads format ${FORMAT}.`, {
      help: 'Use a version of iostlens that reads this format.',
    })
  const wrong = findManifestFault(manifest)
  if (wrong !== undefined) throw damaged(wrong)
  return manifest
}

/** A file takes some 30 parts of a manifest (`measureJson`), so these are 100,000 files or a thousand million blocks. */
const MAX_PARTS = 3_000_000
/** Each different key costs several times as much as a value. A manifest has 18 of them. */
const MAX_KEYS = 50

function hasFewKeys(text: string): boolean {
  const keys = new Set<string>()
  for (const [key] of text.matchAll(/"[^"]*":/g)) if (keys.add(key).size > MAX_KEYS) return false
  return true
}

/** The inconsistency in a manifest whose hash is correct; undefined: none. */
function findManifestFault({ files, proof, height, hash }: ArchiveManifest): string | undefined {
  if (!Array.isArray(files) || files.length === 0) return 'it names no files'
  if (!files.every(isFile)) return 'it does not describe each of its files'
  if (!PROOF_LEVELS.includes(proof)) return `its level of proof '${proof}' does not exist`
  for (const [at, { name, from, to }] of files.entries()) {
    const before = files[at - 1]
    if (!/^[0-9a-z-]+\.blocks$/.test(name)) return `'${name}' cannot be the name of a file`
    if (to < from || (before !== undefined && from !== before.to + 1))
      return `file ${name} with blocks ${from} to ${to} does not follow the file before it`
  }
  const last = files.at(-1)
  return last?.to === height && last.hash === hash ? undefined : 'its last file does not end at its height'
}

export const isWholeNumber = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0

/** Whether an entry of a manifest has all fields of a file that are used. */
function isFile(value: unknown): boolean {
  const file = (value ?? {}) as Record<keyof ArchiveFile, unknown>
  const { name, hash, sha256: whole, content_sha256, table_sha256, contracts } = file
  return (
    [file.from, file.to, file.bytes, file.content_bytes].every(isWholeNumber) &&
    [name, hash, whole, content_sha256, table_sha256].every(text => typeof text === 'string') &&
    Array.isArray(contracts) &&
    contracts.every(each => Array.isArray(each) && typeof each[0] === 'string' && isWholeNumber(each[1]))
  )
}
