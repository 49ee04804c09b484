import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { hash8 } from '#chain/hash.ts'
import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/list.ts'
import { records } from '#indices/record.ts'
import { type TransactionDoc, transactions } from '#indices/transaction.ts'
import { createNode } from '#node/archive-node.ts'
import type { Node } from '#node/port.ts'
import type { Replay } from '#test/replay/serve.ts'
import { patientClock } from '#test/support/clocks/patient-clock.ts'
import { failureOf, kindOf } from '#test/support/refusal.ts'
import { audited, repaired } from '#test/support/stores/audited.ts'
import { type Dump, differences, dumpSqlite } from '#test/support/stores/dump.ts'
import { fillFromRecording } from '#test/support/stores/loaded.ts'
import { replayed, temporarySqlite } from '#test/support/stores/loading.ts'

/** The height of the first few blocks with transactions. */
const HEIGHT = 780

let replay: Replay
let node: Node
let target: Awaited<ReturnType<typeof temporarySqlite>>
let clean: Dump
let sent: TransactionDoc
beforeAll(async () => {
  replay = await replayed(HEIGHT)
  node = createNode({ urls: [replay.url], clock: patientClock })
  target = await temporarySqlite()
  await fillFromRecording(target.store, { to: HEIGHT })
  clean = dumpSqlite(target.path)
  const audit = await target.store.audit()
  for await (const page of audit.scan(transactions)) sent = page.at(-1)?.doc ?? sent
  await audit.close()
})
afterAll(async () => {
  node.close()
  await replay.stop()
  await target.destroy()
})

/** Changes bytes of a cell without the store's own code. */
function damage(table: string, column: string, id: string, change: (bytes: Uint8Array) => unknown): void {
  const database = new Database(target.path, { safeIntegers: true })
  const [[cell] = []] = database.query(`SELECT "${column}" FROM "${table}" WHERE id = ?`).values(id)
  const bytes = cell instanceof Uint8Array ? cell : new Uint8Array()
  database.query(`UPDATE "${table}" SET "${column}" = ? WHERE id = ?`).run(change(bytes) as Uint8Array, id)
  database.close()
}

const flipped = (at: number) => (bytes: Uint8Array) =>
  bytes.with(at < 0 ? bytes.length + at : at, (bytes.at(at) ?? 0) ^ 1)
const cut = (bytes: Uint8Array): Uint8Array => bytes.slice(0, -1)

test('unreadable cells are refused with the remedy, reported by an audit, and repaired from the node', async () => {
  const block = (height: number) => ({ table: 'blocks', index: blocks, id: blockId(height) }) as const
  const cells = [
    // Bytes of the dictionary number, the checksum and the text.
    { ...block(700), column: 'base', change: flipped(0) },
    { ...block(701), column: 'base', change: flipped(1) },
    { ...block(702), column: 'base', change: flipped(-1) },
    { ...block(703), column: 'base', change: cut },
    { ...block(704), column: 'hash', change: cut },
    { ...block(705), column: 'tx_hashes', change: cut },
    { ...block(706), column: 'tx_hashes', change: () => new Uint8Array() },
    { ...block(707), column: 'parent_hash', change: () => 7n },
    { table: 'transactions', index: transactions, id: sent.id, column: 'body', change: flipped(-1) },
    { table: 'records', index: records, id: `${sent.id}-00000`, column: 'status_code', change: () => 9_999n },
  ] as const
  for (const { table, column, id, change } of cells) damage(table, column, id, change)
  for (const { index, id, column } of cells) {
    const { kind, message, help } = await failureOf(target.store.read(view => view.get(index, id)))
    expect([id, kind, message, help]).toEqual([
      id,
      'damaged',
      `Field '${column}' of ${index.name} '${id}' cannot be read.`,
      expect.stringContaining("The store is damaged. Run: 'iostlens repair --node URL'."),
    ])
  }
  expect(await kindOf(target.store.read(view => view.find(transactions, 'hash8', hash8(sent.hash))))).toBe('damaged')

  const named = cells.map(({ index, id }) => `${index.name} ${id} document`).sort()
  const damaged = dumpSqlite(target.path)
  const ofBlocks = named.filter(line => !line.startsWith('records'))
  const blocksOf = ofBlocks.map(line => `blocks ${/\d{12}/.exec(line)?.[0]} document`).sort()
  expect((await audited(target.store)).found).toEqual(blocksOf)
  expect(differences(dumpSqlite(target.path), damaged)).toEqual([])
  expect((await repaired(target.store, { node })).found).toEqual(named)
  expect(differences(dumpSqlite(target.path), clean)).toEqual([])
  expect((await audited(target.store)).found).toEqual([])
})

/** The program stores NULL for values that follow from others, and packs the rest. */
test('cells with the value written out are read', async () => {
  const stored = await target.store.read(view => view.get(blocks, blockId(600)))
  if (stored === undefined) throw new Error('There is no block 600.')
  for (const column of ['hash', 'witness', 'witness_account', 'tx_merkle_hash', 'tx_hashes', 'base'] as const)
    damage('blocks', column, blockId(600), () => stored[column])
  damage('transactions', 'body', sent.id, () => sent.body)
  damage('transactions', 'hash', sent.id, () => sent.hash)
  expect(await target.store.read(view => view.get(blocks, blockId(600)))).toEqual(stored)
  expect(await target.store.read(view => view.get(transactions, sent.id))).toEqual(sent)
  expect((await audited(target.store)).found).toEqual([])
})
