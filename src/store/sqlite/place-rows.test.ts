import { expect, test } from 'bun:test'
import { placeRows } from './commit.ts'
import { inMemory } from './connection.ts'

const TABLE = 'records.places'
const withTable = (work: (connection: Parameters<typeof placeRows>[0]) => void): void =>
  inMemory(connection => {
    connection.db.run(`CREATE TABLE "${TABLE}" ("place" INTEGER PRIMARY KEY, "row" INTEGER NOT NULL) STRICT`)
    work(connection)
  })

test('placeRows: all that was added is there at the end, whatever its order and number', () => {
  for (const count of [0, 1, 7, 8, 9, 1_999, 2_000, 2_001, 5_003])
    withTable(connection => {
      const rows = placeRows(connection, TABLE, { replace: false })
      // 7,919 is prime, so every place occurs once, in scrambled order.
      const places = Array.from({ length: count }, (_, at) => BigInt((at * 7_919) % count) * 2n ** 33n)
      for (let at = 0; at < count; at += 3) rows.add(places.slice(at, at + 3), BigInt(at))
      rows.end()
      const expected = places
        .map((place, at) => [place, BigInt(at - (at % 3))] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1))
      expect(connection.rows(`SELECT * FROM "${TABLE}" ORDER BY 1`)).toEqual(expected.map(each => [...each]))
    })
})

test('placeRows: a place that a row has is an error, and its new row has it with `replace`', () => {
  withTable(connection => {
    const first = placeRows(connection, TABLE, { replace: false })
    first.add([5n], 1n)
    first.end()
    const again = placeRows(connection, TABLE, { replace: false })
    again.add([5n], 2n)
    expect(() => again.end()).toThrow('UNIQUE constraint failed')
    const replacing = placeRows(connection, TABLE, { replace: true })
    replacing.add([5n, 4n], 3n)
    replacing.add([5n], 4n)
    replacing.end()
    expect(connection.rows(`SELECT * FROM "${TABLE}" ORDER BY 1`)).toEqual([
      [4n, 3n],
      [5n, 4n],
    ])
  })
})
