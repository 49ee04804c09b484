import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { archiveAnswers } from '#archive/answers.ts'
import { type ArchivedBlock, MANIFEST, manifestText, readManifest } from '#archive/format.ts'
import { openArchive } from '#archive/reader.ts'
import { writeArchive } from '#archive/write.ts'
import type { ProofLevel } from '#chain/block.ts'
import { decodeBlock, decodeBlockTransactions } from '#chain/decode.ts'
import { storeBlocks } from '#cli/archive/write.ts'
import { archiveNode, createNode } from '#node/archive-node.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import type { Replay } from '#test/replay/serve.ts'
import { systemClock } from '#time/clock.ts'
import { expectEnd } from '../cli/folder.ts'
import { startFaultyNode } from '../support/nodes/faulty-node.ts'
import { loadUnpaused } from '../support/nodes/load-unpaused.ts'
import { cliFolder } from '../support/processes/cli-process.ts'
import { failureOf } from '../support/refusal.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { audited } from '../support/stores/audited.ts'
import { differences, dumpSqlite } from '../support/stores/dump.ts'
import { loadedFile } from '../support/stores/loaded.ts'
import { loadFrom, readSqlite, replayed, temporarySqlite } from '../support/stores/loading.ts'
import { testFolder } from '../support/test-folder.ts'
import { until } from '../support/wait.ts'
import { archiveOfNode, check, EACH, filesIn } from './archives.ts'

/** The last file is shorter than the others, and so is the chunk at its end. That chunk has busy blocks. */
const HEIGHT = 780

let node: Replay
const folder = testFolder()
/** An archive that tests copy and never change. */
let whole: string

beforeAll(async () => {
  node = await replayed(HEIGHT)
  whole = join(folder, 'whole')
  await archiveOfNode(node.url, whole, { to: HEIGHT })
})
afterAll(() => node.stop())

async function loaded(url: string | readonly string[], prove: ProofLevel = 'signed'): Promise<number> {
  await using place = await temporarySqlite()
  const height = await loadUnpaused(url, place.store, { prove })
  if (typeof height !== 'number') throw height
  return height
}

describe('writeArchive', () => {
  test('a written archive passes the check; one written in parts has the same bytes, and is not written again', async () => {
    await check(whole)
    const grown = join(folder, 'grown')
    for (const to of [EACH - 1, 2 * EACH - 1, HEIGHT, HEIGHT]) await archiveOfNode(node.url, grown, { to })
    expect(await filesIn(grown)).toEqual(await filesIn(whole))
  })

  test.each([EACH - 1, EACH + 150])('the archive of a writer that died at block %d is completed', async at => {
    const cut = join(folder, `cut-${at}`)
    const dying = async function* (blocks: AsyncIterable<ArchivedBlock>) {
      for await (const each of blocks) {
        if (each.block.height === at) throw new Error('killed')
        yield each
      }
    }
    await expect(archiveOfNode(node.url, cut, { to: HEIGHT, source: dying })).rejects.toThrow('killed')
    // A killed process leaves such a file behind.
    await writeFile(join(cut, '200.part'), 'half a file')
    await archiveOfNode(node.url, cut, { to: HEIGHT })
    expect(await filesIn(cut)).toEqual(await filesIn(whole))
  })

  test('an archive written from a store has the same bytes, with signatures from a node', async () => {
    await using at = await temporarySqlite(await loadedFile(HEIGHT))
    const client = createNode({ urls: [node.url] })
    const [stored, signal] = [join(folder, 'stored'), new AbortController().signal]
    const { chain_id, genesis_hash, proof, blocks_per_file } = (await openArchive(whole)).manifest
    const of = { chain_id, genesis_hash, proof, blocks_per_file }
    await writeArchive(stored, of, {
      ...{ from: 0, to: HEIGHT, onWritten: () => undefined },
      source: from => storeBlocks(at.store, { from, to: HEIGHT, signal }, { node: client, signed: true }),
    })
    client.close()
    expect(await filesIn(stored)).toEqual(await filesIn(whole))
  })

  test('archive write makes the same archive of a node, of a store with a node, and of a store alone', async () => {
    await using cli = await cliFolder()
    await Bun.write(join(cli.path, 'store.sqlite'), readSqlite(await loadedFile(60)))
    const write = async (name: string, ...options: readonly string[]) => {
      await expectEnd(cli, ['archive', 'write', name, '--prove', 'linked', '--to', '15', ...options], 0, '')
      return await filesIn(join(cli.path, name))
    }
    const ofNode = await write('node', '--node', node.url)
    expect(await write('both', '--node', node.url, '--store', 'sqlite:store.sqlite')).toEqual(ofNode)
    expect(await write('store', '--store', 'sqlite:store.sqlite')).toEqual(ofNode)
  })

  test('an archive that has the name of its network is read, and continued as any other', async () => {
    const named = join(folder, 'named')
    await archiveOfNode(node.url, named, { to: EACH - 1 })
    const path = join(named, MANIFEST)
    const manifest = readManifest(await Bun.file(path).text(), path)
    await writeFile(path, manifestText({ ...manifest, net_name: 'debugnet' }))
    expect((await openArchive(named)).manifest.net_name).toBe('debugnet')
    await check(named)
    await archiveOfNode(node.url, named, { to: HEIGHT })
    expect(await filesIn(named)).toEqual(await filesIn(whole))
  })

  test('archive write: errors name the given options, and a later run needs no --blocks-per-file', async () => {
    await using cli = await cliFolder()
    const write = (code: number, says: string, ...args: readonly string[]) =>
      expectEnd(cli, ['archive', 'write', '--node', node.url, ...args], code, says)
    await write(2, '--from 300 is above --to 299.', 'b', '--from', '300', '--to', '299')
    await write(0, 'needs block 999.', 'b', '--from', '500', '--blocks-per-file', '500')
    await writeFile(join(cli.path, 'file'), '')
    await write(2, 'cannot be created', 'file', '--to', '99')
    await write(0, '', 'b', '--to', '99', '--blocks-per-file', '200')
    await write(0, '', 'b', '--to', '399')
    const { files } = (await openArchive(join(cli.path, 'b'))).manifest
    expect(files.map(({ to }) => to)).toEqual([99, 199, 399])
    await write(3, 'blocks_per_file 200, not 300', 'b', '--to', '599', '--blocks-per-file', '300')
  })

  test('writing from an archive is refused if the last block has no signature there', async () => {
    const [path, short] = [join(folder, 'short'), join(folder, 'shorter')]
    const error = await failureOf(archiveOfNode(`archive:${whole}`, path, { to: 150 }))
    const help = expect.stringContaining('--to 99, 199 …')
    expect(error).toMatchObject({ kind: 'bad_block', message: 'Block 150: its head has no signature.', help })
    await archiveOfNode(`archive:${whole}`, short, { to: 99 })
    await check(short)
  })

  test('a node that returns the signature of another block is refused', async () => {
    const swapped = async function* (blocks: AsyncIterable<ArchivedBlock>): AsyncGenerator<ArchivedBlock> {
      let before: unknown
      for await (const each of blocks) {
        yield each.block.height === 99 ? { ...each, sign: before } : each
        before = each.sign
      }
    }
    const path = join(folder, 'swapped')
    const error = await failureOf(archiveOfNode(node.url, path, { to: 199, source: swapped }))
    expect(error).toMatchObject({ kind: 'bad_block', details: { height: 99 } })
  })

  test('a node that returns the raw form of another block, or none, is refused', async () => {
    for (const [change, says] of [
      [(text: string) => text.replace('"version":"0"', '"version":"1"'), /^Block 0: its hash is .* raw block/],
      [() => 'null', /answer: null is not an object/],
    ] as const) {
      await using faulty = await startFaultyNode(
        async ({ path }, truth) =>
          path.startsWith('/getRawBlockByNumber/0/') ? new Response(change(await truth())) : undefined,
        HEIGHT,
      )
      const error = await failureOf(archiveOfNode(faulty.url, join(folder, 'raw'), { to: 199 }))
      expect(error).toMatchObject({ kind: 'bad_block', message: expect.stringMatching(says) })
    }
  })

  test('an archive of another chain, division or proof level is refused, and stays as it is', async () => {
    const text = await Bun.file(join(whole, MANIFEST)).text()
    const before = readManifest(text, whole)
    const { chain_id, genesis_hash } = before
    const source = () => {
      throw new Error('Blocks were requested.')
    }
    const writing = { from: 0, to: HEIGHT, onWritten: () => undefined, source }
    const others = {
      chain_id: chain_id + 1,
      genesis_hash: genesis_hash.toLowerCase(),
      proof: 'linked',
      blocks_per_file: 7,
    }
    for (const [name, value] of Object.entries(others)) {
      const message = `The archive in ${whole} has ${name} ${Reflect.get(before, name)}, not ${value}.`
      const error = await failureOf(writeArchive(whole, { ...before, [name]: value }, writing))
      expect(error).toMatchObject({ kind: 'conflict', message })
    }
    expect(await Bun.file(join(whole, MANIFEST)).text()).toBe(text)
  })
})

describe('an archive as a node', () => {
  test('a store loaded from an archive, ending at any blocks meanwhile, equals a store loaded from the node', async () => {
    const live = await loadedFile(HEIGHT)
    await using at = await temporarySqlite()
    for (const to of [0, 41, 42, EACH - 1, 399, 455, HEIGHT])
      expect(await loadFrom(`archive:${whole}`, at.store, { to })).toBe(to)
    expect(differences(dumpSqlite(at.path), dumpSqlite(live))).toEqual([])
    const stored = openSqlite({ path: live, readonly: true })
    // A load that ends after one block proves it by its raw form, too.
    const { proved: _, ...end } = { ...(await stored.published()) }
    expect(await at.store.published()).toMatchObject(end)
    await stored.close()
  })

  // A load asks for single blocks where the answer about several cannot be read.
  test('its answer about several blocks has the transactions of the single blocks', async () => {
    const answer = archiveAnswers(await openArchive(whole))
    const ask = async (path: string, body = '{}') => {
      const answered = await answer({ path, body }, Number.MAX_SAFE_INTEGER)
      return answered === 'too_large' ? answered : new TextDecoder().decode(answered.body)
    }
    const range = JSON.stringify({ from_block: 0, to_block: HEIGHT })
    const found = decodeBlockTransactions(await ask('/getBlockTxsByContract', range))
    expect(found.length).toBeGreaterThan(HEIGHT / 2)
    for (const { height, transactions } of found)
      expect(transactions).toEqual([...decodeBlock(await ask(`/getBlockByNumber/${height}/true`)).transactions])
  })

  test('an archive alone suffices for an audit, except for the state, which it does not contain', async () => {
    const at = await temporarySqlite(await loadedFile(HEIGHT))
    const archive = createNode({ urls: [`archive:${whole}`] })
    try {
      const says = 'does not return the state of contracts, so balances, votes and accounts were not compared.'
      const expected = { found: [], complete: true, notes: [`archive:${whole} ${says}`] }
      expect(await audited(at.store, { node: archive, sample: 20 })).toMatchObject(expected)
    } finally {
      archive.close()
      await at.destroy()
    }
  })

  test('files added to an archive while it is read are found, and exchanged files are refused', async () => {
    const growing = join(folder, 'growing')
    await archiveOfNode(node.url, growing, { to: EACH - 1 })
    let now = 0
    const clock = { ...systemClock, now: () => now }
    const archive = archiveNode(growing, undefined, { clock, tries: 1 })
    const last = async () => (await archive.chainInfo()).libBlock
    try {
      expect(await last()).toBe(EACH - 1)
      await archiveOfNode(node.url, growing, { to: 2 * EACH - 1 })
      now += 29_000
      expect(await last()).toBe(EACH - 1)
      now += 1_000
      // The manifest is read again in the background, and queries do not wait for that.
      await until(async () => (await last()) === 2 * EACH - 1)
      const heights: number[] = []
      for await (const { block } of archive.blocks({ from: EACH - 2, to: EACH + 1 })) heights.push(block.height)
      expect(heights).toEqual([EACH - 2, EACH - 1, EACH, EACH + 1])
      await rm(join(growing, MANIFEST))
      now += 30_000
      expect(await last()).toBe(2 * EACH - 1)
      await cp(join(whole, MANIFEST), join(growing, MANIFEST))
      now += 30_000
      await until(async () => (await last()) === HEIGHT)
      const other = readManifest(await Bun.file(join(whole, MANIFEST)).text(), whole)
      const files = other.files.map((file, at) => (at === 1 ? { ...file, sha256: '0'.repeat(64) } : file))
      await writeFile(join(growing, MANIFEST), manifestText({ ...other, files }))
      now += 30_000
      await until(async () => (await last().catch(() => undefined)) === undefined)
      for (const ask of [last, () => archive.blockHash(1)]) {
        const { kind, message } = await failureOf(ask())
        expect([kind, message]).toEqual(['damaged', expect.stringContaining('was replaced or removed')])
      }
    } finally {
      archive.close()
    }
  })

  test('an archive is read over HTTP, by byte ranges', async () => {
    let wholeReads = 0
    using server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: request => {
        const { pathname } = new URL(request.url)
        const file = Bun.file(join(whole, pathname.replace('/iost/', '')))
        const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.get('range') ?? '') ?? []
        const isKnown = request.headers.get('authorization') === `Basic ${btoa('user:pass word')}`
        if (!isKnown) return new Response('', { status: 401 })
        if (from !== undefined) return new Response(file.slice(Number(from), Number(to) + 1), { status: 206 })
        wholeReads += 1
        return new Response(file)
      },
    })
    const url = `http://user:pass%20word@127.0.0.1:${server.port}/iost`
    await check(url)
    expect(await loaded(`archive:${url}`, 'linked')).toBe(HEIGHT)
    // The manifest is read whole by each of the three clients that open the archive.
    expect(wholeReads).toBe(3)
  })

  test('an archive together with a node loads the blocks after the archive from the node', async () => {
    const short = join(folder, 'short')
    await archiveOfNode(node.url, short, { to: EACH - 1 })
    expect(await loaded([`archive:${short}`, node.url], 'linked')).toBe(HEIGHT)
  })

  test('an archive alone that begins after block 0 is refused at once', async () => {
    const later = join(folder, 'later')
    await archiveOfNode(node.url, later, { from: EACH, to: HEIGHT })
    const says = `The archive ${later} does not have block 0: it has blocks ${EACH} to ${HEIGHT}.`
    expect(await failureOf(loaded(`archive:${later}`))).toMatchObject({ kind: 'unavailable', message: says })
  })

  test('an archive without signatures is loaded with --prove linked only', async () => {
    const linked = join(folder, 'linked')
    await archiveOfNode(node.url, linked, { to: HEIGHT, proof: 'linked' })
    await check(linked)
    expect(await loaded(`archive:${linked}`, 'linked')).toBe(HEIGHT)
    const message = expect.stringContaining('only --prove linked accepts it without')
    expect(await failureOf(loaded(`archive:${linked}`))).toMatchObject({ kind: 'damaged', message })
  })
})

describe('damage', () => {
  const seed = seedOf(23)
  const random = seeded(seed)
  const below = (most: number): number => Math.floor(random() * most)

  test(`60 changes of single files are refused with the name of the file (SEED=${seed})`, async () => {
    const files = [...(await filesIn(whole))]
    const hurt = join(folder, 'hurt')
    await cp(whole, hurt, { recursive: true })
    for (let round = 0; round < 60; round++) {
      const [name = '', bytes = Buffer.alloc(0)] = files[below(files.length)] ?? []
      const at = below(bytes.length)
      const withByte = (byte: number, after: number) =>
        Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), bytes.subarray(after)])
      const kinds = [
        () => withByte((bytes[at] ?? 0) ^ (1 << below(8)), at + 1),
        () => bytes.subarray(0, at),
        () => withByte(below(256), at),
        () => files.find(([other]) => other !== name)?.[1] ?? Buffer.alloc(0),
      ]
      await writeFile(join(hurt, name), kinds[below(kinds.length)]?.() ?? bytes)
      const error = await failureOf(check(hurt))
      expect([round, error.kind, error.message.includes(name)]).toEqual([round, 'damaged', true])
      await writeFile(join(hurt, name), bytes)
    }
    await check(hurt)
  })

  test('a missing file and two exchanged files are refused by name, and nothing false is stored', async () => {
    const hurt = join(folder, 'missing')
    await cp(whole, hurt, { recursive: true })
    const names = [...(await filesIn(whole)).keys()]
    const [first = '', second = ''] = names
    await rm(join(hurt, second))
    expect((await failureOf(check(hurt))).message).toContain(`${second}: it is missing`)
    await using at = await temporarySqlite()
    const error = await failureOf(loadFrom(`archive:${hurt}`, at.store))
    expect([error.kind, error.message.includes(second)]).toEqual(['damaged', true])
    expect((await at.store.published())?.height ?? -1).toBeLessThan(EACH)
    await rename(join(hurt, first), join(hurt, second))
    await cp(join(whole, second), join(hurt, first))
    expect((await failureOf(check(hurt))).message).toContain(first)
  })

  test('forged blocks are refused by their proofs, even if all hashes of files match', async () => {
    const forged = join(folder, 'forged')
    const forge = (body: string) => body.replace(/"gas_usage":\d+/, '"gas_usage":7777')
    const forging = async function* (blocks: AsyncIterable<ArchivedBlock>) {
      for await (const each of blocks) {
        const transactions = each.block.transactions.map(tx => ({ ...tx, body: forge(tx.body) }))
        yield each.block.height === 333 ? { ...each, block: { ...each.block, transactions } } : each
      }
    }
    await archiveOfNode(node.url, forged, { to: HEIGHT, source: forging })
    const error = await failureOf(check(forged))
    expect([error.kind, error.message.includes('0000000200-0000000399.blocks: Block 333')]).toEqual(['damaged', true])
  })

  test('a manifest that is wrong about its blocks is refused, even if its hash matches', async () => {
    const hurt = join(folder, 'manifest')
    await cp(whole, hurt, { recursive: true })
    const path = join(hurt, MANIFEST)
    const { manifest } = await openArchive(whole)
    const { chain_id, genesis_hash: hash } = manifest
    const files = manifest.files.with(-1, { ...manifest.files.at(-1), hash } as never)
    for (const lie of [{ chain_id: chain_id + 1 }, { genesis_hash: manifest.hash }, { hash, files }]) {
      await writeFile(path, manifestText({ ...manifest, ...lie }))
      expect((await failureOf(check(hurt))).kind).toBe('damaged')
    }
    expect(readManifest(manifestText(manifest), path)).toEqual(manifest)
  })
})
