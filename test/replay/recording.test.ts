import { expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { openRecording } from './recording.ts'

async function inFolder(
  files: Readonly<Record<string, string | Uint8Array>>,
  work: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'recording-'))
  try {
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
    await work(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

test.each(['a\nbä\nc', 'a\nbä\nc\n'])('openRecording: lines of %p are the blocks', async lines => {
  const call = '{"method":"GET","path":"/x","status":200,"content_type":"t","text":"y"}'
  await inFolder({ 'blocks.ndjson.gz': gzipSync(lines), 'rpc.ndjson.gz': gzipSync(`${call}\n`) }, async folder => {
    const { height, blockText, calls } = await openRecording(folder)
    expect([height, ...[0, 1, 2, 3, -1].map(blockText)]).toEqual([2, 'a', 'bä', 'c', undefined, undefined])
    expect(await calls()).toEqual([JSON.parse(call)])
  })
})

test('openRecording: a folder without a recording is named in the failure', async () => {
  await inFolder({ 'blocks.ndjson.gz': 'not gzip' }, async folder => {
    await expect(openRecording(folder)).rejects.toThrow(
      `${folder}/blocks.ndjson.gz cannot be read as a gzip file of a recording.`,
    )
  })
  await inFolder({ 'blocks.ndjson.gz': gzipSync('') }, async folder => {
    await expect(openRecording(folder)).rejects.toThrow(`${folder}: the recording has no blocks.`)
  })
})
