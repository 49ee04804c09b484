import { Database } from 'bun:sqlite'
import { expect } from 'bun:test'
import { join } from 'node:path'
import { type CliFolder, cliFolder, type Running } from '../support/processes/cli-process.ts'
import { loadedFile } from '../support/stores/loaded.ts'
import { readSqlite } from '../support/stores/loading.ts'

/** A folder whose store has the recorded chain, up to a height or whole, as `load` leaves it. */
export async function loadedFolder(to?: number): Promise<CliFolder> {
  const folder = await cliFolder()
  await Bun.write(storeIn(folder), readSqlite(await loadedFile(to)))
  return folder
}

export const storeIn = ({ path }: CliFolder): string => join(path, 'data/iostlens.sqlite')

export const readLastLine = (text: string): string => text.trimEnd().split('\n').at(-1) ?? ''

/** Adds a key, whose plan no test exhausts unless `options` say otherwise. */
export async function addKey(
  folder: CliFolder,
  options: readonly string[] = ['--per-second', '1000000', '--per-day', '1000000000'],
): Promise<string> {
  return readLastLine((await folder.run(['keys', 'add', 'wallet', ...options])).out)
}

/** Stops a command, which must end with 0, and returns what it logged. */
export async function stop(running: Running, signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP' = 'SIGTERM'): Promise<string> {
  running.kill(signal)
  const { code, err } = await running.ended
  if (code !== 0) throw new Error(`The command ended with ${code}:\n${err}`)
  return err
}

/** Runs a command, which must end with this exit code and say this. Returns what it said. */
export async function expectEnd(
  folder: CliFolder,
  args: readonly string[],
  code: number,
  says: string | RegExp,
): Promise<string> {
  const { out, err, ...ended } = await folder.run(args)
  const said = typeof says === 'string' ? expect.stringContaining(says) : expect.stringMatching(says)
  expect([args, ended.code, out + err]).toEqual([args, code, said])
  return out + err
}

/** Changes the store of a folder behind the program's back. */
export function damage(folder: CliFolder, sql: string): void {
  using database = new Database(storeIn(folder))
  database.run(sql)
}
