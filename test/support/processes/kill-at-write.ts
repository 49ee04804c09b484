import { Database } from 'bun:sqlite'

/**
 * Preloaded into a program (see `doomed.ts`): the process kills itself with SIGKILL right before write number
 * KILL_AT_WRITE (from 1) into files whose paths begin with KILL_PATH. A write is a statement that changes
 * data. BEGIN and COMMIT count too.
 */
const path = process.env['KILL_PATH'] ?? ''
let left = Number(process.env['KILL_AT_WRITE'])

function count(database: Database): void {
  if (!database.filename.startsWith(path)) return
  left -= 1
  if (left === 0) process.kill(process.pid, 'SIGKILL')
}

const { run, prepare } = Database.prototype
Object.assign(Database.prototype, {
  run(this: Database, ...words: Parameters<typeof run>) {
    count(this)
    return run.apply(this, words)
  },
  prepare(this: Database, ...words: Parameters<typeof prepare>) {
    const statement = prepare.apply(this, words)
    const runIt = statement.run.bind(statement)
    statement.run = (...cells) => {
      count(this)
      return runIt(...cells)
    }
    return statement
  },
})
