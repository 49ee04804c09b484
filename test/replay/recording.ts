import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { Failure } from '#failure/failure.ts'

/** One recorded call of a node: exact texts of request and answer. */
export type RecordedCall = {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly status: number
  readonly content_type: string
  readonly text: string
}

/** A recorded chain: every block from genesis on, and answers to other calls at its last height. */
export type Recording = {
  readonly height: number
  /** The node's exact answer to getBlockByNumber/{height}/true. undefined beyond the last block. */
  blockText(height: number): string | undefined
  calls(): Promise<readonly RecordedCall[]>
}

const LINE_END = 0x0a
const unzip = promisify(gunzip)

async function readZipped(path: string): Promise<Buffer> {
  try {
    return await unzip(await readFile(path))
  } catch (cause) {
    throw new Failure('usage', `${path} cannot be read as a gzip file of a recording.`, { cause })
  }
}

function lineStarts(bytes: Buffer): readonly number[] {
  const starts = [0]
  for (let at = bytes.indexOf(LINE_END); at >= 0; at = bytes.indexOf(LINE_END, at + 1)) starts.push(at + 1)
  if (starts.at(-1) === bytes.length) starts.pop()
  return starts
}

/**
 * Opens a folder with `blocks.ndjson.gz` (line i: the answer to getBlockByNumber/i/true) and `rpc.ndjson.gz`
 * (one call per line). The blocks are kept in memory as bytes and converted to text when requested. Throws
 * Failure 'usage' when the folder is not a recording.
 */
export async function openRecording(folder: string): Promise<Recording> {
  const bytes = await readZipped(join(folder, 'blocks.ndjson.gz'))
  const starts = lineStarts(bytes)
  if (starts.length === 0) throw new Failure('usage', `${folder}: the recording has no blocks.`)
  let calls: Promise<readonly RecordedCall[]> | undefined
  return {
    height: starts.length - 1,
    blockText: height => {
      const start = starts[height]
      if (start === undefined) return undefined
      const next = starts[height + 1] ?? bytes.length
      return bytes.toString('utf8', start, bytes[next - 1] === LINE_END ? next - 1 : next)
    },
    calls: () => {
      calls ??= readCalls(join(folder, 'rpc.ndjson.gz'))
      return calls
    },
  }
}

async function readCalls(path: string): Promise<readonly RecordedCall[]> {
  const bytes = await readZipped(path)
  const starts = lineStarts(bytes)
  return starts.map((start, index) => JSON.parse(bytes.toString('utf8', start, starts[index + 1])) as RecordedCall)
}
