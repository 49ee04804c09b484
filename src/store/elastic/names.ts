import { Failure } from '#failure/failure.ts'
import type { HistoryIndex, StateIndex } from '#indices/registry.ts'

/** Names of the indices behind a prefix. */
export type Names = {
  readonly prefix: string
  /** Alias: checkpoint and published height. */
  readonly meta: string
  /** Alias: state changes of a batch until they are applied. */
  readonly journal: string
  /** Alias: API keys. */
  readonly keys: string
  /** Alias under which state is read and written. */
  readonly state: (index: StateIndex) => string
  /** The index behind such an alias; a migration builds the next one and moves the alias. */
  readonly behind: (alias: string) => string
  /** Alias over all partitions. */
  readonly history: (index: HistoryIndex) => string
  readonly partition: (index: HistoryIndex, partition: number) => string
}

const GENERATION = 0
const PARTITION_DIGITS = 6

export const namesOf = (prefix: string): Names => {
  // Elasticsearch's own rule is wider; this leaves out what needs escaping in a path or is a wildcard.
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(prefix))
    throw new Failure(
      'usage',
      `The prefix '${prefix}' of the indices does not match [a-z0-9][a-z0-9_-]{0,63}.`,
    )
  const named = (name: string) => `${prefix}-${name}`
  return {
    prefix,
    meta: named('meta'),
    journal: named('journal'),
    keys: named('keys'),
    state: index => named(index.name),
    behind: alias => `${alias}-${GENERATION}`,
    history: index => named(index.name),
    partition: (index, partition) =>
      `${named(index.name)}-${String(partition).padStart(PARTITION_DIGITS, '0')}`,
  }
}
