import { mock } from 'bun:test'
import * as fs from 'node:fs'
import { resourceLimits } from '../limits.ts'

/**
 * backup-process.ts STORE FILE CALL BYTES: copies a store as `iostlens backup` does, and kills itself with SIGKILL
 * right before file system call number CALL (from 1; 0: never). With BYTES the system kills it at the first write that
 * would make a file longer (0: never): SQLite writes a copy within one call, which nothing else can interrupt.
 */
const [path = '', file = '', call = '', bytes = ''] = process.argv.slice(2)
let calls = 0
function count(): void {
  calls += 1
  if (calls === Number(call)) process.kill(process.pid, 'SIGKILL')
}
const counted =
  <A extends unknown[], R>(run: (...words: A) => R) =>
  (...words: A): R => {
    count()
    return run(...words)
  }

const { write } = Bun
Object.assign(Bun, { write: counted(write as (...words: unknown[]) => unknown) })
const own = Object.entries({ ...fs }).map(([name, value]) => [
  name,
  typeof value === 'function' && name.endsWith('Sync') ? counted(value as (...words: unknown[]) => unknown) : value,
])
mock.module('node:fs', () => Object.fromEntries(own))

// Imported after the file system calls are wrapped.
const { copyStore } = await import('#store/sqlite/backup.ts')
const { describeCopy } = await import('#transfer/backup.ts')
if (Number(bytes) > 0) resourceLimits.fileSize(Number(bytes))
const how = { signal: new AbortController().signal, onProgress: () => undefined }
await copyStore({ path, name: path }, file, {
  beforeNaming: async partial => void (await describeCopy(partial, file, how)),
})
