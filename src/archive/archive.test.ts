import { expect, test } from 'bun:test'
import { measureJson } from '#chain/json.ts'
import { openFolder } from './folder.ts'
import {
  type ArchiveManifest,
  FORMAT,
  MAX_TEXT_BYTES,
  manifestText,
  parseChunkTable,
  readLines,
  readManifest,
  sha256,
  unpackChunk,
} from './format.ts'
import { createMemo } from './reader.ts'

const PART = new Uint8Array(1024 * 1024)

function startServer(answer: (request: Request) => Response) {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer })
  return { url: server.url.href, [Symbol.asyncDispose]: () => server.stop(true) }
}

test.each([206, 200])(
  'archive folder: an endless answer of status %d is refused, and the rest is not read',
  async status => {
    const cancelled = Promise.withResolvers<void>()
    const endless = () => new ReadableStream({ pull: to => to.enqueue(PART), cancel: () => cancelled.resolve() })
    await using server = startServer(() => new Response(endless(), { status }))
    const { text, bytes } = openFolder(server.url)
    const read = status === 206 ? bytes('a.blocks', 0, 10) : text('manifest.json')
    await expect(read).rejects.toMatchObject({ kind: 'damaged' })
    await cancelled.promise
  },
)

test.each([401, 403])('archive folder: a server that denies a file with %d is not said to have none', async status => {
  await using server = startServer(() => new Response(null, { status }))
  const { text, bytes } = openFolder(server.url)
  const says = (file: string) => ({
    kind: 'usage',
    message: `${server.url}${file}: the server answers with status ${status}.`,
    help: expect.stringContaining('user and password'),
  })
  expect(await text('manifest.json').catch(error => error)).toMatchObject(says('manifest.json'))
  expect(await bytes('a.blocks', 0, 1).catch(error => error)).toMatchObject(says('a.blocks'))
})

test('archive folder: only a file that is not there is said to be none', async () => {
  await using server = startServer(({ url }) => new Response(null, { status: url.endsWith('/gone') ? 410 : 400 }))
  const { text } = openFolder(server.url)
  expect(String(await text('gone').catch(error => error))).toContain('it has no gone')
  expect(String(await text('other').catch(error => error))).toContain('answers with status 400')
})

/** Remembers texts, and the keys that had to be made, in order. */
function remembering(bounds: { readonly most: number; readonly characters: number }) {
  const made: string[] = []
  const remembered = createMemo<string>({ ...bounds, sizeOf: text => text.length })
  const of = (key: string): Promise<string> =>
    remembered(key, async () => {
      made.push(key)
      return key.repeat(10)
    })
  return { made, of }
}

test.each([
  [{ most: 2, characters: 1_000 }, 'abacba'],
  [{ most: 9, characters: 25 }, 'abcbca'],
])('cached reads: beyond %p, the oldest values are made again', async (bounds, keys) => {
  const { made, of } = remembering(bounds)
  for (const key of keys) await of(key)
  expect(made.join('')).toBe('abca')
})

test('cached reads: calls for a value under way share it, whatever its size will be', async () => {
  const { made, of } = remembering({ most: 9, characters: 1 })
  expect(await Promise.all(['a', 'b', 'a', 'b'].map(of))).toEqual(['a', 'b', 'a', 'b'].map(key => key.repeat(10)))
  expect(made).toEqual(['a', 'b'])
})

test('cached reads: a value that could not be made is made again', async () => {
  const remembered = createMemo<string>({ most: 2 })
  const failing = remembered('a', () => Promise.reject(new Error('unreadable')))
  await expect(failing).rejects.toThrow('unreadable')
  expect(await remembered('a', async () => 'read')).toBe('read')
})

const chunkOf = (bytes: Uint8Array) => ({
  ...{ from: 0, to: 9, offset: 18 },
  ...{ bytes: bytes.byteLength, sha256: sha256(bytes) },
})

const BOMB = Buffer.concat(Array(9).fill(Bun.zstdCompressSync(Buffer.alloc(16 * 1024 * 1024, 'x'))))

test.each([
  ['decompress to more than a chunk can contain', BOMB],
  ['are not compressed data', Buffer.from('not compressed')],
])('unpackChunk: a few bytes that %s are refused as damaged even with the right hash', async (_, bytes) => {
  expect(bytes.byteLength).toBeLessThan(100_000)
  const message = `Archive file a.blocks: its blocks 0 to 9 cannot be decompressed to at most ${MAX_TEXT_BYTES} bytes.`
  const unpacked = unpackChunk(bytes, chunkOf(bytes), 'a.blocks', MAX_TEXT_BYTES)
  await expect(unpacked).rejects.toMatchObject({ kind: 'damaged', message })
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
      ...{ format: FORMAT, chain_id: 1, net_name: '', genesis_hash: 'g', proof: 'signed', blocks_per_file: 10 },
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
