import { join } from 'node:path'
import { outputOf, type Running, serving } from '../processes.ts'

/** A build that is measured. */
export type Build = {
  /** As tables name it. */
  readonly name: string
  /** The compiled file. */
  readonly binary: string
  /** Folder of its own: two builds may store differently. */
  readonly folder: string
}

/** A build that serves one loaded store with some number of threads. */
export type Side = {
  readonly build: Build
  /** undefined: this build knows no threads. */
  readonly threads: number | undefined
  /** Whether equal requests are answered from memory; otherwise each reads the store. */
  readonly keepsAnswers: boolean
  readonly service: Running
  readonly key: string
}

export const nameOf = ({ build, threads = 1, keepsAnswers }: Side): string =>
  `${build.name}, ${threads} thread${threads === 1 ? '' : 's'}${keepsAnswers ? ', answers kept' : ''}`

const LIMITS = ['--per-second', '1000000', '--per-day', '1000000000']

/** Loads the recorded chain, and adds a key whose limits do not matter. */
export const loadStore = async (
  { binary, folder }: Build,
  { store, node, last }: { readonly store: string; readonly node: string; readonly last: number },
): Promise<string> => {
  await outputOf(folder, [binary, 'load', '--store', store, '--node', node, '--to', `${last}`])
  const out = await outputOf(folder, [binary, 'keys', 'add', 'benchmark', '--store', store, ...LIMITS])
  return out.trim().split('\n').at(-1) ?? ''
}

/** Whether a build serves with threads. */
export const knowsThreads = (build: Build): Promise<boolean> => knows(build, '--threads')

const knows = async ({ binary, folder }: Build, flag: string): Promise<boolean> =>
  (await outputOf(folder, [binary, 'serve', '--help'])).includes(flag)

export const startSide = async (
  build: Build,
  {
    store,
    key,
    threads,
    keepsAnswers = false,
  }: {
    readonly store: string
    readonly key: string
    readonly threads: number | undefined
    readonly keepsAnswers?: boolean
  },
): Promise<Side> => {
  const more = threads === undefined ? [] : ['--threads', `${threads}`]
  if (!keepsAnswers && (await knows(build, '--kept-answers'))) more.push('--kept-answers', '0')
  const command = [build.binary, 'serve', '--store', store, '--listen', '127.0.0.1:0', ...more]
  return { build, threads, keepsAnswers, key, service: await serving(build.folder, command) }
}

/** The compiled file of a commit, built in a checkout of its own. */
export const buildOf = async (root: string, commit: string, folder: string): Promise<string> => {
  const checkout = join(folder, 'checkout')
  await outputOf(root, ['git', 'worktree', 'add', '--force', '--detach', checkout, commit])
  await outputOf(checkout, ['scripts/build'])
  return join(checkout, 'dist/iostlens')
}

/** Removes the checkout of `buildOf`. */
export const forget = async (root: string, folder: string): Promise<void> => {
  await outputOf(root, ['git', 'worktree', 'remove', '--force', join(folder, 'checkout')])
}
