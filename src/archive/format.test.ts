import { expect, test } from 'bun:test'
import { measureJson } from '#chain/json-text.ts'
import { readLines } from './block-lines.ts'
import {
  type ArchiveManifest,
  FORMAT,
  MAX_TEXT_BYTES,
  manifestText,
  parseChunkTable,
  readManifest,
  sha256,
  unpackChunk,
} from './format.ts'

/** A chunk of these bytes, as listed in the table of a file. */
const chunkOf = (bytes: Uint8Array) => ({
  ...{ from: 0, to: 9, offset: 18 },
  ...{ bytes: bytes.byteLength, sha256: sha256(bytes) },
})

test('unpackChunk: a few bytes that decompress to more than a chunk can contain are refused as damaged even with the right hash', async () => {
  const part = Bun.zstdCompressSync(Buffer.alloc(16 * 1024 * 1024, 'x'))
  const bomb = Buffer.concat(Array.from({ length: 9 }, () => part))
  expect(bomb.byteLength).toBeLessThan(100_000)
  await expect(unpackChunk(bomb, chunkOf(bomb), 'a.blocks', MAX_TEXT_BYTES)).rejects.toMatchObject({
    kind: 'damaged',
    message: `Archive file a.blocks: its blocks 0 to 9 cannot be decompressed to at most ${MAX_TEXT_BYTES} bytes.`,
  })
})

test('unpackChunk: bytes that are not compressed data are refused as damaged even with the right hash', async () => {
  const bytes = Buffer.from('not compressed')
  await expect(unpackChunk(bytes, chunkOf(bytes), 'a.blocks', MAX_TEXT_BYTES)).rejects.toMatchObject({
    kind: 'damaged',
  })
})

test('chunk table: an invalid table is refused as damaged', () => {
  const right = chunkOf(Buffer.from('x'))
  expect(parseChunkTable(JSON.stringify([right]), 'a.blocks', 10)).toEqual([right])
  for (const wrong of [
    ...[{}, [null], [{ ...right, from: '0' }], [{ ...right, to: -1 }], [{ ...right, bytes: 1e12 }]],
    // More blocks than a chunk has, and more entries than the file has blocks.
    ...[[{ ...right, to: 100 }], Array.from({ length: 200 }, () => [])],
  ])
    expect(() => parseChunkTable(JSON.stringify(wrong), 'a.blocks', 10)).toThrow('its table cannot be read')
})

test('readManifest: a manifest that does not describe its files is refused as damaged even with the right hash', () => {
  const file = {
    ...{ name: '0-9.blocks', from: 0, to: 9, hash: 'h', bytes: 1, sha256: 's' },
    ...{ content_bytes: 1, content_sha256: 'c', table_sha256: 't', contracts: [['token.iost', 0]] },
  }
  const manifestWith = (files: readonly unknown[]): string =>
    manifestText({
      ...{
        format: FORMAT,
        chain_id: 1,
        net_name: '',
        genesis_hash: 'g',
        proof: 'signed',
        blocks_per_file: 10,
      },
      ...{ height: 9, hash: 'h', time: '1', files },
    } as ArchiveManifest)
  expect(readManifest(manifestWith([file]), 'm').files).toHaveLength(1)
  for (const wrong of [null, { ...file, contracts: undefined }, { ...file, to: 9.5 }, { ...file, table_sha256: 1 }])
    expect(() => readManifest(manifestWith([wrong]), 'm')).toThrow('it does not describe each of its files')
})

test('readManifest: texts that would take many times their length are refused before they are parsed', () => {
  const wide = JSON.stringify({ files: Array.from({ length: 1_600_000 }, () => []) }, null, 1)
  const keys = JSON.stringify(Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`k${at}`, 1])), null, 1)
  expect(measureJson(wide).parts).toBeGreaterThan(3_000_000)
  for (const text of [wide, keys]) {
    const body = text.slice(0, -2)
    expect(() => readManifest(`${body},\n "sha256": "${sha256(body)}"\n}\n`, 'm')).toThrow('m: it cannot be read.')
  }
})

test('readLines: reads what was written, and refuses any other number or kind of lines after the expected ones', () => {
  const range = { from: 5, count: 2 }
  const read = (text: string) => readLines(Buffer.from(text), range)
  expect(read('{"a":1}\n[]\nr文\ncx\n{}\n[1]\n')).toEqual([
    { height: 5, head: '{"a":1}', transactions: '[]', more: ['r文', 'cx'] },
    { height: 6, head: '{}', transactions: '[1]', more: [] },
  ])
  for (const wrong of [
    ...['', '\n', '\n'.repeat(1_000_000), '{}\n[]\n', '{}\n[]\n{}\n[]', '{}\n[]\n{}\n[]\n{}\n[]\n', '[]\n{}\n[]\n{}\n'],
    `{}\n[]\n${'\n'.repeat(1_000)}{}\n[]\n`,
    `{${' '.repeat(1_000_000)}}\n[]\n{}\n[]\n`,
  ])
    expect(read(wrong)).toBeUndefined()
})
