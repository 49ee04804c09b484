import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Usage } from '#store/port.ts'
import { openOrCreate } from './connection.ts'
import { guarded } from './failures.ts'

/** Another process writes for a moment; a process that waits for it answers no requests meanwhile. */
const BUSY_MS = 50

/**
 * Opens the file of daily counts and creates it if needed. It is written once a second, so the death of the process loses
 * at most the last second. Throws 'unavailable' when the file cannot be opened.
 */
export const openUsage = (path: string): Usage => {
  const name = `sqlite:${path}`
  return guarded(name, () => {
    mkdirSync(dirname(path), { recursive: true })
    const connection = openOrCreate(path, name)
    const { db } = connection
    db.run(`PRAGMA busy_timeout = ${BUSY_MS}`)
    // A count that power loss takes is no loss.
    db.run('PRAGMA synchronous = OFF')
    db.run(
      'CREATE TABLE IF NOT EXISTS "usage" ("day" INTEGER, "key" TEXT, "count" INTEGER, PRIMARY KEY ("day", "key")) WITHOUT ROWID',
    )
    const write = db.transaction((day: number, counts: ReadonlyMap<string, number>) => {
      const add = connection.statement(
        'INSERT INTO "usage" VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET "count" = "count" + excluded."count"',
      )
      for (const [key, count] of counts) add.run(BigInt(day), key, BigInt(count))
      connection.statement('DELETE FROM "usage" WHERE "day" < ?').run(BigInt(day))
    })
    return {
      add: (day, counts) =>
        guarded(name, () => {
          if (counts.size > 0) write.immediate(day, counts)
          const rows = connection.rows('SELECT "key", "count" FROM "usage" WHERE "day" = ?', BigInt(day))
          return new Map(rows.map(([key, count]) => [String(key), Number(count)]))
        }),
      close: connection.close,
    }
  })
}
