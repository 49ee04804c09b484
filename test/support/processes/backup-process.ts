import { dlopen } from 'bun:ffi'
import { mock } from 'bun:test'
import * as fs from 'node:fs'

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
if (Number(bytes) > 0) limitFileSize(Number(bytes))
const how = { signal: new AbortController().signal, onProgress: () => undefined }
await copyStore({ path, name: path }, file, {
  beforeNaming: async partial => void (await describeCopy(partial, file, how)),
})

/** From now on a write that would make a file larger than `bytes` ends this process with SIGXFSZ. */
function limitFileSize(bytes: number): void {
  // System constants that are the same on Linux and macOS.
  const [FILE_SIZE, CORE, SIGXFSZ, DEFAULT] = [1, 4, 25, 0n] as const
  const { setrlimit, signal } = dlopen(process.platform === 'darwin' ? 'libSystem.B.dylib' : 'libc.so.6', {
    setrlimit: { args: ['i32', 'ptr'], returns: 'i32' },
    signal: { args: ['i32', 'u64'], returns: 'u64' },
  }).symbols
  const both = (most: number): BigUint64Array => new BigUint64Array([BigInt(most), BigInt(most)])
  // Bun ignores the signal, so the write would fail with an error as on a full disk. A core dump is not needed.
  signal(SIGXFSZ, DEFAULT)
  if (setrlimit(CORE, both(0)) !== 0 || setrlimit(FILE_SIZE, both(bytes)) !== 0)
    throw new Error('The system sets no limits.')
}
