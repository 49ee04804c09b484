import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { accounts } from '#indices/account.ts'
import { balances } from '#indices/balance.ts'
import { blocks } from '#indices/block.ts'
import { contracts } from '#indices/contract.ts'
import { blockId, lists, recordId } from '#indices/list.ts'
import { type RecordDoc, records } from '#indices/record.ts'
import { historyIndices, stateIndices } from '#indices/registry.ts'
import { segments } from '#indices/segment.ts'
import { transactions } from '#indices/transaction.ts'
import type { Node } from '#node/port.ts'
import { replayedNode } from '../support/nodes/replayed-node.ts'
import { audited, repaired } from '../support/stores/audited.ts'
import { type Damageable, damageableElastic, damageableSqlite, readAll } from '../support/stores/damage.ts'
import { type Dump, differences, dumpElastic } from '../support/stores/dump.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { fillFromRecording } from '../support/stores/loaded.ts'
import { ARCHIVED, loadFrom } from '../support/stores/loading.ts'

/** The first blocks of the recorded chain, enough for every kind of document. */
const HEIGHT = 860

const replay = replayedNode(HEIGHT)

type Rows = (doc: RecordDoc) => readonly string[]

/** Names of a row's places as findings have them: `lists <key> row <ordinal>`. */
async function rowsNamed(place: Damageable): Promise<Rows> {
  const names = new Map<number, string>()
  for (const { doc } of await readAll(place, lists)) names.set(doc.number, doc.id)
  return ({ places }) => places.map(at => `lists ${names.get(Number(at >> 32n))} row ${at & 0xffffffffn}`)
}

const VALUES = { text: 'other', keyword: 'other', long: 7n, int: 7 } as const

/** In every index with state, changes one document, removes one and adds one. Returns the expected findings. */
async function damageState(place: Damageable): Promise<readonly string[]> {
  const expected: string[] = []
  for (const index of stateIndices) {
    // The ABIs of system contracts are not on the chain, so an audit cannot check them.
    const ids = (await readAll(place, index))
      .map(({ id }) => id)
      .filter(id => index !== contracts || id.startsWith('Contract'))
    const [first, second] = ids
    if (first === undefined) {
      // No ranking of the recording has more members than fit into one segment.
      expect(index).toBe(segments)
      continue
    }
    const fields = Object.entries(index.fields)
    // If all fields are JSON, an empty list is readable but wrong.
    const [field, { kind }] = fields.findLast(([, each]) => each.kind in VALUES) ?? fields[0] ?? []
    if (field === undefined || kind === undefined) throw new Error(`${index.name} has no field to damage.`)
    await place.copy(index, first, 'nobody/nothing')
    await place.change(index, first, field, kind === 'json' ? '[]' : VALUES[kind as keyof typeof VALUES])
    expected.push(`${index.name} nobody/nothing document`, `${index.name} ${first} ${field}`)
    if (second === undefined) continue
    await place.remove(index, second)
    expected.push(`${index.name} ${second} document`)
  }
  return expected
}

/** Damages history that the blocks' own hashes cover, and rows. Returns the expected findings. */
async function damageHistory(place: Damageable, rowsOf: Rows): Promise<readonly string[]> {
  const inElastic = (...lines: readonly string[]): readonly string[] => (place.kind === 'elastic' ? lines : [])
  const rows = (await readAll(place, records)).map(({ doc }) => doc)
  const [changed, lost, placeless, copied] = [10, 200, 1_000, 2_500].map(at => rows[at]) as RecordDoc[]
  if (!changed || !lost || !placeless || !copied) throw new Error('There are too few rows.')
  await place.change(blocks, '000000000007', 'hash8', 7n)
  await place.change(blocks, '000000000008', 'gas_usage', 7n)
  await place.change(blocks, '000000000009', 'base_hash8', 9n)
  const [sent] = await readAll(place, transactions)
  await place.change(transactions, sent?.id ?? '', 'hash8', 7n)
  await place.change(records, changed.id, 'amount', '1.5')
  await place.remove(records, lost.id)
  const [at = 0n] = placeless.places
  await place.losePlace(placeless.id, at)
  await place.copy(records, copied.id, `${copied.id.slice(0, -5)}09999`)
  return [
    'blocks 000000000007 hash8',
    'blocks 000000000008 gas_usage',
    'blocks 000000000009 base_hash8',
    `transactions ${sent?.id} hash8`,
    `records ${changed.id} amount`,
    `records ${lost.id} document`,
    ...rowsOf(lost),
    ...rowsOf(placeless).slice(0, 1),
    ...inElastic(`records ${placeless.id} places`),
    `records ${copied.id.slice(0, -5)}09999 document`,
    ...inElastic(...rowsOf(copied)),
  ]
}

/** Damages history that only a node can restore: lost documents, and documents that contradict the hashes. */
async function damageSource(place: Damageable): Promise<string[]> {
  const sent = (await readAll(place, transactions)).map(({ doc }) => doc)
  const [, lost, changed] = sent.filter(({ height }) => height > 700)
  if (lost === undefined || changed === undefined) throw new Error('There are too few transactions.')
  await place.remove(blocks, '000000000100')
  await place.change(blocks, '000000000200', 'witness', 'other')
  await place.change(blocks, '000000000300', 'parent_hash', 'other')
  await place.remove(transactions, lost.id)
  await place.change(transactions, changed.id, 'body', changed.body.replace(/"gas_usage":\d+/, '"gas_usage":1'))
  return [
    'blocks 000000000100 document',
    'blocks 000000000200 witness',
    'blocks 000000000300 parent_hash',
    `transactions ${lost.id} document`,
    `transactions ${changed.id} body`,
  ]
}

/** Changes the text of an action, which only a sample of the node's blocks shows. Returns the expected finding. */
async function damageAction(place: Damageable): Promise<string> {
  const [sent] = (await readAll(place, transactions)).map(({ doc }) => doc).slice(-1)
  if (sent === undefined) throw new Error('There is no transaction.')
  await place.change(transactions, sent.id, 'body', sent.body.replace('"publisher":"', '"publisher":"x'))
  return `transactions ${sent.id} body`
}

function suite(open: () => Promise<Damageable>, isSqlite: boolean): void {
  let place: Damageable
  let clean: Dump
  beforeAll(async () => {
    place = await open()
    await fillFromRecording(place.store, { to: HEIGHT })
    clean = await place.dump()
  })
  afterAll(() => place.destroy())

  if (isSqlite)
    test('audit: a loaded store is whole; a node at a higher block is compared by blocks only', async () => {
      expect(await audited(place.store, { node: replay.node, sample: 20 })).toMatchObject({
        ...{ complete: true, found: [], findings: [] },
        notes: [
          'The node returns the state of block 4851 only, but block 860 is published, so balances, votes and accounts were not compared.',
        ],
      })
    })

  test('audit: each kind of damage, also by another program that keeps no versions, is named and nothing else; a repair restores every byte from the node, and without it writes nothing', async () => {
    const rowsOf = await rowsNamed(place)
    const [, , third = '', fourth = ''] = (await readAll(place, balances)).map(({ id }) => id)
    const lost = await damageSource(place)
    const expected = [...lost, ...(await damageHistory(place, rowsOf)), ...(await damageState(place))]
    await place.change(accounts, 'admin', 'permissions', '{')
    await place.edit(balances, third, 'amount', 7n)
    await place.edit(balances, fourth, 'amount', 8n, 2 ** 40)
    const edited = isSqlite ? 'amount' : 'document'
    const damaged = await place.dump()
    const { complete, found } = await repaired(place.store)
    expect([complete, found]).toEqual([
      false,
      expect.arrayContaining(lost.map(line => `blocks ${/\d{12}/.exec(line)?.[0]} document`)),
    ])
    expect(differences(await place.dump(), damaged)).toEqual([])

    const named = [
      ...expected.filter(line => !line.startsWith('accounts admin ')),
      'accounts admin document',
      `balances ${third} ${edited}`,
      `balances ${fourth} ${edited}`,
      await damageAction(place),
    ]
    const at = await place.store.published()
    // The storage of a node is only compared at the same height and hash, so the answer pretends to have both.
    const same: Node = {
      ...replay.node,
      storage: async asked => ({ ...(await replay.node.storage(asked)), height: HEIGHT, hash: at?.hash ?? '' }),
    }
    const { findings } = await repaired(place.store, { node: same, sample: HEIGHT + 1 })
    const byReplay = findings.filter(({ by }) => by !== 'node').map(({ index, id, field }) => `${index} ${id} ${field}`)
    expect(byReplay.sort()).toEqual([...new Set(named)].sort())
    expect(differences(await place.dump(), clean)).toEqual([])
  })

  test('rewrite: repeated, or with nothing to write, it changes no correct document', async () => {
    const identity = await place.store.identity()
    if (identity === undefined) throw new Error('Nothing is loaded.')
    const [row] = await readAll(place, records)
    const [held] = await readAll(place, balances)
    const writer = await place.store.takeOver(identity)
    const put = [
      { index: records, doc: row?.doc as RecordDoc },
      { index: balances, doc: held?.doc as never },
    ] as const
    for (const each of [[], [], put, put]) await writer.rewrite({ put: each, remove: [], unplace: [] })
    await writer.release()
    expect(differences(await place.dump(), clean)).toEqual([])
  })
}

describe('audit of SQLite', () => suite(damageableSqlite, true))
if (elasticsearchUrl() !== undefined) describe('audit of Elasticsearch', () => suite(damageableElastic, false))

/** Documents per partition: four partitions are filled. */
const PARTITION = 1_500

describe.skipIf(elasticsearchUrl() === undefined)('audit of history in partitions', () => {
  test('audit: partitions are whole; a lost row and duplicates in wrong partitions are named and repaired, also in merged ones', async () => {
    await using elastic = openTestElastic({ partitionDocuments: PARTITION })
    const { store, url, prefix, ask } = elastic
    const counts = () =>
      Promise.all(historyIndices.map(async ({ name }) => (await ask<{ count: number }>('GET', `${name}/_count`)).count))
    /** Copies a document unchanged into another partition. */
    const copy = async (name: string, id: string, from: string, to: string): Promise<void> => {
      const { _source } = await ask<{ _source: object }>('GET', `${name}-${from}/_doc/${id}`)
      await ask('PUT', `${name}-${to}/_doc/${id}?refresh=true`, _source)
    }
    await loadFrom(ARCHIVED, store, { to: HEIGHT, prove: 'linked' })
    const firsts = await store.partitions.firsts()
    expect(firsts.length).toBeGreaterThan(2)
    const last = String(firsts.length - 1).padStart(6, '0')
    const firstIn = async (name: string): Promise<string> => {
      const path = `${name}-${last}/_search?size=1&sort=height`
      const found = await ask<{ hits: { hits: readonly [{ _id: string }] } }>('GET', path)
      return found.hits.hits[0]._id
    }
    const [clean, before] = [await dumpElastic(url, prefix), await counts()]

    // Duplicates: from the first partition in the last, and the other way round. The first one becomes read-only.
    const [lost, early, late] = [recordId(0, 0, 3), recordId(0, 0, 4), await firstIn('records')]
    const sent = await firstIn('transactions')
    await copy('records', early, '000000', last)
    await copy('records', late, last, '000000')
    await copy('transactions', sent, last, '000000')
    await copy('blocks', blockId(7), '000000', last)
    await ask('DELETE', `records-000000/_doc/${lost}?refresh=true`)
    await store.partitions.merge({ signal: new AbortController().signal, onProgress: () => undefined })
    // Each has a duplicate; of the rows two, and one is lost.
    const doubled = new Set(['blocks', 'transactions', 'records'])
    expect(await counts()).toEqual(historyIndices.map(({ name }, at) => (before[at] ?? 0) + Number(doubled.has(name))))

    const damaged = [
      `blocks ${blockId(7)} document`,
      ...[lost, early, late].map(id => `records ${id} document`),
      `transactions ${sent} document`,
    ]
    const { found } = await repaired(store)
    expect(found.filter(line => !line.startsWith('lists '))).toEqual(damaged)
    expect(await counts()).toEqual(before)
    expect(differences(await dumpElastic(url, prefix), clean)).toEqual([])
    const [index, settings] = [`${prefix}-records-000000`, { 'index.blocks.write': 'true' }]
    const readOnly = await ask('GET', 'records-000000/_settings/index.blocks.write?flat_settings=true')
    expect<unknown>(readOnly).toEqual({ [index]: { settings } })
  })
})
