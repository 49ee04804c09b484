import { join } from 'node:path'
import type { Place } from './bench.ts'
import { BINARY, memoryOf, outputOf, type Running, serving, unlimitedKey } from './processes.ts'

/** A build to measure. */
export type Build = {
  /** Name in the tables. */
  readonly name: string
  /** Path of the compiled file. */
  readonly binary: string
}

/** A build that serves a loaded store. */
export type Side = {
  readonly name: string
  readonly service: Running
  readonly key: string
  /** Samples of resident memory since it has been listening, MB. */
  readonly memory: readonly number[]
  readonly stop: () => Promise<void>
}

export const THIS: Build = { name: 'this', binary: BINARY }

/**
 * Starts a build on a store without cached answers. With `more`, also starts it with them.
 */
export const startSides = async (
  folder: string,
  { name, binary }: Build,
  { place, more }: { readonly place: Place; readonly more: boolean },
): Promise<readonly Side[]> => {
  const { store } = place
  const key = await unlimitedKey(folder, store, binary)
  const start = async (what: string, flags: readonly string[]): Promise<Side> => {
    const command = [binary, 'serve', '--store', store, '--listen', '127.0.0.1:0', ...flags]
    const service = await serving(folder, command)
    const memory = memoryOf(service.pid)
    const stop = async (): Promise<void> => {
      memory.stop()
      await service.stop()
    }
    return { name: `${name}, ${what}`, key, service, memory: memory.samples, stop }
  }
  const one = await start('answers computed', ['--kept-answers', '0'])
  return more ? [one, await start('answers kept', [])] : [one]
}

/** Answer of an action as text; throws unless the status is 200. `query` follows the key in the URL. */
export const askSide = async (side: Side, query: string): Promise<string> => {
  const answer = await fetch(side.service.url + pathOf(side, query))
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${query}: ${answer.status} ${text}`)
  return text
}

export const pathOf = ({ key }: Side, query: string): string => `/api/?apikey=${key}&${query}`

/** Builds a commit in a checkout of its own; `forget` removes the checkout. */
export const buildOf = async (root: string, commit: string, folder: string): Promise<Build> => {
  const checkout = join(folder, 'against')
  await outputOf(root, ['git', 'worktree', 'add', '--force', '--detach', checkout, commit])
  await outputOf(checkout, ['scripts/build'])
  return { name: commit, binary: join(checkout, 'dist/iostlens') }
}

export const forget = async (root: string, folder: string): Promise<void> => {
  await outputOf(root, ['git', 'worktree', 'remove', '--force', join(folder, 'against')])
}
