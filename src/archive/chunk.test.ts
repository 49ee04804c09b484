import { expect, test } from 'bun:test'
import { chunksIn, chunkText, MOST_TEXT_BYTES } from './chunk.ts'
import { FORMAT, type Manifest, manifestText, readManifest, sha256 } from './manifest.ts'

/** A chunk of these bytes, as listed in the table of a file. */
const chunkOf = (bytes: Uint8Array) => ({
  ...{ from: 0, to: 9, offset: 18 },
  ...{ bytes: bytes.byteLength, sha256: sha256(bytes) },
})

test('chunkText: a few bytes that decompress to more than a chunk can contain are refused as damaged even with the right hash', async () => {
  const part = Bun.zstdCompressSync(Buffer.alloc(16 * 1024 * 1024, 'x'))
  const bomb = Buffer.concat(Array.from({ length: 9 }, () => part))
  expect(bomb.byteLength).toBeLessThan(100_000)
  await expect(chunkText(bomb, chunkOf(bomb), 'a.blocks')).rejects.toMatchObject({
    kind: 'damaged',
    message: `Archive file a.blocks: its blocks 0 to 9 cannot be decompressed to at most ${MOST_TEXT_BYTES} bytes.`,
  })
})

test('chunkText: bytes that are not compressed data are refused as damaged even with the right hash', async () => {
  const bytes = Buffer.from('not compressed')
  await expect(chunkText(bytes, chunkOf(bytes), 'a.blocks')).rejects.toMatchObject({ kind: 'damaged' })
})

test('chunksIn: an invalid table is refused as damaged', () => {
  const right = chunkOf(Buffer.from('x'))
  expect(chunksIn(JSON.stringify([right]), 'a.blocks')).toEqual([right])
  for (const wrong of [{}, [null], [{ ...right, from: '0' }], [{ ...right, to: -1 }], [{ ...right, bytes: 1e12 }]])
    expect(() => chunksIn(JSON.stringify(wrong), 'a.blocks')).toThrow('its table cannot be read')
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
    } as Manifest)
  expect(readManifest(manifestWith([file]), 'm').files).toHaveLength(1)
  for (const wrong of [null, { ...file, contracts: undefined }, { ...file, to: 9.5 }, { ...file, table_sha256: 1 }])
    expect(() => readManifest(manifestWith([wrong]), 'm')).toThrow('it does not describe each of its files')
})
